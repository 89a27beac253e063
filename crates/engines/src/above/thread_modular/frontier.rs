//! `modular-frontier`: frontier search with Cartesian abstraction (TM, section 8.1). For comparison.
//!
//! T^0 is where the threads start and T^(i+1) = post# T^i: states that were seen are forgotten, and with them the temptation
//! to mix them with later ones. The union of the products of all T^i is inductive once T^(k+1) adds nothing. The paper stops
//! when the product of T^(k+1) is within the union of the earlier ones; here when it is within a single one of them, which is
//! simple to test and comes about, too, since there are finitely many products.
//!
//! Exponential in the number of threads in the worst case (TM, Theorem 12).

use super::facts::{Cell, Facts};
use super::steps::{self, Halt, Sequence, Steps};
use super::{Method, Views};
use crate::budget::Budget;
use crate::engine::{Info, Outcome, PushdownEngine, Question, Setting};
use allways_model::pushdown::{Pushdown, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The engine; see the module.
pub struct Frontier;

impl PushdownEngine for Frontier {
    const INFO: Info = Info {
        threads: crate::engine::Threads::FixedOrAny,
        ..Info::new(
            "modular-frontier",
            "as modular, but forgets at each step what was before; exponential, for comparison",
        )
        .knowing(&[Setting::NoSymmetry])
    };

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        steps::run(Method { system, question, budget }, Views::one, search)
    }
}

fn search(steps: &mut Steps, first: Facts, sequence: &mut Sequence) -> Result<(), Halt> {
    let mut elements = Elements::default();
    let mut facts = first;
    loop {
        if let Some(element) = elements.containing(&facts) {
            sequence.turn(steps, element);
            return Ok(());
        }
        sequence.push(steps, &facts)?;
        elements.push(&facts);
        facts = steps.post(&facts)?;
    }
}

/// The elements so far, as a set of their numbers for each fact: those that have it.
#[derive(Default)]
struct Elements {
    having: HashMap<(Cell, Shared, u32), Vec<u64>, FxBuildHasher>,
    count: usize,
}

impl Elements {
    fn push(&mut self, facts: &Facts) {
        let word = self.count / 64;
        for fact in facts.each() {
            let numbers = self.having.entry(fact).or_default();
            numbers.resize(word + 1, 0);
            numbers[word] |= 1 << (self.count % 64);
        }
        self.count += 1;
    }

    /// An element that has all of these facts.
    fn containing(&self, facts: &Facts) -> Option<usize> {
        if facts.is_empty() {
            // Nobody can move: any element will do.
            return (self.count > 0).then_some(0);
        }
        let numbers: Option<Vec<&Vec<u64>>> = facts.each().map(|fact| self.having.get(&fact)).collect();
        let numbers = numbers?;
        let words = numbers.iter().map(|numbers| numbers.len()).min()?;
        (0..words).find_map(|word| {
            let all = numbers.iter().try_fold(u64::MAX, |all, numbers| {
                let all = all & numbers[word];
                (all != 0).then_some(all)
            })?;
            Some(word * 64 + all.trailing_zeros() as usize)
        })
    }
}
