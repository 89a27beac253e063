//! A set of rows of small numbers, numbered in the order of insertion.
//!
//! A row is packed into as few 64-bit words as hold it ([`packing`](super::packing)); the words of all rows are one flat
//! array. When a number does not fit into its field, all rows are packed anew with wider fields, which happens a handful
//! of times in a run, and no state changes its number.
//!
//! The index is an open-addressing table of groups of eight slots; a row is in the first group from its home that had a
//! vacant slot. A slot is 32 bits: the number of a row in as many bits as the largest needs, and in the others a *tag*, some
//! bits of the row's hash, which tells most foreign rows from the one looked for without a look at them. A group is compared
//! in a few instructions, without branches that are hard to predict. The table is rebuilt from the rows when it grows, so
//! the old one need not be kept.
//! Look-ups are done in batches ([`States::insert_batch`]): first all slots are read, then all rows compared, so that
//! cache misses overlap.

use super::packing::Packing;
use std::hint::black_box;
use wide::i32x8;

/// The number of a state.
pub type StateId = u32;

/// No row has this number.
const MISS: StateId = StateId::MAX;

const VACANT: u32 = 0;

/// A set of rows; see the module.
pub struct States {
    packing: Packing,
    keys: Vec<u64>,
    index: Index,
    /// What the first pass of a batch found: the hash of each key, and the row it may equal.
    probes: Vec<(u64, StateId)>,
    /// Places in a batch of keys that are not known at once.
    missing: Vec<u32>,
    scratch: Vec<u64>,
}

impl States {
    /// An empty set of rows of this many numbers.
    pub fn new(columns: usize) -> States {
        States::packed(Packing::new(&vec![4; columns]))
    }

