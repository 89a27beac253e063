//! The abstract states of an invariant as a set, up to renaming.
//!
//! A row is in *canonical* form if the numbers of the threads of each kind ascend. Two rows are renamings of each other if
//! and only if they have the same canonical form, so the set holds that form of each row, and is asked for that form.
//!
//! Where all columns fit into one machine word, or two, the set holds rows packed into that; else it is a table of row
//! numbers over the flat array, in which each distinct row is once, by the number of its first occurrence. The hash
//! function is seeded anew in each process, so that hostile evidence cannot choose rows that collide.

use super::Watch;
use crate::{Invariant, Rejection};
use allways_model::symmetry::Kinds;
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashSet, HashTable};
use std::borrow::Cow;
use std::hash::BuildHasher;
use std::ops::{BitOr, Shl};

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

enum Set {
    One(HashSet<u64>),
    Two(HashSet<u128>),
    Many(HashTable<u32>, DefaultHashBuilder),
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
        let set = match bits.iter().map(|&bits| u64::from(bits)).sum() {
            0..=64_u64 => Set::One(HashSet::with_capacity(count)),
            65..=128 => Set::Two(HashSet::with_capacity(count)),
            129.. => Set::Many(HashTable::with_capacity(count), DefaultHashBuilder::default()),
        };
        let rows = canonical(&invariant.rows, kinds, watch)?;
        let mut rows = Rows { width, rows, most_shared, bits, set };
        for number in 0..count {
            watch.spend(1)?;
            rows.insert(number);
        }
        Ok(rows)
    }

    fn insert(&mut self, number: usize) {
        let (rows, width) = (&self.rows, self.width);
        let at = |number: usize| &rows[number * width..][..width];
        let row = at(number);
        match &mut self.set {
            Set::One(set) => drop(set.insert(pack(&self.bits, row))),
            Set::Two(set) => drop(set.insert(pack(&self.bits, row))),
            Set::Many(table, hasher) => {
                let hash = |&other: &u32| hasher.hash_one(at(other as usize));
                let same = |&other: &u32| at(other as usize) == row;
                if let Entry::Vacant(vacant) = table.entry(hasher.hash_one(row), same, hash) {
                    vacant.insert(number as u32);
                }
            }
        }
    }

    /// A row in canonical form.
    pub(super) fn get(&self, row: usize) -> &[u32] {
        &self.rows[row * self.width..][..self.width]
    }

    /// Whether there is a row with this canonical form. All its windows are listed.
    pub(super) fn contains(&self, row: &[u32]) -> bool {
        match &self.set {
            Set::One(set) => row[0] <= self.most_shared && set.contains(&pack::<u64>(&self.bits, row)),
            Set::Two(set) => row[0] <= self.most_shared && set.contains(&pack::<u128>(&self.bits, row)),
            Set::Many(table, hasher) => {
                table.find(hasher.hash_one(row), |&other| self.get(other as usize) == row).is_some()
            }
        }
    }
}

/// One column after another. Each number fits into its bits, so different rows give different words.
fn pack<W: From<u32> + Shl<u32, Output = W> + BitOr<Output = W>>(bits: &[u32], row: &[u32]) -> W {
    let columns = row.iter().zip(bits);
    columns.fold(W::from(0), |word, (&number, &bits)| word << bits | W::from(number))
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
