//! Multisets of tokens, sparse: sorted by place, no place with a count of 0.

use super::Local;

/// A multiset of local states.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Bag(Vec<(Local, u64)>);

impl Bag {
    /// No tokens.
    pub fn new() -> Bag {
        Bag::default()
    }

    /// The number of tokens in a place.
    pub fn count(&self, local: Local) -> u64 {
        self.0.binary_search_by_key(&local, |&(at, _)| at).map_or(0, |index| self.0[index].1)
    }

    /// Puts tokens there.
    pub fn add(&mut self, local: Local, count: u64) {
        if count == 0 {
            return;
        }
        match self.0.binary_search_by_key(&local, |&(at, _)| at) {
            Ok(index) => self.0[index].1 += count,
            Err(index) => self.0.insert(index, (local, count)),
        }
    }

    /// The places that have tokens, sorted, and how many.
    pub fn iter(&self) -> impl Iterator<Item = (Local, u64)> + '_ {
        self.0.iter().copied()
    }

    /// How many tokens there are.
    pub fn total(&self) -> u64 {
        self.0.iter().fold(0, |sum, &(_, count)| sum.saturating_add(count))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all tokens of the other are there.
    pub fn covers(&self, other: &Bag) -> bool {
        other.iter().all(|(local, count)| self.count(local) >= count)
    }

    /// The tokens of both together.
    pub fn plus(&self, other: &Bag) -> Bag {
        self.iter().chain(other.iter()).collect()
    }

    /// What is left without the tokens of the other, as far as there are such.
    pub fn minus(&self, other: &Bag) -> Bag {
        let left = |(local, count): (Local, u64)| (local, count.saturating_sub(other.count(local)));
        self.iter().map(left).filter(|&(_, count)| count > 0).collect()
    }

    /// The least that covers both.
    pub fn join(&self, other: &Bag) -> Bag {
        self.plus(&other.minus(self))
    }
}

impl FromIterator<(Local, u64)> for Bag {
    fn from_iter<I: IntoIterator<Item = (Local, u64)>>(tokens: I) -> Bag {
        let mut tokens: Vec<_> = tokens.into_iter().filter(|&(_, count)| count > 0).collect();
        tokens.sort_unstable();
        tokens.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        Bag(tokens)
    }
}
