//! A set of rows of small numbers, numbered in the order of insertion.
//!
//! A row is packed into as few 64-bit words as hold it, each number within one word; the words of all rows are one flat
//! array. When a number does not fit into its field, all rows are packed anew with wider fields, which happens a handful
//! of times in a run, and no state changes its number.
//!
//! The index is an open-addressing table with linear probing. A slot is 32 bits: the number of a row in as many bits as
//! the largest needs, and in the others a *tag*, some bits of the row's hash, which tells most foreign rows from the one
//! looked for without a look at them. The table is rebuilt from the rows when it grows, so the old one need not be kept.
//! Look-ups are done in batches ([`States::insert_batch`]): first all slots are read, then all rows compared, so that
//! cache misses overlap.

use std::hint::black_box;

/// The number of a state.
pub type StateId = u32;

/// No row has this number.
const MISS: StateId = StateId::MAX;

const VACANT: u32 = 0;

/// Where a number of a row lies in its packed form.
#[derive(Clone, Copy, Debug)]
struct Field {
    word: u32,
    shift: u32,
    width: u32,
}

impl Field {
    fn mask(self) -> u64 {
        (1 << self.width) - 1
    }

    fn get(self, words: &[u64]) -> u32 {
        (words[self.word as usize] >> self.shift & self.mask()) as u32
    }

    fn set(self, words: &mut [u64], value: u32) {
        let word = &mut words[self.word as usize];
        *word = *word & !(self.mask() << self.shift) | u64::from(value) << self.shift;
    }
}

/// A set of rows; see the module.
pub struct States {
    fields: Vec<Field>,
    /// Words per row.
    words: usize,
    keys: Vec<u64>,
    index: Index,
    /// What the first pass of a batch found: the hash of each key, and the row it may equal.
    probes: Vec<(u64, StateId)>,
    scratch: Vec<u64>,
}

impl States {
    /// An empty set of rows of this many numbers.
    pub fn new(columns: usize) -> States {
        let mut states = States {
            fields: Vec::new(),
            words: 0,
            keys: Vec::new(),
            index: Index::new(10),
            probes: Vec::new(),
            scratch: Vec::new(),
        };
        states.lay_out(&vec![4; columns]);
        states
    }

