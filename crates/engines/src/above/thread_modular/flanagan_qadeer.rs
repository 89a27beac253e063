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
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Modular;

impl PushdownEngine for Modular {
    const INFO: Info = Info { threads: crate::engine::Threads::FixedOrAny, ..Info::new("modular", "sets of thread states, one for each thread, closed under its own and the others' steps; proves, also for any number of threads").knowing(&[Setting::NoSymmetry]) };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        saturate(Method { system, question, budget }, Views::one)
    }
}
