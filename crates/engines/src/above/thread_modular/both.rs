//! `modular-both`: relaxed frontier search with sets for each last mover; the combination that TM, section 8.3, leaves to
//! the reader. `docs/thread-modular.md` has the proofs.
//!
//! Two sequences run side by side. T^i is the one of `modular-relaxed`. U^i has the sets of `modular-quadratic`, and follows
//! the decisions of T: where T^(i+1) keeps T^i, U^(i+1) = U^i ⊔ post# U^i, and otherwise U^(i+1) = post# U^i. Once T does not
//! change any more it keeps for ever, so U grows from then on, and ends.
//!
//! Invariant: post# U^i ⊑ U^(i+1), so the products of all U^i are inductive; the sets of U^i, movers forgotten, are within
//! T^i; and U^i is within the sets of `modular-quadratic`. So this is never coarser than either.

use super::facts::Facts;
use super::relaxed::Relaxation;
use super::steps::{Halt, Sequence, Steps, conclude};
use super::views::Population;
use super::{Method, Views};
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use allways_model::pushdown::Pushdown;

/// The engine; see the module.
pub struct Both;

impl PushdownEngine for Both {
    const INFO: Info = Info {
        threads: crate::engine::Threads::FixedOrAny,
        ..Info::new(
            "modular-both",
            "modular-relaxed with the sets of modular-quadratic; never coarser than either",
        )
        .knowing(&[Setting::NoSymmetry])
    };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let method = Method { system, question, budget };
        let population = Population::of(system, question.no_symmetry);
        let (mut guide, t) = Steps::new(method, Views::one(population.clone()));
        let (mut steps, u) = Steps::new(method, Views::for_movers(population));
        let mut sequence = Sequence::default();
        let outcome = search((&mut guide, t), (&mut steps, u), &mut sequence);
        conclude(&steps, sequence, outcome)
    }
}

fn search(
    (guide, mut t): (&mut Steps, Facts),
    (steps, mut u): (&mut Steps, Facts),
    sequence: &mut Sequence,
) -> Result<(), Halt> {
    let mut relaxation = Relaxation::new(&t);
    let mut settled = false;
    for element in 0.. {
        sequence.push(steps, &u)?;
        let mut keeps = true;
        if !settled {
            let after;
            (after, keeps) = relaxation.next(guide, &t)?;
            settled = after.within(&t);
            t = after;
        }
        let mut after = steps.post(&u)?;
        if keeps {
            after.join(&u);
        }
        if settled && after.within(&u) {
            sequence.turn(steps, element);
            return Ok(());
        }
        u = after;
    }
    Ok(())
}