    /// An empty set of rows that are packed so.
    pub fn packed(packing: Packing) -> States {
        States {
            packing,
            keys: Vec::new(),
            index: Index::new(10),
            probes: Vec::new(),
            missing: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// How the rows are packed, and all of them in the order of their numbers.
    pub fn into_keys(self) -> (Packing, Vec<u64>) {
        (self.packing, self.keys)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.keys.len() / self.words()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.index.bytes() + self.keys.capacity() * size_of::<u64>()
    }

    /// How many bytes the index will need at once, if adding this many rows may make it grow.
    pub fn growth(&self, rows: usize) -> Option<usize> {
        let grows = self.len() + rows > self.index.room();
        grows.then_some(self.index.bytes() * 2)
    }

    /// How rows are packed at present.
    pub fn packing(&self) -> &Packing {
        &self.packing
    }

    /// Words per row; the length of a key.
    #[inline]
    pub fn words(&self) -> usize {
        self.packing.words()
    }

    /// The packed form of a row.
    #[inline]
    pub fn key(&self, id: StateId) -> &[u64] {
        &self.keys[id as usize * self.words()..][..self.words()]
    }

    /// One number of a row.
    #[inline]
    pub fn column(&self, id: StateId, column: usize) -> u32 {
        self.packing.get(self.key(id), column)
    }

    /// A whole row.
    pub fn row(&self, id: StateId) -> impl ExactSizeIterator<Item = u32> {
        self.packing.row(self.key(id))
    }

    /// Whether `value` fits into a column as it is packed now; if not, [`States::widen`] makes it fit.
    #[inline]
    pub fn fits(&self, column: usize, value: u32) -> bool {
        self.packing.fits(column, value)
    }

    /// Appends to `keys` the packed form of a row with the first column and another one replaced by what must fit.
    #[inline]
    pub fn successor_onto(&self, id: StateId, first: u32, column: usize, value: u32, keys: &mut Vec<u64>) {
        debug_assert!(self.fits(0, first) && self.fits(column, value));
        let start = keys.len();
        match self.words() {
            1 => keys.push(self.keys[id as usize]),
            2 => keys.extend_from_slice(&self.keys[id as usize * 2..][..2]),
            _ => keys.extend_from_slice(self.key(id)),
        }
        let key = &mut keys[start..];
        self.packing.set(key, 0, first);
        self.packing.set(key, column, value);
    }

    /// Packs everything anew such that `value` fits into `column`, with some room for larger ones. Keys made before are
    /// void.
    #[cold]
    pub fn widen(&mut self, column: usize, value: u32) {
        let wider = self.packing.widened(column, value);
        let old = std::mem::replace(&mut self.packing, wider);
        let (count, narrow, wide) = (self.keys.len() / old.words(), old.words(), self.words());
        // In place, from the last row on: a row moves up or stays, over rows that have been moved.
        self.keys.resize(count * wide, 0);
        let mut row = Vec::new();
        for id in (0..count).rev() {
            row.clear();
            row.extend(old.row(&self.keys[id * narrow..][..narrow]));
            let key = &mut self.keys[id * wide..][..wide];
            key.fill(0);
            row.iter().enumerate().for_each(|(column, &value)| self.packing.set(key, column, value));
        }
        let bits = self.index.bits;
        self.index = Index::new(Index::SMALLEST);
        self.index = Index::of(&self.keys, wide, bits);
    }

    /// Adds a row; returns its number and whether it is new.
    pub fn insert(&mut self, row: &[u32]) -> (StateId, bool) {
        for (column, &value) in row.iter().enumerate() {
            if !self.fits(column, value) {
                self.widen(column, value);
            }
        }
        let mut key = std::mem::take(&mut self.scratch);
        key.clear();
        self.pack_onto(row, &mut key);
        let before = self.len();
        let id = self.insert_key_of::<0>(&key, hash(&key));
        self.scratch = key;
        (id, id as usize == before)
    }

    /// The number of a row, if it is there.
    pub fn find(&self, row: &[u32]) -> Option<StateId> {
        if !row.iter().enumerate().all(|(column, &value)| self.fits(column, value)) {
            return None;
        }
        let mut key = Vec::new();
        self.pack_onto(row, &mut key);
        self.index.find(hash(&key), |id| self.key(id) == key).ok()
    }

    /// Appends the packed form of a row to `keys`; its numbers must fit.
    pub fn pack_onto(&self, row: &[u32], keys: &mut Vec<u64>) {
        self.packing.pack_onto(row.iter().copied(), keys);
    }

    /// Adds packed rows, one after another in `keys`; appends their numbers to `ids`.
    pub fn insert_batch(&mut self, keys: &[u64], ids: &mut Vec<StateId>) {
        match self.words() {
            1 => self.insert_batch_of::<1>(keys, ids),
            2 => self.insert_batch_of::<2>(keys, ids),
            _ => self.insert_batch_of::<0>(keys, ids),
        }
    }

    /// `WORDS` is the number of words per row where the compiler may know it, else 0.
    fn insert_batch_of<const WORDS: usize>(&mut self, keys: &[u64], ids: &mut Vec<StateId>) {
        let words = if WORDS == 0 { self.words() } else { WORDS };
        let mut probes = std::mem::take(&mut self.probes);
        self.probe::<WORDS>(keys, &mut probes);
        // Which keys are new is hard to predict: they are singled out without a branch.
        let first = ids.len();
        self.missing.resize(probes.len(), 0);
        let mut missing = 0;
        for (place, &(_, guess)) in probes.iter().enumerate() {
            ids.push(guess);
            self.missing[missing] = place as u32;
            missing += usize::from(guess == MISS);
        }
        for index in 0..missing {
            let place = self.missing[index] as usize;
            let key = &keys[place * words..][..words];
            ids[first + place] = self.insert_key_of::<WORDS>(key, probes[place].0);
        }
        self.probes = probes;
    }

    /// Finds for each key its hash and the row it equals, or [`MISS`] if that is not known at once.
    fn probe<const WORDS: usize>(&self, keys: &[u64], probes: &mut Vec<(u64, StateId)>) {
        let words = if WORDS == 0 { self.words() } else { WORDS };
        // Each pass loads, without a branch that depends on what is loaded, what the next one decides on.
        let mut touched = 0;
        probes.clear();
        for key in keys.chunks_exact(words) {
            let hash = hash(key);
            touched ^= self.index.groups[self.index.home(hash)].0[0];
            probes.push((hash, MISS));
        }
        black_box(touched);
        let mut touched = 0;
        for (hash, guess) in &mut *probes {
            *guess = self.index.guess(*hash);
            touched ^= self.keys.get(*guess as usize * words).copied().unwrap_or_default();
        }
        black_box(touched);
        for (key, (_, guess)) in keys.chunks_exact(words).zip(probes) {
            if *guess != MISS && self.keys[*guess as usize * words..][..words] != *key {
                *guess = MISS;
            }
        }
    }

    fn insert_key_of<const WORDS: usize>(&mut self, key: &[u64], hash: u64) -> StateId {
        let words = if WORDS == 0 { self.words() } else { WORDS };
        let keys = &mut self.keys;
        let same = |id: StateId| match WORDS {
            1 => keys[id as usize] == key[0],
            _ => &keys[id as usize * words..][..words] == key,
        };
        match self.index.find(hash, same) {
            Ok(id) => id,
            Err(slot) => {
                let id = (keys.len() / words) as StateId;
                make_room(keys, words);
                match WORDS {
                    1 => keys.push(key[0]),
                    _ => keys.extend_from_slice(key),
                }
                self.index.occupy(slot, hash, id);
                if id as usize == self.index.room() {
                    self.index = Index::new(Index::SMALLEST);
                    self.index = Index::of(&self.keys, words, (id + 1).ilog2() + 2);
                }
                id
            }
        }
    }
}

/// Slots that are looked at together. Aligned, so that none lies across two cache lines.
#[derive(Clone, Copy)]
#[repr(align(32))]
struct Group([u32; Group::SLOTS]);

impl Group {
    const SLOTS: usize = 8;
    const VACANT: Group = Group([VACANT; Group::SLOTS]);

    /// Two sets of slots, as bits: those with this tag, and the vacant ones.
    fn scan(&self, tag: u32, tags: u32) -> (u32, u32) {
        let slots = i32x8::new(self.0.map(u32::cast_signed));
        let same =
            (slots & i32x8::splat(tags.cast_signed())).simd_eq(i32x8::splat(tag.cast_signed())).to_bitmask();
        let vacant = slots.simd_eq(i32x8::ZERO).to_bitmask();
        (same & !vacant, vacant)
    }
}

/// The table of row numbers. A slot holds the row's number plus one below, the tag above; 0 is vacant.
struct Index {
    /// The table has two to this power slots.
    bits: u32,
    groups: Vec<Group>,
}

impl Index {
    const SMALLEST: u32 = Group::SLOTS.ilog2();

    fn new(bits: u32) -> Index {
        Index { bits, groups: vec![Group::VACANT; 1 << (bits - Index::SMALLEST)] }
    }

    /// The index of these rows, with two to the power of `bits` slots.
    fn of(keys: &[u64], words: usize, bits: u32) -> Index {
        let mut index = Index::new(bits);
        for (id, key) in keys.chunks_exact(words).enumerate() {
            let hash = hash(key);
            if let Err(place) = index.find(hash, |_| false) {
                index.occupy(place, hash, id as StateId);
            }
        }
        index
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.groups[..])
    }

    /// So many rows may be in the table before it grows.
    fn room(&self) -> usize {
        ((1_usize << self.bits) / 5 * 4).min(MISS as usize - 1)
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.groups.len() - 1)
    }

