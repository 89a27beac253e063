//! `modular`: the algorithm of Flanagan and Qadeer (TM, section 2.2), local Cartesian abstraction (TM, Theorem 6).
//!
//! The least sets R_i and guarantees G_i with
//!
//! * INIT: R_i contains where thread i starts;
//! * STEP: if (g, l) is in R_i and thread i moves from it to (g', l'), then (g', l') is in R_i and (g, g') in G_i;
//! * ENV: if (g, l) is in R_i and (g, g') in G_j for another thread j, then (g', l) is in R_i.
//!
//! Their product contains every reachable state. Polynomial in the number of threads.

use super::{Method, Views, saturate};
use crate::engine::{Engine, Question, Report, Watch};
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Modular;

impl Engine for Modular {
    fn name(&self) -> &'static str {
        "modular"
    }

    fn summary(&self) -> &'static str {
        "sets of thread states, one for each thread, closed under its own and the others' steps; proves, also for any number of threads"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        saturate(Method { system, question, watch }, Views::one)
    }
}
