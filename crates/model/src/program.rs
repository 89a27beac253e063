//! Concurrent programs: what every notation of programs lowers to.
//!
//! A program has shared variables, procedures given as control-flow graphs, and thread templates that say how many
//! threads run which procedure. All procedures share one numbering of [`Location`]s. A location has outgoing [`Edge`]s;
//! a step of a thread takes one of them. Which edges can be taken, and what they do, is defined in [`semantics`]: short,
//! slow, and what everything else is tested against.
//!
//! Values are integers; Booleans are 0 and 1. Arrays are laid out flat: the shared variables have one [`Slot`] after
//! another, and so have the local variables of each procedure (its parameters first). Places in the source are kept
//! everywhere, since a trace must name them.
//!
//! What has no construct of its own here is expressed by others: conditions are pairs of [`Op::Guard`]; `goto` and
//! `choose` are several edges of one location; asynchronous tasks are threads that pass a token (a shared variable of the
//! front end's making, [`RUNNING`]) at every yield.
//!
//! Read in this order: this file; [`expression`], values and their evaluation; [`semantics`], the reference step
//! function; [`progress`], what is promised of runs; [`reduction`](mod@reduction), what can be left out without changing any
//! verdict; [`validate`](mod@validate), what a program must be like to be one.

pub mod defined;
pub mod expression;
pub mod inputs;
pub mod numbers;
pub mod path;
pub mod progress;
pub mod reduction;
pub mod semantics;
pub mod sequential;
pub mod validate;

pub use expression::{Binary, Expr, Machine, Unary};
pub use progress::{Eventually, Goal};
use std::sync::Arc;

/// A value: an integer, or a Boolean as 0 or 1.
pub type Value = i64;

/// The hidden variable of an asynchronous program: whether a task (or `main`) runs. No name of a text is spelt so.
pub const RUNNING: &str = "#running";

/// The hidden variable of a C program in which data races are looked for: twice the shared slot that a thread is about to
/// access, plus 1 if it is about to write it; 0 if no thread has stopped to watch.
pub const WATCHED: &str = "#watched";

/// The number of a variable (or of an element of an array) among the shared ones, or among the local ones of a procedure.
pub type Slot = usize;

crate::index_type! {
    /// The number of a location, over all procedures.
    pub struct LocationId(usize) of Location;
}

crate::index_type! {
    /// The number of a procedure.
    pub struct ProcedureId(usize) of Procedure;
}

crate::index_type! {
    /// The number of an event.
    pub struct EventId(usize);
}

crate::index_type! {
    /// The number of a thread template.
    pub struct TemplateId(usize) of Template;
}

/// A place in the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Span {
    /// Where it starts, in bytes.
    pub start: u32,
    /// Where it ends, in bytes.
    pub end: u32,
    /// The line in which it starts, counted from 1.
    pub line: u32,
    /// The column at which it starts, counted from 1, in characters.
    pub column: u32,
}

/// The values that a variable may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// False and true.
    Bool,
    /// All integers.
    Int,
    /// The integers from the first to the second, both included.
    Range(Value, Value),
    /// A mutex: free, or held by a thread. Shared variables only.
    Lock,
}

impl Type {
    /// The value of a variable that nobody has given one.
    pub fn default_value(self) -> Value {
        match self {
            Type::Range(low, _) => low,
            Type::Bool | Type::Int | Type::Lock => 0,
        }
    }

    /// The least and the greatest value, if the type is finite.
    pub fn bounds(self) -> Option<(Value, Value)> {
        match self {
            Type::Bool => Some((0, 1)),
            Type::Range(low, high) => Some((low, high)),
            Type::Int | Type::Lock => None,
        }
    }

    /// Whether a value is one of this type.
    pub fn contains(self, value: Value) -> bool {
        self.bounds().is_none_or(|(low, high)| low <= value && value <= high)
    }
}

/// A variable, or an array of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Its name; unique among the shared variables, and among the local ones of a procedure as far as people can tell.
    pub name: String,
    /// The type of each element.
    pub ty: Type,
    /// The slot of its first element.
    pub slot: Slot,
    /// How many elements it has, if it is an array.
    pub length: Option<usize>,
    /// The initial values of its elements; `None` is any value of the (finite) type. Of a parameter, ignored.
    pub initial: Vec<Option<Value>>,
    /// A local variable that other threads write with [`Target::Others`].
    pub mixed: bool,
    /// What its values are called, from the least one on, if they have names.
    pub names: Option<Arc<[String]>>,
    /// Where it is declared.
    pub span: Span,
}

impl Variable {
    /// A hidden variable that is 0 at first, and no more than this later.
    pub fn counter(name: impl Into<String>, most: Value, slot: Slot, span: Span) -> Variable {
        Variable {
            name: name.into(),
            ty: Type::Range(0, most),
            slot,
            length: None,
            initial: vec![Some(0)],
            mixed: false,
            names: None,
            span,
        }
    }

