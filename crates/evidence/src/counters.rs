//! Evidence about counter systems: any number of threads.
//!
//! * [`run`]: a run that ends in a bad configuration, and the checker that walks it;
//! * [`proof`]: a set of configurations that no run enters and that contains all bad ones, and the checker that tests it;
//! * [`text`]: both as text files.

pub mod proof;
pub mod run;
pub mod text;

pub use proof::{Limit, Proof, Weights, check_proof};
pub use run::{Run, check_run};
pub use text::{Evidence, read_evidence, write_evidence};

use crate::StopReason;
use std::fmt;

/// The answer to "can a bad configuration be covered?".
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No, whatever the number of threads.
    Safe(Proof),
    /// Yes, by this run.
    Unsafe(Run),
    /// Not known, and why.
    Unknown(StopReason),
}

/// Why a checker does not accept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejection {
    /// It was stopped before it was done; it says nothing about the evidence.
    Stopped(StopReason),
    /// The first thing that fails, in words that can be looked up in the text of the evidence.
    Because(String),
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Stopped(reason) => write!(f, "not checked to the end: {reason}"),
            Rejection::Because(what) => write!(f, "{what}"),
        }
    }
}

impl std::error::Error for Rejection {}