    /// Places fields of these widths one after another, none across a word boundary.
    fn lay_out(&mut self, widths: &[u32]) {
        self.fields.clear();
        let (mut word, mut shift) = (0, 0);
        for &width in widths {
            if shift + width > 64 {
                (word, shift) = (word + 1, 0);
            }
            self.fields.push(Field { word, shift, width });
            shift += width;
        }
        self.words = word as usize + 1;
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.keys.len() / self.words
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.index.slots[..]) + self.keys.capacity() * size_of::<u64>()
    }

    /// How many bytes the index will need at once, if adding this many rows may make it grow.
    pub fn growth(&self, rows: usize) -> Option<usize> {
        let grows = self.len() + rows > self.index.room();
        grows.then_some(size_of_val(&self.index.slots[..]) * 2)
    }

    /// Words per row; the length of a key.
    pub fn words(&self) -> usize {
        self.words
    }

    /// The packed form of a row.
    pub fn key(&self, id: StateId) -> &[u64] {
        let start = id as usize * self.words;
        &self.keys[start..start + self.words]
    }

    /// One number of a row.
    pub fn column(&self, id: StateId, column: usize) -> u32 {
        self.fields[column].get(self.key(id))
    }

    /// A whole row.
    pub fn row(&self, id: StateId) -> impl ExactSizeIterator<Item = u32> {
        let key = self.key(id);
        self.fields.iter().map(|field| field.get(key))
    }

    /// Whether `value` fits into a column as it is packed now; if not, [`States::widen`] makes it fit.
    pub fn fits(&self, column: usize, value: u32) -> bool {
        u64::from(value) <= self.fields[column].mask()
    }

    /// Replaces one number of a packed row; it must fit.
    pub fn set_column(&self, key: &mut [u64], column: usize, value: u32) {
        debug_assert!(self.fits(column, value));
        self.fields[column].set(key, value);
    }

    /// Packs everything anew such that `value` fits into `column`, with some room for larger ones. Keys made before are
    /// void.
    #[cold]
    pub fn widen(&mut self, column: usize, value: u32) {
        let mut widths: Vec<u32> = self.fields.iter().map(|field| field.width).collect();
        widths[column] = (34 - value.leading_zeros()).clamp(widths[column] + 1, 32);
        let (old_fields, old_words) = (self.fields.clone(), self.words);
        self.lay_out(&widths);
        let old_keys = std::mem::take(&mut self.keys);
        self.keys = vec![0; old_keys.len() / old_words * self.words];
        for (old, new) in old_keys.chunks_exact(old_words).zip(self.keys.chunks_exact_mut(self.words)) {
            for (from, to) in old_fields.iter().zip(&self.fields) {
                to.set(new, from.get(old));
            }
        }
        self.index = Index::of(&self.keys, self.words, self.index.bits);
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
        let id = self.insert_key(&key, hash(&key));
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
        let start = keys.len();
        keys.resize(start + self.words, 0);
        for (field, &value) in self.fields.iter().zip(row) {
            field.set(&mut keys[start..], value);
        }
    }

    /// Adds packed rows, one after another in `keys`; appends their numbers to `ids`.
    pub fn insert_batch(&mut self, keys: &[u64], ids: &mut Vec<StateId>) {
        match self.words {
            1 => self.insert_batch_of::<1>(keys, ids),
            2 => self.insert_batch_of::<2>(keys, ids),
            _ => self.insert_batch_of::<0>(keys, ids),
        }
    }

    /// `WORDS` is the number of words per row where the compiler may know it, else 0.
    fn insert_batch_of<const WORDS: usize>(&mut self, keys: &[u64], ids: &mut Vec<StateId>) {
        let words = if WORDS == 0 { self.words } else { WORDS };
        let mut probes = std::mem::take(&mut self.probes);
        self.probe::<WORDS>(keys, &mut probes);
        for (key, &(hash, guess)) in keys.chunks_exact(words).zip(&probes) {
            ids.push(if guess == MISS { self.insert_key(key, hash) } else { guess });
        }
        self.probes = probes;
    }

    /// Finds for each key its hash and the row it equals, or [`MISS`] if that is not known at once.
    fn probe<const WORDS: usize>(&self, keys: &[u64], probes: &mut Vec<(u64, StateId)>) {
        let words = if WORDS == 0 { self.words } else { WORDS };
        // Each pass loads, without a branch that depends on what is loaded, what the next one decides on.
        let mut touched = 0;
        probes.clear();
        for key in keys.chunks_exact(words) {
            let hash = hash(key);
            touched ^= self.index.slots[self.index.home(hash)];
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

    /// Which of these keys, by their place, are not known at once to be there, each with its hash.
    pub fn unknown(&self, keys: &[u64], probes: &mut Vec<(u64, StateId)>, unknown: &mut Vec<(usize, u64)>) {
        match self.words {
            1 => self.probe::<1>(keys, probes),
            2 => self.probe::<2>(keys, probes),
            _ => self.probe::<0>(keys, probes),
        }
        let missing = probes.iter().enumerate().filter(|(_, (_, guess))| *guess == MISS);
        unknown.extend(missing.map(|(place, &(hash, _))| (place, hash)));
    }

    /// Adds a packed row whose hash is known; returns its number.
    pub fn insert_key(&mut self, key: &[u64], hash: u64) -> StateId {
        let (keys, words) = (&mut self.keys, self.words);
        let same = |id: StateId| &keys[id as usize * words..][..words] == key;
        match self.index.find(hash, same) {
            Ok(id) => id,
            Err(slot) => {
                let id = (keys.len() / words) as StateId;
                make_room(keys, words);
                keys.extend_from_slice(key);
                self.index.occupy(slot, hash, id);
                if id as usize == self.index.room() {
                    self.index = Index::new(0);
                    self.index = Index::of(&self.keys, words, (id + 1).ilog2() + 2);
                }
                id
            }
        }
    }
}

/// The table of row numbers. A slot holds the row's number plus one below, the tag above; 0 is vacant.
struct Index {
    /// The table has two to this power slots.
    bits: u32,
    slots: Vec<u32>,
}

impl Index {
    fn new(bits: u32) -> Index {
        Index { bits, slots: vec![VACANT; 1 << bits] }
    }

    /// The index of these rows, at least as large as `bits` says.
    fn of(keys: &[u64], words: usize, bits: u32) -> Index {
        let mut index = Index::new(bits);
        for (id, key) in keys.chunks_exact(words).enumerate() {
            let hash = hash(key);
            if let Err(vacant) = index.find(hash, |_| false) {
                index.occupy(vacant, hash, id as StateId);
            }
        }
        index
    }

    /// So many rows may be in the table before it grows.
    fn room(&self) -> usize {
        (self.slots.len() / 5 * 4).min(MISS as usize - 1)
    }

    fn home(&self, hash: u64) -> usize {
        (hash >> 32) as usize & (self.slots.len() - 1)
    }

    /// The part of a slot that holds the number; the tag is above.
    fn number_mask(&self) -> u32 {
        u32::MAX >> (32 - self.bits.clamp(1, 32))
    }

    fn tag(&self, hash: u64) -> u32 {
        hash as u32 & !self.number_mask()
    }

    /// The first row with the tag of this hash, or [`MISS`].
    fn guess(&self, hash: u64) -> StateId {
        let (mask, numbers, tag) = (self.slots.len() - 1, self.number_mask(), self.tag(hash));
        let mut slot = self.home(hash);
        loop {
            let entry = self.slots[slot];
            if entry == VACANT {
                return MISS;
            }
            if entry & !numbers == tag {
                return (entry & numbers) - 1;
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The row with the tag of this hash for which `same` holds, or the vacant slot where it belongs.
    fn find(&self, hash: u64, same: impl Fn(StateId) -> bool) -> Result<StateId, usize> {
        let (mask, numbers, tag) = (self.slots.len() - 1, self.number_mask(), self.tag(hash));
        let mut slot = self.home(hash);
        loop {
            let entry = self.slots[slot];
            if entry == VACANT {
                return Err(slot);
            }
            let id = (entry & numbers) - 1;
            if entry & !numbers == tag && same(id) {
                return Ok(id);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn occupy(&mut self, slot: usize, hash: u64, id: StateId) {
        self.slots[slot] = self.tag(hash) | (id + 1);
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
            let mut key = vec![0; states.words()];
            row.iter().enumerate().for_each(|(column, &value)| states.set_column(&mut key, column, value));
            keys.extend(key);
            if number % 100 == 99 {
                states.insert_batch(&keys, &mut ids);
                keys.clear();
            }
        }
        assert_eq!(ids, expected);
        assert_eq!(states.len(), 13 * 7);
    }
}
