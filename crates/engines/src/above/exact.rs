//! All reachable states, when an explorer has found them all: below is above.
//!
//! The invariant keeps whole stacks: its window is one symbol wider than the deepest of them, so that no stack fills the
//! window and nothing has to be said about what lies below.

use crate::budget::Progress;
use crate::store::{Halt, Space, StackId, StateId};
use allways_evidence::{Invariant, Window};

/// Symbols written between two looks at the limits.
const PACE: usize = 1 << 16;

/// The states of a space that is closed under all steps, as an invariant. Whole stacks may take much memory: asks for it.
pub fn invariant(space: &Space) -> Result<Invariant, Halt> {
    let kinds = space.threads.kinds();
    let mut windows = vec![Vec::new(); kinds.count()];
    let mut numbers: Vec<Vec<u32>> = vec![Vec::new(); kinds.count()];
    let mut rows = Vec::with_capacity(space.len() * (1 + kinds.threads()));
    let mut deepest = 1;
    let mut written = 0;
    for id in 0..space.len() as StateId {
        for (column, value) in space.row(id).enumerate() {
            rows.push(match column.checked_sub(1) {
                None => value,
                Some(thread) => {
                    let kind = kinds.kind(thread);
                    let known = &mut numbers[kind];
                    known.resize(known.len().max(value as usize + 1), u32::MAX);
                    if known[value as usize] == u32::MAX {
                        known[value as usize] = windows[kind].len() as u32;
                        let symbols: Vec<_> = space.threads.stacks(thread).symbols(StackId(value)).collect();
                        written += symbols.len();
                        if written > PACE {
                            written = 0;
                            space.poll(Progress::default())?;
                        }
                        deepest = deepest.max(symbols.len());
                        windows[kind].push(Window { symbols, more: false });
                    }
                    known[value as usize]
                }
            });
        }
    }
    Ok(Invariant { windows, rows, ..Invariant::new(kinds.clone(), deepest + 1) })
}
