//! The way to a bad state, found after the fact: a second dataflow, from its level back to the first.
//!
//! While they search, workers do not remember where states were found from: that takes memory. When a bad
//! state was found, all workers look among their states of the level before for one that has it as a successor; then for one
//! before that, and so on. Each level is looked at once, and of a state most threads need not be: it differs from its
//! successor in what one thread has.

use crate::control::{Control, Stopped};
use crate::exchange::Gather;
use crate::shard::Shard;
use allways_engines::store::{Graph, Threads};
use allways_evidence::StopReason;
use allways_model::pushdown::Shared;
use timely::worker::Worker;

/// States looked at between two looks at the limits.
const PACE: usize = 1 << 12;

/// The states of a shortest run to a bad state in the last level, as bytes, the initial one first.
pub fn path(
    shard: &mut Shard<'_>,
    answers: &mut Gather<Option<Vec<u8>>>,
    worker: &mut Worker,
    control: &Control,
    bad: Vec<u8>,
) -> Result<Vec<Vec<u8>>, Stopped> {
    let mut path = vec![bad];
    for level in (0..shard.levels().depth()).rev() {
        let found = parent(shard, level, &path[path.len() - 1], control)?;
        let found = answers.ask(worker, control, found)?.into_iter().flatten().min();
        let Some(state) = found else {
            let why = "no way to a bad state was found: a bug, please report it".to_string();
            control.stop(StopReason::GaveUp(why));
            return Err(Stopped);
        };
        path.push(state);
    }
    path.reverse();
    Ok(path)
}

/// Of the states of this worker in a level, the least that has this one as a successor.
fn parent(
    shard: &mut Shard<'_>,
    level: usize,
    target: &[u8],
    control: &Control,
) -> Result<Option<Vec<u8>>, Stopped> {
    let Some(state) = shard.threads.system().state_from_bytes(target) else { return Ok(None) };
    let target = shard.row_of(&state);
    let mut before: Vec<Vec<u32>> = Vec::new();
    let (mut looked, mut stopped) = (0, Ok(()));
    shard.each_row(level, &mut |threads, row| {
        looked += 1;
        if looked % PACE == 0 {
            stopped = control.check();
        }
        if leads_to(threads, row, &target) {
            before.push(row.to_vec());
        }
        stopped.is_ok()
    })?;
    stopped?;
    Ok(before.into_iter().map(|row| shard.state_bytes(&row)).min())
}

/// Whether a thread can move such that a state becomes this one, up to renaming within kinds.
fn leads_to(threads: &mut Threads<'_>, row: &[u32], target: &[u32]) -> bool {
    let symmetric = !threads.kinds().trivial();
    let count = row.len() - 1;
    let differing = (1..=count).filter(|&column| row[column] != target[column]).count();
    if !symmetric && differing > 1 {
        return false;
    }
    let mut next = row.to_vec();
    for thread in 0..count {
        if !symmetric && differing == 1 && row[1 + thread] == target[1 + thread] {
            continue;
        }
        for to in threads.moves(thread, Shared(row[0]), row[1 + thread]).to_vec() {
            if to.shared.0 != target[0] {
                continue;
            }
            next.copy_from_slice(row);
            next[0] = to.shared.0;
            next[1 + thread] = to.local;
            threads.kinds().sort(&mut next[1..]);
            if next == target {
                return true;
            }
        }
    }
    false
}
