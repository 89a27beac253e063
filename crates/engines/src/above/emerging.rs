//! The published Z: what is reachable when stacks are cut off at one symbol (CUBA, section 4.1.3, Algorithm 2).
//!
//! After a pop any symbol may emerge that a rule of the thread ever pushes another onto (the set E), or none. Coarser than
//! [`tops`](super::tops); kept for the methods that are defined by it. E holds the symbols of rules that apply in Z, not of
//! all rules that are written down: a rule that never applies uncovers nothing.

use crate::budget::{Budget, Progress};
use crate::store::{Disabled, Expander, Graph, Move, StateId, States};
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::HashMap;
use std::collections::BTreeSet;

/// The set Z and what is needed to tell generators.
pub struct Emerging {
    /// The visible states of Z: rows of the shared state and a symbol per thread.
    pub states: States,
    /// For each thread, the symbols that may emerge after a pop.
    pub emerging: Vec<BTreeSet<Symbol>>,
    /// For each thread, the shared states in which a pop may end.
    pub popped: Vec<BTreeSet<Shared>>,
}

struct Cut<'a> {
    system: &'a dyn Pushdown,
    emerging: Vec<BTreeSet<Symbol>>,
    popped: Vec<BTreeSet<Shared>>,
    known: Vec<HashMap<(Shared, Symbol), Vec<Move>>>,
}

impl Graph for Cut<'_> {
    fn moves(&mut self, thread: usize, shared: Shared, top: u32) -> &[Move] {
        let top = Symbol(top);
        let Cut { system, emerging, popped, known } = self;
        known[thread].entry((shared, top)).or_insert_with(|| {
            let mut rules = Vec::new();
            system.rules(thread, shared, top, &mut rules);
            let mut moves = Vec::new();
            for rule in rules {
                let symbols = rule.word.symbols();
                emerging[thread].extend(symbols.get(1));
                moves.push(Move { shared: rule.shared, local: symbols.first().copied().unwrap_or(EMPTY).0 });
                if symbols.is_empty() {
                    popped[thread].insert(rule.shared);
                    if top != EMPTY {
                        moves.extend(
                            emerging[thread]
                                .iter()
                                .map(|&local| Move { shared: rule.shared, local: local.0 }),
                        );
                    }
                }
            }
            moves
        })
    }
}

impl Emerging {
    /// Computes Z, anew whenever E has grown on the way.
    pub fn compute(system: &dyn Pushdown, budget: &Budget) -> Result<Emerging, StopReason> {
        let threads = system.threads();
        let mut cut = Cut {
            system,
            emerging: vec![BTreeSet::new(); threads],
            popped: vec![BTreeSet::new(); threads],
            known: vec![HashMap::new(); threads],
        };
        loop {
            let before = cut.emerging.clone();
            cut.known.iter_mut().for_each(HashMap::clear);
            let states = explore(&mut cut, budget)?;
            if cut.emerging == before {
                return Ok(Emerging { states, emerging: cut.emerging, popped: cut.popped });
            }
        }
    }

    /// Whether a visible state is a generator (CUBA, equation 2): some thread may just have popped.
    pub fn generates(&self, shared: Shared, tops: impl Iterator<Item = Symbol>) -> bool {
        tops.enumerate().any(|(thread, top)| {
            self.popped[thread].contains(&shared) && (top == EMPTY || self.emerging[thread].contains(&top))
        })
    }
}

fn explore(cut: &mut Cut, budget: &Budget) -> Result<States, StopReason> {
    let threads = cut.system.threads();
    let mut states = States::new(1 + threads);
    let mut expander = Expander::new(Kinds::distinct(threads));
    for state in cut.system.initial() {
        let visible = state.visible();
        for (thread, stack) in state.stacks.iter().enumerate() {
            // What lies under the top from the start may emerge as well.
            cut.emerging[thread].extend(stack.symbols().skip(1));
        }
        let row: Vec<u32> =
            [visible.shared.0].into_iter().chain(visible.tops.iter().map(|top| top.0)).collect();
        states.insert(&row);
    }
    let mut expanded = 0;
    let mut targets = Vec::new();
    while expanded < states.len() {
        let end = states.len().min(expanded + Expander::BATCH);
        let batch: Vec<StateId> = (expanded as StateId..end as StateId).collect();
        for thread in 0..threads {
            targets.clear();
            expander.expand(cut, &mut states, thread, &batch, Disabled::Blocks, &mut targets);
        }
        expanded = end;
        budget.tick(&Progress { states: states.len(), ..Progress::default() })?;
    }
    Ok(states)
}
