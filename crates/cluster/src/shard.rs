//! The states of one worker, and what it sends to the others.
//!
//! Each state belongs to one worker, by its [hash](crate::pieces). A worker expands its own states; successors that are its own
//! go straight into its set, the others are packed as the set packs them and sent as [`Parcel`]s, with what the receiver has to
//! know about their numbers. Where its own are, in memory or on disk, is the business of [`levels`](crate::levels).

use crate::control::{Control, Stopped};
use crate::exchange::Addressed;
use crate::levels::{Levels, Room};
use crate::pieces::{Pieces, Translation, owner};
use allways_engines::store::packing::Packing;
use allways_engines::store::{Expander, Graph, Move, StackId, StateId, Threads};
use allways_evidence::StopReason;
use allways_evidence::shards::Closure;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// A parcel leaves when it has so many words.
const FULL: usize = 1 << 13;

/// As many states as numbers of 32 bits can name, with some to spare.
const MAX_STATES: usize = 4_000_000_000;

/// Rows for another worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    to: u32,
    from: u32,
    /// The how manieth of those from this worker to that one: numbers mean nothing out of order.
    sequence: u32,
    /// What the receiver has to know about the numbers in the rows.
    told: Vec<u8>,
    /// How many bits each number has.
    widths: Vec<u8>,
    /// The packed rows.
    keys: Vec<u64>,
    /// A bad state was found: nobody need go on with this level.
    alarm: bool,
}

impl Parcel {
    /// Counts it so many times among what is on its way.
    pub fn count(&self, control: &Control, times: i64) {
        let bytes = (self.keys.len() * 8 + self.told.len()) as i64;
        control.on_the_way(self.from as usize, self.to as usize, times * bytes);
    }
}

impl Addressed for Parcel {
    fn to(&self) -> usize {
        self.to as usize
    }
}

/// The states of one worker; see the module.
pub struct Shard<'a> {
    /// The stacks and moves of the threads.
    pub threads: Threads<'a>,
    property: &'a Property,
    control: &'a Control,
    me: usize,
    peers: usize,
    levels: Levels,
    pieces: Pieces,
    translations: Vec<Translation>,
    /// How many parcels went to, and came from, each worker.
    sequences: Vec<(u32, u32)>,
    /// Packed rows for each worker; for this one itself, to be added to the set.
    waiting: Vec<Vec<u64>>,
    ready: Vec<Parcel>,
    /// A bad state, as bytes.
    bad: Option<Vec<u8>>,
    alarm: bool,
    images: u64,
    ids: Vec<StateId>,
    taken: Vec<u64>,
    /// Whether what is taken is packed as new states are.
    packed_so: bool,
    key: Vec<u64>,
    row: Vec<u32>,
    next: Vec<u32>,
    tops: Vec<Symbol>,
    moves: Vec<Move>,
}

