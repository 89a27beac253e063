//! The second look: a dataflow in which all workers check that what was found is closed.
//!
//! First the states, as bytes, are spread over the workers by their [fingerprint]: these
//! are the shards, the same whether the states come from a search or from files. Then each worker looks at the states of its
//! shard by the checker of [`shards`](allways_evidence::shards), which knows the reference semantics of `model` and nothing of
//! the search, and asks the worker that would have it about each state that must be listed. What the search knew about states,
//! its numbers, moves and hashes, is not used.

use crate::control::{Control, Stopped};
use crate::exchange::{Addressed, Exchange};
use allways_evidence::Rejection;
use allways_evidence::shards::{Closure, StateSet, fingerprint};
use allways_model::bytes::{read_number, write_number};
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use serde::{Deserialize, Serialize};
use timely::worker::Worker;

/// A letter leaves when it has so many bytes.
const FULL: usize = 1 << 16;

/// How many states are looked at before a worker looks at what has arrived.
const CHUNK: usize = 1024;

/// States for another worker, as bytes, each with its length before it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Letter {
    to: u32,
    states: Vec<u8>,
}

impl Addressed for Letter {
    fn to(&self) -> usize {
        self.to as usize
    }
}

/// States on their way to the workers that have their shards.
struct Post<'f> {
    flow: &'f mut Exchange<Letter>,
    me: usize,
    waiting: Vec<Vec<u8>>,
}

impl Post<'_> {
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
            self.flow.send(Letter { to: to as u32, states });
        }
    }

    /// Lets letters go and come, and hands over the states in those that have come.
    fn turn(&mut self, worker: &mut Worker, take: &mut dyn FnMut(&[u8])) {
        self.flow.turn(worker);
        while let Some(letter) = self.flow.receive() {
            letter.open(take);
        }
    }

    /// The same until all workers have sent everything.
    fn finish(
        &mut self,
        worker: &mut Worker,
        control: &Control,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Stopped> {
        (0..self.waiting.len()).for_each(|to| self.seal(to));
        self.flow.barrier(worker, control, &mut |letter| {
            letter.open(take);
            Ok(())
        })
    }
}

impl Letter {
    fn open(&self, take: &mut dyn FnMut(&[u8])) {
        let mut rest = &self.states[..];
        while let Some((state, after)) =
            read_number(&mut rest).and_then(|length| rest.split_at_checked(length as usize))
        {
            take(state);
            rest = after;
        }
    }
}

fn post<'f>(flow: &'f mut Exchange<Letter>, worker: &Worker) -> Post<'f> {
    Post { flow, me: worker.index(), waiting: vec![Vec::new(); worker.peers()] }
}

/// Adds a state. The same one may come from several workers, and from several files.
fn keep(set: &mut StateSet, state: &[u8]) {
    set.insert(state);
}

/// States that are being spread over the workers, and the shard of this one as far as it has come.
pub struct Spreading<'f> {
    post: Post<'f>,
    set: StateSet,
    sent: usize,
}

impl<'f> Spreading<'f> {
    /// Nothing yet.
    pub fn new(flow: &'f mut Exchange<Letter>, worker: &Worker) -> Spreading<'f> {
        Spreading { post: post(flow, worker), set: StateSet::default(), sent: 0 }
    }

    /// Has a state go to whom it belongs.
    pub fn add(&mut self, worker: &mut Worker, control: &Control, state: &[u8]) -> Result<(), Stopped> {
        let Spreading { post, set, sent } = self;
        match post.owner(state) {
            owner if owner == post.me => keep(set, state),
            owner => post.send(owner, state),
        }
        *sent += 1;
        if *sent % CHUNK == 0 {
            control.room_for(set.held() / 8)?;
            post.turn(worker, &mut |state| keep(set, state));
        }
        Ok(())
    }

    /// The shard of this worker, when all have sent what they have.
    pub fn finish(mut self, worker: &mut Worker, control: &Control) -> Result<StateSet, Stopped> {
        let set = &mut self.set;
        self.post.finish(worker, control, &mut |state| keep(set, state))?;
        Ok(self.set)
    }
}

/// Whether the shards of all workers are closed and contain nothing bad, as far as this one can tell: what the others say
/// counts as much.
pub fn check(
    flow: &mut Exchange<Letter>,
    worker: &mut Worker,
    control: &Control,
    set: &StateSet,
    (system, property, kinds): (&dyn Pushdown, &Property, &Kinds),
) -> Result<Result<(), Rejection>, Stopped> {
    let mut post = post(flow, worker);
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
        let mut own = closure.initial().into_iter().filter(|state| post.owner(state) == post.me);
        lacking = own.find(|state| !set.contains(state));
    }
    let (mut place, mut looked) = (0, 0);
    while let (None, None, Some(closure), Some((state, next))) =
        (&fault, &lacking, &mut closure, set.at(place))
    {
        place = next;
        let judged = closure.look(state, &mut |needed| match post.owner(&needed) {
            owner if owner == post.me => {
                if lacking.is_none() && !set.contains(&needed) {
                    lacking = Some(needed);
                }
            }
            owner => post.send(owner, &needed),
        });
        fault = judged.err();
        looked += 1;
        if looked % CHUNK == 0 {
            control.check()?;
            post.turn(worker, &mut |needed| note_lacking(set, needed, &mut lacking));
        }
    }
    post.finish(worker, control, &mut |needed| note_lacking(set, needed, &mut lacking))?;
    Ok(match (fault, lacking, closure) {
        (Some(rejection), _, _) => Err(rejection),
        (None, Some(needed), Some(closure)) => Err(closure.lacking(&needed)),
        (None, None, Some(closure)) => closure.complete(),
        (None, _, None) => Ok(()),
    })
}

fn note_lacking(set: &StateSet, needed: &[u8], lacking: &mut Option<Vec<u8>>) {
    if lacking.is_none() && !set.contains(needed) {
        *lacking = Some(needed.to_vec());
    }
}
