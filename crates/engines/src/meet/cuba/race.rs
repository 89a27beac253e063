//! The overall procedure of CUBA, section 6.

use super::{Cuba, CubaSymbolic, Scheme1};
use crate::above::finite_contexts::{finite_contexts, remark};
use crate::automata::fcr::Fcr;
use crate::engine::{Engine, Figures, Question, Report, VisibleStates, Watch};
use crate::meet::race::race;
use allways_evidence::Verdict;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// The procedure; see the [module](super).
pub struct CubaRace;

impl Engine for CubaRace {
    fn name(&self) -> &'static str {
        "cuba-race"
    }

    fn summary(&self) -> &'static str {
        "cuba and scheme1 on two threads where contexts are finite, else cuba-symbolic (CUBA, section 6)"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        match finite_contexts(system, watch) {
            Err(reason) => Report {
                verdict: Verdict::Unknown(reason),
                visible: VisibleStates::new(Kinds::distinct(system.threads())),
                exact: false,
                figures: Figures::default(),
                engine: None,
            },
            Ok(threads) => {
                let mut report = if threads.iter().all(|fcr| *fcr == Fcr::Finite) {
                    race(&[&Cuba, &Scheme1], system, question, watch)
                } else {
                    Report { engine: Some(CubaSymbolic.name()), ..CubaSymbolic.run(system, question, watch) }
                };
                let remarks = threads.iter().enumerate().map(|(thread, fcr)| remark(system, thread, fcr));
                report.figures.remarks.extend(remarks);
                report
            }
        }
    }
}
