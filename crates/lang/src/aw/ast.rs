//! What a text says, before anybody has asked whether it makes sense.

use allways_model::program::{Binary, Span, Unary, Value};

/// A name in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// A text: its declarations, in order.
#[derive(Debug, Default)]
pub(super) struct Module<'a> {
    pub items: Vec<Item<'a>>,
    /// The end of the text.
    pub end: Span,
}

/// A declaration.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Shared(TypeName<'a>, Vec<Declarator<'a>>),
    Constant(Name<'a>, Expr<'a>),
    /// A type and the names of its values.
    Enumeration(Name<'a>, Vec<Name<'a>>),
    Structure(Structure<'a>),
    Lock(Declarator<'a>),
    Event(Name<'a>),
    Channel(Channel<'a>),
    Routine(Routine<'a>),
    Never(Option<Name<'a>>, Expr<'a>, Span),
    Eventually(Eventually<'a>),
    Predicate(Expr<'a>),
}

/// `struct name { type member; … }`
#[derive(Debug)]
pub(super) struct Structure<'a> {
    pub name: Name<'a>,
    /// Members of a type, in order.
    pub members: Vec<(TypeName<'a>, Vec<Declarator<'a>>)>,
    /// From the name to the closing brace.
    pub span: Span,
}

/// `chan name[capacity] of type`
#[derive(Debug)]
pub(super) struct Channel<'a> {
    pub name: Name<'a>,
    pub capacity: Expr<'a>,
    pub ty: std::rc::Rc<TypeName<'a>>,
    /// From the name to the type.
    pub span: Span,
}

/// `eventually label` or `eventually thread.label`, perhaps after `always`.
#[derive(Debug)]
pub(super) struct Eventually<'a> {
    pub again: bool,
    pub thread: Option<Name<'a>>,
    pub label: Name<'a>,
    /// All of it.
    pub span: Span,
}

/// A procedure, a thread, a task or `main`.
#[derive(Debug)]
pub(super) struct Routine<'a> {
    pub kind: RoutineKind<'a>,
    /// Of `main`, the keyword.
    pub name: Name<'a>,
    pub parameters: Vec<Parameter<'a>>,
    pub result: Option<TypeName<'a>>,
    pub body: Block<'a>,
}

/// What a routine is.
#[derive(Debug)]
pub(super) enum RoutineKind<'a> {
    Procedure,
    Thread(Threads<'a>),
    Task,
    Main,
}

/// How many threads there are.
#[derive(Debug)]
pub(super) enum Threads<'a> {
    One,
    Some(Expr<'a>),
    Any,
}

/// A parameter.
#[derive(Debug)]
pub(super) struct Parameter<'a> {
    /// Whether it stands for a variable, not for a value.
    pub reference: bool,
    pub ty: TypeName<'a>,
    pub name: Name<'a>,
}

/// A type as it is written.
#[derive(Debug)]
pub(super) enum TypeName<'a> {
    Bool,
    Int,
    Range(Box<Expr<'a>>, Box<Expr<'a>>),
    /// An enumeration or a structure.
    Named(Name<'a>),
    /// Of members of structures only.
    Lock,
}

/// A name that is declared, perhaps as an array, perhaps with a value.
#[derive(Debug)]
pub(super) struct Declarator<'a> {
    pub name: Name<'a>,
    /// Of an array, how many elements it has; one for each dimension.
    pub lengths: Vec<Expr<'a>>,
    pub initial: Option<Initial<'a>>,
    /// From the name to the value.
    pub span: Span,
}

/// The value that a variable is declared with.
#[derive(Debug)]
pub(super) enum Initial<'a> {
    /// Of a variable, or of each element of an array.
    One(Expr<'a>),
    /// Of the elements of an array or the members of a structure, one after the other, from brace to brace.
    Each(Vec<Initial<'a>>, Span),
    /// Of each element of an array, from brace to brace.
    All(Box<Initial<'a>>, Span),
}

/// `i in lo..hi`, both included.
#[derive(Debug)]
pub(super) struct Binder<'a> {
    pub name: Name<'a>,
    pub low: Expr<'a>,
    pub high: Expr<'a>,
}

/// Statements in braces.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub statements: Vec<Statement<'a>>,
    /// The closing brace.
    pub close: Span,
}