    /// The part of a slot that holds the number; the tag is above.
    fn number_mask(&self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    fn tag(&self, hash: u64) -> u32 {
        hash as u32 & !self.number_mask()
    }

    /// The first row with the tag of this hash, or [`MISS`].
    fn guess(&self, hash: u64) -> StateId {
        let (mask, numbers, tag) = (self.groups.len() - 1, self.number_mask(), self.tag(hash));
        let mut group = self.home(hash);
        loop {
            let slots = &self.groups[group];
            let (same, vacant) = slots.scan(tag, !numbers);
            // Whether there is a row is hard to predict, so it is no branch; that the search ends here is easy to.
            let row = (slots.0[same.trailing_zeros() as usize % Group::SLOTS] & numbers).wrapping_sub(1);
            if same | vacant != 0 {
                return if same != 0 { row } else { MISS };
            }
            group = (group + 1) & mask;
        }
    }

    /// The row with the tag of this hash for which `is` holds, or the vacant place where it belongs.
    fn find(&self, hash: u64, is: impl Fn(StateId) -> bool) -> Result<StateId, (usize, usize)> {
        let (mask, numbers, tag) = (self.groups.len() - 1, self.number_mask(), self.tag(hash));
        let mut group = self.home(hash);
        loop {
            let slots = &self.groups[group];
            let (mut same, vacant) = slots.scan(tag, !numbers);
            while same != 0 {
                let id = (slots.0[same.trailing_zeros() as usize] & numbers) - 1;
                if is(id) {
                    return Ok(id);
                }
                same &= same - 1;
            }
            if vacant != 0 {
                return Err((group, vacant.trailing_zeros() as usize));
            }
            group = (group + 1) & mask;
        }
    }

    fn occupy(&mut self, (group, slot): (usize, usize), hash: u64, id: StateId) {
        self.groups[group].0[slot] = self.tag(hash) | (id + 1);
    }
}

/// Makes room for so many more elements. Large arrays grow by an eighth instead of doubling: moving them is cheap, since the
/// pages stay where they are, and room that is not used is memory that is not there for states.
pub fn make_room<T>(array: &mut Vec<T>, additional: usize) {
    if array.capacity() - array.len() < additional {
        array.reserve_exact(additional.max(array.len() / 8).max(64));
    }
}

/// 64 mixed bits: a folded multiplication for each word.
fn hash(key: &[u64]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for &word in key {
        let product = u128::from(hash ^ word) * 0xd6e8_feb8_6659_fd93;
        hash = (product >> 64) as u64 ^ product as u64;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Rows of growing numbers, so that fields are widened on the way, against a map of the standard library.
    #[test]
    fn rows_are_numbered_in_order_and_read_back() {
        for columns in 1..9 {
            let mut states = States::new(columns);
            let mut expected: HashMap<Vec<u32>, StateId> = HashMap::new();
            let mut seed = columns as u64;
            for round in 0..20_000_u32 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let row: Vec<u32> = (0..columns)
                    .map(|column| ((seed >> (7 * column)) as u32) >> (31 - (round / 650).min(31)))
                    .collect();
                let next = expected.len() as StateId;
                let fresh = !expected.contains_key(&row);
                let id = *expected.entry(row.clone()).or_insert(next);
                assert_eq!(states.insert(&row), (id, fresh));
            }
            assert_eq!(states.len(), expected.len());
            for (row, id) in expected {
                assert_eq!(states.row(id).collect::<Vec<_>>(), row);
                assert_eq!(states.find(&row), Some(id));
            }
            assert_eq!(states.find(&vec![u32::MAX; columns]), None);
        }
    }

    #[test]
    fn a_batch_with_repetitions_equals_single_insertions() {
        let mut states = States::new(2);
        let mut single = States::new(2);
        let (mut keys, mut ids, mut expected) = (Vec::new(), Vec::new(), Vec::new());
        for number in 0..5000_u32 {
            let row = [number % 13, number % 7];
            expected.push(single.insert(&row).0);
            states.pack_onto(&row, &mut keys);
            if number % 100 == 99 {
                states.insert_batch(&keys, &mut ids);
                keys.clear();
            }
        }
        assert_eq!(ids, expected);
        assert_eq!(states.len(), 13 * 7);
    }
}