    /// How many slots it takes.
    pub fn slots(&self) -> usize {
        self.length.unwrap_or(1)
    }

    /// The name of the local variable by which a thread knows whether it is the one that a shared variable holds. Nobody
    /// can write such a name.
    pub fn bit_of(name: &str) -> String {
        format!("#{name}")
    }

    /// The name of an element, or of all of it if it is no array: `x`, `a[2]`. The name of an array of several dimensions, or
    /// of a member of an array of structures, has its dimensions in it, as in `grid[2][3]` and `nodes[4].next`; in their
    /// places are the indices then.
    pub fn element_name(&self, index: usize) -> String {
        let Some(length) = self.length else { return self.name.clone() };
        let pieces: Vec<&str> = self.name.split(['[', ']']).collect();
        let dimensions: Option<Vec<usize>> =
            pieces.iter().skip(1).step_by(2).map(|piece| piece.parse().ok()).collect();
        let dimensions = dimensions.filter(|all| !all.is_empty() && all.iter().product::<usize>() == length);
        let Some(dimensions) = dimensions else { return format!("{}[{index}]", self.name) };
        let (mut rest, mut stride) = (index, length);
        let mut name = pieces[0].to_string();
        for (dimension, after) in dimensions.iter().zip(pieces.iter().skip(2).step_by(2)) {
            stride /= dimension;
            name += &format!("[{}]{after}", rest / stride);
            rest %= stride;
        }
        name
    }
}

/// Where a value is stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// What is written.
    pub target: Target,
    /// The type of what is written.
    pub ty: Type,
    /// Where this is in the source.
    pub span: Span,
}

/// What an assignment writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Target {
    /// A shared variable.
    Shared(Slot),
    /// A local variable.
    Local(Slot),
    /// An element of a shared array: its first slot, its length, the index.
    SharedElement(Slot, usize, Expr),
    /// An element of a local array: its first slot, its length, the index.
    LocalElement(Slot, usize, Expr),
    /// The local variable (marked as mixed) of every other thread that runs the same procedure.
    Others(Slot),
}

/// A lock, or one of an array of locks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LockPlace {
    /// Its shared slot, or that of the first of the array.
    pub slot: Slot,
    /// Of an array, its length and the index.
    pub element: Option<(usize, Expr)>,
    /// Where this is in the source.
    pub span: Span,
}

/// A step of one thread from a location to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// What the step does.
    pub op: Op,
    /// Where it leads; of a call, where the procedure returns to.
    pub to: LocationId,
    /// The statement or condition.
    pub span: Span,
}

/// What a step does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// Nothing.
    Skip,
    /// Values to places, all at once: all expressions and indices are evaluated first. If the constraint, in which
    /// [`Expr::NextShared`] and [`Expr::NextLocal`] are the values afterwards, is false, the step cannot be taken so.
    Assign(Vec<Place>, Vec<Expr>, Option<Expr>),
    /// The step can be taken if the expression has this truth value.
    Guard(Expr, bool),
    /// A violation if the expression is false.
    Assert(Expr),
    /// A violation.
    Error,
    /// The end of a procedure with a result was reached without one: a violation.
    NoResult,
    /// The program does here what the model leaves out: not followed any further, and no proof.
    Beyond,
    /// Calls a procedure with these arguments; when it returns, its results go to these places.
    Call(ProcedureId, Vec<Expr>, Vec<Place>),
    /// Returns from a procedure with these results. `to` is the location itself.
    Return(Vec<Expr>),
    /// From here to the next [`Op::AtomicEnd`] of this thread is a single step. It cannot be taken if it cannot be
    /// finished.
    AtomicBegin,
    /// Does nothing unless in an atomic section, which it ends.
    AtomicEnd,
    /// Takes a lock, if it is free.
    Acquire(LockPlace),
    /// Frees a lock; a violation unless this thread holds it.
    Release(LockPlace),
    /// Starts a thread of a template with these arguments.
    Spawn(TemplateId, Vec<Expr>),
    /// Starts a thread of this thread's template at a location, with a copy of the local variables.
    Fork(LocationId),
    /// Cannot be taken: it is another thread's [`Op::Broadcast`] or [`Op::Signal`] of the event that leads on.
    Wait(EventId),
    /// Leads every other thread that is at a [`Op::Wait`] for the event on.
    Broadcast(EventId),
    /// Leads one other thread that is at a [`Op::Wait`] for the event on, whichever; if there is none, does nothing.
    Signal(EventId),
}

impl Op {
    /// Where the step stores values; of a call, when it returns.
    pub fn places(&self) -> &[Place] {
        match self {
            Op::Assign(places, ..) | Op::Call(_, _, places) => places,
            _ => &[],
        }
    }

