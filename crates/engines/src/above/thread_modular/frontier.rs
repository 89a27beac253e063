//! `modular-frontier`: frontier search with Cartesian abstraction (TM, section 8.1). For comparison.
//!
//! T^0 is where the threads start and T^(i+1) = post# T^i: states that were seen are forgotten, and with them the temptation
//! to mix them with later ones. The union of the products of all T^i is inductive once T^(k+1) adds nothing. The paper stops
//! when the product of T^(k+1) is within the union of the earlier ones; here when it is within a single one of them, which is
//! simple to test and comes about, too, since there are finitely many products.
//!
//! Exponential in the number of threads in the worst case (TM, Theorem 12).

use super::facts::Facts;
use super::steps::{Halt, Sequence, Steps, conclude};
use super::views::Population;
use super::{Method, Views};
use crate::engine::{Engine, Question, Report, Watch};
use allways_model::pushdown::Pushdown;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

/// The engine; see the module.
pub struct Frontier;

impl Engine for Frontier {
    fn name(&self) -> &'static str {
        "modular-frontier"
    }

    fn summary(&self) -> &'static str {
        "as modular, but forgets at each step what was before; exponential, for comparison"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        let method = Method { system, question, watch };
        let views = Views::one(Population::of(system, question.no_symmetry));
        let (mut steps, first) = Steps::new(method, views);
        let mut sequence = Sequence::default();
        let outcome = search(&mut steps, first, &mut sequence);
        conclude(&steps, sequence, outcome)
    }
}

fn search(steps: &mut Steps, first: Facts, sequence: &mut Sequence) -> Result<(), Halt> {
    // For each fact the elements that have it: an element with all facts of another is among those with its rarest one.
    let mut having: HashMap<(u32, u32, u32), Vec<usize>, FxBuildHasher> = HashMap::default();
    let mut elements: Vec<Facts> = Vec::new();
    let mut facts = first;
    loop {
        let known = match facts
            .each()
            .map(|fact| having.get(&fact).map_or(&[][..], Vec::as_slice))
            .min_by_key(|list| list.len())
        {
            // Nobody can move: any element will do.
            None => Some(0),
            Some(list) => list.iter().copied().find(|&element| facts.within(&elements[element])),
        };
        if let Some(element) = known.filter(|_| !elements.is_empty()) {
            sequence.turn(steps, element);
            return Ok(());
        }
        sequence.push(steps, &facts)?;
        facts.each().for_each(|fact| having.entry(fact).or_default().push(elements.len()));
        let after = steps.post(&facts)?;
        elements.push(facts);
        facts = after;
    }
}
