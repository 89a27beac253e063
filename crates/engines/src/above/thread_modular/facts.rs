//! Sets of facts: for each set and shared state the locals, each once, in the order in which they came.
//!
//! Few locals are kept as a list and looked for one by one; many get a bitmap beside it. So a set of a thousand locals takes
//! little more than four bytes each, and the small sets that most systems have take one allocation.

use super::locals::Local;
use allways_model::pushdown::Shared;
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

allways_model::index_type! {
    /// The number of a set of facts.
    pub struct Cell(u32);
}

/// So many locals are compared one by one.
const FEW: usize = 16;

#[derive(Clone, Debug, Default)]
struct Set {
    items: Vec<Local>,
    /// If there are more than a few, a bit for each local.
    bits: Vec<u64>,
}

impl Set {
    fn contains(&self, local: Local) -> bool {
        if self.items.len() <= FEW {
            return self.items.contains(&local);
        }
        self.bits.get(local as usize / 64).is_some_and(|word| word >> (local % 64) & 1 == 1)
    }

    fn insert(&mut self, local: Local) -> bool {
        if self.contains(local) {
            return false;
        }
        self.items.push(local);
        match self.items.len() {
            0..=FEW => {}
            length if length == FEW + 1 => (0..length).for_each(|index| self.mark(self.items[index])),
            _ => self.mark(local),
        }
        true
    }

    fn mark(&mut self, local: Local) {
        let word = local as usize / 64;
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        self.bits[word] |= 1 << (local % 64);
    }
}

/// Facts of several sets.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    numbers: HashMap<(Cell, Shared), u32, FxBuildHasher>,
    keys: Vec<(Cell, Shared)>,
    sets: Vec<Set>,
    len: usize,
}

impl Facts {
    /// Adds a fact; whether it is new.
    pub fn insert(&mut self, cell: Cell, shared: Shared, local: Local) -> bool {
        let number = *self.numbers.entry((cell, shared)).or_insert_with(|| {
            self.keys.push((cell, shared));
            self.sets.push(Set::default());
            self.sets.len() as u32 - 1
        });
        let new = self.sets[number as usize].insert(local);
        self.len += usize::from(new);
        new
    }

    /// Whether a fact is there.
    pub fn contains(&self, cell: Cell, shared: Shared, local: Local) -> bool {
        self.numbers.get(&(cell, shared)).is_some_and(|&number| self.sets[number as usize].contains(local))
    }

    /// The locals of a set at a shared state.
    pub fn at(&self, cell: Cell, shared: Shared) -> &[Local] {
        self.numbers.get(&(cell, shared)).map_or(&[], |&number| &self.sets[number as usize].items)
    }

    /// The sets and shared states for which there are facts, with their locals.
    pub fn iter(&self) -> impl Iterator<Item = (Cell, Shared, &[Local])> {
        self.keys.iter().zip(&self.sets).map(|(&(cell, shared), set)| (cell, shared, &set.items[..]))
    }

    /// All facts.
    pub fn each(&self) -> impl Iterator<Item = (Cell, Shared, Local)> {
        self.iter().flat_map(|(cell, shared, locals)| locals.iter().map(move |&local| (cell, shared, local)))
    }

    /// Adds all facts of another.
    pub fn join(&mut self, other: &Facts) {
        for (cell, shared, local) in other.each() {
            self.insert(cell, shared, local);
        }
    }

    /// Whether all facts are among those of another.
    pub fn within(&self, other: &Facts) -> bool {
        self.len <= other.len && self.each().all(|(cell, shared, local)| other.contains(cell, shared, local))
    }

    /// How many facts there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.sets.len() * 96 + self.len * 5
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn sets_are_sets_however_many_they_hold() {
        let mut facts = Facts::default();
        let mut expected = BTreeSet::new();
        let mut number = 1_u64;
        for _ in 0..20_000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (cell, shared, local) = (number >> 33 & 1, number >> 40 & 1, number >> 50 & 1023);
            let fact = (Cell(cell as u32), Shared(shared as u32), local as u32);
            assert_eq!(facts.insert(fact.0, fact.1, fact.2), expected.insert(fact));
            assert!(facts.contains(fact.0, fact.1, fact.2));
            assert_eq!(facts.len(), expected.len());
        }
        assert_eq!(facts.each().collect::<BTreeSet<_>>(), expected);
        assert!(!facts.contains(Cell(0), Shared(0), 1024) && !facts.contains(Cell(2), Shared(0), 0));
        let mut more = Facts::default();
        assert!(more.within(&facts) && !facts.within(&more));
        more.join(&facts);
        assert!(facts.within(&more) && more.within(&facts));
    }
}
