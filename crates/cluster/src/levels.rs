//! The states of a worker, level by level: in memory, and, of those for which there is no room there, [on disk](crate::spill).
//!
//! In memory they are rows of one set, numbered in the order in which they came, so those of a level are a range. Levels are
//! filled one after another, and the one before is expanded meanwhile. When there is no more room, all complete levels move to
//! disk, and the set starts anew; what has arrived of the level that is being filled stays if it is little, and else is set
//! aside, sorted, until the level ends. From then on a row that is new in the set may be of an earlier level: which ones are
//! is found out when the level ends, and those are *stale*: they stay in the set, which they spare another look-up, and count
//! for nothing.

use crate::runs::{Reader, order};
use crate::spill::Spill;
use allways_engines::store::packing::Packing;
use allways_engines::store::{StateId, States};
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

/// Rows that are read from disk at once.
const CHUNK: usize = 1 << 12;

/// How much of the set may be of the level that is being filled for it to stay in memory when the rest leaves.
const LITTLE: usize = 4;

/// How much may be held in memory.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes, in all.
    pub bytes: usize,
    /// States.
    pub states: usize,
}

/// The level before the one that is being filled, as far as it was not taken yet.
enum Cursor {
    Resident(StateId),
    Disk(VecDeque<Reader>),
}

/// The states; see the module.
pub struct Levels {
    states: States,
    /// The number of the level that is being filled.
    depth: usize,
    /// The first level that is in memory, and where it and those after it start.
    first: usize,
    starts: Vec<StateId>,
    /// Which rows are stale, a bit for each, and how many.
    stale: Vec<u64>,
    stale_count: usize,
    cursor: Cursor,
    spill: Option<Spill>,
    room: Room,
}

impl Levels {
    /// No states of so many columns yet, and level 0 to be filled.
    pub fn new(columns: usize) -> Levels {
        Levels {
            states: States::new(columns),
            depth: 0,
            first: 0,
            starts: vec![0],
            stale: Vec::new(),
            stale_count: 0,
            cursor: Cursor::Resident(0),
            spill: None,
            room: Room { bytes: usize::MAX, states: usize::MAX },
        }
    }

    /// From now on puts on disk, in this folder, what there is no room for.
    pub fn spill_to(&mut self, folder: &Path, room: Room) -> io::Result<()> {
        self.spill = Some(Spill::new(folder)?);
        self.room = room;
        Ok(())
    }

    /// The rows in memory.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// The rows in memory, to add some to the level that is being filled.
    pub fn states_mut(&mut self) -> &mut States {
        &mut self.states
    }

    /// How many states there are; while a level is being filled, those of it may be too many.
    pub fn count(&self) -> u64 {
        self.on_disk() + (self.states.len() - self.stale_count) as u64
    }

    fn on_disk(&self) -> u64 {
        self.spill.as_ref().map_or(0, Spill::count)
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        self.states.bytes() + self.stale.capacity() * 8 + self.spill.as_ref().map_or(0, Spill::bytes)
    }

    /// Bytes on disk.
    pub fn disk_bytes(&self) -> u64 {
        self.spill.as_ref().map_or(0, |spill| spill.disk().used())
    }

    /// The folder of what is on disk.
    pub fn folder(&self) -> Option<&Path> {
        self.spill.as_ref().map(|spill| spill.disk().folder())
    }

