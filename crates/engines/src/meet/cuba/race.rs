//! The overall procedure of CUBA, section 6.

use super::{Cuba, CubaSymbolic, Scheme1};
use crate::above::finite_contexts::{finite_contexts, remark};
use crate::automata::fcr::Fcr;
use crate::budget::Budget;
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting, VisibleStates};
use crate::meet::race::race;
use allways_evidence::Verdict;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// The procedure; see the [module](super).
pub struct CubaRace;

impl PushdownEngine for CubaRace {
    const INFO: Info = Info::new("cuba-race", "cuba and scheme1 on two threads where contexts are finite, else cuba-symbolic (CUBA, section 6)").knowing(&[Setting::PublishedBound, Setting::Window]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        match finite_contexts(system, budget) {
            Err(reason) => Outcome {
                verdict: Verdict::Unknown(reason),
                visible: VisibleStates::new(Kinds::distinct(system.threads())),
                exact: false,
                figures: Figures::default(),
                engine: None,
            },
            Ok(threads) => {
                let mut report = if threads.iter().all(|fcr| *fcr == Fcr::Finite) {
                    race(&[&Cuba, &Scheme1], system, question, budget)
                } else {
                    Outcome { engine: Some(CubaSymbolic.name()), ..CubaSymbolic.run(system, question, budget) }
                };
                let remarks = threads.iter().enumerate().map(|(thread, fcr)| remark(system, thread, fcr));
                report.figures.remarks.extend(remarks);
                report
            }
        }
    }
}