impl<'a> Shard<'a> {
    /// The shard of a worker, with the initial states that belong to it.
    pub fn new(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        property: &'a Property,
        control: &'a Control,
        (me, peers): (usize, usize),
    ) -> Shard<'a> {
        let count = kinds.count();
        Shard {
            levels: Levels::new(1 + system.threads()),
            threads: Threads::new(system, kinds),
            property,
            control,
            me,
            peers,
            pieces: Pieces::new(count, peers),
            translations: (0..peers).map(|_| Translation::new(count)).collect(),
            sequences: vec![(0, 0); peers],
            waiting: vec![Vec::new(); peers],
            ready: Vec::new(),
            bad: None,
            alarm: false,
            images: 0,
            ids: Vec::new(),
            taken: Vec::new(),
            packed_so: false,
            key: Vec::new(),
            row: Vec::new(),
            next: Vec::new(),
            tops: Vec::new(),
            moves: Vec::new(),
        }
    }

    /// Adds the initial states that belong to this worker.
    pub fn start(&mut self) {
        for state in self.threads.system().initial() {
            self.add_own(&state);
        }
    }

    /// Adds a state if it belongs to this worker.
    pub fn add_own(&mut self, state: &State) {
        let row = self.row_of(state);
        if owner(self.pieces.row_hash(&self.threads, &row), self.peers) == self.me {
            let before = self.levels.states().len();
            self.levels.states_mut().insert(&row);
            self.admit(before);
        }
    }

    /// Has a state go to whom it belongs.
    pub fn route(&mut self, state: &State) {
        let row = self.row_of(state);
        let owner = owner(self.pieces.row_hash(&self.threads, &row), self.peers);
        self.pack(&row, owner);
        if owner == self.me {
            self.add_waiting();
        }
    }

    /// The row of a state in the numbers of this worker, sorted within kinds.
    pub fn row_of(&mut self, state: &State) -> Vec<u32> {
        let mut row = vec![state.shared.0];
        for (thread, stack) in state.stacks.iter().enumerate() {
            row.push(self.threads.stacks_mut(thread).intern(stack).0);
        }
        self.threads.kinds().sort(&mut row[1..]);
        row
    }

    /// A state as bytes, in canonical form.
    fn canonical(threads: &Threads, row: &[u32]) -> Vec<u8> {
        let stacks = row[1..].iter().enumerate();
        let stacks = stacks.map(|(thread, &stack)| threads.stacks(thread).get(StackId(stack))).collect();
        let state = State { shared: Shared(row[0]), stacks };
        Closure::canonical(threads.system(), threads.kinds(), state)
    }

    /// The state of a row of this worker as bytes, in canonical form.
    pub fn state_bytes(&self, row: &[u32]) -> Vec<u8> {
        Shard::canonical(&self.threads, row)
    }

    /// The states, level by level.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// From now on puts on disk, in this folder, what there is no room for in memory.
    pub fn spill_to(&mut self, folder: &Path, room: Room) -> Result<(), Stopped> {
        let ready = self.levels.spill_to(folder, room);
        ready.or_else(|error| {
            self.control.fail(&format!("cannot keep states in {}", folder.display()), &error)
        })
    }

    /// Hands over the rows of a complete level, as long as that is wanted, and the threads.
    pub fn each_row(
        &mut self,
        level: usize,
        each: &mut dyn FnMut(&mut Threads<'a>, &[u32]) -> bool,
    ) -> Result<(), Stopped> {
        let Shard { levels, threads, .. } = self;
        let read = levels.each(level, &mut |row| each(threads, row));
        self.on_disk(read)
    }

    /// The same, of states as bytes, in canonical form.
    pub fn each_state(
        &mut self,
        level: usize,
        each: &mut dyn FnMut(Vec<u8>) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        let mut went = Ok(());
        self.each_row(level, &mut |threads, row| {
            went = each(Shard::canonical(threads, row));
            went.is_ok()
        })?;
        went
    }

    /// Ends the level that is being filled: all that belongs to it has arrived.
    pub fn close_level(&mut self) -> Result<(), Stopped> {
        let closed = self.levels.close();
        self.on_disk(closed)
    }

    /// What comes now is of the next level.
    pub fn start_next(&mut self) {
        self.levels.start_next();
    }

    /// Puts all states on disk, if some are there already: others need the memory.
    pub fn make_room(&mut self) -> Result<(), Stopped> {
        if !self.levels.spilled() {
            return Ok(());
        }
        let put = self.levels.put_all();
        self.on_disk(put)
    }

    /// Stops if something went wrong on disk.
    fn on_disk<T>(&self, done: io::Result<T>) -> Result<T, Stopped> {
        done.or_else(|error| {
            let folder = self.levels.folder().unwrap_or(Path::new("")).display();
            self.control.fail(&format!("cannot keep states in {folder}"), &error as &dyn Display)
        })
    }

    /// A bad state that was reached, as bytes, if one was.
    pub fn bad(&self) -> Option<&Vec<u8>> {
        self.bad.as_ref()
    }

    /// Whether somebody has reached a bad state.
    pub fn alarmed(&self) -> bool {
        self.alarm || self.bad.is_some()
    }

    /// How often the successors of a state were computed by one thread.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let waiting: usize = self.waiting.iter().map(|keys| keys.capacity() * 8).sum();
        self.levels.bytes() + self.threads.bytes() + self.pieces.bytes() + waiting
    }

    /// Computes the successors of up to so many states of the level before the one that is being filled, and what has to be
    /// sent because of them. Whether there were any.
    pub fn expand(&mut self, count: usize) -> Result<bool, Stopped> {
        let mut keys = std::mem::take(&mut self.taken);
        keys.clear();
        let packing = self.levels.take(count, &mut keys);
        let packing = self.on_disk(packing)?;
        let words = packing.words();
        self.packed_so = packing.widths().eq(self.levels.states().packing().widths());
        for batch in keys.chunks(words * Expander::BATCH) {
            for key in batch.chunks_exact(words) {
                self.expand_one(&packing, key);
            }
            self.add_waiting();
            self.check_room()?;
            self.images += (batch.len() / words * self.threads.count()) as u64;
        }
        let any = !keys.is_empty();
        self.taken = keys;
        Ok(any)
    }

    fn expand_one(&mut self, packing: &Rc<Packing>, key: &[u64]) {
        self.row.clear();
        self.row.extend(packing.row(key));
        self.key.clear();
        if self.packed_so {
            self.key.extend_from_slice(key);
        } else {
            self.levels.states().pack_onto(&self.row, &mut self.key);
        }
        let sum = self.pieces.row_hash(&self.threads, &self.row);
        let base = sum.wrapping_sub(self.pieces.shared_hash(&self.threads, Shared(self.row[0])));
        let symmetric = !self.threads.kinds().trivial();
        for thread in 0..self.threads.count() {
            let kind = self.threads.kinds().kind(thread);
            let local = self.row[1 + thread];
            if symmetric {
                // Of threads of one kind with equal stacks, which lie side by side, only the first is moved.
                let members = self.threads.kinds().members(kind);
                let previous = members.iter().rev().find(|&&member| member < thread);
                if previous.is_some_and(|&previous| self.row[1 + previous] == local) {
                    continue;
                }
            }
            let mut moves = std::mem::take(&mut self.moves);
            moves.clear();
            moves.extend_from_slice(self.threads.moves(thread, Shared(self.row[0]), local));
            let rest = base.wrapping_sub(self.pieces.stack_hash(&self.threads, kind, local));
            for to in &moves {
                let shared = self.pieces.shared_hash(&self.threads, to.shared);
                let stack = self.pieces.stack_hash(&self.threads, kind, to.local);
                let owner = owner(rest.wrapping_add(shared).wrapping_add(stack), self.peers);
                let packing = self.levels.states().packing();
                if !symmetric && packing.fits(0, to.shared.0) && packing.fits(1 + thread, to.local) {
                    let waiting = &mut self.waiting[owner];
                    let start = waiting.len();
                    waiting.extend_from_slice(&self.key);
                    packing.set(&mut waiting[start..], 0, to.shared.0);
                    packing.set(&mut waiting[start..], 1 + thread, to.local);
                    if owner != self.me && self.waiting[owner].len() >= FULL {
                        self.seal(owner);
                    }
                    continue;
                }
                let mut next = std::mem::take(&mut self.next);
                next.clear();
                next.extend_from_slice(&self.row);
                next[0] = to.shared.0;
                next[1 + thread] = to.local;
                self.threads.kinds().sort(&mut next[1..]);
                self.pack(&next, owner);
                self.next = next;
                // Fields may be wider now.
                self.key.clear();
                self.levels.states().pack_onto(&self.row, &mut self.key);
            }
            self.moves = moves;
        }
    }

    /// Packs a row for a worker.
    fn pack(&mut self, row: &[u32], owner: usize) {
        self.make_fit(row);
        self.levels.states().pack_onto(row, &mut self.waiting[owner]);
        if owner != self.me && self.waiting[owner].len() >= FULL {
            self.seal(owner);
        }
    }

    /// Makes the numbers of a row fit. What is packed as before is done with first.
    fn make_fit(&mut self, row: &[u32]) {
        let misfit =
            |levels: &Levels| (0..row.len()).find(|&column| !levels.states().fits(column, row[column]));
        while let Some(column) = misfit(&self.levels) {
            self.add_waiting();
            (0..self.peers).for_each(|peer| self.seal(peer));
            self.levels.states_mut().widen(column, row[column]);
            self.packed_so = false;
        }
    }

    /// Makes a parcel of what waits for another worker.
    fn seal(&mut self, peer: usize) {
        if peer == self.me || self.waiting[peer].is_empty() {
            return;
        }
        let keys = std::mem::take(&mut self.waiting[peer]);
        self.post(peer, keys, false);
    }

    fn post(&mut self, peer: usize, keys: Vec<u64>, alarm: bool) {
        let sequence = self.sequences[peer].0;
        self.sequences[peer].0 += 1;
        let told = self.pieces.tell(peer);
        let widths = self.levels.states().packing().widths().map(|width| width as u8).collect();
        let (to, from) = (peer as u32, self.me as u32);
        self.ready.push(Parcel { to, from, sequence, told, widths, keys, alarm });
    }

    /// Adds the rows that wait for this worker itself.
    fn add_waiting(&mut self) {
        let keys = std::mem::take(&mut self.waiting[self.me]);
        if !keys.is_empty() {
            let before = self.levels.states().len();
            self.ids.clear();
            self.levels.states_mut().insert_batch(&keys, &mut self.ids);
            self.admit(before);
        }
        self.waiting[self.me] = keys;
        self.waiting[self.me].clear();
    }

    /// Looks at the states from this one on, which are new.
    fn admit(&mut self, before: usize) {
        if self.property.is_empty() || self.bad.is_some() {
            return;
        }
        for id in before..self.levels.states().len() {
            self.next.clear();
            self.next.extend(self.levels.states().row(id as StateId));
            let (shared, stacks) = (Shared(self.next[0]), self.next[1..].iter().enumerate());
            self.tops.clear();
            self.tops
                .extend(stacks.map(|(thread, &stack)| self.threads.stacks(thread).symbol(StackId(stack))));
            let (system, kinds) = (self.threads.system(), self.threads.kinds());
            if self.property.violated_in_orbit(system, kinds, shared, &self.tops) {
                // It is new, even if duplicates are found later: nothing that was known before is bad.
                self.bad = Some(Shard::canonical(&self.threads, &self.next));
                break;
            }
        }
        if self.bad.is_some() {
            let me = self.me;
            (0..self.peers).filter(|&peer| peer != me).for_each(|peer| self.post(peer, Vec::new(), true));
        }
    }

    /// The parcels that are ready to leave; at the end of a level, all that is left.
    pub fn outgoing(&mut self, all: bool) -> Vec<Parcel> {
        if all {
            (0..self.peers).for_each(|peer| self.seal(peer));
        }
        std::mem::take(&mut self.ready)
    }

    /// Takes in the rows of another worker.
    pub fn receive(&mut self, parcel: &Parcel) -> Result<(), Stopped> {
        self.unpack(parcel).unwrap_or_else(|| {
            let why = format!("worker {} sent rows that make no sense: a bug, please report it", parcel.from);
            self.control.stop(StopReason::GaveUp(why));
        });
        self.check_room()
    }

    fn unpack(&mut self, parcel: &Parcel) -> Option<()> {
        let from = parcel.from as usize;
        let (_, received) = self.sequences.get_mut(from)?;
        if *received != parcel.sequence || parcel.widths.len() != 1 + self.threads.count() {
            return None;
        }
        *received += 1;
        self.alarm |= parcel.alarm;
        self.translations[from].learn(&mut self.threads, &parcel.told)?;
        let widths: Vec<u32> = parcel.widths.iter().map(|&width| u32::from(width)).collect();
        if widths.iter().any(|width| !(1..=32).contains(width)) {
            return None;
        }
        let packing = Packing::new(&widths);
        let mut next = std::mem::take(&mut self.next);
        for batch in parcel.keys.chunks(packing.words() * Expander::BATCH) {
            for key in batch.chunks_exact(packing.words()) {
                next.clear();
                for (column, number) in packing.row(key).enumerate() {
                    let translation = &self.translations[from];
                    next.push(match column.checked_sub(1) {
                        None => translation.shared(number)?,
                        Some(thread) => translation.stack(self.threads.kinds().kind(thread), number)?,
                    });
                }
                self.threads.kinds().sort(&mut next[1..]);
                self.pack(&next, self.me);
            }
            self.add_waiting();
        }
        self.next = next;
        Some(())
    }

    /// Whether there is room for more states; if there is a disk, makes some.
    fn check_room(&mut self) -> Result<(), Stopped> {
        if self.levels.states().len() > MAX_STATES {
            let why = format!("a worker can hold {MAX_STATES} states: take more workers");
            self.control.stop(StopReason::GaveUp(why));
        }
        let more = 16 * Expander::BATCH;
        let growth =
            |shard: &Shard<'_>| shard.levels.states().growth(more).unwrap_or(0) + shard.threads.growth(more);
        let full = self.levels.is_full(self.threads.bytes() + self.pieces.bytes(), more);
        if full || (!self.control.has_room(growth(self)) && self.levels.can_shrink()) {
            self.control.check()?;
            let shrunk = self.levels.shrink();
            self.on_disk(shrunk)?;
        }
        // What was freed may be resident for a while, and is used again: with a disk, what is held counts. If more than the limit stays
        // resident all the same, whoever looks at the limits stops it.
        let growth = growth(self);
        if self.levels.has_room(growth) { self.control.check() } else { self.control.room_for(growth) }
    }
}
