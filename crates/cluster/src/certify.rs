//! The second look: a dataflow in which all workers check that what was found is closed.
//!
//! First the states, as bytes, are spread over the workers by their [fingerprint]: these
//! are the shards, the same whether the states come from a search or from files. Then each worker looks at the states of its
//! shard by the checker of [`shards`](allways_evidence::shards), which knows the reference semantics of `model` and nothing of
//! the search, and asks the worker that would have it about each state that must be listed. What the search knew about states,
//! its numbers, moves and hashes, is not used.
//!
//! A worker that has no room for its shard in memory keeps it on disk, in [buckets](crate::buckets), and answers when all have
//! asked. What it is sent is the same, so each worker decides for itself.

use crate::buckets::{Buckets, Walk};
use crate::control::{Control, Stopped};
use crate::exchange::{Addressed, Exchange};
use crate::levels::Room;
use allways_evidence::Rejection;
use allways_evidence::shards::{Closure, ShardFile, ShardWriter, StateSet, fingerprint};
use allways_model::bytes::{read_number, write_number};
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::PathBuf;
use std::time::Duration;
use timely::worker::Worker;

/// A letter leaves when it has so many bytes.
const FULL: usize = 1 << 16;

/// How long a worker sleeps that waits for another to take something in.
const MOMENT: Duration = Duration::from_micros(500);

/// How many states are looked at before a worker looks at what has arrived.
const CHUNK: usize = 1024;

/// States for another worker, as bytes, each with its length before it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Letter {
    to: u32,
    from: u32,
    states: Vec<u8>,
}

impl Addressed for Letter {
    fn to(&self) -> usize {
        self.to as usize
    }
}

/// States on their way to the workers that have their shards.
struct Post<'f, 'c> {
    flow: &'f mut Exchange<Letter>,
    control: &'c Control,
    me: usize,
    waiting: Vec<Vec<u8>>,
}

impl Post<'_, '_> {
    /// Who has the shard in which a state is, if it is.
    fn owner(&self, state: &[u8]) -> usize {
        ((u128::from(fingerprint(state)) * self.waiting.len() as u128) >> 64) as usize
    }

    fn send(&mut self, to: usize, state: &[u8]) {
        let waiting = &mut self.waiting[to];
        write_number(state.len() as u64, waiting);
        waiting.extend_from_slice(state);
        if waiting.len() >= FULL {
            self.seal(to);
        }
    }

    fn seal(&mut self, to: usize) {
        let states = std::mem::take(&mut self.waiting[to]);
        if !states.is_empty() {
            self.control.on_the_way(self.me, to, states.len() as i64);
            self.flow.send(Letter { to: to as u32, from: self.me as u32, states });
        }
    }

    /// Lets letters go and come, and hands over the states in those that have come. Whoever has much to take in already is
    /// waited for.
    fn turn(
        &mut self,
        worker: &mut Worker,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        loop {
            self.flow.turn(worker);
            while let Some(letter) = self.flow.receive() {
                letter.open(self.control, take)?;
            }
            self.control.check()?;
            if !(0..self.waiting.len()).any(|to| to != self.me && self.control.is_crowded(to)) {
                return Ok(());
            }
            std::thread::sleep(MOMENT);
        }
    }

    /// The same until all workers have sent everything.
    fn finish(
        &mut self,
        worker: &mut Worker,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        (0..self.waiting.len()).for_each(|to| self.seal(to));
        let control = self.control;
        self.flow.barrier(worker, control, &mut |letter| letter.open(control, take))
    }
}

impl Letter {
    fn open(
        &self,
        control: &Control,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        control.on_the_way(self.from as usize, self.to as usize, -(self.states.len() as i64));
        let mut rest = &self.states[..];
        while let Some((state, after)) =
            read_number(&mut rest).and_then(|length| rest.split_at_checked(length as usize))
        {
            take(state)?;
            rest = after;
        }
        Ok(())
    }
}

fn post<'f, 'c>(flow: &'f mut Exchange<Letter>, worker: &Worker, control: &'c Control) -> Post<'f, 'c> {
    Post { flow, control, me: worker.index(), waiting: vec![Vec::new(); worker.peers()] }
}

