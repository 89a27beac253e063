//! What was read: declarations, functions, statements and expressions, before names mean anything.

use super::precedence::Operator;
use allways_model::program::{LocationId, Span};

/// A name of a variable, a function or a label.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// A variable.
pub(super) struct Declaration<'a> {
    pub name: Name<'a>,
    /// Its initial value; `None` is either.
    pub initial: Option<bool>,
    /// Whether each thread has its own.
    pub thread_local: bool,
}

/// A whole text.
#[derive(Default)]
pub(super) struct File<'a> {
    pub globals: Vec<Declaration<'a>>,
    pub functions: Vec<Function<'a>>,
    /// Whether the first label is an integer, as in the dialect of IJIT.
    pub integer_labels: Option<bool>,
}

/// A function.
pub(super) struct Function<'a> {
    pub name: Name<'a>,
    pub parameters: Vec<Declaration<'a>>,
    /// How many results it has.
    pub results: usize,
    pub locals: Vec<Declaration<'a>>,
    pub body: Vec<Statement<'a>>,
    /// What closes it.
    pub end: Span,
}

/// A statement. Its location is set when all of them are counted.
pub(super) struct Statement<'a> {
    pub labels: Vec<Name<'a>>,
    pub action: Action<'a>,
    /// The statement, or as much of it as makes its first step.
    pub span: Span,
    pub location: LocationId,
}

/// What a statement does.
pub(super) enum Action<'a> {
    Skip,
    Goto(Vec<Name<'a>>),
    /// Conditions with what follows them, and what follows if none is true.
    If(Vec<Branch<'a>>, Vec<Statement<'a>>),
    While(Expr<'a>, Vec<Statement<'a>>),
    Assign {
        places: Vec<Name<'a>>,
        values: Vec<Expr<'a>>,
        constraint: Option<Expr<'a>>,
    },
    Call {
        function: Name<'a>,
        arguments: Vec<Expr<'a>>,
        results: Vec<Name<'a>>,
    },
    Return(Vec<Expr<'a>>),
    /// Goes on if the expression has this value.
    Assume(Expr<'a>, bool),
    Assert(Expr<'a>),
    /// A condition on the whole function.
    Enforce(Expr<'a>),
    Dead(Vec<Name<'a>>),
    /// Starts a thread that executes the statement.
    Start(Box<Statement<'a>>),
    /// Starts a thread that runs the function.
    Create(Name<'a>),
    EndThread,
    AtomicBegin,
    AtomicEnd,
    Wait,
    Broadcast,
    /// Goes on together with another thread that is at the same.
    Sync(Name<'a>),
}

/// A condition and what follows it. The first of a statement has the statement's location.
pub(super) struct Branch<'a> {
    pub condition: Expr<'a>,
    pub body: Vec<Statement<'a>>,
    pub span: Span,
    pub location: LocationId,
}

/// An expression. Operators without brackets are in the order of the text: how they bind depends on the dialect.
pub(super) enum Expr<'a> {
    Constant(bool),
    Choose,
    Name(Name<'a>),
    /// The value after the assignment.
    Next(Name<'a>),
    Not(Box<Expr<'a>>),
    /// Operands and the operators between them, one less.
    Chain(Vec<Expr<'a>>, Vec<(Operator, Span)>),
    /// Condition, then, else.
    If(Box<[Expr<'a>; 3]>),
    /// True if the first is, false if the second is, either if neither is.
    Schoose(Box<[Expr<'a>; 2]>),
}

impl<'a> Statement<'a> {
    /// Calls a function with this statement and each one in it.
    pub fn visit(&self, see: &mut dyn FnMut(&Statement<'a>)) {
        see(self);
        match &self.action {
            Action::If(branches, otherwise) => {
                let bodies = branches.iter().map(|branch| &branch.body).chain([otherwise]);
                bodies.flatten().for_each(|statement| statement.visit(see));
            }
            Action::While(_, body) => body.iter().for_each(|statement| statement.visit(see)),
            Action::Start(statement) => statement.visit(see),
            _ => {}
        }
    }
}

/// The target of a body that is only a jump: part of the step that leads to it, as in `if e then goto l; fi`.
pub(super) fn jump<'a>(body: &[Statement<'a>]) -> Option<Name<'a>> {
    match body {
        [Statement { labels, action: Action::Goto(targets), .. }] if labels.is_empty() => match targets[..] {
            [target] => Some(target),
            _ => None,
        },
        _ => None,
    }
}
