//! Threads that are interchangeable, and what that means for states.
//!
//! Two threads are of one *kind* if they have the same rules. Renaming threads of one kind turns runs into runs, so where
//! all initial states are the same under such renamings, so is the set of reachable states, and it is enough to know one
//! member of each orbit: the one in which the threads of each kind are sorted.

use crate::pushdown::Pushdown;

/// The kind of each thread, numbered from 0 in the order of appearance.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Kinds {
    kinds: Vec<usize>,
    /// The threads of each kind.
    members: Vec<Vec<usize>>,
}

impl Kinds {
    /// Every thread its own kind: no symmetry.
    pub fn distinct(threads: usize) -> Kinds {
        Kinds { kinds: (0..threads).collect(), members: (0..threads).map(|thread| vec![thread]).collect() }
    }

    /// Threads with equal labels are of one kind.
    pub fn new<T: PartialEq>(labels: impl IntoIterator<Item = T>) -> Kinds {
        let mut seen: Vec<T> = Vec::new();
        let mut kinds = Kinds { kinds: Vec::new(), members: Vec::new() };
        for (thread, label) in labels.into_iter().enumerate() {
            let kind = seen.iter().position(|other| *other == label).unwrap_or(seen.len());
            if kind == seen.len() {
                seen.push(label);
                kinds.members.push(Vec::new());
            }
            kinds.kinds.push(kind);
            kinds.members[kind].push(thread);
        }
        kinds
    }

    /// The threads of a system that can be interchanged: of one kind, with equal stacks in every initial state, and both
    /// or neither of them many.
    pub fn of(system: &dyn Pushdown) -> Kinds {
        let initial = system.initial();
        let label = |thread: usize| {
            let stacks: Vec<_> = initial.iter().map(|state| &state.stacks[thread]).collect();
            (system.kind(thread), system.many(thread), stacks)
        };
        Kinds::new((0..system.threads()).map(label))
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.kinds.len()
    }

    /// How many kinds there are.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The kind of a thread.
    pub fn kind(&self, thread: usize) -> usize {
        self.kinds[thread]
    }

    /// The threads of a kind, ascending.
    pub fn members(&self, kind: usize) -> &[usize] {
        &self.members[kind]
    }

    /// Whether no two threads can be interchanged.
    pub fn trivial(&self) -> bool {
        self.members.len() == self.kinds.len()
    }

    /// Sorts what belongs to the threads of each kind, one entry per thread: the representative of the orbit.
    pub fn sort<T: Ord + Copy>(&self, locals: &mut [T]) {
        if self.members.len() == 1 {
            locals.sort_unstable();
        } else if !self.trivial() {
            for members in self.members.iter().filter(|members| members.len() > 1) {
                let mut values: Vec<T> = members.iter().map(|&thread| locals[thread]).collect();
                values.sort_unstable();
                members.iter().zip(values).for_each(|(&thread, value)| locals[thread] = value);
            }
        }
    }

    /// How many members an orbit has, given one of them; `u128::MAX` if there are more than that.
    pub fn orbit<T: Ord + Copy>(&self, locals: &[T]) -> u128 {
        let mut size = 1_u128;
        for members in self.members.iter().filter(|members| members.len() > 1) {
            let mut values: Vec<T> = members.iter().map(|&thread| locals[thread]).collect();
            values.sort_unstable();
            // Thread by thread a multinomial coefficient: each partial product is one, so division is exact.
            let mut run = 0;
            for (index, value) in values.iter().enumerate() {
                run = if index > 0 && values[index - 1] == *value { run + 1 } else { 1 };
                let Some(product) = size.checked_mul(index as u128 + 1) else { return u128::MAX };
                size = product / run;
            }
        }
        size
    }

    /// All members of an orbit, given its representative, in ascending order.
    pub fn members_of_orbit<T: Ord + Copy>(&self, representative: &[T]) -> Vec<Vec<T>> {
        let mut all = vec![representative.to_vec()];
        for members in self.members.iter().filter(|members| members.len() > 1) {
            let mut arranged = Vec::new();
            for locals in &all {
                let mut values: Vec<T> = members.iter().map(|&thread| locals[thread]).collect();
                values.sort_unstable();
                loop {
                    let mut locals = locals.clone();
                    members.iter().zip(&values).for_each(|(&thread, &value)| locals[thread] = value);
                    arranged.push(locals);
                    if !next_permutation(&mut values) {
                        break;
                    }
                }
            }
            all = arranged;
        }
        all.sort_unstable();
        all
    }
}

/// The next arrangement in lexicographic order, if there is one.
fn next_permutation<T: Ord + Copy>(values: &mut [T]) -> bool {
    let Some(pivot) = values.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let Some(swap) = values.iter().rposition(|&value| value > values[pivot]) else { return false };
    values.swap(pivot, swap);
    values[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn orbits_are_what_brute_force_says() {
        for labels in [vec![0, 0, 0], vec![0, 1, 0, 1], vec![0, 1, 2], vec![0, 0, 1, 0]] {
            let kinds = Kinds::new(&labels);
            let threads = labels.len();
            let mut total = 0;
            let mut representatives = BTreeSet::new();
            let all: Vec<Vec<u32>> = (0..3_u32.pow(threads as u32))
                .map(|code| (0..threads).map(|thread| code / 3_u32.pow(thread as u32) % 3).collect())
                .collect();
            for locals in &all {
                let mut sorted = locals.clone();
                kinds.sort(&mut sorted);
                if representatives.insert(sorted.clone()) {
                    total += kinds.orbit(&sorted);
                    let members = kinds.members_of_orbit(&sorted);
                    assert_eq!(members.len() as u128, kinds.orbit(&sorted));
                    assert!(members.is_sorted_by(|one, next| one < next));
                    for mut member in members {
                        kinds.sort(&mut member);
                        assert_eq!(member, sorted);
                    }
                }
            }
            assert_eq!(total, all.len() as u128, "{labels:?}");
        }
    }

    #[test]
    fn large_orbits_are_counted() {
        let kinds = Kinds::new([(); 20]);
        let locals: Vec<u32> = (0..20).collect();
        assert_eq!(kinds.orbit(&locals), 2_432_902_008_176_640_000);
        let kinds = Kinds::new([(); 60]);
        let locals: Vec<u32> = (0..60).collect();
        assert_eq!(kinds.orbit(&locals), u128::MAX);
    }
}
