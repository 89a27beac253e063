//! The stacks of one thread, hash-consed: equal stacks have equal numbers.
//!
//! A stack is a node (top symbol, number of the rest), so pushing and popping cost one look-up and stacks share their
//! lower parts. Number 0 is the empty stack. What an observer sees of a stack, its top symbol and whether anything lies
//! below it, is numbered too: these *marked tops* are few, and engines use them as the coordinates of abstract states.

use allways_model::pushdown::{EMPTY, Stack, Symbol, Word};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

allways_model::index_type! {
    /// The number of a stack of one thread.
    pub struct StackId(u32);
}

allways_model::index_type! {
    /// The number of a marked top of one thread.
    pub struct TopId(u32);
}

#[derive(Clone, Copy)]
struct Node {
    symbol: Symbol,
    rest: StackId,
    depth: u32,
    top: TopId,
}

/// All stacks of one thread seen so far.
pub struct Stacks {
    nodes: Vec<Node>,
    index: HashMap<(Symbol, StackId), StackId, FxBuildHasher>,
    /// The marked tops: a top symbol, and whether anything lies below it.
    tops: Vec<(Symbol, bool)>,
    top_index: HashMap<(Symbol, bool), TopId, FxBuildHasher>,
}

impl Default for Stacks {
    fn default() -> Stacks {
        Stacks {
            nodes: vec![Node { symbol: EMPTY, rest: StackId(0), depth: 0, top: TopId(0) }],
            index: HashMap::default(),
            tops: vec![(EMPTY, false)],
            top_index: HashMap::from_iter([((EMPTY, false), TopId(0))]),
        }
    }
}

impl Stacks {
    /// The empty stack.
    pub const EMPTY: StackId = StackId(0);

    /// The number of a stack.
    pub fn intern(&mut self, stack: &Stack) -> StackId {
        stack.symbols().rev().fold(Stacks::EMPTY, |rest, symbol| self.push(symbol, rest))
    }

    /// The stack with `symbol` on top of `rest`.
    pub fn push(&mut self, symbol: Symbol, rest: StackId) -> StackId {
        let fresh = StackId(self.nodes.len() as u32);
        let id = *self.index.entry((symbol, rest)).or_insert(fresh);
        if id == fresh {
            let marked = (symbol, rest != Stacks::EMPTY);
            let top = *self.top_index.entry(marked).or_insert(TopId(self.tops.len() as u32));
            if top.index() == self.tops.len() {
                self.tops.push(marked);
            }
            self.nodes.push(Node { symbol, rest, depth: self.nodes[rest.index()].depth + 1, top });
        }
        id
    }

    /// The stack after its top symbol, if any, is replaced by `word`.
    pub fn replace_top(&mut self, stack: StackId, word: Word) -> StackId {
        let rest = self.nodes[stack.index()].rest;
        word.symbols().iter().rev().fold(rest, |rest, &symbol| self.push(symbol, rest))
    }

    /// The top symbol, [`EMPTY`] if there is none.
    pub fn symbol(&self, stack: StackId) -> Symbol {
        self.nodes[stack.index()].symbol
    }

    /// The stack without its top symbol.
    pub fn rest(&self, stack: StackId) -> StackId {
        self.nodes[stack.index()].rest
    }

    /// How many stacks there are, the empty one included. What lies below the top of a stack has a smaller number than it.
    pub fn count(&self) -> usize {
        self.nodes.len()
    }

    /// The number of symbols.
    pub fn depth(&self, stack: StackId) -> u32 {
        self.nodes[stack.index()].depth
    }

    /// Whether no stack has more than one symbol.
    pub fn flat(&self) -> bool {
        self.nodes.iter().all(|node| node.depth <= 1)
    }

    /// What is seen of a stack.
    pub fn top(&self, stack: StackId) -> TopId {
        self.nodes[stack.index()].top
    }

    /// All marked tops: a symbol, and whether anything lies below it.
    pub fn tops(&self) -> &[(Symbol, bool)] {
        &self.tops
    }

    /// The number of a marked top, if a stack with it was seen.
    pub fn top_named(&self, marked: (Symbol, bool)) -> Option<TopId> {
        self.top_index.get(&marked).copied()
    }

    /// The symbols of a stack, top first.
    pub fn symbols(&self, mut stack: StackId) -> impl Iterator<Item = Symbol> {
        std::iter::from_fn(move || {
            let node = self.nodes[stack.index()];
            stack = node.rest;
            (node.symbol != EMPTY).then_some(node.symbol)
        })
    }

    /// The stack with this number.
    pub fn get(&self, stack: StackId) -> Stack {
        Stack::from_top(self.symbols(stack).collect::<Vec<_>>())
    }

    /// How many stacks are in the index, and how many would fit.
    pub fn index_size(&self) -> (usize, usize) {
        (self.index.len(), self.index.capacity())
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>() + self.index.capacity() * 13
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_equal_numbers() {
        let mut stacks = Stacks::default();
        let long = stacks.intern(&Stack::from_top([1, 2, 3].map(Symbol)));
        let short = stacks.intern(&Stack::from_top([2, 3].map(Symbol)));
        assert_eq!(stacks.replace_top(long, Word::POP), short);
        assert_eq!(stacks.replace_top(short, Word::two(Symbol(1), Symbol(2))), long);
        assert_eq!(stacks.replace_top(Stacks::EMPTY, Word::POP), Stacks::EMPTY);
        assert_eq!(stacks.get(long), Stack::from_top([1, 2, 3].map(Symbol)));
        assert_eq!((stacks.depth(long), stacks.depth(Stacks::EMPTY)), (3, 0));
    }

    #[test]
    fn marked_tops_tell_the_last_symbol_from_others() {
        let mut stacks = Stacks::default();
        let [alone, above, other] = [&[7][..], &[7, 7], &[7, 8, 9]].map(|symbols| {
            let id = stacks.intern(&Stack::from_top(symbols.iter().copied().map(Symbol)));
            stacks.top(id)
        });
        assert_ne!(alone, above);
        assert_eq!(above, other);
        assert_eq!(stacks.tops()[above.index()], (Symbol(7), true));
    }
}
