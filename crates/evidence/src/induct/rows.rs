//! The abstract states of an invariant as a set, up to renaming.
//!
//! A row is in *canonical* form if the numbers of the threads of each kind ascend. Two rows are renamings of each other if
//! and only if they have the same canonical form, so the set holds that form of each row, and is asked for that form.
//!
//! Where all columns fit into one machine word, or two, the set holds rows packed into that ([`Words`]); else it is a table of
//! row numbers over the flat array, in which each distinct row is once, by the number of its first occurrence. Hash functions
//! are seeded anew in each process, so that hostile evidence cannot choose rows that collide.
//!
//! Nearly all time goes into waiting for memory that a look-up needs. So questions are gathered in a [`Batch`] and asked
//! together.

use super::{SHARE, Watch};
use crate::words::{Field, Word, Words, pack};
use crate::{Invariant, Rejection};
use allways_model::pushdown::Shared;
use allways_model::symmetry::Kinds;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::Range;

pub(super) struct Rows<'a> {
    width: usize,
    /// All rows in canonical form, in the order of the invariant.
    rows: Cow<'a, [u32]>,
    /// No row has a larger shared state.
    most_shared: u32,
    /// How many bits each column takes.
    bits: Vec<u32>,
    set: Set,
}

/// Rows that are words, and where their columns lie.
struct Packed<W> {
    words: Words<W>,
    fields: Vec<Field<W>>,
}

enum Set {
    One(Packed<u64>),
    Two(Packed<u128>),
    Many(HashTable<u32>, DefaultHashBuilder),
}

/// Rows that wait to be looked up together.
pub(super) enum Batch {
    One(Vec<u64>),
    Two(Vec<u128>),
    Many(Vec<u32>),
}

impl Batch {
    /// How much is in it.
    pub(super) fn len(&self) -> usize {
        match self {
            Batch::One(words) => words.len(),
            Batch::Two(words) => words.len(),
            Batch::Many(columns) => columns.len(),
        }
    }
}

impl<W: Word> Packed<W> {
    fn for_up_to(count: usize, bits: &[u32]) -> Packed<W> {
        Packed { words: Words::for_up_to(count), fields: Field::all(bits) }
    }
}

/// A row that is a word, and the batch for those that differ from it in the shared state and one more column.
pub(super) enum Like<'b> {
    One(Alike<'b, u64>),
    Two(Alike<'b, u128>),
}

pub(super) struct Alike<'b, W> {
    fields: &'b [Field<W>],
    most_shared: u32,
    row: W,
    words: &'b mut Vec<W>,
}

impl Like<'_> {
    /// Puts the row with another shared state, and with each of these numbers in a column, to those that are to be looked up;
    /// as [`Rows::ask`] does.
    pub(super) fn ask(&mut self, shared: Shared, column: usize, numbers: &[u32]) -> bool {
        match self {
            Like::One(row) => row.ask(shared, column, numbers),
            Like::Two(row) => row.ask(shared, column, numbers),
        }
    }
}

impl<W: Word> Alike<'_, W> {
    fn ask(&mut self, shared: Shared, column: usize, numbers: &[u32]) -> bool {
        if shared.0 > self.most_shared {
            // It does not fit into its bits.
            return false;
        }
        let [first, other] = [&self.fields[0], &self.fields[column]];
        let row = first.set(first.clear(other.clear(self.row)), shared.0);
        self.words.extend(numbers.iter().map(|&number| other.set(row, number)));
        true
    }
}

