//! Sorted runs of packed rows on disk: written once, read from the front, merged.
//!
//! *Order.* Keys are compared word by word, the last word first. In a [packing](Packing) later columns lie in higher bits, and none
//! lies across words, so this is the order of rows by their last column, then the one before, and so on: the same in every
//! packing. When fields are widened, runs that were written before stay sorted, and are packed anew while they are read.
//!
//! *Format.* A run is a sequence of blocks, each with two numbers of 32 bits before it, how many keys and how many bytes; a key
//! is stored as its difference from the one before, seven bits to a byte. Of states that are close together that is one or two
//! bytes each. The first key of each block is kept in memory, so that blocks in which nothing is looked for are not read.

use crate::disk::{Disk, DiskFile, damaged};
use allways_engines::store::packing::Packing;
use allways_model::bytes::{read_number, write_number};
use std::cmp::Ordering;
use std::io;
use std::rc::Rc;

/// Keys in a block.
const BLOCK: usize = 1 << 13;

/// Runs that are read at once at most, since each takes memory to read.
pub const FEW: usize = 16;

/// The order of keys; see the module.
pub fn order(one: &[u64], other: &[u64]) -> Ordering {
    match (one, other) {
        ([one], [other]) => one.cmp(other),
        _ => one.iter().rev().cmp(other.iter().rev()),
    }
}

/// Sorts keys of so many words in place.
pub fn sort(keys: &mut [u64], words: usize) {
    fn chunks<const WORDS: usize>(keys: &mut [u64]) {
        keys.as_chunks_mut::<WORDS>().0.sort_unstable_by(|one, other| order(one, other));
    }
    match words {
        1 => keys.sort_unstable(),
        2 => chunks::<2>(keys),
        3 => chunks::<3>(keys),
        4 => chunks::<4>(keys),
        5 => chunks::<5>(keys),
        6 => chunks::<6>(keys),
        _ => {
            let copy = keys.to_vec();
            let mut sorted: Vec<&[u64]> = copy.chunks_exact(words).collect();
            sorted.sort_unstable_by(|one, other| order(one, other));
            keys.chunks_exact_mut(words).zip(sorted).for_each(|(place, key)| place.copy_from_slice(key));
        }
    }
}

/// Where a run is: a part of a file, without gaps.
#[derive(Clone)]
pub struct Segment {
    file: Rc<DiskFile>,
    packing: Rc<Packing>,
    start: u64,
    end: u64,
    /// How many keys it has.
    pub count: u64,
}

/// A segment in which keys can be looked up in ascending order.
#[derive(Clone)]
pub struct Run {
    /// Where it is.
    pub segment: Segment,
    /// The first key of each block, and where the block starts.
    firsts: Rc<Vec<u64>>,
    starts: Rc<Vec<u64>>,
}

impl Run {
    /// Bytes held in memory.
    pub fn bytes(&self) -> usize {
        (self.firsts.capacity() + self.starts.capacity()) * 8
    }
}

/// Writes a run at the end of a file. Nothing else may be appended to the file meanwhile.
pub struct Writer {
    file: Rc<DiskFile>,
    packing: Rc<Packing>,
    start: u64,
    count: u64,
    block: Vec<u8>,
    in_block: u32,
    last: Vec<u64>,
    firsts: Vec<u64>,
    starts: Vec<u64>,
}

impl Writer {
    /// Nothing yet.
    pub fn new(file: &Rc<DiskFile>, packing: &Rc<Packing>) -> Writer {
        Writer {
            file: Rc::clone(file),
            packing: Rc::clone(packing),
            start: file.length(),
            count: 0,
            block: Vec::new(),
            in_block: 0,
            last: vec![0; packing.words()],
            firsts: Vec::new(),
            starts: Vec::new(),
        }
    }

    /// Adds the next key.
    pub fn push(&mut self, key: &[u64]) -> io::Result<()> {
        debug_assert!(self.in_block == 0 || order(&self.last, key) == Ordering::Less);
        if self.in_block == 0 {
            self.block.resize(8, 0);
            self.last.fill(0);
            self.firsts.extend_from_slice(key);
        }
        if let ([last], [key]) = (&self.last[..], key) {
            write_number(key - last, &mut self.block);
        } else {
            // The words above are those of the key before.
            let differs = |&word: &usize| key[word] != self.last[word];
            let word = (0..key.len()).rev().find(differs).unwrap_or(0);
            write_number(word as u64, &mut self.block);
            write_number(key[word].wrapping_sub(self.last[word]), &mut self.block);
            key[..word].iter().for_each(|&below| write_number(below, &mut self.block));
        }
        self.last.copy_from_slice(key);
        self.in_block += 1;
        self.count += 1;
        if self.in_block as usize == BLOCK { self.seal() } else { Ok(()) }
    }

