//! Hashing of rows of numbers, which states are made of: one multiplication for each number.
//!
//! The standard library's hash function keeps its cost up to withstand chosen keys; here it took a quarter of the time of a search. Whoever
//! chooses keys that collide makes his own check slow, as he could by any large program; limits hold all the same.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// A map whose keys are rows of numbers.
pub type RowMap<K, V> = HashMap<K, V, BuildHasherDefault<Rows>>;

/// A set of rows of numbers.
pub type RowSet<K> = HashSet<K, BuildHasherDefault<Rows>>;

/// The hash function.
#[derive(Clone, Copy, Default, Debug)]
pub struct Rows(u64);

impl Rows {
    #[inline]
    fn mix(&mut self, word: u64) {
        // The product's high half depends on all bits of the word, its low half only on those below.
        let product = u128::from(self.0.rotate_left(23) ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64) ^ (product >> 64) as u64 ^ 0x2545_f491_4f6c_dd1d;
    }
}

impl Hasher for Rows {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        if !rest.is_empty() {
            self.mix(rest.iter().fold(1, |number, &byte| number << 8 | u64::from(byte)));
        }
    }

    #[inline]
    fn write_u8(&mut self, number: u8) {
        self.mix(number.into());
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.mix(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }

    #[inline]
    fn write_i64(&mut self, number: i64) {
        self.mix(number as u64);
    }

    #[inline]
    fn write_isize(&mut self, number: isize) {
        self.mix(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    /// Neighbouring rows, which states often are, keep apart in the bits that tables look at.
    #[test]
    fn neighbouring_rows_spread() {
        let build = BuildHasherDefault::<Rows>::default();
        let rows = (0..64_i64).flat_map(|one| (0..64_i64).map(move |two| vec![one, 0, two]));
        let hashes: Vec<u64> = rows.map(|row| build.hash_one(row)).collect();
        for shift in [0, 57] {
            let mut buckets = [0; 128];
            hashes.iter().for_each(|hash| buckets[(hash >> shift & 127) as usize] += 1);
            assert!(buckets.iter().all(|&count| (8..80).contains(&count)), "{buckets:?}");
        }
    }
}