    /// All expressions of the step, indices among them.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let indices = self.places().iter().filter_map(|place| match &place.target {
            Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => Some(index),
            Target::Shared(_) | Target::Local(_) | Target::Others(_) => None,
        });
        let (values, one): (&[Expr], Option<&Expr>) = match self {
            Op::Assign(_, values, constraint) => (values, constraint.as_ref()),
            Op::Guard(expr, _) | Op::Assert(expr) => (&[], Some(expr)),
            Op::Call(_, values, _) | Op::Return(values) | Op::Spawn(_, values) => (values, None),
            Op::Acquire(lock) | Op::Release(lock) => (&[], lock.element.as_ref().map(|(_, index)| index)),
            _ => (&[], None),
        };
        indices.chain(values).chain(one)
    }

    /// Calls a function with all expressions of the step and their parts, the inner ones first.
    pub fn rewrite(&mut self, with: &mut dyn FnMut(&mut Expr)) {
        let (places, values, one): (&mut [Place], &mut [Expr], Option<&mut Expr>) = match self {
            Op::Assign(places, values, constraint) => (places, values, constraint.as_mut()),
            Op::Call(_, values, places) => (places, values, None),
            Op::Return(values) | Op::Spawn(_, values) => (&mut [], values, None),
            Op::Guard(expr, _) | Op::Assert(expr) => (&mut [], &mut [], Some(expr)),
            Op::Acquire(lock) | Op::Release(lock) => {
                (&mut [], &mut [], lock.element.as_mut().map(|(_, index)| index))
            }
            _ => (&mut [], &mut [], None),
        };
        for place in places {
            if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &mut place.target
            {
                index.rewrite(with);
            }
        }
        values.iter_mut().chain(one).for_each(|expr| expr.rewrite(with));
    }

    /// Calls a function with the shared slots that the step may access: the first, how many, and whether it writes them.
    pub fn shared_accesses(&self, see: &mut dyn FnMut(Slot, usize, bool)) {
        for expr in self.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Shared(slot) | Expr::NextShared(slot) => see(*slot, 1, false),
                Expr::SharedElement(slot, length, ..) => see(*slot, *length, false),
                _ => {}
            });
        }
        for place in self.places() {
            match &place.target {
                Target::Shared(slot) => see(*slot, 1, true),
                Target::SharedElement(slot, length, _) => see(*slot, *length, true),
                Target::Local(_) | Target::LocalElement(..) | Target::Others(_) => {}
            }
        }
        if let Op::Acquire(lock) | Op::Release(lock) = self {
            see(lock.slot, lock.element.as_ref().map_or(1, |(length, _)| *length), true);
        }
    }

    /// In how many ways the step can choose.
    pub fn ways(&self) -> u64 {
        let mut ways: u64 = 1;
        self.expressions().for_each(|expr| {
            expr.visit(&mut |part| {
                if let Expr::Choose(low, high) = part {
                    ways = ways.saturating_mul(high.abs_diff(*low).saturating_add(1));
                }
            });
        });
        ways
    }
}

/// A point of control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Location {
    /// The procedure it belongs to.
    pub procedure: ProcedureId,
    /// What a thread here can do. Nothing at the end of a thread. An edge that waits stands alone.
    pub edges: Vec<Edge>,
    /// The statement, or the end of the body.
    pub span: Span,
}

/// A label, for people and properties.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Its name; not unique.
    pub name: String,
    /// Where it stands.
    pub location: LocationId,
}

/// A procedure, or the body of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Procedure {
    /// Its name; unique.
    pub name: String,
    /// Its parameters, then its other local variables.
    pub locals: Vec<Variable>,
    /// How many of them are parameters.
    pub parameters: usize,
    /// The types of its results.
    pub results: Vec<Type>,
    /// Where it starts.
    pub entry: LocationId,
    /// Where it is declared.
    pub span: Span,
}

impl Procedure {
    /// How many slots its local variables take.
    pub fn slots(&self) -> usize {
        self.locals.last().map_or(0, |last| last.slot + last.slots())
    }

    /// The initial values of its local variables, slot by slot.
    pub fn initial(&self) -> impl Iterator<Item = Option<Value>> {
        self.locals.iter().flat_map(|local| local.initial.iter().copied())
    }
}

/// How many threads a template stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Count {
    /// So many.
    Fixed(usize),
    /// Any number.
    Any,
}