impl<'a> Rows<'a> {
    /// The shape of the invariant has been checked: whole rows, fewer than 2^32, and all windows are listed.
    pub(super) fn new(invariant: &'a Invariant, watch: &mut Watch<'_>) -> Result<Rows<'a>, Rejection> {
        let kinds = &invariant.kinds;
        let width = 1 + kinds.threads();
        let most_shared = invariant.states().map(|(shared, _)| shared.0).max().unwrap_or(0);
        let windows = |thread: usize| invariant.windows[kinds.kind(thread)].len();
        let most = |thread: usize| u32::try_from(windows(thread).saturating_sub(1)).unwrap_or(u32::MAX);
        let most = [most_shared].into_iter().chain((0..kinds.threads()).map(most));
        let bits: Vec<u32> = most.map(|most| u32::BITS - most.leading_zeros()).collect();
        let count = invariant.states().len();
        let set = match bits.iter().map(|&bits| u64::from(bits)).sum::<u64>() {
            0..u64::MARKED => Set::One(Packed::for_up_to(count, &bits)),
            u64::MARKED..u128::MARKED => Set::Two(Packed::for_up_to(count, &bits)),
            _ => Set::Many(HashTable::with_capacity(count), DefaultHashBuilder::default()),
        };
        let rows = canonical(&invariant.rows, kinds, watch)?;
        let mut rows = Rows { width, rows, most_shared, bits, set };
        for start in (0..count).step_by(SHARE) {
            watch.spend(SHARE)?;
            rows.insert(start..count.min(start + SHARE));
        }
        Ok(rows)
    }

    fn insert(&mut self, numbers: Range<usize>) {
        let (rows, width, bits) = (&self.rows, self.width, &self.bits);
        let at = |number: usize| &rows[number * width..][..width];
        match &mut self.set {
            Set::One(set) => set.words.insert_all(numbers.map(|row| (pack(bits, at(row)), ())), |()| ()),
            Set::Two(set) => set.words.insert_all(numbers.map(|row| (pack(bits, at(row)), ())), |()| ()),
            Set::Many(table, hasher) => {
                let hash = |&other: &u32| hasher.hash_one(at(other as usize));
                for number in numbers {
                    let same = |&other: &u32| at(other as usize) == at(number);
                    if let Entry::Vacant(vacant) = table.entry(hasher.hash_one(at(number)), same, hash) {
                        vacant.insert(number as u32);
                    }
                }
            }
        }
    }

    /// The numbers of all rows, shared state by shared state.
    pub(super) fn by_shared(&self) -> Vec<u32> {
        let count = self.rows.len() / self.width;
        let shared = |row: u32| self.rows[row as usize * self.width];
        let all = 0..count as u32;
        if self.most_shared as usize / 4 > count {
            let mut order: Vec<u32> = all.collect();
            order.sort_by_key(|&row| shared(row));
            return order;
        }
        // Where the rows of each shared state begin, and then where its next one goes.
        let mut starts = vec![0_u32; self.most_shared as usize + 2];
        all.clone().for_each(|row| starts[shared(row) as usize + 1] += 1);
        (1..starts.len()).for_each(|next| starts[next] += starts[next - 1]);
        let mut order = vec![0; count];
        for row in all {
            let place = &mut starts[shared(row) as usize];
            order[*place as usize] = row;
            *place += 1;
        }
        order
    }

    /// A row in canonical form.
    pub(super) fn get(&self, row: usize) -> &[u32] {
        &self.rows[row * self.width..][..self.width]
    }

    /// Room for questions.
    pub(super) fn batch(&self) -> Batch {
        match self.set {
            Set::One(_) => Batch::One(Vec::new()),
            Set::Two(_) => Batch::Two(Vec::new()),
            Set::Many(..) => Batch::Many(Vec::new()),
        }
    }

    /// Puts a row in canonical form, all of whose windows are listed, to those that are to be looked up. `false` if it is
    /// clear at once that it is not there.
    pub(super) fn ask(&self, batch: &mut Batch, row: &[u32]) -> bool {
        match batch {
            Batch::One(words) => words.push(pack(&self.bits, row)),
            Batch::Two(words) => words.push(pack(&self.bits, row)),
            Batch::Many(columns) => columns.extend_from_slice(row),
        }
        // A larger number does not fit into its bits.
        row[0] <= self.most_shared
    }

    /// To put rows that differ little from this one to those that are to be looked up, if rows are words.
    pub(super) fn like<'b>(&'b self, batch: &'b mut Batch, row: &[u32]) -> Option<Like<'b>> {
        let (bits, most_shared) = (&self.bits, self.most_shared);
        match (&self.set, batch) {
            (Set::One(Packed { fields, .. }), Batch::One(words)) => {
                Some(Like::One(Alike { fields, most_shared, row: pack(bits, row), words }))
            }
            (Set::Two(Packed { fields, .. }), Batch::Two(words)) => {
                Some(Like::Two(Alike { fields, most_shared, row: pack(bits, row), words }))
            }
            _ => None,
        }
    }

    /// Whether all rows are there that were asked for since the last time.
    pub(super) fn contain_all(&self, batch: &mut Batch) -> bool {
        match (&self.set, batch) {
            (Set::One(set), Batch::One(words)) => {
                let all = set.words.contain_all(words);
                words.clear();
                all
            }
            (Set::Two(set), Batch::Two(words)) => {
                let all = set.words.contain_all(words);
                words.clear();
                all
            }
            (Set::Many(..), Batch::Many(columns)) => {
                let all = columns.chunks_exact(self.width).all(|row| self.contains(row));
                columns.clear();
                all
            }
            _ => false,
        }
    }

    /// Whether there is a row with this canonical form. All its windows are listed.
    pub(super) fn contains(&self, row: &[u32]) -> bool {
        match &self.set {
            Set::One(set) => row[0] <= self.most_shared && set.words.contains(pack(&self.bits, row)),
            Set::Two(set) => row[0] <= self.most_shared && set.words.contains(pack(&self.bits, row)),
            Set::Many(table, hasher) => {
                table.find(hasher.hash_one(row), |&other| self.get(other as usize) == row).is_some()
            }
        }
    }
}

/// All rows in canonical form; copied only if some are not.
fn canonical<'a>(rows: &'a [u32], kinds: &Kinds, watch: &mut Watch<'_>) -> Result<Cow<'a, [u32]>, Rejection> {
    let mut canonical = Cow::Borrowed(rows);
    if kinds.trivial() {
        return Ok(canonical);
    }
    let width = 1 + kinds.threads();
    for (number, row) in rows.chunks_exact(width).enumerate() {
        watch.spend(1)?;
        let ascending = |kind: usize| kinds.members(kind).is_sorted_by_key(|&thread| row[1 + thread]);
        if !(0..kinds.count()).all(ascending) {
            kinds.sort(&mut canonical.to_mut()[number * width..][1..width]);
        }
    }
    Ok(canonical)
}

/// Puts `number` in the place of another number of a canonical row, that of the thread `members[place]`, and moves it to
/// where the row is canonical again. Gives its new place.
pub(super) fn replace(row: &mut [u32], members: &[usize], mut place: usize, number: u32) -> usize {
    while place > 0 && row[1 + members[place - 1]] > number {
        row[1 + members[place]] = row[1 + members[place - 1]];
        place -= 1;
    }
    while place + 1 < members.len() && row[1 + members[place + 1]] < number {
        row[1 + members[place]] = row[1 + members[place + 1]];
        place += 1;
    }
    row[1 + members[place]] = number;
    place
}
