//! Minimisation of a deterministic automaton, and the canonical form of each language in it.
//!
//! Literature: Valmari, *Fast brief practical DFA minimization* (Information Processing Letters 112, 2012): Hopcroft's
//! idea on two partitions at once, one of states and one of edges, in O(m log m) for m edges, with missing edges at no
//! cost. Invariant: states in different blocks accept different languages; edges in different cords differ in their
//! symbol or in the block that they enter. In the end the converses hold too: nothing is left to split.
//!
//! The canonical form of a language numbers the states of its minimal automaton in breadth-first order from the root,
//! edges by symbol; it depends on the language alone. It is written as a sequence of numbers, a state being named by the
//! place where it is written: first 2·(number of edges) + (1 if accepting), then a symbol and a state for each edge.

use super::determine::{Dfa, Incoming};
use super::{Pace, Poll};
use allways_evidence::StopReason;

/// A partition of 0, 1, 2, … into sets that only ever split.
#[derive(Default)]
struct Partition {
    /// The elements, set after set; in each set, marked ones first.
    elements: Vec<u32>,
    place: Vec<u32>,
    set_of: Vec<u32>,
    /// For each set, where it starts, where it ends, and how many of its elements are marked.
    sets: Vec<(u32, u32, u32)>,
    touched: Vec<u32>,
}

impl Partition {
    /// All of 0, 1, …, `count` - 1 in one set, or in none if there are none.
    fn whole(&mut self, count: usize) {
        let count = count as u32;
        for list in [&mut self.elements, &mut self.place, &mut self.set_of, &mut self.touched] {
            list.clear();
        }
        self.elements.extend(0..count);
        self.place.extend(0..count);
        self.set_of.resize(count as usize, 0);
        self.sets.clear();
        self.sets.extend((count > 0).then_some((0, count, 0)));
    }

    /// Splits the only set into runs of elements with equal keys.
    fn by_key(&mut self, key: impl Fn(u32) -> u32) {
        self.elements.sort_unstable_by_key(|&element| key(element));
        self.sets.clear();
        for at in 0..self.elements.len() {
            let element = self.elements[at];
            if at == 0 || key(self.elements[at - 1]) != key(element) {
                self.sets.push((at as u32, at as u32, 0));
            }
            let set = self.sets.len() - 1;
            self.sets[set].1 += 1;
            self.place[element as usize] = at as u32;
            self.set_of[element as usize] = set as u32;
        }
    }

    /// Marks an element that is not marked.
    fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize];
        let (start, _, marked) = &mut self.sets[set as usize];
        let (from, to) = (self.place[element as usize], *start + *marked);
        if *marked == 0 {
            self.touched.push(set);
        }
        *marked += 1;
        let other = self.elements[to as usize];
        self.elements.swap(from as usize, to as usize);
        self.place[other as usize] = from;
        self.place[element as usize] = to;
    }

    /// Splits each set into its marked elements and the others, the smaller part becoming a new set; unmarks all.
    fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let (start, end, marked) = self.sets[set as usize];
            let middle = start + marked;
            self.sets[set as usize].2 = 0;
            if middle == end {
                continue;
            }
            let (rest, fresh) = if marked <= end - middle {
                ((middle, end, 0), (start, middle, 0))
            } else {
                ((start, middle, 0), (middle, end, 0))
            };
            self.sets[set as usize] = rest;
            for at in fresh.0..fresh.1 {
                self.set_of[self.elements[at as usize] as usize] = self.sets.len() as u32;
            }
            self.sets.push(fresh);
        }
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        let (start, end, _) = self.sets[set];
        start as usize..end as usize
    }
}

/// Minimises automata, one after the other, in the same memory.
#[derive(Default)]
pub(super) struct Minimiser {
    blocks: Partition,
    cords: Partition,
    incoming: Incoming,
    /// For each block the place in the canonical form that is being written, if it has one.
    places: Vec<u32>,
    queue: Vec<u32>,
}

const NOWHERE: u32 = u32::MAX;

impl Minimiser {
    /// Finds out which states accept the same language.
    pub(super) fn run(&mut self, dfa: &Dfa, pace: &mut Pace, poll: Poll) -> Result<(), StopReason> {
        let Minimiser { blocks, cords, incoming, .. } = self;
        incoming.fill(dfa);
        blocks.whole(dfa.states());
        for state in (0..dfa.states() as u32).filter(|&state| dfa.accepting(state)) {
            blocks.mark(state);
        }
        blocks.split();
        let edges = dfa.all_edges();
        cords.whole(edges.len());
        cords.by_key(|edge| edges[edge as usize].0.0);
        let (mut block, mut cord) = (1, 0);
        while cord < cords.sets.len() {
            let range = cords.range(cord);
            pace.tick(range.len(), poll)?;
            for &edge in &cords.elements[range] {
                blocks.mark(incoming.source(edge));
            }
            blocks.split();
            cord += 1;
            while block < blocks.sets.len() {
                for &state in &blocks.elements[blocks.range(block)] {
                    let entering = incoming.of(state);
                    pace.tick(entering.len(), poll)?;
                    for &edge in entering {
                        cords.mark(edge);
                    }
                }
                cords.split();
                block += 1;
            }
        }
        self.places.clear();
        self.places.resize(self.blocks.sets.len(), NOWHERE);
        Ok(())
    }

    /// Which states of the last run accept the same language: the number of the state's block.
    pub(super) fn block(&self, state: u32) -> u32 {
        self.blocks.set_of[state as usize]
    }

    /// Writes the canonical form of what is accepted from a state of the last run, and says how many states it has.
    pub(super) fn write(&mut self, dfa: &Dfa, root: u32, form: &mut Vec<u32>) -> usize {
        form.clear();
        self.queue.clear();
        let mut end = 0;
        let Minimiser { blocks, places, queue, .. } = self;
        let mut place = |state: u32, queue: &mut Vec<u32>| {
            let place = &mut places[blocks.set_of[state as usize] as usize];
            if *place == NOWHERE {
                *place = end;
                end += 1 + 2 * dfa.edges(state).len() as u32;
                queue.push(state);
            }
            *place
        };
        place(root, queue);
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            next += 1;
            form.push(2 * dfa.edges(state).len() as u32 + u32::from(dfa.accepting(state)));
            for &(symbol, to) in dfa.edges(state) {
                form.extend([symbol.0, place(to, queue)]);
            }
        }
        for &state in queue.iter() {
            places[blocks.set_of[state as usize] as usize] = NOWHERE;
        }
        queue.len()
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let partition =
            |partition: &Partition| partition.elements.capacity() * 12 + partition.sets.capacity() * 12;
        partition(&self.blocks) + partition(&self.cords) + self.places.capacity() * 4
    }
}
