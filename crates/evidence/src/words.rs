//! A set of machine words other than zero, made once and then only asked.
//!
//! Open addressing with linear probing, two thirds full at most: where a word is looked for, it mostly is, or nothing. The place
//! is a multiple of the hash by the number of slots, of which the upper half counts, so that their number need not be a power of
//! two. Look-ups of several words at once first read the place of each: the processor then waits for all of them together.

use std::hash::{BuildHasher, RandomState};
use std::ops::{BitOr, Shl};

/// What is packed into.
pub(crate) trait Word:
    Copy + Default + PartialEq + From<u32> + Shl<u32, Output = Self> + BitOr<Output = Self>
{
    /// How many bits it has. One of them is a mark.
    const MARKED: u64;

    fn hash(self, seeds: [u64; 3]) -> u64;
}

impl Word for u64 {
    const MARKED: u64 = 64;

    fn hash(self, seeds: [u64; 3]) -> u64 {
        fold(self ^ seeds[0], seeds[1] | 1)
    }
}

impl Word for u128 {
    const MARKED: u64 = 128;

    fn hash(self, seeds: [u64; 3]) -> u64 {
        fold((self as u64).hash(seeds) ^ (self >> 64) as u64, seeds[2] | 1)
    }
}

/// One column after another, behind a mark, so that no word is zero. Each number fits into its bits, so different rows give
/// different words.
pub(crate) fn pack<W: Word>(bits: &[u32], row: &[u32]) -> W {
    let columns = row.iter().zip(bits);
    columns.fold(W::from(1), |word, (&number, &bits)| word << bits | W::from(number))
}

/// Both halves of a product.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    product as u64 ^ (product >> 64) as u64
}

pub(crate) struct Words<W> {
    /// Zero where there is none.
    slots: Vec<W>,
    seeds: [u64; 3],
}

impl<W: Word> Words<W> {
    pub(crate) fn for_up_to(count: usize) -> Words<W> {
        let random = RandomState::new();
        let seeds = [0, 1, 2].map(|number: u8| random.hash_one(number));
        Words { slots: vec![W::default(); count + count / 2 + 1], seeds }
    }

    fn place(&self, word: W) -> usize {
        let product = u128::from(word.hash(self.seeds)) * self.slots.len() as u128;
        (product >> 64) as usize
    }

    /// The slot where a word is or would be, from a place on. There is always one that is free.
    fn slot(&self, word: W, mut place: usize) -> usize {
        while self.slots[place] != word && self.slots[place] != W::default() {
            place = if place + 1 == self.slots.len() { 0 } else { place + 1 };
        }
        place
    }

    /// To be called no more often than was said. Whether the word is new.
    pub(crate) fn insert(&mut self, word: W) -> bool {
        let slot = self.slot(word, self.place(word));
        std::mem::replace(&mut self.slots[slot], word) != word
    }

    pub(crate) fn contains(&self, word: W) -> bool {
        self.slots[self.slot(word, self.place(word))] == word
    }

    pub(crate) fn contain_all(&self, words: &[W]) -> bool {
        const TOGETHER: usize = 16;
        let mut places = [0; TOGETHER];
        let mut found = [W::default(); TOGETHER];
        words.chunks(TOGETHER).all(|words| {
            for (index, &word) in words.iter().enumerate() {
                places[index] = self.place(word);
                found[index] = self.slots[places[index]];
            }
            let mut looked_up = words.iter().zip(&found).zip(&places);
            looked_up
                .all(|((&word, &found), &place)| found == word || self.slots[self.slot(word, place)] == word)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn as_a_set<W: Word>(word: impl Fn(u64) -> W) {
        let member = |number: u64| number.wrapping_mul(number) % 5_000;
        let mut words = Words::for_up_to(3_000);
        let new = (0..3_000).filter(|&number| words.insert(word(member(number)))).count();
        let reference: HashSet<u64> = (0..3_000).map(member).collect();
        assert_eq!(new, reference.len());
        for number in 0..5_000 {
            assert_eq!(words.contains(word(number)), reference.contains(&number), "{number}");
        }
        let mut all: Vec<W> = reference.iter().map(|&number| word(number)).collect();
        assert!(words.contain_all(&all));
        let absent = (0..5_000).find(|number| !reference.contains(number)).expect("some are absent");
        for place in [0, 7, all.len() - 1] {
            let there = std::mem::replace(&mut all[place], word(absent));
            assert!(!words.contain_all(&all));
            all[place] = there;
        }
    }

    #[test]
    fn words_are_a_set() {
        as_a_set(|number| number + 1);
        as_a_set(|number| u128::from(number + 1) << 70);
        assert!(!Words::for_up_to(0).contains(1_u64));
        assert!(Words::<u64>::for_up_to(0).contain_all(&[]));
    }
}
