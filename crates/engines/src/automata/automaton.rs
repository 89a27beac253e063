//! A pushdown store automaton: a finite automaton that reads stacks, top first (CUBA, sections 2.1 and 5).
//!
//! Its states are called nodes here, to keep them apart from the states of the system. For each shared state there is a
//! *control* node; the configuration (q, w) belongs to the set if w can be read from the control node of q to the final
//! one. In the set, every stack ends with a bottom marker, so that a rule for the empty stack is a rule for the marker
//! and needs no case of its own. The marker is [`EMPTY`], which is no symbol of any stack and is what one sees on top of
//! an empty one; it never leaves the automaton.
//!
//! Invariants: a transition enters the final node if and only if it reads the marker; nothing leaves the final node; no
//! transition that was added from outside enters a control node (post* relies on it, and pre* breaks it).

use allways_model::pushdown::{EMPTY, Shared, Stack, Symbol};
use hashbrown::{HashMap, HashSet};
use rustc_hash::FxBuildHasher;

/// The number of a node.
pub type NodeId = u32;

/// The end of a linked list.
const NONE: u32 = u32::MAX;

/// What a node stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Node {
    /// The whole stack was read.
    Final,
    /// A node of the set before saturation.
    Inner,
    /// Where the stacks of this shared state are read from.
    Control(Shared),
    /// Made by post*: what may lie below this symbol, right after it was pushed and this shared state was entered.
    Below(Shared, Symbol),
}

/// A transition: one symbol is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Transition {
    /// Where it starts.
    pub from: NodeId,
    /// What is read; [`EMPTY`] is the bottom of the stack.
    pub symbol: Symbol,
    /// Where it ends.
    pub to: NodeId,
}

/// A set of configurations (shared state, stack) of one thread.
pub struct Automaton {
    nodes: Vec<Node>,
    /// For each node the last transition that leaves it, and for each transition the one before it from the same node.
    last: Vec<u32>,
    before: Vec<u32>,
    transitions: Vec<Transition>,
    /// The same once more: most insertions find the transition there, and a look at its number would cost a cache miss.
    known: HashSet<Transition, FxBuildHasher>,
    controls: HashMap<Shared, NodeId, FxBuildHasher>,
    /// Whether the automaton was saturated, after which nothing may be added from outside.
    pub(super) saturated: bool,
}

impl Default for Automaton {
    fn default() -> Automaton {
        Automaton {
            nodes: vec![Node::Final],
            last: vec![NONE],
            before: Vec::new(),
            transitions: Vec::new(),
            known: HashSet::default(),
            controls: HashMap::default(),
            saturated: false,
        }
    }
}

impl Automaton {
    /// The final node.
    pub const FINAL: NodeId = 0;

    /// Empties the set and keeps its memory for the next.
    pub fn clear(&mut self) {
        self.nodes.truncate(1);
        self.last.clear();
        self.last.push(NONE);
        self.before.clear();
        self.transitions.clear();
        // A table is cleared in time proportional to its size: one large set must not slow down all later ones.
        if self.known.capacity() > 1024 && self.known.capacity() > 16 * self.known.len() {
            self.known = HashSet::default();
        }
        self.known.clear();
        self.controls.clear();
        self.saturated = false;
    }

    /// A new node.
    pub fn node(&mut self) -> NodeId {
        self.add_node(Node::Inner)
    }

    /// The control node of a shared state.
    pub fn control(&mut self, shared: Shared) -> NodeId {
        if let Some(&node) = self.controls.get(&shared) {
            return node;
        }
        let node = self.add_node(Node::Control(shared));
        self.controls.insert(shared, node);
        node
    }

    /// Adds a transition that reads a symbol.
    pub fn read(&mut self, from: NodeId, symbol: Symbol, to: NodeId) {
        assert!(!self.saturated && symbol != EMPTY && from != Automaton::FINAL);
        assert!(self.nodes[to as usize] == Node::Inner, "transitions enter inner nodes only");
        self.insert(Transition { from, symbol, to });
    }

