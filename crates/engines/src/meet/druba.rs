//! Delay-unbounded analysis (DrUBA, Algorithm 1).
//!
//! Explore R(r,d) for growing bounds: rounds until a further one shows no new abstract state, then delays until `n-1`
//! further ones show none; whenever a delay shows a new one, start again with rounds. At such a plateau test whether the
//! abstract states are closed under disrespectful actions. If so they are all there are (Theorem 7): every respectful
//! step from a reached abstract state can be scheduled within one more round and `n-1` more delays.
//!
//! Deviations from the paper: the sets R(r,d) are exact (see [`rounds_delays`](crate::below::rounds_delays)); abstract
//! states carry marks, and what a pop uncovers is bounded by *below* instead of E (see [`closure`](crate::above::closure)).

use super::walk::Walk;
use crate::above::closure::Actions;
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::Halt;
use allways_evidence::{Invariant, StopReason};
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Druba;

impl PushdownEngine for Druba {
    const INFO: Info = Info::new("druba", "explores growing rounds and delays; at a plateau tests closure under disrespectful actions (DrUBA, Algorithm 1)").knowing(&[Setting::NoFrontier]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut walk = Walk::new(system, question, budget);
        let outcome = unbounded(&mut walk, system.threads());
        walk.report(outcome)
    }
}

fn unbounded(walk: &mut Walk, threads: usize) -> Result<Invariant, Halt> {
    walk.start()?;
    plateau(walk, threads)?;
    walk.test(Actions::Disrespectful)?
        .map_err(|escape| StopReason::GaveUp(format!("the convergence test failed: {escape}")).into())
}

/// Lines 3 to 22: explores up to a plateau of one round and `n-1` delays.
fn plateau(walk: &mut Walk, threads: usize) -> Result<(), Halt> {
    'rounds: loop {
        while walk.add_round()? {}
        for _ in 1..threads {
            if walk.add_delay()? {
                continue 'rounds;
            }
        }
        return Ok(());
    }
}
