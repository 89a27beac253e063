//! The three answers. Each owns what makes it believable.

use crate::products::close::close;
use crate::{Counted, Invariant, Products, Rejection, Trace, induct};
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use std::fmt;

/// The answer to "can it go wrong?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No: what the proof describes contains every reachable state and no bad one.
    Safe(Proof),
    /// Yes: the trace ends in a bad state.
    Unsafe(Trace),
    /// Not known, and why.
    Unknown(StopReason),
}

/// A set that contains every reachable state, in one of the forms that a checker knows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// A list of abstract states.
    Invariant(Invariant),
    /// Sets of thread states, and their products.
    Products(Products),
    /// A proof for the counter system that the system is.
    Counted(Box<Counted>),
}

impl Proof {
    /// Has it checked. Asks `stop` now and then whether to go on.
    pub fn check(
        &self,
        system: &dyn Pushdown,
        property: &Property,
        stop: &dyn Fn() -> Option<StopReason>,
    ) -> Result<(), Rejection> {
        match self {
            Proof::Invariant(invariant) => induct(system, property, invariant, stop),
            Proof::Products(products) => close(system, property, products, stop),
            Proof::Counted(counted) => counted.check(system, property, stop),
        }
    }

    /// Whether it is about any number of threads.
    pub fn any_number(&self) -> bool {
        match self {
            Proof::Invariant(_) => false,
            Proof::Products(products) => products.any_number(),
            Proof::Counted(counted) => counted.products.any_number(),
        }
    }
}

impl From<Invariant> for Verdict {
    fn from(invariant: Invariant) -> Verdict {
        Verdict::Safe(Proof::Invariant(invariant))
    }
}

impl From<Products> for Verdict {
    fn from(products: Products) -> Verdict {
        Verdict::Safe(Proof::Products(products))
    }
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
