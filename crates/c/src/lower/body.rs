//! The body of a thread that is being lowered.

use super::Model;
use super::cleanup::Cleanup;
use super::places::Target;
use crate::typed::{FunctionId, Type, VariableId};
use allways_model::program::{LocationId, ProcedureId, Slot, Variable};
use std::collections::HashMap;

/// Where a variable of a body is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Home {
    /// In the local slots from this one on.
    Local(Slot),
    /// In memory.
    Memory(super::ObjectId),
}

/// An address: of an object that is known, or some value.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Address {
    /// Of this place.
    Known(Target),
    /// This number.
    Value(Model),
}

/// Where `break`, `continue` and `return` lead.
#[derive(Clone, Default, Debug)]
pub(super) struct Exits {
    pub after: Vec<LocationId>,
    pub again: Vec<LocationId>,
}

/// A call that is being inlined.
#[derive(Clone, Debug)]
pub(super) struct Inlined {
    pub function: FunctionId,
    /// Where it returns to.
    pub back: LocationId,
    /// The local slots of its result.
    pub result: Vec<Slot>,
    /// Its labels, and whether the statement after each was lowered.
    pub labels: HashMap<String, (LocationId, bool)>,
    /// How many atomic sections are open where it returns.
    pub atomic: Option<usize>,
    /// What its result is converted to, if it is a pointer that is.
    pub allocates: Option<Type>,
    /// Whether the call itself is in a loop.
    pub in_loop: bool,
    /// The parts of the text that a `goto` back makes a loop of, in bytes.
    pub loops: Vec<(u32, u32)>,
}

/// The body of a thread, or of a function that calls itself.
#[derive(Default)]
pub(super) struct Body {
    pub procedure: ProcedureId,
    /// A number of its own.
    pub number: usize,
    pub locals: Vec<Variable>,
    pub homes: HashMap<VariableId, Home>,
    /// What transparent parameters stand for.
    pub bound: HashMap<VariableId, Address>,
    /// The types of the objects that they point to.
    pub lengths: HashMap<VariableId, Type>,
    /// Where functions leave their results.
    pub results: HashMap<FunctionId, Vec<Slot>>,
    pub temporaries: Vec<Slot>,
    pub used: usize,
    /// How many atomic sections are open.
    pub atomic: usize,
    /// Whether there may be more than one thread that runs it.
    pub many: bool,
    /// How many conditional statements are open.
    pub branches: usize,
    /// How many loops are open whose number of rounds is not known.
    pub loops: usize,
    /// The rounds of the innermost loop that is lowered round by round.
    pub rounds: usize,
    pub exits: Exits,
    pub calls: Vec<Inlined>,
    /// Locations of the cases of the open `switch`, by the place of the statement.
    pub cases: HashMap<usize, LocationId>,
    /// Whether it is the procedure of a function that calls itself.
    pub is_procedure: bool,
    /// The local slots of the values that keys have for this thread.
    pub specific: Option<Slot>,
    /// The cleanup handler that is about to be registered, and those that are.
    pub cleanup: Option<Cleanup>,
    pub cleanups: Vec<Cleanup>,
    /// Where the thread counts the mutexes that it has, if that is asked.
    pub has: Option<Slot>,
    /// Where the value of a thread that ends waits.
    pub exit_value: Option<Slot>,
    /// The number of the thread, if there is one thread only and it was created.
    pub thread: Option<usize>,
    /// The counter of threads of its crew that have ended.
    pub ended: Option<Slot>,
}
