//! The overall procedure of CUBA, section 6.

use super::{Cuba, CubaSymbolic, Scheme1};
use crate::above::finite_contexts::{finite_contexts, remark};
use crate::automata::fcr::Fcr;
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use crate::race::{Lane, race};
use allways_model::pushdown::Pushdown;

/// The procedure; see the [module](super).
pub struct CubaRace;

impl PushdownEngine for CubaRace {
    const INFO: Info = Info::new(
        "cuba-race",
        "cuba and scheme1 on two threads where contexts are finite, else cuba-symbolic (CUBA, section 6)",
    )
    .knowing(&[Setting::PublishedBound, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let threads = match finite_contexts(system, budget) {
            Ok(threads) => threads,
            Err(reason) => return Outcome::unknown(reason),
        };
        let mut outcome = if threads.iter().all(|fcr| *fcr == Fcr::Finite) {
            let cuba = |budget: &Budget| Cuba.search(system, question, budget).by(&Cuba::INFO);
            let scheme1 = |budget: &Budget| Scheme1.search(system, question, budget).by(&Scheme1::INFO);
            race(&[Lane::new(&cuba), Lane::new(&scheme1)], Outcome::settled, None, budget).best()
        } else {
            CubaSymbolic.search(system, question, budget).by(&CubaSymbolic::INFO)
        };
        let remarks = threads.iter().enumerate().map(|(thread, fcr)| remark(system, thread, fcr));
        outcome.figures.remarks.extend(remarks);
        outcome
    }
}
