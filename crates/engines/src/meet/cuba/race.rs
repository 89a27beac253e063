//! The overall procedure of CUBA, section 6.

use super::{Cuba, CubaSymbolic, Scheme1};
use crate::above::emerging::Emerging;
use crate::automata::fcr::{Fcr, Pump, fcr};
use crate::engine::{Engine, Figures, Question, Report, VisibleStates, Watch};
use crate::meet::race::race;
use crate::store::StateId;
use allways_evidence::{StopReason, Verdict};
use allways_model::notation::show_symbols;
use allways_model::pushdown::{Pushdown, Symbol};
use allways_model::symmetry::Kinds;
use std::collections::BTreeSet;

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

/// Whether a thread's contexts are finite, in words; if not, with the loop that shows it.
fn remark(system: &dyn Pushdown, thread: usize, fcr: &Fcr) -> String {
    match fcr {
        Fcr::Finite => format!("thread {thread} reaches finitely many states in a context"),
        Fcr::Infinite(Pump { shared, prefix, cycle, suffix }) => {
            let show = |symbols: &[Symbol]| show_symbols(system, thread, symbols.iter().copied());
            let mut stack = format!("{}.({})*", show(prefix), show(cycle));
            if !suffix.is_empty() {
                stack = format!("{stack}.{}", show(suffix));
            }
            let shared = system.shared_name(*shared);
            format!(
                "thread {thread} reaches infinitely many states in a context: at {shared} the stacks {stack}"
            )
        }
    }
}

/// For each thread, whether a context reaches finitely many states. Only configurations that the published Z allows count,
/// which is sharper than all of them and sound for the same reason.
pub fn finite_contexts(system: &dyn Pushdown, watch: &Watch) -> Result<Vec<Fcr>, StopReason> {
    let bound = Emerging::compute(system, watch)?.states;
    let views = |thread: usize| -> BTreeSet<(u32, u32)> {
        (0..bound.len() as StateId).map(|id| (bound.column(id, 0), bound.column(id, 1 + thread))).collect()
    };
    let mut poll = || watch.room_for(0);
    (0..system.threads()).map(|thread| fcr(system, thread, views(thread), &mut poll)).collect()
}
