//! The states of a worker that are on disk, in sorted runs: delayed duplicate detection.
//!
//! R. E. Korf, *Best-first frontier search with delayed duplicate detection*, AAAI 2004; for model checkers, U. Stern and
//! D. L. Dill, *Using magnetic disk instead of main memory in the Murphi verifier*, CAV 1998. Whether a state is new is not asked of
//! the disk when it is found, but of all states that were found in a level together, sorted, when the level has ended: by
//! reading what is on disk once, from the front. Deviations: states of recent levels stay in memory for as long as there is
//! room, in the ordinary set, and are found there at once; blocks of a run in which nothing is looked for are left out.
//!
//! On disk are, of each worker,
//!
//! * the *levels* up to some level, each a sequence of sorted segments, in one file: to be expanded, kept as a checkpoint,
//!   searched for the way to a bad state, and checked;
//! * the same states as *known* runs, few and large, in which duplicates are looked for;
//! * *arrived* runs: states of the level that is being filled, which may be in the levels, too, or in several of these runs.
//!
//! Invariant: the known runs have the states of the levels on disk, each in one of them. Levels on disk are complete, but for
//! arrived runs nothing is on disk of the others, and there are arrived runs only if all levels before are on disk.

use crate::disk::{Disk, DiskFile};
use crate::runs::{self, FEW, Finder, Run, Segment, Writer};
use allways_engines::store::packing::Packing;
use std::io;
use std::path::Path;
use std::rc::Rc;

/// Keys that are looked for at once.
const CHUNK: usize = 1 << 12;

/// What is on disk; see the module.
pub struct Spill {
    disk: Disk,
    /// The file of the levels.
    log: Rc<DiskFile>,
    segments: Vec<Segment>,
    /// How many segments belong to the levels up to each.
    ends: Vec<usize>,
    known: Vec<Run>,
    arrived: Vec<Run>,
    count: u64,
}

impl Spill {
    /// Nothing yet, to be put into this folder.
    pub fn new(folder: &Path) -> io::Result<Spill> {
        let disk = Disk::new(folder);
        let log = disk.file()?;
        let (segments, ends, known, arrived) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Spill { disk, log, segments, ends, known, arrived, count: 0 })
    }

    /// Where it is.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// How many levels are on disk.
    pub fn levels(&self) -> usize {
        self.ends.len()
    }

    /// How many states these levels have.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether states of the level that is being filled are on disk.
    pub fn has_arrived(&self) -> bool {
        !self.arrived.is_empty()
    }

    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        let runs = self.known.iter().chain(&self.arrived).map(Run::bytes).sum::<usize>();
        runs + self.segments.capacity() * size_of::<Segment>() + self.ends.capacity() * 8
    }

    /// The segments of a level that is on disk.
    pub fn level(&self, level: usize) -> &[Segment] {
        let start = level.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.segments[start..self.ends[level]]
    }

    /// Puts the next levels on disk: of each, the ends of its segments among the keys, which need not be sorted.
    pub fn put(
        &mut self,
        packing: &Rc<Packing>,
        mut keys: Vec<u64>,
        levels: &[Vec<usize>],
    ) -> io::Result<()> {
        let words = packing.words();
        let mut start = 0;
        let mut last = None;
        for level in levels {
            for &end in level {
                let part = &mut keys[start * words..end * words];
                start = end;
                if !part.is_empty() {
                    runs::sort(part, words);
                    let run = runs::write(&self.log, packing, part)?;
                    self.segments.push(run.segment.clone());
                    last = Some(run);
                }
            }
            self.ends.push(self.segments.len());
        }
        keys.truncate(start * words);
        self.count += start as u64;
        match last {
            None => return Ok(()),
            // What is in one segment need not be written twice.
            Some(run) if run.segment.count == start as u64 => self.known.push(run),
            Some(_) => {
                runs::sort(&mut keys, words);
                self.known.push(runs::write(&self.disk.file()?, packing, &keys)?);
            }
        }
        drop(keys);
        runs::compact(&mut self.known, &self.disk, packing)
    }

    /// Puts states of the level that is being filled on disk, whether they are new or not.
    pub fn set_aside(&mut self, packing: &Rc<Packing>, keys: &mut [u64]) -> io::Result<()> {
        if keys.is_empty() {
            return Ok(());
        }
        runs::sort(keys, packing.words());
        self.arrived.push(runs::write(&self.disk.file()?, packing, keys)?);
        runs::compact(&mut self.arrived, &self.disk, packing)
    }

    /// Of sorted keys, finds those that are in levels on disk; hands over chunks of them, with what was found.
    pub fn look_up(
        &self,
        packing: &Rc<Packing>,
        mut next: impl FnMut(usize, &mut Vec<u64>) -> io::Result<()>,
        mut found: impl FnMut(&[u64], &[bool]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut finders: Vec<Finder> = self.known.iter().map(|run| Finder::new(run, packing)).collect();
        let (mut keys, mut known) = (Vec::new(), Vec::new());
        loop {
            keys.clear();
            next(CHUNK, &mut keys)?;
            if keys.is_empty() {
                return Ok(());
            }
            known.clear();
            known.resize(keys.len() / packing.words(), false);
            for finder in &mut finders {
                finder.mark(&keys, &mut known)?;
            }
            found(&keys, &known)?;
        }
    }

    /// Ends a level of which all states have arrived on disk: those that are new are the next level on disk.
    pub fn close(&mut self, packing: &Rc<Packing>) -> io::Result<()> {
        let words = packing.words();
        let arrived = std::mem::take(&mut self.arrived);
        debug_assert!(arrived.len() <= FEW);
        let mut writer = Writer::new(&self.log, packing);
        let mut merged = runs::Merge::new(&arrived, packing);
        self.look_up(
            packing,
            |count, keys| merged.take(count, keys),
            |keys, known| {
                let new = keys.chunks_exact(words).zip(known).filter(|&(_, known)| !known);
                new.map(|(key, _)| key).try_for_each(|key| writer.push(key))
            },
        )?;
        let run = writer.finish()?;
        self.count += run.segment.count;
        if run.segment.count > 0 {
            self.segments.push(run.segment.clone());
            self.known.push(run);
        }
        self.ends.push(self.segments.len());
        runs::compact(&mut self.known, &self.disk, packing)
    }
}