/// A statement, with the labels before it.
#[derive(Debug)]
pub(super) struct Statement<'a> {
    pub labels: Vec<Name<'a>>,
    pub kind: StatementKind<'a>,
    /// What a trace shows: the statement without its `;`; of `while` and the like, the part before the body.
    pub span: Span,
}

/// See [`Statement`].
#[derive(Debug)]
pub(super) enum StatementKind<'a> {
    Declare(TypeName<'a>, Vec<Declarator<'a>>),
    Assign(Vec<Reference<'a>>, Vec<Expr<'a>>),
    Call(Name<'a>, Vec<Expr<'a>>),
    Return(Option<Expr<'a>>),
    /// `assume`
    Assume(Expr<'a>),
    Await(Expr<'a>),
    Assert(Expr<'a>),
    Error,
    Skip,
    /// The branches with their conditions, one `else if` after another, and what comes after the last `else`.
    If(Vec<Branch<'a>>, Option<Block<'a>>),
    While(Expr<'a>, Block<'a>),
    Loop(Block<'a>),
    For(Box<Binder<'a>>, Block<'a>),
    Choose(Vec<Block<'a>>),
    Block(Block<'a>),
    Atomic(Block<'a>),
    Break,
    Continue,
    Goto(Vec<Name<'a>>),
    Acquire(Reference<'a>),
    Release(Reference<'a>),
    Spawn(Name<'a>),
    Wait(Name<'a>),
    Broadcast(Name<'a>),
    Signal(Name<'a>),
    Post(Name<'a>, Vec<Expr<'a>>),
    Yield,
}

/// A branch of an `if`.
#[derive(Debug)]
pub(super) struct Branch<'a> {
    pub condition: Expr<'a>,
    pub body: Block<'a>,
    /// The keyword and the condition.
    pub span: Span,
}

/// A variable or a part of one: `x`, `a[i]`, `nodes[i].next`.
#[derive(Debug)]
pub(super) struct Reference<'a> {
    pub name: Name<'a>,
    pub selectors: Vec<Selector<'a>>,
    pub span: Span,
}

/// What leads to a part of a variable.
#[derive(Debug)]
pub(super) enum Selector<'a> {
    /// `[e]`
    Index(Expr<'a>),
    /// `.member`
    Member(Name<'a>),
}

impl<'a> Selector<'a> {
    /// The index, if it is one.
    pub fn index(&self) -> Option<&Expr<'a>> {
        if let Selector::Index(index) = self { Some(index) } else { None }
    }
}

/// An expression.
#[derive(Debug)]
pub(super) struct Expr<'a> {
    pub kind: ExprKind<'a>,
    pub span: Span,
    /// How deep it is. Limited, since expressions are walked by recursion, here and everywhere else.
    pub height: usize,
}

/// See [`Expr`].
#[derive(Debug)]
pub(super) enum ExprKind<'a> {
    Number(Value),
    Bool(bool),
    /// `*` where an operand is expected.
    Any,
    Name(Name<'a>),
    /// A part of a variable; at least one selector.
    Part(Name<'a>, Vec<Selector<'a>>),
    This,
    /// `at(label)` or `at(name.label)`.
    At(Option<Name<'a>>, Name<'a>),
    /// `other.x` or `other.x[e]`.
    Other(Name<'a>, Vec<Selector<'a>>),
    Call(Name<'a>, Vec<Expr<'a>>),
    Quantified(Quantifier, Box<Binder<'a>>, Box<Expr<'a>>),
    /// `forall p in worker: e`, with the name and the threads.
    OfThreads(Quantifier, Name<'a>, Name<'a>, Box<Expr<'a>>),
    Unary(Unary, Box<Expr<'a>>),
    Binary(Binary, Box<Expr<'a>>, Box<Expr<'a>>),
    If(Box<Expr<'a>>, Box<Expr<'a>>, Box<Expr<'a>>),
}

/// What is said of all values in a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Quantifier {
    /// It is true for each.
    Forall,
    /// It is true for one at least.
    Exists,
    /// For how many it is true.
    Count,
}

impl Quantifier {
    /// The quantifier that a word stands for. These words are names everywhere else.
    pub fn of(word: &str) -> Option<Quantifier> {
        match word {
            "forall" => Some(Quantifier::Forall),
            "exists" => Some(Quantifier::Exists),
            "count" => Some(Quantifier::Count),
            _ => None,
        }
    }
}
