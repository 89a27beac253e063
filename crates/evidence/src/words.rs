//! A set of machine words other than zero, made once and then only asked.
//!
//! Open addressing with linear probing, two thirds full at most: where a word is looked for, it mostly is, or nothing. The place
//! is a multiple of the hash by the number of slots, of which the upper half counts, so that their number need not be a power of
//! two. Look-ups of several words at once first read the place of each: the processor then waits for all of them together.

use std::hash::{BuildHasher, RandomState};
use std::hint::black_box;
use std::ops::{BitAnd, BitOr, Not, Shl};

/// What is packed into.
pub(crate) trait Word:
    Copy
    + Default
    + PartialEq
    + From<u32>
    + Shl<u32, Output = Self>
    + BitOr<Output = Self>
    + BitAnd<Output = Self>
    + Not<Output = Self>
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

/// Where a column lies in a word.
pub(crate) struct Field<W> {
    shift: u32,
    mask: W,
}

impl<W: Word> Field<W> {
    /// The fields of all columns.
    pub(crate) fn all(bits: &[u32]) -> Vec<Field<W>> {
        let field = |column: usize| {
            let shift = bits[column + 1..].iter().sum();
            // A column of 32 bits has a mask, too.
            let mask = (0..bits[column]).fold(W::default(), |mask, bit| mask | W::from(1) << bit);
            Field { shift, mask: mask << shift }
        };
        (0..bits.len()).map(field).collect()
    }

    /// The word without the column.
    pub(crate) fn clear(&self, word: W) -> W {
        word & !self.mask
    }

    /// The word, in which the column is clear, with a number there that fits.
    pub(crate) fn set(&self, word: W, number: u32) -> W {
        word | W::from(number) << self.shift
    }
}

/// So many places are read before any of them is needed.
const TOGETHER: usize = 32;

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

    /// No more words than was said, in all, each with something that is told of those that are new.
    pub(crate) fn insert_all<T: Copy + Default>(
        &mut self,
        words: impl IntoIterator<Item = (W, T)>,
        mut new: impl FnMut(T),
    ) {
        let mut words = words.into_iter();
        let mut waiting = [(W::default(), T::default()); TOGETHER];
        let mut places = [0; TOGETHER];
        loop {
            let mut count = 0;
            for room in &mut waiting {
                let Some(next) = words.next() else { break };
                *room = next;
                count += 1;
            }
            let mut touched = false;
            for (place, &(word, _)) in places.iter_mut().zip(&waiting[..count]) {
                *place = self.place(word);
                touched ^= self.slots[*place] == word;
            }
            black_box(touched);
            for (&place, &(word, told)) in places.iter().zip(&waiting[..count]) {
                let slot = self.slot(word, place);
                if std::mem::replace(&mut self.slots[slot], word) != word {
                    new(told);
                }
            }
            if count < TOGETHER {
                return;
            }
        }
    }

    pub(crate) fn contains(&self, word: W) -> bool {
        self.slots[self.slot(word, self.place(word))] == word
    }

    pub(crate) fn contain_all(&self, words: &[W]) -> bool {
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
        let mut new = 0;
        words.insert_all((0..3_000).map(|number| (word(member(number)), 1)), |one: usize| new += one);
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
    fn columns_are_replaced_in_words_as_in_rows() {
        let bits = [5, 0, 32, 1, 20];
        let fields = Field::<u64>::all(&bits);
        let mut row = [31, 0, u32::MAX, 0, 77];
        let word: u64 = pack(&bits, &row);
        for (column, number) in [(0, 3), (2, 12_345), (2, u32::MAX), (3, 1), (4, 0), (4, (1 << 20) - 1)] {
            let kept = std::mem::replace(&mut row[column], number);
            let field = &fields[column];
            assert_eq!(field.set(field.clear(word), number), pack::<u64>(&bits, &row));
            row[column] = kept;
        }
        assert_eq!(
            Field::<u128>::all(&bits)[0].clear(pack(&bits, &row)),
            pack(&bits, &[0, 0, u32::MAX, 0, 77])
        );
    }

    #[test]
    fn words_are_a_set() {
        as_a_set(|number| number + 1);
        as_a_set(|number| u128::from(number + 1) << 70);
        assert!(!Words::for_up_to(0).contains(1_u64));
        assert!(Words::<u64>::for_up_to(0).contain_all(&[]));
    }
}