    fn seal(&mut self) -> io::Result<()> {
        if self.in_block == 0 {
            return Ok(());
        }
        let length = (self.block.len() - 8) as u32;
        self.block[..4].copy_from_slice(&self.in_block.to_le_bytes());
        self.block[4..8].copy_from_slice(&length.to_le_bytes());
        self.starts.push(self.file.append(&self.block)?);
        self.block.clear();
        self.in_block = 0;
        Ok(())
    }

    /// The run.
    pub fn finish(mut self) -> io::Result<Run> {
        self.seal()?;
        let Writer { file, packing, start, count, firsts, starts, .. } = self;
        let end = file.length();
        let segment = Segment { file, packing, start, end, count };
        Ok(Run { segment, firsts: Rc::new(firsts), starts: Rc::new(starts) })
    }
}

/// Writes sorted keys as a run.
pub fn write(file: &Rc<DiskFile>, packing: &Rc<Packing>, keys: &[u64]) -> io::Result<Run> {
    let mut writer = Writer::new(file, packing);
    for key in keys.chunks_exact(packing.words()) {
        writer.push(key)?;
    }
    writer.finish()
}

/// Reads a segment block by block, packed as the reader wants it.
pub struct Reader {
    segment: Segment,
    /// If it is not the one of the segment.
    packing: Option<Rc<Packing>>,
    words: usize,
    next: u64,
    raw: Vec<u8>,
    keys: Vec<u64>,
    place: usize,
}

impl Reader {
    /// Before the first key.
    pub fn new(segment: &Segment, packing: &Rc<Packing>) -> Reader {
        let same = packing.widths().eq(segment.packing.widths());
        Reader {
            next: segment.start,
            segment: segment.clone(),
            packing: (!same).then(|| Rc::clone(packing)),
            words: packing.words(),
            raw: Vec::new(),
            keys: Vec::new(),
            place: 0,
        }
    }

    /// How the keys are packed.
    pub fn packing(&self) -> Rc<Packing> {
        Rc::clone(self.packing.as_ref().unwrap_or(&self.segment.packing))
    }

    /// The key that is next.
    pub fn peek(&mut self) -> io::Result<Option<&[u64]>> {
        if self.place == self.keys.len() && !self.load()? {
            return Ok(None);
        }
        Ok(Some(&self.keys[self.place..][..self.words]))
    }

    /// Goes on to the key after.
    pub fn advance(&mut self) {
        self.place += self.words;
    }

    /// Appends up to so many keys.
    pub fn take(&mut self, count: usize, keys: &mut Vec<u64>) -> io::Result<()> {
        let mut left = count * self.words;
        while left > 0 && (self.place < self.keys.len() || self.load()?) {
            let taken = left.min(self.keys.len() - self.place);
            keys.extend_from_slice(&self.keys[self.place..][..taken]);
            self.place += taken;
            left -= taken;
        }
        Ok(())
    }

    /// Reads the next block, if there is one.
    fn load(&mut self) -> io::Result<bool> {
        self.keys.clear();
        self.place = 0;
        if self.next >= self.segment.end {
            return Ok(false);
        }
        let Segment { file, packing, end, .. } = &self.segment;
        file.read(self.next, 8, &mut self.raw)?;
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| self.raw[at + byte])) as usize;
        let (count, length) = (number(0), number(4));
        if count == 0 || count > BLOCK || self.next + 8 + length as u64 > *end {
            return Err(damaged());
        }
        file.read(self.next + 8, length, &mut self.raw)?;
        self.next += 8 + length as u64;
        let words = packing.words();
        decode(&self.raw, words, count, &mut self.keys).ok_or_else(damaged)?;
        if let Some(to) = &self.packing {
            let narrow = std::mem::take(&mut self.keys);
            for key in narrow.chunks_exact(words) {
                to.pack_onto(packing.row(key), &mut self.keys);
            }
        }
        Ok(true)
    }
}

fn decode(mut raw: &[u8], words: usize, count: usize, keys: &mut Vec<u64>) -> Option<()> {
    keys.reserve(count * words);
    if words == 1 {
        let mut last = 0_u64;
        for _ in 0..count {
            last = last.checked_add(read_number(&mut raw)?)?;
            keys.push(last);
        }
        return raw.is_empty().then_some(());
    }
    let mut last = vec![0_u64; words];
    for _ in 0..count {
        let word = usize::try_from(read_number(&mut raw)?).ok().filter(|&word| word < words)?;
        last[word] = last[word].checked_add(read_number(&mut raw)?)?;
        for below in &mut last[..word] {
            *below = read_number(&mut raw)?;
        }
        keys.extend_from_slice(&last);
    }
    raw.is_empty().then_some(())
}