    /// Whether some of them had to go to disk.
    pub fn spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| spill.levels() > 0 || spill.has_arrived())
    }

    /// The number of the level that is being filled: so many steps its states are away from an initial one.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// How many states a level has; of the one that is being filled, once it was closed.
    pub fn len_of(&self, level: usize) -> u64 {
        match &self.spill {
            Some(spill) if level < self.first => spill.level(level).iter().map(|part| part.count).sum(),
            _ => self.resident(level).filter(|&id| !self.is_stale(id)).count() as u64,
        }
    }

    /// The rows of a level in memory.
    fn resident(&self, level: usize) -> Range<StateId> {
        let level = level - self.first;
        let end = self.starts.get(level + 1).copied().unwrap_or(self.states.len() as StateId);
        self.starts.get(level).map_or(0..0, |&start| start..end)
    }

    fn is_stale(&self, id: StateId) -> bool {
        is_marked(&self.stale, id)
    }

    /// Starts the next level. The one before can be taken from now on.
    pub fn start_next(&mut self) {
        self.cursor = match &self.spill {
            Some(spill) if self.depth < self.first => {
                let packing = Rc::new(self.states.packing().clone());
                let parts = spill.level(self.depth).iter();
                Cursor::Disk(parts.map(|part| Reader::new(part, &packing)).collect())
            }
            _ => Cursor::Resident(self.starts[self.depth - self.first]),
        };
        self.depth += 1;
        self.starts.push(self.states.len() as StateId);
    }

    /// Takes up to so many states of the level before the one that is being filled. Returns how they are packed.
    pub fn take(&mut self, count: usize, keys: &mut Vec<u64>) -> io::Result<Rc<Packing>> {
        match &mut self.cursor {
            Cursor::Resident(next) => {
                let level = self.depth - 1 - self.first;
                let (end, words) = (self.starts[level + 1], self.states.words());
                while *next < end && keys.len() < count * words {
                    let id = *next;
                    *next += 1;
                    if !is_marked(&self.stale, id) {
                        keys.extend_from_slice(self.states.key(id));
                    }
                }
                Ok(Rc::new(self.states.packing().clone()))
            }
            Cursor::Disk(readers) => {
                while let Some(reader) = readers.front_mut() {
                    reader.take(count, keys)?;
                    if !keys.is_empty() {
                        return Ok(reader.packing());
                    }
                    readers.pop_front();
                }
                Ok(Rc::new(self.states.packing().clone()))
            }
        }
    }

    /// Whether there is no more room in memory, where so many bytes are held by others.
    pub fn is_full(&self, others: usize, more: usize) -> bool {
        let held = self.bytes() + self.states.growth(more).unwrap_or(0) / 2;
        let over = held.saturating_add(others) > self.room.bytes && held > self.room.bytes / 8;
        self.spill.is_some() && (over || self.states.len() > self.room.states)
    }

    /// Whether there is enough in memory that it helps to put it on disk.
    pub fn can_shrink(&self) -> bool {
        self.spill.is_some() && self.states.bytes() > self.room.bytes / 4
    }

    /// Whether so many bytes more are well within what may be held in memory, and the rest is on disk.
    pub fn has_room(&self, more: usize) -> bool {
        self.spill.is_some() && self.states.bytes().saturating_add(more) <= self.room.bytes / 2
    }

    /// Puts all that is in memory on disk, but for what has arrived of the level that is being filled if that is little.
    pub fn shrink(&mut self) -> io::Result<()> {
        let Some(filled) = self.depth.checked_sub(self.first) else { return Ok(()) };
        let start = self.starts[filled] as usize;
        let little = self.states.len() - start <= self.states.len() / LITTLE;
        let (packing, mut keys) = self.take_states();
        let words = packing.words();
        let mut arrived = keys.split_off(start * words);
        self.put(&packing, keys, filled)?;
        self.starts.push(0);
        if little && !self.spill.as_ref().is_some_and(Spill::has_arrived) {
            self.states.insert_batch(&arrived, &mut Vec::new());
            return Ok(());
        }
        match &mut self.spill {
            Some(spill) => spill.set_aside(&packing, &mut arrived),
            None => Ok(()),
        }
    }

    /// The same when all levels are complete, and without exception.
    pub fn put_all(&mut self) -> io::Result<()> {
        if self.first > self.depth {
            return Ok(());
        }
        let (packing, keys) = self.take_states();
        self.put(&packing, keys, self.depth - self.first + 1)
    }

    fn take_states(&mut self) -> (Rc<Packing>, Vec<u64>) {
        let packing = self.states.packing().clone();
        let states = std::mem::replace(&mut self.states, States::packed(packing));
        let (packing, keys) = states.into_keys();
        (Rc::new(packing), keys)
    }

    /// Puts the rows of the first so many levels in memory on disk. There are none of others, or they are dealt with.
    fn put(&mut self, packing: &Rc<Packing>, mut keys: Vec<u64>, levels: usize) -> io::Result<()> {
        let words = packing.words();
        let all = keys.len() / words;
        // Of the level that is being expanded, what was taken and what was not are two segments.
        let taken = match self.cursor {
            Cursor::Resident(next) => self.depth.checked_sub(self.first + 1).map(|level| (level, next)),
            Cursor::Disk(_) => None,
        };
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let (mut kept, mut row) = (0, 0);
        for level in 0..levels {
            let end = self.starts.get(level + 1).map_or(all, |&end| (end as usize).min(all));
            let split = taken.filter(|&(expanded, _)| expanded == level).map(|(_, next)| next as usize);
            let mut ends = Vec::new();
            for stop in split.into_iter().chain([end]) {
                while row < stop {
                    if !self.is_stale(row as StateId) {
                        keys.copy_within(row * words..(row + 1) * words, kept * words);
                        kept += 1;
                    }
                    row += 1;
                }
                ends.push(kept);
            }
            parts.push(ends);
        }
        keys.truncate(kept * words);
        self.stale = Vec::new();
        self.stale_count = 0;
        let Some(spill) = &mut self.spill else { return Ok(()) };
        let expanded = taken.filter(|&(level, _)| level < levels);
        spill.put(packing, keys, &parts)?;
        if let Some((level, _)) = expanded {
            let segments = spill.level(self.first + level);
            // An empty part has no segment: what was not taken is the last one, or nothing.
            let left = parts[level][1] > parts[level][0];
            let rest = &segments[segments.len() - usize::from(left)..];
            self.cursor = Cursor::Disk(rest.iter().map(|part| Reader::new(part, packing)).collect());
        }
        self.first += levels;
        self.starts.clear();
        Ok(())
    }

    /// Ends the level that is being filled: all that belongs to it has arrived. What was known before is found out now.
    pub fn close(&mut self) -> io::Result<()> {
        if !self.spilled() {
            return Ok(());
        }
        if self.spill.as_ref().is_some_and(Spill::has_arrived) {
            let (packing, mut keys) = self.take_states();
            if let Some(spill) = &mut self.spill {
                spill.set_aside(&packing, &mut keys)?;
                drop(keys);
                spill.close(&packing)?;
            }
            self.first += 1;
            self.starts.clear();
            return Ok(());
        }
        let Levels { states, spill: Some(spill), stale, stale_count, .. } = self else { return Ok(()) };
        let start = self.starts[self.depth - self.first];
        let mut ids: Vec<StateId> = (start..states.len() as StateId).collect();
        match states.words() {
            1 => ids.sort_unstable_by_key(|&id| states.key(id)[0]),
            _ => ids.sort_unstable_by(|&one, &other| order(states.key(one), states.key(other))),
        }
        stale.resize(states.len().div_ceil(64), 0);
        let (mut asked, mut told) = (ids.iter(), ids.iter());
        spill.look_up(
            &Rc::new(states.packing().clone()),
            |count, keys| {
                asked.by_ref().take(count).for_each(|&id| keys.extend_from_slice(states.key(id)));
                Ok(())
            },
            |_, known| {
                for (&id, &known) in told.by_ref().take(known.len()).zip(known) {
                    stale[id as usize / 64] |= u64::from(known) << (id % 64);
                    *stale_count += usize::from(known);
                }
                Ok(())
            },
        )
    }

    /// Hands over the rows of a level that is complete, as long as that is wanted.
    pub fn each(&self, level: usize, row: &mut dyn FnMut(&[u32]) -> bool) -> io::Result<()> {
        let mut numbers: Vec<u32> = Vec::new();
        match &self.spill {
            Some(spill) if level < self.first => {
                let packing = Rc::new(self.states.packing().clone());
                let mut keys = Vec::new();
                for part in spill.level(level) {
                    let mut reader = Reader::new(part, &packing);
                    loop {
                        keys.clear();
                        reader.take(CHUNK, &mut keys)?;
                        if keys.is_empty() {
                            break;
                        }
                        for key in keys.chunks_exact(packing.words()) {
                            numbers.clear();
                            numbers.extend(packing.row(key));
                            if !row(&numbers) {
                                return Ok(());
                            }
                        }
                    }
                }
            }
            _ => {
                for id in self.resident(level).filter(|&id| !self.is_stale(id)) {
                    numbers.clear();
                    numbers.extend(self.states.row(id));
                    if !row(&numbers) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

fn is_marked(marks: &[u64], id: StateId) -> bool {
    marks.get(id as usize / 64).is_some_and(|bits| bits >> (id % 64) & 1 == 1)
}
