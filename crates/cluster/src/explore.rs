//! The search: level by level, each worker the states that belong to it.
//!
//! In the epoch of a level, every worker expands its states of that level and sends the successors that belong to others; what
//! is new among those that arrive is of the next level. At the end of the epoch all workers agree on what they found: how many
//! states are new, and whether one is bad. If none is new anywhere, everything reachable was found. Because no level is
//! started before the one before has ended everywhere, the first bad state has the fewest steps of all. Where states are on
//! disk, what is new is known only then: the level is closed first.

use crate::checkpoint::Log;
use crate::control::{Control, Stopped};
use crate::exchange::{Addressed, Exchange, Gather};
use crate::shard::{Parcel, Shard};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use timely::worker::Worker;

/// How long a worker sleeps that waits for another to take something in.
const MOMENT: Duration = Duration::from_micros(500);

/// How many states are expanded before a worker looks at what has arrived.
const CHUNK: usize = 1024;

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

    /// Sends what is ready to leave, or all there is, and takes in what has arrived. Whoever sends to a worker of this process
    /// that has much to take in already waits for it: what is on its way takes memory, too.
    pub fn exchange(
        &mut self,
        shard: &mut Shard<'_>,
        worker: &mut Worker,
        control: &Control,
        all: bool,
    ) -> Result<(), Stopped> {
        let sent = self.send(shard, control, all);
        loop {
            self.parcels.turn(worker);
            while let Some(parcel) = self.parcels.receive() {
                parcel.count(control, -1);
                shard.receive(&parcel)?;
            }
            control.check()?;
            if !sent.iter().any(|&to| control.is_crowded(to)) {
                return Ok(());
            }
            std::thread::sleep(MOMENT);
        }
    }

    /// Ends a level: when it returns, all workers have sent what they had, and this one has taken in what is its own.
    pub fn barrier(
        &mut self,
        shard: &mut Shard<'_>,
        worker: &mut Worker,
        control: &Control,
    ) -> Result<(), Stopped> {
        self.parcels.barrier(worker, control, &mut |parcel| {
            parcel.count(control, -1);
            shard.receive(&parcel)
        })?;
        // An alarm of what arrived at the very end has nobody left to stop, but its turn in the sequence.
        self.send(shard, control, true);
        Ok(())
    }

    /// Sends parcels; returns to whom.
    fn send(&mut self, shard: &mut Shard<'_>, control: &Control, all: bool) -> Vec<usize> {
        let mut sent = Vec::new();
        for parcel in shard.outgoing(all) {
            parcel.count(control, 1);
            sent.push(parcel.to());
            self.parcels.send(parcel);
        }
        sent
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
        if !shard.alarmed() {
            shard.close_level()?;
        }
        // Once there is an alarm, the level is not complete.
        if let Some(log) = log.as_mut().filter(|_| !shard.alarmed()) {
            log.end_level(shard, control)?;
        }
        let depth = shard.levels().depth();
        let end = LevelEnd { new: shard.levels().len_of(depth), bad: shard.bad().cloned() };
        let ends = flows.levels.ask(worker, control, end)?;
        if let Some(bad) = ends.iter().filter_map(|end| end.bad.as_ref()).min() {
            return Ok(Explored::Bad(bad.clone()));
        }
        if ends.iter().all(|end| end.new == 0) {
            return Ok(Explored::All);
        }
        shard.start_next();
        while !shard.alarmed() && shard.expand(CHUNK)? {
            tell(shard, control, here);
            flows.exchange(shard, worker, control, false)?;
        }
        flows.exchange(shard, worker, control, true)?;
        flows.barrier(shard, worker, control)?;
        tell(shard, control, here);
    }
}

/// Says how far this worker has come.
fn tell(shard: &Shard<'_>, control: &Control, here: usize) {
    let levels = shard.levels();
    let (level, bytes) = (levels.depth() as u64, shard.bytes() as u64);
    control.workers[here].set([level, levels.count(), shard.images(), bytes, levels.disk_bytes()]);
}