/// Where a shard may be put if there is no room in memory.
#[derive(Clone)]
pub struct Place {
    /// The folder.
    pub folder: PathBuf,
    /// How much may be held in memory.
    pub room: Room,
    /// How much is held by others for now.
    pub taken: usize,
    /// How many states are expected.
    pub states: u64,
}

enum Held {
    Memory(StateSet),
    Disk(Box<Buckets>),
}

/// The shard of a worker. The same state may come from several workers, and from several files.
pub struct Shelf<'c> {
    held: Held,
    place: Option<Place>,
    control: &'c Control,
}

impl Shelf<'_> {
    fn list(&mut self, state: &[u8]) -> Result<(), Stopped> {
        match &mut self.held {
            Held::Memory(set) => {
                set.insert(state);
                let full = |place: &mut Place| {
                    let taken = place.taken.saturating_add(2 * set.held());
                    taken > place.room.bytes || set.len() > place.room.states
                };
                match self.place.take_if(full) {
                    Some(place) => self.move_to_disk(&place),
                    None => Ok(()),
                }
            }
            Held::Disk(buckets) => {
                let listed = buckets.list(state);
                self.on_disk(listed)
            }
        }
    }

    #[cold]
    fn move_to_disk(&mut self, place: &Place) -> Result<(), Stopped> {
        let Held::Memory(set) = &mut self.held else { return Ok(()) };
        let set = std::mem::take(set);
        let each = (set.held() / set.len().max(1)) as u64;
        let memory = place.room.bytes.min(place.room.states.saturating_mul(64));
        let moved = Buckets::new(&place.folder, place.states, each, memory).and_then(|mut buckets| {
            set.iter().try_for_each(|state| buckets.list(state))?;
            Ok(buckets)
        });
        match moved {
            Ok(buckets) => {
                self.held = Held::Disk(Box::new(buckets));
                Ok(())
            }
            Err(error) => {
                self.control.fail(&format!("cannot keep states in {}", place.folder.display()), &error)
            }
        }
    }

    /// Says that a state must be listed.
    fn need(&mut self, state: &[u8], lacking: &mut Option<Vec<u8>>) -> Result<(), Stopped> {
        match &mut self.held {
            Held::Memory(set) => {
                if lacking.is_none() && !set.contains(state) {
                    *lacking = Some(state.to_vec());
                }
                Ok(())
            }
            Held::Disk(buckets) => {
                let noted = buckets.need(state);
                self.on_disk(noted)
            }
        }
    }

    fn on_disk<T>(&self, done: io::Result<T>) -> Result<T, Stopped> {
        done.or_else(|error| match &self.held {
            Held::Disk(buckets) => {
                self.control.fail(&format!("cannot keep states in {}", buckets.folder().display()), &error)
            }
            Held::Memory(_) => self.control.fail("cannot write a shard", &error),
        })
    }

    fn start(&mut self) -> Result<Position, Stopped> {
        match &mut self.held {
            Held::Memory(_) => Ok(Position::Memory(0)),
            Held::Disk(buckets) => {
                let walk = buckets.walk();
                Ok(Position::Disk(self.on_disk(walk)?))
            }
        }
    }

    /// The next state that is listed; false at the end.
    fn next(&self, place: &mut Position, state: &mut Vec<u8>) -> Result<bool, Stopped> {
        state.clear();
        let next = match (place, &self.held) {
            (Position::Memory(place), Held::Memory(set)) => set.at(*place).map(|(state, next)| {
                *place = next;
                state
            }),
            (Position::Disk(walk), _) => self.on_disk(walk.next_state())?,
            (Position::Memory(_), Held::Disk(_)) => None,
        };
        next.map_or(Ok(false), |next| {
            state.extend_from_slice(next);
            Ok(true)
        })
    }

    /// Writes the shard, and finds out what could not be found out before.
    fn finish(
        &mut self,
        mut shard: ShardWriter,
        lacking: &mut Option<Vec<u8>>,
    ) -> Result<ShardFile, Stopped> {
        let control = self.control;
        let written = match &mut self.held {
            Held::Memory(set) => shard.add(set),
            Held::Disk(buckets) => {
                let joined = buckets.join(&mut shard, &mut || control.check().is_ok());
                joined.map(|found| *lacking = lacking.take().or(found))
            }
        };
        self.on_disk(written)?;
        control.check()?;
        shard.finish().or_else(|error| control.fail("cannot write a shard", &error))
    }
}

