//! `modular-relaxed`: relaxed frontier search (TM, Algorithm 20).
//!
//! As frontier search, but where the step from T^i shows no thread state that is new, what was before is not forgotten:
//!
//! * T^(i+1) = post# T^i, if that is not within T^0 ⊔ … ⊔ T^i,
//! * T^(i+1) = T^i ⊔ post# T^i, otherwise.
//!
//! The products of T^0, …, T^k together are inductive for the first k with T^(k+1) ⊑ T^k (TM, Proposition 19), and k is at
//! most quadratic in the number of thread states (TM, Proposition 18).

use super::facts::Facts;
use super::steps::{self, Halt, Sequence, Steps};
use super::{Method, Views};
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use allways_evidence::StopReason;
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Relaxed;

impl PushdownEngine for Relaxed {
    const INFO: Info = Info { threads: crate::engine::Threads::FixedOrAny, ..Info::new("modular-relaxed", "as modular, but forgets what was before where a step shows something new; keeps early and late apart").knowing(&[Setting::NoSymmetry]) };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        steps::run(Method { system, question, budget }, Views::one, search)
    }
}

fn search(steps: &mut Steps, first: Facts, sequence: &mut Sequence) -> Result<(), Halt> {
    let mut relaxation = Relaxation::new(&first);
    let mut facts = first;
    for element in 0.. {
        sequence.push(steps, &facts)?;
        let after = relaxation.next(steps, &facts)?.0;
        if after.within(&facts) {
            sequence.turn(steps, element);
            return Ok(());
        }
        facts = after;
    }
    Ok(())
}

/// The decision between forgetting and keeping.
pub struct Relaxation {
    /// T^0 ⊔ … ⊔ T^i.
    all: Facts,
}

impl Relaxation {
    /// At the start.
    pub fn new(first: &Facts) -> Relaxation {
        Relaxation { all: first.clone() }
    }

    /// T^(i+1), and whether it keeps T^i.
    pub fn next(&mut self, steps: &mut Steps, facts: &Facts) -> Result<(Facts, bool), StopReason> {
        let mut after = steps.post(facts)?;
        let keeps = after.within(&self.all);
        if keeps {
            after.join(facts);
        }
        self.all.join(&after);
        Ok((after, keeps))
    }
}
