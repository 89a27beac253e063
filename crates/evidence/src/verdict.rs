//! The three answers. Each owns what makes it believable.

use crate::{Invariant, Trace};
use std::fmt;

/// The answer to "can it go wrong?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No: the invariant contains every reachable state and no bad one.
    Safe(Invariant),
    /// Yes: the trace ends in a bad state.
    Unsafe(Trace),
    /// Not known, and why.
    Unknown(StopReason),
}

/// Why an engine stopped without an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StopReason {
    /// The time limit was reached.
    Time,
    /// The memory limit was reached.
    Memory,
    /// The user interrupted the run.
    Interrupted,
    /// Everything within the bound named here was explored.
    Bound(String),
    /// The method cannot decide this system; the text says what stops it.
    GaveUp(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StopReason::Time => write!(f, "the time limit was reached"),
            StopReason::Memory => write!(f, "the memory limit was reached"),
            StopReason::Interrupted => write!(f, "interrupted"),
            StopReason::Bound(bound) => write!(f, "explored everything within {bound}"),
            StopReason::GaveUp(why) => write!(f, "{why}"),
        }
    }
}
