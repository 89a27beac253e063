//! A set of abstract states that contains every reachable state.
//!
//! A stack is abstracted to its *window*, the topmost `z` symbols, and a mark whether more lies below them. What a pop
//! brings to light is bounded by the relation *below*: for each kind of threads and symbol `x`, the symbols that can lie
//! directly under `x`, and [`EMPTY`] if `x` can be the bottom of the stack.
//!
//! Threads of one *kind* are interchangeable: one abstract state stands for all that it becomes when the windows of such
//! threads change places, so that sixteen alike threads take one state in place of up to sixteen factorial. With
//! [`Kinds::distinct`] each state stands for itself alone.
//!
//! # Meaning
//!
//! A *renaming* is a permutation `π` of the threads such that `π(i)` is of the kind of `i`, for each thread `i`. An
//! invariant with window `z` *covers* a state `q|w1,…,wn` if
//!
//! 1. for some renaming `π`, the abstract state (`q`, and the window and mark of each of `wπ(1),…,wπ(n)`, in this order)
//!    is one of its states, and
//! 2. in each stack `x1.x2…xm`, for each `j ≥ z`: `x(j+1)` is in *below*(`xj`), where `x(m+1)` stands for `EMPTY` and
//!    *below* is that of the kind of the thread whose stack it is.
//!
//! Renamings do not change whether 2 holds, so with a state all its renamings are covered. Only pairs at and under the
//! last symbol of the window matter: those above are in the window itself.
//!
//! Of a program, states may also be listed up to *renumbering* ([`Renumbering`](allways_model::encoding::Renumbering)): threads
//! that use their numbers only to say who is meant change places together with their elements of arrays.
//!
//! An invariant may be *within* [products](crate::products). Then it speaks of the states that these contain, and need not
//! cover what a step leads to if they do not contain it.
//!
//! The checker ([`induct`](crate::induct())) accepts an invariant if it covers the initial states, covers every successor
//! of each state it covers, and no renaming of its states is bad. Then it covers every reachable state, and none of them
//! is bad. That threads of one kind move alike is for the checker to test, too.

use crate::Products;
use crate::words::{Word, Words, pack};
use allways_model::pushdown::{EMPTY, Shared, Symbol, Visible};
use allways_model::symmetry::Kinds;
use std::collections::{BTreeMap, BTreeSet};

/// The topmost symbols of a stack, and whether more lies below them.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Window {
    /// At most as many as the invariant's window, top first.
    pub symbols: Vec<Symbol>,
    /// Whether there are symbols below the window; only if the window is full.
    pub more: bool,
}

impl Window {
    /// The top symbol, [`EMPTY`] for an empty stack.
    pub fn top(&self) -> Symbol {
        self.symbols.first().copied().unwrap_or(EMPTY)
    }
}

/// What can lie directly under each symbol of the stacks of one kind of threads; [`EMPTY`] is the bottom.
pub type Below = BTreeMap<Symbol, BTreeSet<Symbol>>;

/// A set of abstract states up to renaming, and the relation *below* of each kind of threads.
///
/// The states are one flat array of rows, `1 + threads` numbers each: the shared state, and for each thread the index of
/// its window in `windows[kind]`, where `kind` is the kind of the thread. Distinct windows are few, abstract states may
/// be many. Any renaming of a state may be the one that is listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// How many symbols of each stack are kept; at least 1.
    pub window: usize,
    /// Which threads are interchangeable.
    pub kinds: Kinds,
    /// For each kind, what can lie under what.
    pub below: Vec<Below>,
    /// For each kind, the distinct windows of its stacks.
    pub windows: Vec<Vec<Window>>,
    /// The rows, one after another.
    pub rows: Vec<u32>,
    /// Products that contain every reachable state, if it is within some.
    pub within: Option<Box<Products>>,
    /// Whether each state stands for all that it becomes when threads of a program get other numbers, too. Then kinds are
    /// distinct, and each stack is a single symbol.
    pub renumbered: bool,
}

impl Invariant {
    /// An invariant without states.
    pub fn new(kinds: Kinds, window: usize) -> Invariant {
        Invariant {
            window,
            below: vec![Below::new(); kinds.count()],
            windows: vec![Vec::new(); kinds.count()],
            rows: Vec::new(),
            within: None,
            renumbered: false,
            kinds,
        }
    }

