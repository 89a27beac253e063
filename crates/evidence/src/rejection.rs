//! Why a checker does not accept a piece of evidence.
//!
//! A rejection names the first thing that fails, in words that a reader can look up in the text of the evidence: steps
//! count from 1 (the initial state is step 0), abstract states count from 1, threads count from 0. What an invariant
//! lacks is also given as a value, so that a program can add it and try again.

use crate::{StopReason, Window};
use allways_model::pushdown::{Shared, Symbol};
use std::fmt;

/// Why evidence is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// The checker was stopped before it was done; it says nothing about the evidence.
    Stopped(StopReason),
    /// The evidence makes no sense for this system, whatever its rules: what is wrong.
    Malformed(String),
    /// The run starts in a state that is not initial: that state.
    NotInitial(String),
    /// The thread cannot make this step of the run.
    BadStep {
        /// Which step, counted from 1.
        step: usize,
        /// What is wrong with it.
        what: String,
    },
    /// The run ends in a state that violates nothing.
    NotBad {
        /// The last step, 0 if there is none.
        step: usize,
        /// The state in which the run ends.
        state: String,
    },
    /// The invariant takes threads for interchangeable that have different rules.
    NotAlike {
        /// The first thread of the kind, and one whose rules differ.
        threads: (usize, usize),
        /// In this shared state…
        shared: Shared,
        /// …with this symbol on top.
        top: Symbol,
        /// All that in words.
        what: String,
    },
    /// The invariant contains a state that violates the property, perhaps after a renaming of threads.
    BadState {
        /// The index of its row, counted from 0.
        row: usize,
        /// The abstract state that violates it.
        state: String,
    },
    /// Products, a basis or views lack an initial state, or what a step leads to, or contain a bad state: in words.
    NotClosed(String),
    /// The program goes wrong by its own semantics, although somebody says that it does not: how.
    Violated(String),
    /// The invariant does not cover an initial state, or a successor of a state that it covers.
    Missing {
        /// Where it is needed.
        origin: Origin,
        /// What the invariant lacks.
        missing: Missing,
        /// Both in words.
        what: String,
    },
}

/// Where an invariant needs something that it lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// At an initial state.
    Initial,
    /// After a step.
    Step {
        /// The row from which the step starts, counted from 0.
        row: usize,
        /// The thread that moves.
        thread: usize,
        /// The line of the rule by which it moves.
        line: u32,
    },
}

/// What an invariant lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Missing {
    /// An abstract state.
    State {
        /// Its shared state.
        shared: Shared,
        /// The window of each thread.
        windows: Vec<Window>,
    },
    /// A pair of the relation *below*.
    Below {
        /// On the stack of this thread, the first of its kind…
        thread: usize,
        /// …directly under this symbol…
        above: Symbol,
        /// …there can be this one, [`EMPTY`](allways_model::pushdown::EMPTY) for the end of the stack.
        under: Symbol,
    },
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Stopped(reason) => write!(f, "not checked to the end: {reason}"),
            Rejection::Malformed(what) => write!(f, "{what}"),
            Rejection::NotInitial(state) => write!(f, "step 0: {state} is not an initial state"),
            Rejection::BadStep { step, what } => write!(f, "step {step}: {what}"),
            Rejection::NotBad { step, state } => {
                write!(f, "step {step}: the run ends in {state}, which does not violate the property")
            }
            Rejection::NotAlike { what, .. } | Rejection::NotClosed(what) | Rejection::Violated(what) => {
                write!(f, "{what}")
            }
            Rejection::BadState { row, state } => {
                write!(f, "state {}: {state} violates the property", row + 1)
            }
            Rejection::Missing { what, .. } => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Rejection {}

/// A text for a message, cut where it gets long: evidence may be hostile, and its stacks as deep as it likes.
pub(crate) fn shorten(text: &str) -> String {
    const LONG: usize = 200;
    match text.char_indices().nth(LONG) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}