/// A place in a run, for look-ups in ascending order.
pub struct Finder {
    reader: Reader,
    run: Run,
    /// The block that is read next.
    block: usize,
}

impl Finder {
    /// Before the first key.
    pub fn new(run: &Run, packing: &Rc<Packing>) -> Finder {
        Finder { reader: Reader::new(&run.segment, packing), run: run.clone(), block: 0 }
    }

    /// Of sorted keys, none of which comes before those asked for earlier, marks those that are in the run.
    pub fn mark(&mut self, keys: &[u64], known: &mut [bool]) -> io::Result<()> {
        let words = self.reader.words;
        for (key, known) in keys.chunks_exact(words).zip(known) {
            loop {
                let Reader { keys: block, place, .. } = &mut self.reader;
                // Most blocks are walked through; what is past their end is elsewhere.
                let done = block.is_empty() || order(&block[block.len() - words..], key) == Ordering::Less;
                if done {
                    if !self.next_block(key)? {
                        return Ok(());
                    }
                    continue;
                }
                while order(&block[*place..][..words], key) == Ordering::Less {
                    *place += words;
                }
                *known |= block[*place..][..words] == *key;
                break;
            }
        }
        Ok(())
    }

    /// Reads the last of the blocks ahead that does not start after a key, or else the next one; false at the end.
    fn next_block(&mut self, key: &[u64]) -> io::Result<bool> {
        let words = self.run.segment.packing.words();
        let starts_after = |block: usize| {
            let first = &self.run.firsts[block * words..][..words];
            match &self.reader.packing {
                None => order(first, key) == Ordering::Greater,
                Some(to) => {
                    let mut wide = Vec::new();
                    to.pack_onto(self.run.segment.packing.row(first), &mut wide);
                    order(&wide, key) == Ordering::Greater
                }
            }
        };
        // Doubling steps: it is often the next one, and sometimes far away.
        let (mut low, mut step) = (self.block, 1);
        while low + step < self.run.starts.len() && !starts_after(low + step) {
            low += step;
            step *= 2;
        }
        while step > 0 {
            if low + step < self.run.starts.len() && !starts_after(low + step) {
                low += step;
            }
            step /= 2;
        }
        let Some(&start) = self.run.starts.get(low) else { return Ok(false) };
        self.block = low + 1;
        self.reader.next = start;
        self.reader.load()
    }
}

/// Merges runs; keys that are in several come once. At most [`FEW`] should be merged at once.
pub struct Merge {
    readers: Vec<Reader>,
    least: Vec<u64>,
}

impl Merge {
    /// Before the first key.
    pub fn new(runs: &[Run], packing: &Rc<Packing>) -> Merge {
        let readers = runs.iter().map(|run| Reader::new(&run.segment, packing)).collect();
        Merge { readers, least: Vec::new() }
    }

    /// The next key, if there is one.
    pub fn next_key(&mut self) -> io::Result<Option<&[u64]>> {
        self.least.clear();
        for reader in &mut self.readers {
            if let Some(key) = reader.peek()?
                && (self.least.is_empty() || order(key, &self.least) == Ordering::Less)
            {
                self.least.clear();
                self.least.extend_from_slice(key);
            }
        }
        for reader in &mut self.readers {
            if reader.peek()?.is_some_and(|key| key == self.least) {
                reader.advance();
            }
        }
        Ok((!self.least.is_empty()).then_some(&self.least))
    }

    /// Appends up to so many keys.
    pub fn take(&mut self, count: usize, keys: &mut Vec<u64>) -> io::Result<()> {
        if let [reader] = &mut self.readers[..] {
            return reader.take(count, keys);
        }
        for _ in 0..count {
            match self.next_key()? {
                Some(key) => keys.extend_from_slice(key),
                None => break,
            }
        }
        Ok(())
    }
}

