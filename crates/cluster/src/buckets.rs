//! A shard that is checked on disk: a join by hashing, for shards that do not fit into memory.
//!
//! M. Kitsuregawa, H. Tanaka, T. Moto-oka, *Application of hash to data base machine and its architecture*, New Generation Computing
//! 1, 1983 (the GRACE hash join). States that are listed, and states that must be listed for the sake of others, are divided into
//! buckets by their [fingerprint], each so small that what is listed in it fits into memory. Then the buckets are looked at
//! one after another: what is listed becomes a set, and each state that must be listed is looked for in it. Whether it is
//! there is decided by comparing bytes, as in memory.
//!
//! Many states must be listed for the sake of several others, which often lie close together: the last ones are remembered, as
//! many as there is room for, and written down once.

use crate::disk::{Disk, DiskFile, damaged};
use allways_evidence::shards::{ShardWriter, StateSet, fingerprint};
use allways_model::bytes::{read_number, write_number};
use std::io;
use std::path::Path;
use std::rc::Rc;

/// What a bucket collects before it is written, if there is room.
const BUFFER: usize = 1 << 15;

/// No more buckets than this.
const MOST: u64 = 2048;

/// What is known about a state when it takes a place in a set: its bytes, and this much more.
const OVERHEAD: u64 = 24;

/// Lists of states, one for each bucket, in one file.
struct Lists {
    file: Rc<DiskFile>,
    /// Of each bucket, the parts of the file that were written: where, and how long.
    parts: Vec<Vec<(u64, usize)>>,
    buffers: Vec<Vec<u8>>,
    full: usize,
}

impl Lists {
    fn new(disk: &Disk, buckets: usize, full: usize) -> io::Result<Lists> {
        let (parts, buffers) = (vec![Vec::new(); buckets], vec![Vec::new(); buckets]);
        Ok(Lists { file: disk.file()?, parts, buffers, full })
    }

    fn add(&mut self, state: &[u8]) -> io::Result<()> {
        // Workers divide states by the high bits of the fingerprint.
        let bucket = (fingerprint(state) as u32 as usize * self.buffers.len()) >> 32;
        let buffer = &mut self.buffers[bucket];
        write_number(state.len() as u64, buffer);
        buffer.extend_from_slice(state);
        if buffer.len() >= self.full { self.write(bucket) } else { Ok(()) }
    }

    fn write(&mut self, bucket: usize) -> io::Result<()> {
        let buffer = &mut self.buffers[bucket];
        if !buffer.is_empty() {
            self.parts[bucket].push((self.file.append(buffer)?, buffer.len()));
            buffer.clear();
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        for bucket in 0..self.buffers.len() {
            self.write(bucket)?;
            self.buffers[bucket] = Vec::new();
        }
        Ok(())
    }

    fn walk(&self, buckets: std::ops::Range<usize>) -> Walk {
        let parts: Vec<(u64, usize)> = self.parts[buckets].iter().flatten().copied().collect();
        Walk { file: Rc::clone(&self.file), parts: parts.into_iter(), bytes: Vec::new(), place: 0 }
    }
}

/// States of some buckets, one after another.
pub struct Walk {
    file: Rc<DiskFile>,
    parts: std::vec::IntoIter<(u64, usize)>,
    bytes: Vec<u8>,
    place: usize,
}

impl Walk {
    /// The next state, if there is one.
    pub fn next_state(&mut self) -> io::Result<Option<&[u8]>> {
        if self.place == self.bytes.len() {
            let Some((start, length)) = self.parts.next() else { return Ok(None) };
            self.file.read(start, length, &mut self.bytes)?;
            self.place = 0;
        }
        let mut rest = &self.bytes[self.place..];
        let length = read_number(&mut rest).ok_or_else(damaged)? as usize;
        let start = self.bytes.len() - rest.len();
        self.place = start.checked_add(length).filter(|&end| end <= self.bytes.len()).ok_or_else(damaged)?;
        Ok(Some(&self.bytes[start..self.place]))
    }
}

/// The shard of a worker; see the module.
pub struct Buckets {
    folder: std::path::PathBuf,
    listed: Lists,
    needed: Lists,
    /// States that must be listed, and were not written down yet.
    recent: StateSet,
    /// Bytes that may be remembered.
    memory: usize,
}

impl Buckets {
    /// Nothing yet, of so many states to come with so many bytes each, where a set may hold so many bytes.
    pub fn new(folder: &Path, states: u64, bytes: u64, memory: usize) -> io::Result<Buckets> {
        let disk = Disk::new(folder);
        let total = states.saturating_mul(bytes + OVERHEAD);
        let count = total.div_ceil((memory as u64 / 2).max(1)).clamp(1, MOST) as usize;
        let full = (memory / 4 / count).clamp(64, BUFFER);
        Ok(Buckets {
            folder: folder.to_path_buf(),
            listed: Lists::new(&disk, count, full)?,
            needed: Lists::new(&disk, count, full)?,
            recent: StateSet::default(),
            memory,
        })
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Lists a state.
    pub fn list(&mut self, state: &[u8]) -> io::Result<()> {
        self.listed.add(state)
    }

    /// Says that a state must be listed.
    pub fn need(&mut self, state: &[u8]) -> io::Result<()> {
        self.recent.insert(state);
        if self.recent.held() > self.memory / 4 { self.write_recent() } else { Ok(()) }
    }

    fn write_recent(&mut self) -> io::Result<()> {
        let recent = std::mem::take(&mut self.recent);
        recent.iter().try_for_each(|state| self.needed.add(state))
    }

    /// All that is listed; the same state may come several times. Nothing is listed any more.
    pub fn walk(&mut self) -> io::Result<Walk> {
        self.listed.finish()?;
        Ok(self.listed.walk(0..self.listed.parts.len()))
    }

    /// Looks for all states that must be listed; returns one that is not. What is listed goes to the shard, once.
    pub fn join(
        &mut self,
        shard: &mut ShardWriter,
        go_on: &mut dyn FnMut() -> bool,
    ) -> io::Result<Option<Vec<u8>>> {
        self.write_recent()?;
        self.needed.finish()?;
        let mut lacking = None;
        for bucket in 0..self.listed.parts.len() {
            let mut set = StateSet::default();
            let mut listed = self.listed.walk(bucket..bucket + 1);
            while let Some(state) = listed.next_state()? {
                set.insert(state);
            }
            shard.add(&set)?;
            let mut needed = self.needed.walk(bucket..bucket + 1);
            while let Some(state) = needed.next_state()? {
                if lacking.is_none() && !set.contains(state) {
                    lacking = Some(state.to_vec());
                }
            }
            if !go_on() {
                break;
            }
        }
        Ok(lacking)
    }
}
