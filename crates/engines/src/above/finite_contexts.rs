//! Whether contexts reach finitely many states (CUBA, section 5): what explicit exploration by contexts needs.
//!
//! CUBA asks whether a thread alone reaches finitely many configurations from all stacks of at most one symbol. Here only
//! those count that the published Z allows, which is sharper and sound for the same reason: no others ever occur on top.

use super::emerging::Emerging;
use crate::automata::fcr::{Fcr, Pump, fcr};
use crate::budget::Budget;
use crate::engine::Question;
use crate::store::StateId;
use allways_evidence::StopReason;
use allways_model::notation::show_symbols;
use allways_model::pushdown::{Pushdown, Shared, Symbol};
use std::collections::BTreeSet;

/// Refuses a system in which a context may reach infinitely many states one by one, unless the question limits them.
pub fn require_finite_contexts(
    system: &dyn Pushdown,
    question: &Question,
    budget: &Budget,
) -> Result<(), StopReason> {
    if question.max_states.is_some() {
        return Ok(());
    }
    let threads = finite_contexts(system, budget)?;
    match threads.iter().enumerate().find(|(_, fcr)| **fcr != Fcr::Finite) {
        None => Ok(()),
        Some((thread, fcr)) => Err(StopReason::GaveUp(remark(system, thread, fcr))),
    }
}

/// For each thread, whether a context reaches finitely many states.
pub fn finite_contexts(system: &dyn Pushdown, budget: &Budget) -> Result<Vec<Fcr>, StopReason> {
    let bound = Emerging::compute(system, budget)?.states;
    let views = |thread: usize| -> BTreeSet<(Shared, Symbol)> {
        (0..bound.len() as StateId)
            .map(|id| (Shared(bound.column(id, 0)), Symbol(bound.column(id, 1 + thread))))
            .collect()
    };
    let mut poll = || budget.check();
    (0..system.threads()).map(|thread| fcr(system, thread, views(thread), &mut poll)).collect()
}

/// Whether a thread's contexts are finite, in words; if not, with the loop that shows it.
pub fn remark(system: &dyn Pushdown, thread: usize, fcr: &Fcr) -> String {
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