/// Merges the smaller half of the runs into one, as often as there are too many.
pub fn compact(runs: &mut Vec<Run>, disk: &Disk, packing: &Rc<Packing>) -> io::Result<()> {
    while runs.len() > FEW {
        runs.sort_by_key(|run| std::cmp::Reverse(run.segment.count));
        let small = runs.split_off(FEW / 2);
        let mut writer = Writer::new(&disk.file()?, packing);
        let mut merged = Merge::new(&small, packing);
        while let Some(key) = merged.next_key()? {
            writer.push(key)?;
        }
        runs.push(writer.finish()?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn rows(seed: u64, count: usize, columns: usize, bits: u32) -> Vec<Vec<u32>> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 & ((1 << bits) - 1)
        };
        (0..count).map(|_| (0..columns).map(|_| next()).collect()).collect()
    }

    fn run_of(disk: &Disk, packing: &Rc<Packing>, rows: &[Vec<u32>]) -> Run {
        let mut keys = Vec::new();
        rows.iter().for_each(|row| packing.pack_onto(row.iter().copied(), &mut keys));
        sort(&mut keys, packing.words());
        let mut unique: Vec<u64> = Vec::new();
        for key in keys.chunks_exact(packing.words()) {
            if unique.len() < key.len() || unique[unique.len() - key.len()..] != *key {
                unique.extend_from_slice(key);
            }
        }
        write(&disk.file().expect("a file"), packing, &unique).expect("it can be written")
    }

    /// Runs of narrow and of wide rows, merged and looked up, against sets of the standard library.
    #[test]
    fn runs_of_several_packings_are_merged_and_looked_up() {
        let disk = Disk::new(&std::env::temp_dir());
        for columns in [1, 2, 5, 9, 14, 40] {
            let narrow = Rc::new(Packing::new(&vec![9; columns]));
            let wide = Rc::new(Packing::new(&vec![13; columns]));
            let sets = [rows(1, 30_000, columns, 9), rows(2, 20_000, columns, 9), rows(3, 9, columns, 12)];
            let runs = [
                run_of(&disk, &narrow, &sets[0]),
                run_of(&disk, &narrow, &sets[1]),
                run_of(&disk, &wide, &sets[2]),
            ];
            let all: BTreeSet<&Vec<u32>> = sets.iter().flatten().collect();
            let mut merged = Vec::new();
            let mut last: Option<Vec<u64>> = None;
            let mut merge = Merge::new(&runs, &wide);
            while let Some(key) = merge.next_key().expect("they can be read") {
                assert!(last.as_ref().is_none_or(|last| order(last, key) == Ordering::Less));
                last = Some(key.to_vec());
                merged.push(wide.row(key).collect::<Vec<u32>>());
            }
            assert_eq!(merged.len(), all.len());
            assert!(merged.iter().all(|row| all.contains(row)));
            // Of what is asked for, in order: some few, then many.
            for asked in [rows(4, 40, columns, 9), [&sets[1][..700], &rows(5, 900, columns, 10)].concat()] {
                let asked: BTreeSet<Vec<u32>> = asked.into_iter().collect();
                let mut keys = Vec::new();
                asked.iter().for_each(|row| wide.pack_onto(row.iter().copied(), &mut keys));
                sort(&mut keys, wide.words());
                let mut known = vec![false; asked.len()];
                Finder::new(&runs[1], &wide).mark(&keys, &mut known).expect("it can be read");
                for (key, known) in keys.chunks_exact(wide.words()).zip(known) {
                    let row: Vec<u32> = wide.row(key).collect();
                    assert_eq!(known, sets[1].contains(&row), "{row:?}");
                }
            }
            let mut many: Vec<Run> = (0..40).map(|_| runs[0].clone()).chain(runs[1..].to_vec()).collect();
            compact(&mut many, &disk, &wide).expect("they can be merged");
            assert!(many.len() <= FEW);
            let mut keys = Vec::new();
            Merge::new(&many, &wide).take(usize::MAX, &mut keys).expect("they can be read");
            assert_eq!(keys.len(), all.len() * wide.words());
        }
        assert_eq!(disk.used(), 0);
    }

    #[test]
    fn a_damaged_block_is_an_error() {
        let disk = Disk::new(&std::env::temp_dir());
        let packing = Rc::new(Packing::new(&[20]));
        let run = run_of(&disk, &packing, &rows(1, 100, 1, 20));
        for end in [run.segment.end - 1, 9] {
            let segment = Segment { end, ..run.segment.clone() };
            let read = Reader::new(&segment, &packing).take(200, &mut Vec::new());
            assert_eq!(read.expect_err("cut short").kind(), io::ErrorKind::InvalidData);
        }
        let file = disk.file().expect("a file");
        file.append(&[2, 0, 0, 0, 1, 0, 0, 0, 7]).expect("it can be written");
        let segment = Segment { file, packing: Rc::clone(&packing), start: 0, end: 9, count: 2 };
        assert!(Reader::new(&segment, &packing).take(9, &mut Vec::new()).is_err());
    }
}
