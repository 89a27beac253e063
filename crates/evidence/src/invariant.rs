//! A set of abstract states that contains every reachable state.
//!
//! A stack is abstracted to its *window*, the topmost `z` symbols, and a mark whether more lies below them. What a pop
//! brings to light is bounded by the relation *below*: for each thread and symbol `x`, the symbols that can lie directly
//! under `x`, and [`EMPTY`](allways_model::pushdown::EMPTY) if `x` can be the bottom of the stack.
//!
//! # Meaning
//!
//! An invariant with window `z` *covers* a state `q|w1,…,wn` if
//!
//! 1. the abstract state (`q`, and the window and mark of each stack) is one of its states, and
//! 2. in each stack `x1.x2…xm`, for each `j ≥ z`: `x(j+1)` is in *below*(`xj`), where `x(m+1)` stands for `EMPTY`.
//!
//! Only pairs at and under the last symbol of the window matter: those above are in the window itself. The checker
//! ([`induct`](crate::induct())) accepts an invariant if it covers the initial states, covers every successor of each state
//! it covers, and has no bad state. Then it covers every reachable state, and none of them is bad.

use allways_model::pushdown::{EMPTY, Shared, Symbol, Visible};
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

/// What can lie directly under each symbol of one thread's stack; [`EMPTY`] is the bottom.
pub type Below = BTreeMap<Symbol, BTreeSet<Symbol>>;

/// A set of abstract states, and the relation *below* of each thread.
///
/// The states are one flat array of rows, `1 + threads` numbers each: the shared state, and for each thread the index of
/// its window in `windows[thread]`. Distinct windows are few, abstract states may be many.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// How many symbols of each stack are kept; at least 1.
    pub window: usize,
    /// For each thread, what can lie under what.
    pub below: Vec<Below>,
    /// For each thread, the distinct windows of its stack.
    pub windows: Vec<Vec<Window>>,
    /// The rows, one after another.
    pub rows: Vec<u32>,
}

impl Invariant {
    /// An invariant without states.
    pub fn new(threads: usize, window: usize) -> Invariant {
        Invariant {
            window,
            below: vec![Below::new(); threads],
            windows: vec![Vec::new(); threads],
            rows: Vec::new(),
        }
    }

    /// The abstract states: a shared state, and an index into each thread's windows.
    pub fn states(&self) -> impl ExactSizeIterator<Item = (Shared, &[u32])> {
        self.rows.chunks_exact(1 + self.windows.len()).map(|row| (row[0], &row[1..]))
    }

    /// The visible states, sorted, each once.
    pub fn visible(&self) -> Vec<Visible> {
        let mut visible: Vec<Visible> = self
            .states()
            .map(|(shared, windows)| {
                let tops = self.windows.iter().zip(windows).map(|(all, &index)| all[index as usize].top());
                Visible { shared, tops: tops.collect() }
            })
            .collect();
        visible.sort_unstable();
        visible.dedup();
        visible
    }
}
