//! The abstract-interpretation baseline of DrUBA's evaluation (section 6.1, "AI").
//!
//! The walk is that of [`druba`](super::druba), but after each increment of either bound the abstract states are tested for
//! closure under *all* actions, and the first success ends it: no plateau is needed. Where the set has not changed since
//! the last test, neither has the answer.

use super::walk::Walk;
use crate::above::closure::Actions;
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::Halt;
use allways_evidence::Invariant;
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Ai;

impl PushdownEngine for Ai {
    const INFO: Info = Info::new("ai", "explores growing rounds and delays; after each increment tests closure under all actions (DrUBA, section 6)").knowing(&[Setting::NoFrontier]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut walk = Walk::new(system, question, budget);
        let outcome = until_closed(&mut walk, system.threads());
        walk.report(outcome)
    }
}

fn until_closed(walk: &mut Walk, threads: usize) -> Result<Invariant, Halt> {
    walk.start()?;
    let mut quiet_delays = 0;
    let mut round_is_next = true;
    let mut changed = true;
    loop {
        if (changed || walk.exhausted())
            && let Ok(invariant) = walk.test(Actions::All)?
        {
            return Ok(invariant);
        }
        // The walk of Algorithm 1; past a plateau it starts again with a round.
        if round_is_next {
            changed = walk.add_round()?;
            (round_is_next, quiet_delays) = (changed || threads == 1, 0);
        } else {
            changed = walk.add_delay()?;
            quiet_delays += 1;
            round_is_next = changed || quiet_delays == threads - 1;
        }
    }
}
