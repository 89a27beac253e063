//! The abstract states of an invariant as a set: an open-addressing table of row numbers over the flat array.
//!
//! Invariant: each distinct row is in the table once, by the number of its first occurrence. The hash function is seeded
//! anew in each process, so that hostile evidence cannot choose rows that collide.

use super::Watch;
use crate::{Invariant, Rejection};
use hashbrown::hash_table::Entry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

pub(super) struct Rows<'a> {
    width: usize,
    rows: &'a [u32],
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<'a> Rows<'a> {
    /// The shape of the invariant has been checked: whole rows, fewer than 2^32.
    pub(super) fn new(invariant: &'a Invariant, watch: &mut Watch<'_>) -> Result<Rows<'a>, Rejection> {
        let (rows, width) = (&invariant.rows[..], 1 + invariant.windows.len());
        let hasher = DefaultHashBuilder::default();
        let mut table = HashTable::with_capacity(rows.len() / width);
        for (number, row) in rows.chunks_exact(width).enumerate() {
            watch.spend(1)?;
            let at = |number: u32| &rows[number as usize * width..][..width];
            let entry = table.entry(
                hasher.hash_one(row),
                |&other| at(other) == row,
                |&other| hasher.hash_one(at(other)),
            );
            if let Entry::Vacant(vacant) = entry {
                vacant.insert(number as u32);
            }
        }
        Ok(Rows { width, rows, table, hasher })
    }

    pub(super) fn get(&self, row: usize) -> &'a [u32] {
        &self.rows[row * self.width..][..self.width]
    }

    pub(super) fn contains(&self, row: &[u32]) -> bool {
        self.table.find(self.hasher.hash_one(row), |&other| self.get(other as usize) == row).is_some()
    }
}
