//! What a thread can have on top of its stack at a shared state, as far as products tell.

use super::{Context, END, Fact, Products, Tails};
use allways_model::pushdown::{EMPTY, Shared, Symbol};
use hashbrown::HashMap;

/// Products, for look-up by the top of a stack.
#[derive(Clone, Debug)]
pub struct Admitted {
    /// The kind of each thread.
    kinds: Vec<usize>,
    /// For each kind, the tails of each context.
    contexts: Vec<Vec<Tails>>,
    /// For a kind, a shared state and a top, the contexts of its facts.
    facts: HashMap<(usize, Shared, Symbol), Vec<Context>>,
}

impl Admitted {
    /// The shape of the products has been checked.
    pub fn new(products: &Products) -> Admitted {
        let mut facts: HashMap<_, Vec<Context>> = HashMap::new();
        for product in &products.products {
            let mover = product.mover.iter().map(|(kind, facts)| (*kind, facts));
            for (kind, set) in mover.chain(product.rest.iter().enumerate()) {
                for &Fact { shared, top, context } in set {
                    let contexts = facts.entry((kind, shared, top)).or_default();
                    if !contexts.contains(&context) {
                        contexts.push(context);
                    }
                }
            }
        }
        let kinds = (0..products.kinds.threads()).map(|thread| products.kinds.kind(thread)).collect();
        Admitted { kinds, contexts: products.contexts.clone(), facts }
    }

    /// Whether some product has a state in which this thread has these symbols on its stack, top first, and below them
    /// more, or nothing.
    pub fn admits(&self, thread: usize, shared: Shared, symbols: &[Symbol], more: bool) -> bool {
        let kind = self.kinds[thread];
        let top = symbols.first().copied().unwrap_or(EMPTY);
        let mut at = self.facts.get(&(kind, shared, top)).cloned().unwrap_or_default();
        for &symbol in symbols.get(1..).unwrap_or_default() {
            let tails = at.iter().flat_map(|&context| &self.contexts[kind][context as usize]);
            at = tails.filter(|tail| tail.0 == symbol).map(|tail| tail.1).collect();
            at.sort_unstable();
            at.dedup();
        }
        at.iter().any(|&context| (context != END) == more)
    }
}
