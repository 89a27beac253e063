//! All reachable states, when an explorer has found them all: below is above.
//!
//! The invariant keeps whole stacks: its window is one symbol wider than the deepest of them, so that no stack fills the
//! window and nothing has to be said about what lies below.

use crate::store::{Space, StateId};
use allways_evidence::{Invariant, Window};

/// The states of a space that is closed under all steps, as an invariant.
pub fn invariant(space: &Space) -> Invariant {
    let threads = space.threads.count();
    let mut windows = vec![Vec::new(); threads];
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); threads];
    let mut rows = Vec::with_capacity(space.len() * (1 + threads));
    let mut deepest = 1;
    for id in 0..space.len() as StateId {
        for (column, value) in space.row(id).enumerate() {
            rows.push(match column.checked_sub(1) {
                None => value,
                Some(thread) => {
                    let known = &mut numbers[thread];
                    known.resize(known.len().max(value as usize + 1), u32::MAX);
                    if known[value as usize] == u32::MAX {
                        known[value as usize] = windows[thread].len() as u32;
                        let symbols: Vec<_> = space.threads.stacks(thread).symbols(value).collect();
                        deepest = deepest.max(symbols.len());
                        windows[thread].push(Window { symbols, more: false });
                    }
                    known[value as usize]
                }
            });
        }
    }
    Invariant { windows, rows, ..Invariant::new(threads, deepest + 1) }
}
