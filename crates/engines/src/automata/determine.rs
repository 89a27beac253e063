//! The subset construction: an [`Automaton`], read from some of its nodes, as a deterministic automaton.
//!
//! A state of the result is a set of nodes, sorted, each set stored once. The bottom marker disappears: a set is accepting
//! if one of its nodes reads it. Invariant after [`Determiniser::run`]: states are 0, 1, 2, …, the roots first and in the
//! order given; the edges of a state are sorted by symbol, one for each; from every state that is not dead an accepting
//! one can be reached, and no edge enters a dead one.

use super::automaton::{Automaton, NodeId};
use super::{Pace, Poll};
use allways_evidence::StopReason;
use allways_model::pushdown::{EMPTY, Symbol};
use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;

/// A deterministic automaton; missing edges reject.
#[derive(Default)]
pub(super) struct Dfa {
    accepting: Vec<bool>,
    /// Where the edges of each state end; they start where those of the state before end.
    ends: Vec<u32>,
    edges: Vec<(Symbol, u32)>,
}

impl Dfa {
    /// How many states there are.
    pub(super) fn states(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn accepting(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// The edges of a state, by symbol.
    pub(super) fn edges(&self, state: u32) -> &[(Symbol, u32)] {
        let start = if state == 0 { 0 } else { self.ends[state as usize - 1] };
        &self.edges[start as usize..self.ends[state as usize] as usize]
    }

    /// All edges, state after state.
    pub(super) fn all_edges(&self) -> &[(Symbol, u32)] {
        &self.edges
    }

    /// Whether nothing is accepted from a state.
    pub(super) fn dead(&self, state: u32) -> bool {
        !self.accepting(state) && self.edges(state).is_empty()
    }

    /// Removes the edges into states from which nothing is accepted.
    fn trim(&mut self) {
        let states = self.states();
        let mut incoming = Incoming::default();
        incoming.fill(self);
        let mut alive = self.accepting.clone();
        let mut found: Vec<u32> = (0..states as u32).filter(|&state| alive[state as usize]).collect();
        let mut next = 0;
        while let Some(&state) = found.get(next) {
            next += 1;
            for &edge in incoming.of(state) {
                let source = incoming.source(edge);
                if !std::mem::replace(&mut alive[source as usize], true) {
                    found.push(source);
                }
            }
        }
        if found.len() == states {
            return;
        }
        let (mut start, mut kept) = (0, 0);
        for state in 0..states {
            let end = self.ends[state] as usize;
            for edge in start..end {
                if alive[self.edges[edge].1 as usize] {
                    self.edges[kept] = self.edges[edge];
                    kept += 1;
                }
            }
            start = end;
            self.ends[state] = kept as u32;
        }
        self.edges.truncate(kept);
    }
}

/// Where the edges of a [`Dfa`] come from, and which of them enter each state.
#[derive(Default)]
pub(super) struct Incoming {
    sources: Vec<u32>,
    starts: Vec<u32>,
    edges: Vec<u32>,
}

impl Incoming {
    /// Forgets what it held and takes up this automaton.
    pub(super) fn fill(&mut self, dfa: &Dfa) {
        self.sources.clear();
        self.starts.clear();
        self.starts.resize(dfa.states() + 1, 0);
        for state in 0..dfa.states() as u32 {
            for &(_, to) in dfa.edges(state) {
                self.sources.push(state);
                self.starts[to as usize] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.edges.clear();
        self.edges.resize(dfa.edges.len(), 0);
        for (edge, &(_, to)) in dfa.edges.iter().enumerate().rev() {
            self.starts[to as usize] -= 1;
            self.edges[self.starts[to as usize] as usize] = edge as u32;
        }
    }

    /// The edges that enter a state.
    pub(super) fn of(&self, state: u32) -> &[u32] {
        let [start, end] = [0, 1].map(|next| self.starts[state as usize + next] as usize);
        &self.edges[start..end]
    }

    /// The state that an edge leaves.
    pub(super) fn source(&self, edge: u32) -> u32 {
        self.sources[edge as usize]
    }
}

/// Makes automata deterministic, one after the other, in the same memory.
#[derive(Default)]
pub(super) struct Determiniser {
    /// The nodes of the sets, one set after the other, and where each set ends.
    members: Vec<NodeId>,
    ends: Vec<usize>,
    index: HashTable<u32>,
    leaving: Vec<(Symbol, NodeId)>,
    candidate: Vec<NodeId>,
    dfa: Dfa,
}

impl Determiniser {
    /// What can be read from each of these nodes, which are distinct, to the final one.
    pub(super) fn run(
        &mut self,
        automaton: &Automaton,
        roots: impl IntoIterator<Item = NodeId>,
        pace: &mut Pace,
        poll: Poll,
    ) -> Result<&Dfa, StopReason> {
        self.clear();
        for root in roots {
            self.candidate.clear();
            self.candidate.push(root);
            self.intern();
        }
        let mut state = 0;
        while state < self.ends.len() {
            let start = if state == 0 { 0 } else { self.ends[state - 1] };
            self.leaving.clear();
            for &member in &self.members[start..self.ends[state]] {
                self.leaving.extend(automaton.leaving(member).map(|edge| (edge.symbol, edge.to)));
            }
            pace.tick(self.leaving.len(), poll)?;
            self.leaving.sort_unstable();
            self.leaving.dedup();
            let accepting = self.leaving.first().is_some_and(|&(symbol, _)| symbol == EMPTY);
            self.dfa.accepting.push(accepting);
            let mut at = accepting as usize;
            while let Some(&(symbol, _)) = self.leaving.get(at) {
                let same = self.leaving[at..].iter().take_while(|edge| edge.0 == symbol);
                self.candidate.clear();
                self.candidate.extend(same.map(|edge| edge.1));
                at += self.candidate.len();
                let to = self.intern();
                self.dfa.edges.push((symbol, to));
            }
            self.dfa.ends.push(self.dfa.edges.len() as u32);
            state += 1;
        }
        self.dfa.trim();
        Ok(&self.dfa)
    }

    fn clear(&mut self) {
        self.members.clear();
        self.ends.clear();
        if self.index.capacity() > 1024 && self.index.capacity() > 16 * self.index.len() {
            self.index = HashTable::new();
        }
        self.index.clear();
        self.dfa.accepting.clear();
        self.dfa.ends.clear();
        self.dfa.edges.clear();
    }

    /// The number of the set of nodes in `candidate`.
    fn intern(&mut self) -> u32 {
        let Determiniser { members, ends, index, candidate, .. } = self;
        let set = |state: u32| {
            let start = if state == 0 { 0 } else { ends[state as usize - 1] };
            &members[start..ends[state as usize]]
        };
        let same = |&state: &u32| set(state) == &candidate[..];
        let hash = |nodes: &[NodeId]| FxBuildHasher.hash_one(nodes);
        match index.entry(hash(candidate), same, |&state| hash(set(state))) {
            hashbrown::hash_table::Entry::Occupied(known) => *known.get(),
            hashbrown::hash_table::Entry::Vacant(vacant) => {
                let fresh = ends.len() as u32;
                vacant.insert(fresh);
                members.extend_from_slice(candidate);
                ends.push(members.len());
                fresh
            }
        }
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let sets = self.members.capacity() * 4 + self.ends.capacity() * 8 + self.index.capacity() * 5;
        sets + self.dfa.edges.capacity() * 8 + self.dfa.ends.capacity() * 5
    }
}
