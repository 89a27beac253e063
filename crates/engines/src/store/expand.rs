//! Successors of rows, many at a time.
//!
//! A row is a shared state and, for each thread, the number of its local state: a stack, what is seen of a stack, a set of
//! stacks. Whatever it is, a thread's moves depend on the shared state and its own local state alone, and change only
//! these two numbers of the row.
//!
//! Where threads are interchangeable, a row stands for its orbit: the numbers of the threads of each kind are sorted, and
//! of threads with equal numbers only the first is moved.

use super::states::{StateId, States};
use allways_model::pushdown::Shared;
use allways_model::symmetry::Kinds;
use std::ops::Range;

/// Where a thread can go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Move {
    /// The shared state afterwards.
    pub shared: Shared,
    /// The thread's local state afterwards.
    pub local: u32,
}

/// How threads move.
pub trait Graph {
    /// The moves of a thread.
    fn moves(&mut self, thread: usize, shared: Shared, local: u32) -> &[Move];
}

/// What a thread that cannot move contributes to an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disabled {
    /// The state itself: its slot passes (DrUBA, section 2.1: the transition relation is total).
    Stutters,
    /// Nothing.
    Blocks,
}

/// Room for the successors of a batch of rows.
pub struct Expander {
    kinds: Kinds,
    keys: Vec<u64>,
    sources: Vec<StateId>,
    found: Vec<StateId>,
    new: Range<StateId>,
    row: Vec<u32>,
}

impl Expander {
    /// For rows whose threads are of these kinds; `Kinds::distinct` for rows that stand for themselves.
    pub fn new(kinds: Kinds) -> Expander {
        Expander {
            kinds,
            keys: Vec::new(),
            sources: Vec::new(),
            found: Vec::new(),
            new: 0..0,
            row: Vec::new(),
        }
    }

    /// The kinds of the threads.
    pub fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    /// Rows whose successors are best computed together: enough to overlap cache misses, few enough to stay in the cache.
    pub const BATCH: usize = 256;

    /// Adds to `states` the successors of `from` when `thread` moves, and appends their numbers to `targets`.
    pub fn expand(
        &mut self,
        graph: &mut impl Graph,
        states: &mut States,
        thread: usize,
        from: &[StateId],
        disabled: Disabled,
        targets: &mut Vec<StateId>,
    ) {
        let before = targets.len();
        let collect = if self.kinds.trivial() { Expander::collect } else { Expander::collect_sorted };
        while let Err((column, value)) = collect(self, graph, states, thread, from, disabled, targets) {
            // Packing anew voids the keys collected so far.
            states.widen(column, value);
            targets.truncate(before);
        }
        self.new = states.len() as StateId..0;
        self.found.clear();
        states.insert_batch(&self.keys, &mut self.found);
        self.new.end = states.len() as StateId;
        targets.extend_from_slice(&self.found);
    }

    /// The rows that the last expansion added, each with the one it was found from, in the order of their numbers.
    pub fn new_rows(&self) -> impl Iterator<Item = (StateId, StateId)> {
        let mut next = self.new.start;
        let found = if self.new.is_empty() { &[][..] } else { &self.found };
        found.iter().copied().zip(self.sources.iter().copied()).filter(move |&(id, _)| {
            let new = id == next;
            next += StateId::from(new);
            new
        })
    }

    /// Packs the successors; fails with a column and a value that is too large for it.
    fn collect(
        &mut self,
        graph: &mut impl Graph,
        states: &States,
        thread: usize,
        from: &[StateId],
        disabled: Disabled,
        targets: &mut Vec<StateId>,
    ) -> Result<(), (usize, u32)> {
        self.keys.clear();
        self.sources.clear();
        for &id in from {
            let moves = graph.moves(thread, Shared(states.column(id, 0)), states.column(id, 1 + thread));
            if moves.is_empty() && disabled == Disabled::Stutters {
                targets.push(id);
            }
            for to in moves {
                for (column, value) in [(0, to.shared.0), (1 + thread, to.local)] {
                    if !states.fits(column, value) {
                        return Err((column, value));
                    }
                }
                states.successor_onto(id, to.shared.0, 1 + thread, to.local, &mut self.keys);
                self.sources.push(id);
            }
        }
        Ok(())
    }

    /// The same for rows that stand for their orbits.
    fn collect_sorted(
        &mut self,
        graph: &mut impl Graph,
        states: &States,
        thread: usize,
        from: &[StateId],
        disabled: Disabled,
        targets: &mut Vec<StateId>,
    ) -> Result<(), (usize, u32)> {
        debug_assert!(disabled == Disabled::Blocks, "schedules name threads");
        let _ = targets;
        self.keys.clear();
        self.sources.clear();
        let members = self.kinds.members(self.kinds.kind(thread));
        let previous = members.iter().rev().find(|&&member| member < thread).copied();
        for &id in from {
            let local = states.column(id, 1 + thread);
            if previous.is_some_and(|previous| states.column(id, 1 + previous) == local) {
                continue;
            }
            for to in graph.moves(thread, Shared(states.column(id, 0)), local) {
                self.row.clear();
                self.row.extend(states.row(id));
                self.row[0] = to.shared.0;
                self.row[1 + thread] = to.local;
                self.kinds.sort(&mut self.row[1..]);
                if let Some(column) =
                    (0..self.row.len()).find(|&column| !states.fits(column, self.row[column]))
                {
                    return Err((column, self.row[column]));
                }
                states.pack_onto(&self.row, &mut self.keys);
                self.sources.push(id);
            }
        }
        Ok(())
    }
}
