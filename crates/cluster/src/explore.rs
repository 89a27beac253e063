//! The search: level by level, each worker the states that belong to it.
//!
//! In the epoch of a level, every worker expands its states of that level and sends the successors that belong to others; what
//! is new among those that arrive is of the next level. At the end of the epoch all workers agree on what they found: how many
//! states are new, and whether one is bad. If none is new anywhere, everything reachable was found. Because no level is
//! started before the one before has ended everywhere, the first bad state has the fewest steps of all.

use crate::checkpoint::Log;
use crate::control::{Control, Stopped};
use crate::exchange::{Exchange, Gather};
use crate::shard::{Parcel, Shard};
use allways_engines::store::StateId;
use serde::{Deserialize, Serialize};
use timely::worker::Worker;

/// How many states are expanded before a worker looks at what has arrived.
const CHUNK: u32 = 1024;

/// What a worker found in a level.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LevelEnd {
    new: u64,
    /// A bad state, as bytes.
    bad: Option<Vec<u8>>,
}

/// How the search ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Explored {
    /// Everything reachable was found, and nothing bad.
    All,
    /// A bad state, as bytes; of those that were seen in its level, the least.
    Bad(Vec<u8>),
}

/// The dataflows of a search.
pub struct Flows {
    /// States, to whom they belong.
    pub parcels: Exchange<Parcel>,
    /// What was found in a level.
    pub levels: Gather<LevelEnd>,
}

impl Flows {
    /// Builds them.
    pub fn new(worker: &mut Worker) -> Flows {
        Flows { parcels: Exchange::new(worker, "states"), levels: Gather::new(worker, "levels") }
    }
}

/// Explores from the last level of the shard on, which is complete.
pub fn explore(
    shard: &mut Shard<'_>,
    flows: &mut Flows,
    worker: &mut Worker,
    (control, here): (&Control, usize),
    mut log: Option<&mut Log>,
) -> Result<Explored, Stopped> {
    loop {
        if let Some(log) = &mut log {
            log.end_level(shard, control)?;
        }
        let bad = shard.bad().map(|id| shard.canonical(id));
        let end = LevelEnd { new: shard.last_level().len() as u64, bad };
        let ends = flows.levels.ask(worker, control, end)?;
        if let Some(bad) = ends.iter().filter_map(|end| end.bad.as_ref()).min() {
            return Ok(Explored::Bad(bad.clone()));
        }
        if ends.iter().all(|end| end.new == 0) {
            return Ok(Explored::All);
        }
        let level = shard.last_level();
        shard.end_level();
        let mut next = level.start;
        while next < level.end && !shard.alarmed() {
            let end: StateId = level.end.min(next.saturating_add(CHUNK));
            shard.expand(next..end)?;
            next = end;
            tell(shard, control, here);
            shard.outgoing(false).into_iter().for_each(|parcel| flows.parcels.send(parcel));
            flows.parcels.turn(worker);
            while let Some(parcel) = flows.parcels.receive() {
                shard.receive(&parcel)?;
            }
        }
        shard.outgoing(true).into_iter().for_each(|parcel| flows.parcels.send(parcel));
        flows.parcels.barrier(worker, control, &mut |parcel| shard.receive(&parcel))?;
        // An alarm of what arrived at the very end has nobody left to stop, but its turn in the sequence.
        shard.outgoing(true).into_iter().for_each(|parcel| flows.parcels.send(parcel));
        tell(shard, control, here);
    }
}

/// Says how far this worker has come.
fn tell(shard: &Shard<'_>, control: &Control, here: usize) {
    let level = shard.depth() as u64;
    control.workers[here].set([level, shard.states().len() as u64, shard.images(), shard.bytes() as u64]);
}