    /// The abstract states as listed: a shared state, and for each thread an index into the windows of its kind.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (Shared, &[u32])> {
        self.rows.chunks_exact(1 + self.kinds.threads()).map(|row| (Shared(row[0]), &row[1..]))
    }

    /// The window of a thread, given its index.
    pub fn window_of(&self, thread: usize, index: u32) -> &Window {
        &self.windows[self.kinds.kind(thread)][index as usize]
    }

    /// The visible states up to renaming: one of each orbit, with the tops of each kind sorted; sorted, each once.
    pub fn visible(&self) -> Vec<Visible> {
        let mut visible: Vec<Visible> = self
            .states()
            .map(|(shared, windows)| {
                let top = |(thread, &index): (usize, &u32)| self.window_of(thread, index).top();
                let mut tops: Vec<Symbol> = windows.iter().enumerate().map(top).collect();
                self.kinds.sort(&mut tops);
                Visible { shared, tops }
            })
            .collect();
        visible.sort_unstable();
        visible.dedup();
        visible
    }

    /// How many visible states there are, all renamings counted, but no renumberings.
    pub fn visible_count(&self) -> u128 {
        let number = |window: &Window| window.top().0;
        let tops: Vec<Vec<u32>> =
            self.windows.iter().map(|windows| windows.iter().map(number).collect()).collect();
        let most = |thread: usize| tops[self.kinds.kind(thread)].iter().copied().max().unwrap_or(0);
        let most_shared = self.states().map(|(shared, _)| shared.0).max().unwrap_or(0);
        let most = [most_shared].into_iter().chain((0..self.kinds.threads()).map(most));
        let bits: Vec<u32> = most.map(|most| u32::BITS - most.leading_zeros()).collect();
        match bits.iter().map(|&bits| u64::from(bits)).sum::<u64>() {
            0..u64::MARKED => self.count_visible::<u64>(&tops, &bits),
            u64::MARKED..u128::MARKED => self.count_visible::<u128>(&tops, &bits),
            _ => {
                let orbit = |visible: &Visible| self.kinds.orbit(&visible.tops);
                self.visible().iter().map(orbit).fold(0, u128::saturating_add)
            }
        }
    }

    /// The same, where shared state and tops fit into a word; without an allocation for each.
    fn count_visible<W: Word>(&self, tops: &[Vec<u32>], bits: &[u32]) -> u128 {
        let mut seen = Words::<W>::for_up_to(self.states().len());
        let mut visible = vec![0; bits.len()];
        let tops: Vec<&[u32]> =
            (0..self.kinds.threads()).map(|thread| &tops[self.kinds.kind(thread)][..]).collect();
        let words = self.states().map(|(shared, windows)| {
            visible[0] = shared.0;
            for (top, (&index, tops)) in visible[1..].iter_mut().zip(windows.iter().zip(&tops)) {
                *top = tops[index as usize];
            }
            if self.kinds.trivial() {
                return (pack(bits, &visible), 1);
            }
            self.kinds.sort(&mut visible[1..]);
            (pack(bits, &visible), self.kinds.orbit(&visible[1..]))
        });
        let mut count = 0_u128;
        seen.insert_all(words, |orbit: u128| count = count.saturating_add(orbit));
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counted by listing them.
    fn listed(invariant: &Invariant) -> u128 {
        invariant.visible().iter().map(|visible| invariant.kinds.orbit(&visible.tops)).sum()
    }

    #[test]
    fn visible_states_are_counted_as_they_are_listed() {
        for (threads, largest) in [(2, 3), (3, 1 << 20), (4, 1 << 27), (5, u32::MAX - 1)] {
            for kinds in [Kinds::distinct(threads), Kinds::new((0..threads).map(|thread| thread / 2))] {
                let mut invariant = Invariant::new(kinds, 2);
                for windows in &mut invariant.windows {
                    // Two windows with each top.
                    *windows = (0..6)
                        .map(|number| {
                            let symbols = vec![Symbol(largest - number / 2), Symbol(number % 2)];
                            Window { symbols, more: false }
                        })
                        .collect();
                }
                for row in 0..200_u32 {
                    invariant.rows.push(row % 5);
                    invariant.rows.extend((0..threads as u32).map(|thread| row * (7 + thread) / 3 % 6));
                }
                assert_eq!(invariant.visible_count(), listed(&invariant), "{threads} threads");
            }
        }
    }
}
