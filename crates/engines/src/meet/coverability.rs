//! Can a bad configuration be covered, with any number of threads? Methods for counter systems (UCOB).
//!
//! * [`backward`]: the least configurations from which a bad one can be covered (UCOB, Algorithm 1), within the bound of a
//!   forward [`oracle`] (section V) and of place [`invariants`];
//! * [`karp_miller`]: forward, where any number stands for what can be pumped; for systems that only take and give;
//! * [`forward`]: breadth first, with one thread, two, three, …; finds bugs;
//! * [`duel`]: forward and backward against each other on two cores, what is used where no method is named.
//!
//! [`threads`] hands programs to them. What they share: [`net`], the rules in a form that is fast to use; [`basis`], sets of configurations; [`board`], what the sides of a duel tell; and
//! [`shorten`](mod@shorten).
//!
//! All of them take the relaxed reading of rules that test for an exact number, except [`forward`]. A run that the exact
//! rules do not allow is never given as an answer: then the method gives up.

pub mod backward;
pub mod basis;
pub mod board;
pub mod duel;
pub mod forward;
pub mod invariants;
pub mod karp_miller;
pub mod net;
pub mod oracle;
pub mod shorten;
pub mod threads;

use crate::engine::Watch;
use allways_evidence::counters::{Run, walk};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::Counters;

/// A way to decide.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// [`duel`]
    Coverability,
    /// [`backward`]
    Backward,
    /// [`karp_miller`]
    KarpMiller,
    /// [`forward`]
    Forward,
}

impl Method {
    /// All of them; the first is used where none is named.
    pub const ALL: [Method; 4] =
        [Method::Coverability, Method::Backward, Method::KarpMiller, Method::Forward];

    /// The name by which users choose it.
    pub fn name(self) -> &'static str {
        match self {
            Method::Coverability => "coverability",
            Method::Backward => "backward",
            Method::KarpMiller => "karp-miller",
            Method::Forward => "forward",
        }
    }

    /// What it does, in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Method::Coverability => "any number of threads: forward and backward against each other",
            Method::Backward => "any number of threads: from what is bad back to where it starts",
            Method::KarpMiller => {
                "any number of threads: forward, what can be pumped is any number; no broadcasts"
            }
            Method::Forward => "one thread, two, three, …: breadth first; finds bugs and proves nothing",
        }
    }
}

/// What came out, and what it took.
#[derive(Clone, Debug)]
pub struct Report {
    /// The answer; a claim until a checker of `evidence` has accepted it.
    pub verdict: Verdict,
    /// The method that gave it.
    pub method: Method,
    /// Configurations, or sets of them, that were stored.
    pub stored: usize,
    /// Successors and predecessors that were computed.
    pub images: u64,
}

impl Report {
    fn unknown(method: Method, reason: StopReason) -> Report {
        Report { verdict: Verdict::Unknown(reason), method, stored: 0, images: 0 }
    }
}

/// Decides whether the system can cover one of its targets, or says why not. The system must be
/// [valid](Counters::validate).
pub fn decide(system: &Counters, method: Method, watch: &Watch) -> Report {
    match method {
        Method::Coverability => duel::decide(system, watch),
        Method::Backward => backward::decide(system, watch),
        Method::KarpMiller => karp_miller::decide(system, watch),
        Method::Forward => forward::decide(system, watch),
    }
}

/// A run that was found by relaxed rules, if the exact ones allow it.
fn exactly(system: &Counters, run: Run) -> Verdict {
    match walk(system, &run) {
        Err(_) if !system.is_monotone() => {
            let why = "by relaxed rules, in which tests for an exact number let the rest vanish, a target can be covered";
            Verdict::Unknown(StopReason::GaveUp(why.to_string()))
        }
        _ => Verdict::from(run),
    }
}
