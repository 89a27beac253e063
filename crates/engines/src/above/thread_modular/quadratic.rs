//! `modular-quadratic`: sets for each thread and each last mover (TM, section 8.2, Theorem 21).
//!
//! The least sets R_i^j with
//!
//! * QINIT: R_i^j contains where thread i starts;
//! * QSTEP: if (g, l) is in R_i^j and thread i moves from it to (g', l'), then (g', l') is in R_i^i, and for each other
//!   thread k and (g, m) in R_k^j, (g', m) is in R_k^i.
//!
//! The tuple j stands for the states after a step of thread j, and the products of the tuples together contain every
//! reachable state. This is `modular` for the program whose shared state remembers who moved last: who has just entered a
//! critical section is not confused with another who might have. Never coarser than `modular` (TM, Proposition 22).

use super::{Method, Views, saturate};
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Quadratic;

impl PushdownEngine for Quadratic {
    const INFO: Info = Info { threads: crate::engine::Threads::FixedOrAny, ..Info::new("modular-quadratic", "as modular, with sets for each thread that may have moved last; proves mutual exclusion, also for any number of threads").knowing(&[Setting::NoSymmetry]) };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        saturate(Method { system, question, budget }, Views::for_movers)
    }
}
