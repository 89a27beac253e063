//! Successors of many rows, on several cores.
//!
//! Most successors of a row are there already. So the cores look for those that are not, each in its share of the rows: they
//! only read, and need no locks. What they did not find is then added by one of them. The order in which that is done does
//! not depend on timing, so the same run numbers its states the same way every time.

use super::expand::Graph;
use super::states::{StateId, States};
use std::ops::Range;

/// Rows whose successors are looked up together.
const BATCH: usize = 256;

/// What one core found in its share.
#[derive(Default)]
struct Scout {
    /// Packed successors that may be new, one after another…
    keys: Vec<u64>,
    /// …with their hashes and the rows they were found from.
    origins: Vec<(u64, StateId)>,
    /// Rows and threads whose moves are not known yet, or do not fit.
    left: Vec<(StateId, usize)>,
}

/// Adds the successors of a range of rows. Calls `admit` with each new row and the one it was found from. Returns the rows and
/// threads that have to be expanded by [`Expander`](super::Expander), since their moves were not known or did not fit.
pub fn expand(
    graph: &(impl Graph + Sync),
    states: &mut States,
    threads: usize,
    from: Range<StateId>,
    cores: usize,
    mut admit: impl FnMut(&States, StateId, StateId),
) -> Vec<(StateId, usize)> {
    let share = (from.len().div_ceil(cores)) as StateId;
    let shares = (0..cores as StateId).map(|core| {
        let start = (from.start + core * share).min(from.end);
        start..(start + share).min(from.end)
    });
    let shared: &States = states;
    let scouts: Vec<Scout> = std::thread::scope(|scope| {
        let mut shares = shares.collect::<Vec<_>>().into_iter();
        let own = shares.next().unwrap_or(from.start..from.start);
        let others: Vec<_> =
            shares.map(|share| scope.spawn(move || scout(graph, shared, threads, share))).collect();
        let mut scouts = vec![scout(graph, shared, threads, own)];
        scouts.extend(others.into_iter().map(|other| other.join().expect("a scout does not panic")));
        scouts
    });
    let words = states.words();
    let mut left = Vec::new();
    for mut scout in scouts {
        for (key, &(hash, origin)) in scout.keys.chunks_exact(words).zip(&scout.origins) {
            let before = states.len();
            let id = states.insert_key(key, hash);
            if id as usize == before {
                admit(states, id, origin);
            }
        }
        left.append(&mut scout.left);
    }
    left
}

fn scout(graph: &impl Graph, states: &States, threads: usize, share: Range<StateId>) -> Scout {
    let words = states.words();
    let mut scout = Scout::default();
    let (mut keys, mut sources) = (Vec::new(), Vec::new());
    let (mut probes, mut unknown) = (Vec::new(), Vec::new());
    for start in share.clone().step_by(BATCH) {
        for thread in 0..threads {
            keys.clear();
            sources.clear();
            for id in start..share.end.min(start + BATCH as StateId) {
                let moves = graph.known(thread, states.column(id, 0), states.column(id, 1 + thread));
                let fitting = moves.filter(|moves| {
                    moves.iter().all(|to| states.fits(0, to.shared) && states.fits(1 + thread, to.local))
                });
                let Some(moves) = fitting else {
                    scout.left.push((id, thread));
                    continue;
                };
                for to in moves {
                    let first = keys.len();
                    keys.extend_from_slice(states.key(id));
                    states.set_column(&mut keys[first..], 0, to.shared);
                    states.set_column(&mut keys[first..], 1 + thread, to.local);
                    sources.push(id);
                }
            }
            unknown.clear();
            states.unknown(&keys, &mut probes, &mut unknown);
            for &(place, hash) in &unknown {
                scout.keys.extend_from_slice(&keys[place * words..][..words]);
                scout.origins.push((hash, sources[place]));
            }
        }
    }
    scout
}
