//! Two cores for one exploration: one computes successors, the other looks them up.
//!
//! The first core keeps a copy of the rows that wait, knows how threads move, and packs and sends successors in parcels. The
//! second owns the set: it adds what is new and sends the new rows back. Neither ever waits for a single row, and they share
//! nothing. Rows are numbered in the order of parcels, which does not depend on timing, so every run numbers them alike.

use super::expand::Graph;
use super::packing::Packing;
use super::states::{StateId, States};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::sync_channel;

/// Rows whose successors make a parcel.
const ROWS: usize = 512;

/// Parcels under way at most, so that the first core cannot run far ahead.
const UNDER_WAY: usize = 64;

/// Successors on their way to the set: packed one after another, each with the row it was found from.
struct Parcel {
    keys: Vec<u64>,
    sources: Vec<StateId>,
    /// The first row that is not in it, nor in an earlier one.
    next: StateId,
}

/// Expands rows from number `from` on, under all threads, until none waits, a move does not fit the packing, or `look` says
/// so, which is asked after each parcel. `look` is also told of new rows: those from a number on, with their origins.
///
/// Returns the first row that has not been expanded.
pub fn run(
    graph: &mut (impl Graph + Send),
    states: &mut States,
    threads: usize,
    from: StateId,
    mut look: impl FnMut(&States, StateId, &[StateId]) -> ControlFlow<()>,
) -> StateId {
    let packing = states.packing().clone();
    let words = states.words();
    let waiting: VecDeque<u64> =
        (from..states.len() as StateId).flat_map(|id| states.key(id).to_vec()).collect();
    let (send_parcel, parcels) = sync_channel::<Parcel>(UNDER_WAY);
    let (send_rows, rows) = std::sync::mpsc::channel::<Vec<u64>>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut first = First { packing, words, waiting, next: from, answers_due: 0 };
            loop {
                // What the set has found meanwhile; if nothing waits, it has to be waited for.
                while let Ok(new) = rows.try_recv() {
                    first.take(new);
                }
                while first.waiting.is_empty() && first.answers_due > 0 {
                    match rows.recv() {
                        Ok(new) => first.take(new),
                        Err(_) => return,
                    }
                }
                let Some(parcel) = first.parcel(graph, threads) else { return };
                first.answers_due += 1;
                if send_parcel.send(parcel).is_err() {
                    return;
                }
            }
        });
        let (mut ids, mut origins) = (Vec::new(), Vec::new());
        let mut expanded = from;
        for Parcel { keys, sources, next } in parcels {
            expanded = next;
            let before = states.len() as StateId;
            ids.clear();
            origins.clear();
            states.insert_batch(&keys, &mut ids);
            let mut next = before;
            for (&id, &source) in ids.iter().zip(&sources) {
                if id == next {
                    origins.push(source);
                    next += 1;
                }
            }
            let new = (before..next).flat_map(|id| states.key(id).iter().copied()).collect();
            if look(states, before, &origins).is_break() || send_rows.send(new).is_err() {
                break;
            }
        }
        // The first core may be waiting for rows: there will be none.
        drop(send_rows);
        expanded
    })
}

/// What the first core knows.
struct First {
    packing: Packing,
    words: usize,
    /// Rows that wait, packed, in the order of their numbers from `next` on.
    waiting: VecDeque<u64>,
    next: StateId,
    /// Parcels whose new rows have not come back.
    answers_due: usize,
}

impl First {
    fn take(&mut self, new: Vec<u64>) {
        self.answers_due -= 1;
        self.waiting.extend(new);
    }

    /// The successors of the rows that wait, of as many as make a parcel. None if no row waits, or the first one has a
    /// move that does not fit.
    fn parcel(&mut self, graph: &mut impl Graph, threads: usize) -> Option<Parcel> {
        let mut parcel = Parcel { keys: Vec::new(), sources: Vec::new(), next: 0 };
        let mut key = vec![0; self.words];
        let mut taken = 0;
        'rows: while taken < ROWS && self.waiting.len() >= (taken + 1) * self.words {
            key.iter_mut().zip(self.waiting.range(taken * self.words..)).for_each(|(to, &from)| *to = from);
            let (keys, sources) = (parcel.keys.len(), parcel.sources.len());
            for thread in 0..threads {
                let (shared, local) = (self.packing.get(&key, 0), self.packing.get(&key, 1 + thread));
                for to in graph.moves(thread, shared, local) {
                    if !self.packing.fits(0, to.shared) || !self.packing.fits(1 + thread, to.local) {
                        parcel.keys.truncate(keys);
                        parcel.sources.truncate(sources);
                        break 'rows;
                    }
                    let start = parcel.keys.len();
                    parcel.keys.extend_from_slice(&key);
                    self.packing.set(&mut parcel.keys[start..], 0, to.shared);
                    self.packing.set(&mut parcel.keys[start..], 1 + thread, to.local);
                    parcel.sources.push(self.next + taken as StateId);
                }
            }
            taken += 1;
        }
        self.waiting.drain(..taken * self.words);
        self.next += taken as StateId;
        parcel.next = self.next;
        (taken > 0).then_some(parcel)
    }
}