    /// Lets a stack end at a node.
    pub fn end(&mut self, node: NodeId) {
        assert!(!self.saturated && node != Automaton::FINAL);
        self.insert(Transition { from: node, symbol: EMPTY, to: Automaton::FINAL });
    }

    /// Adds one configuration.
    pub fn add(&mut self, shared: Shared, stack: &Stack) {
        let mut at = self.control(shared);
        for symbol in stack.symbols() {
            let next = self.node();
            self.read(at, symbol, next);
            at = next;
        }
        self.end(at);
    }

    /// Whether a configuration is in the set.
    pub fn contains(&self, shared: Shared, stack: &Stack) -> bool {
        let Some(&control) = self.controls.get(&shared) else { return false };
        let mut here = vec![control];
        for symbol in stack.symbols().chain([EMPTY]) {
            let ahead = here.iter().flat_map(|&node| self.leaving(node)).filter(|edge| edge.symbol == symbol);
            let mut next: Vec<NodeId> = ahead.map(|edge| edge.to).collect();
            next.sort_unstable();
            next.dedup();
            here = next;
        }
        !here.is_empty()
    }

    /// What the nodes stand for, by number.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The shared states that have a control node, with these, in no particular order.
    pub fn controls(&self) -> impl Iterator<Item = (Shared, NodeId)> {
        self.controls.iter().map(|(&shared, &node)| (shared, node))
    }

    /// All transitions.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// The transitions that leave a node.
    #[inline]
    pub fn leaving(&self, node: NodeId) -> impl Iterator<Item = &Transition> {
        let mut at = self.last[node as usize];
        std::iter::from_fn(move || {
            let transition = self.transitions.get(at as usize)?;
            at = self.before[at as usize];
            Some(transition)
        })
    }

    /// A walk over the transitions that leave a node, during which more may be added: those are not visited.
    pub(super) fn walk(&self, node: NodeId) -> Walk {
        Walk(self.last[node as usize])
    }

    pub(super) fn add_node(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        self.last.push(NONE);
        self.nodes.len() as NodeId - 1
    }

    /// Adds a transition and says whether it is new.
    #[inline]
    pub(super) fn insert(&mut self, transition: Transition) -> bool {
        let fresh = self.known.insert(transition);
        if fresh {
            let last = &mut self.last[transition.from as usize];
            self.before.push(std::mem::replace(last, self.transitions.len() as u32));
            self.transitions.push(transition);
        }
        fresh
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let per_node = size_of::<Node>() + size_of::<u32>();
        let per_transition = size_of::<Transition>() + size_of::<u32>();
        self.nodes.capacity() * per_node
            + self.transitions.capacity() * per_transition
            + self.known.capacity() * 13
    }
}

/// See [`Automaton::walk`].
pub(super) struct Walk(u32);

impl Walk {
    /// The next transition.
    #[inline]
    pub(super) fn next(&mut self, automaton: &Automaton) -> Option<Transition> {
        let transition = *automaton.transitions.get(self.0 as usize)?;
        self.0 = automaton.before[self.0 as usize];
        Some(transition)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_stacks_from_the_top() {
        let mut automaton = Automaton::default();
        automaton.add(Shared(3), &Stack::from_top([1, 2].map(Symbol)));
        automaton.add(Shared(3), &Stack::default());
        let (control, around) = (automaton.control(Shared(4)), automaton.node());
        automaton.read(control, Symbol(7), around);
        automaton.read(around, Symbol(8), around);
        automaton.end(around);
        let contains = |shared, symbols: &[u32]| {
            automaton.contains(Shared(shared), &Stack::from_top(symbols.iter().copied().map(Symbol)))
        };
        assert!(contains(3, &[1, 2]) && contains(3, &[]) && contains(4, &[7]) && contains(4, &[7, 8, 8]));
        assert!(!contains(3, &[1]) && !contains(3, &[2, 1]) && !contains(3, &[1, 2, 2]) && !contains(4, &[]));
        assert!(!contains(5, &[]));
    }
}