/// How far a walk over a shard has come.
enum Position {
    Memory(usize),
    Disk(Walk),
}

/// States that are being spread over the workers, and the shard of this one as far as it has come.
pub struct Spreading<'f, 'c> {
    post: Post<'f, 'c>,
    shelf: Shelf<'c>,
    sent: usize,
}

impl<'f, 'c> Spreading<'f, 'c> {
    /// Nothing yet.
    pub fn new(
        flow: &'f mut Exchange<Letter>,
        worker: &Worker,
        control: &'c Control,
        place: Option<Place>,
    ) -> Spreading<'f, 'c> {
        let shelf = Shelf { held: Held::Memory(StateSet::default()), place, control };
        Spreading { post: post(flow, worker, control), shelf, sent: 0 }
    }

    /// Has a state go to whom it belongs.
    pub fn add(&mut self, worker: &mut Worker, state: &[u8]) -> Result<(), Stopped> {
        let Spreading { post, shelf, sent } = self;
        match post.owner(state) {
            owner if owner == post.me => shelf.list(state)?,
            owner => post.send(owner, state),
        }
        *sent += 1;
        if *sent % CHUNK == 0 {
            if let Held::Memory(set) = &shelf.held {
                let more = set.held() / 8;
                match shelf.place.take_if(|_| !shelf.control.has_room(more)) {
                    Some(place) => shelf.move_to_disk(&place)?,
                    None => shelf.control.room_for(more)?,
                }
            }
            post.turn(worker, &mut |state| shelf.list(state))?;
        }
        Ok(())
    }

    /// The shard of this worker, when all have sent what they have.
    pub fn finish(mut self, worker: &mut Worker) -> Result<Shelf<'c>, Stopped> {
        let shelf = &mut self.shelf;
        self.post.finish(worker, &mut |state| shelf.list(state))?;
        Ok(self.shelf)
    }
}

/// Whether the shards of all workers are closed and contain nothing bad, as far as this one can tell: what the others say
/// counts as much. The shard is written, too.
pub fn check(
    flow: &mut Exchange<Letter>,
    worker: &mut Worker,
    control: &Control,
    mut shelf: Shelf<'_>,
    (system, property, kinds): (&dyn Pushdown, &Property, &Kinds),
    shard: ShardWriter,
) -> Result<Result<ShardFile, Rejection>, Stopped> {
    let mut post = post(flow, worker, control);
    let mut fault: Option<Rejection> = None;
    let mut lacking: Option<Vec<u8>> = None;
    let mut closure = match Closure::new(system, property, kinds) {
        Ok(closure) => Some(closure),
        Err(rejection) => {
            fault = Some(rejection);
            None
        }
    };
    if let Some(closure) = &closure {
        for state in closure.initial().into_iter().filter(|state| post.owner(state) == post.me) {
            shelf.need(&state, &mut lacking)?;
        }
    }
    let mut place = shelf.start()?;
    let (mut state, mut own, mut looked) = (Vec::new(), Vec::new(), 0);
    while let (None, None, Some(closure)) = (&fault, &lacking, &mut closure)
        && shelf.next(&mut place, &mut state)?
    {
        let judged = closure.look(&state, &mut |needed| match post.owner(&needed) {
            owner if owner == post.me => own.push(needed),
            owner => post.send(owner, &needed),
        });
        fault = judged.err();
        own.drain(..).try_for_each(|needed| shelf.need(&needed, &mut lacking))?;
        looked += 1;
        if looked % CHUNK == 0 {
            post.turn(worker, &mut |needed| shelf.need(needed, &mut lacking))?;
        }
    }
    post.finish(worker, &mut |needed| shelf.need(needed, &mut lacking))?;
    drop(place);
    let file = shelf.finish(shard, &mut lacking)?;
    Ok(match (fault, lacking, closure) {
        (Some(rejection), _, _) => Err(rejection),
        (None, Some(needed), Some(closure)) => Err(closure.lacking(&needed)),
        (None, None, Some(closure)) => closure.complete().map(|()| file),
        (None, _, None) => Ok(file),
    })
}