/// Threads that run the same procedure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    /// Its name; unique.
    pub name: String,
    /// What its threads run. No other template runs it, and nobody calls it.
    pub body: ProcedureId,
    /// How many there are at the start.
    pub count: Count,
    /// Whether some step starts threads of it.
    pub spawned: bool,
    /// Whether its threads leave no trace when they end, so that there may be any number of them over time: tasks.
    pub vanishes: bool,
    /// Whether an expression asks which thread it is ([`Expr::This`]).
    pub uses_self: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A property of states: the expression is never true. It speaks of shared variables and of [`Expr::At`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Never {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// What is never true.
    pub expr: Expr,
    /// Where it is stated.
    pub span: Span,
}

/// A program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Program {
    /// The shared variables.
    pub shared: Vec<Variable>,
    /// The names of the events.
    pub events: Vec<String>,
    /// The procedures, bodies of threads among them.
    pub procedures: Vec<Procedure>,
    /// The locations of all procedures.
    pub locations: Vec<Location>,
    /// The labels.
    pub labels: Vec<Label>,
    /// The threads.
    pub templates: Vec<Template>,
    /// What is never true.
    pub never: Vec<Never>,
    /// Where threads must come to.
    pub progress: Vec<Eventually>,
    /// Predicates that may help an abstraction.
    pub hints: Vec<Expr>,
    /// What its assertions are about.
    pub claims: Claims,
}

/// What the assertions of a program are about: it states them itself, or they stand for something that was asked of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Claims {
    /// What the program says.
    #[default]
    Stated,
    /// That no signed number leaves the range of its type.
    NoOverflow,
    /// That no thread ends that has a mutex.
    NoHeldMutex,
    /// That all memory is freed when the process ends.
    AllFreed,
}

/// What went wrong, and where.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Violation {
    /// What.
    pub kind: Wrong,
    /// The line of the place, counted from 1.
    pub line: u32,
    /// The column of the place, counted from 1.
    pub column: u32,
}

impl Violation {
    /// Of this kind, at this place.
    pub fn at(kind: Wrong, span: Span) -> Violation {
        Violation { kind, line: span.line, column: span.column }
    }
}

/// What can go wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Wrong {
    /// An assertion is false.
    Assertion,
    /// An `error` statement is reached.
    Error,
    /// A value is stored where it does not fit.
    Range,
    /// An index is not one of its array.
    Index,
    /// Something is divided by zero.
    Division,
    /// A lock is released by a thread that does not hold it.
    Release,
    /// A procedure with a result ends without one.
    NoResult,
    /// What should never be true is true.
    Never,
}

impl Wrong {
    /// All of them.
    pub const ALL: [Wrong; 8] = [
        Wrong::Assertion,
        Wrong::Error,
        Wrong::Range,
        Wrong::Index,
        Wrong::Division,
        Wrong::Release,
        Wrong::NoResult,
        Wrong::Never,
    ];

    /// One word for it.
    pub fn word(self) -> &'static str {
        match self {
            Wrong::Assertion => "assert",
            Wrong::Error => "error",
            Wrong::Range => "range",
            Wrong::Index => "index",
            Wrong::Division => "division",
            Wrong::Release => "release",
            Wrong::NoResult => "result",
            Wrong::Never => "never",
        }
    }
}

impl Program {
    /// The shared variables' slots.
    pub fn shared_slots(&self) -> usize {
        self.shared.last().map_or(0, |last| last.slot + last.slots())
    }

    /// The slot of the token that tasks pass, if the program is asynchronous.
    pub fn token(&self) -> Option<Slot> {
        self.shared.iter().find(|variable| variable.name == RUNNING).map(|variable| variable.slot)
    }

    /// Whether a local variable of a template's threads, of which a property speaks, is kept in an array of shared variables:
    /// one for each thread, so that their number is fixed. It is called `worker[3].x`; no other variable has the name of a template.
    pub fn keeps_locals_of(&self, template: &Template) -> bool {
        self.shared.iter().any(|variable| {
            let rest = variable.name.strip_prefix(template.name.as_str());
            rest.is_some_and(|rest| rest.starts_with(['[', '.']))
        })
    }

    /// The procedure of a location.
    pub fn procedure_of(&self, location: LocationId) -> &Procedure {
        &self.procedures[self.locations[location].procedure]
    }

    /// Whether some step wakes one of those that wait.
    pub fn signals(&self) -> bool {
        let mut edges = self.locations.iter().flat_map(|location| &location.edges);
        edges.any(|edge| matches!(edge.op, Op::Signal(_)))
    }

    /// The event for which a thread at this location waits.
    pub fn waits_for(&self, location: LocationId) -> Option<EventId> {
        match self.locations[location].edges.first() {
            Some(Edge { op: Op::Wait(event), .. }) => Some(*event),
            _ => None,
        }
    }
}

/// The name of a slot of some variables, such as `x`, `a[2]` or `nodes[2].next`.
pub fn slot_name(variables: &[Variable], slot: Slot) -> String {
    let after = variables.partition_point(|variable| variable.slot <= slot);
    let variable = &variables[after - 1];
    variable.element_name(slot - variable.slot)
}
