//! What must never be seen: a set of visible states, given by patterns; and deadlocks.

use crate::pushdown::{Pushdown, Shared, Symbol, Visible};
use crate::symmetry::Kinds;

/// A visible state in which some places may be anything.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Pattern {
    /// The shared state; `None` is any.
    pub shared: Option<Shared>,
    /// The top of each thread's stack; `None` is any, including none.
    pub tops: Vec<Option<Symbol>>,
}

impl Pattern {
    /// Whether a visible state, given by its parts, is one of those described.
    pub fn matches(&self, shared: Shared, tops: impl IntoIterator<Item = Symbol>) -> bool {
        self.shared.is_none_or(|expected| expected == shared)
            && self
                .tops
                .iter()
                .zip(tops)
                .all(|(expected, top)| expected.is_none_or(|expected| expected == top))
    }
}

impl Pattern {
    /// A way for threads to change places within their kinds such that the pattern matches: for each place, the thread
    /// that goes there.
    pub fn places(&self, kinds: &Kinds, shared: Shared, tops: &[Symbol]) -> Option<Vec<usize>> {
        if self.shared.is_some_and(|expected| expected != shared) {
            return None;
        }
        let mut places = vec![usize::MAX; tops.len()];
        for kind in 0..kinds.count() {
            let mut free: Vec<usize> = kinds.members(kind).to_vec();
            // A place asks for one symbol or for any, so serving the demanding ones first, in any order, is exact.
            let (any, demanding): (Vec<usize>, Vec<usize>) =
                kinds.members(kind).iter().partition(|&&place| self.tops[place].is_none());
            for place in demanding.into_iter().chain(any) {
                // Who can stay, stays.
                let suits = |thread: usize| self.tops[place].is_none_or(|symbol| symbol == tops[thread]);
                let stays = free.iter().position(|&thread| thread == place && suits(thread));
                let index = stays.or_else(|| free.iter().position(|&thread| suits(thread)))?;
                places[place] = free.remove(index);
            }
        }
        Some(places)
    }
}

/// A safety property: no reachable visible state matches any of the bad patterns, or is a deadlock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// The visible states to be avoided.
    pub bad: Vec<Pattern>,
    /// Whether deadlocks are to be avoided, too.
    pub deadlock: bool,
}

impl Property {
    /// Whether nothing is to be avoided, so that every system is safe.
    pub fn is_empty(&self) -> bool {
        self.bad.is_empty() && !self.deadlock
    }

    /// Whether a visible state violates the property.
    pub fn violated_by(&self, system: &dyn Pushdown, visible: &Visible) -> bool {
        self.violated_at(system, visible.shared, &visible.tops)
    }

    /// Whether a visible state violates the property, or becomes one that does when threads of one kind change places.
    pub fn violated_in_orbit(
        &self,
        system: &dyn Pushdown,
        kinds: &Kinds,
        shared: Shared,
        tops: &[Symbol],
    ) -> bool {
        // Threads of one kind move and end alike, so a deadlock stays one when they change places.
        self.bad.iter().any(|pattern| pattern.places(kinds, shared, tops).is_some())
            || self.deadlock && deadlocked(system, shared, tops)
    }

    /// Whether a visible state, given by its parts, violates the property.
    pub fn violated_at(&self, system: &dyn Pushdown, shared: Shared, tops: &[Symbol]) -> bool {
        self.bad.iter().any(|pattern| pattern.matches(shared, tops.iter().copied()))
            || self.deadlock && deadlocked(system, shared, tops)
    }
}

/// Whether a visible state is a deadlock: no thread can move, and not every one has ended.
pub fn deadlocked(system: &dyn Pushdown, shared: Shared, tops: &[Symbol]) -> bool {
    let mut rules = Vec::new();
    // Most often the first thread can move, and the others need not be asked.
    tops.iter().enumerate().all(|(thread, &top)| {
        system.rules(thread, shared, top, &mut rules);
        rules.is_empty()
    }) && tops.iter().enumerate().any(|(thread, &top)| !system.ended(thread, top))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pushdown::{Explicit, Rule, Stack, State, ThreadRules, Word};

    #[test]
    fn a_deadlock_is_stuck_and_not_at_its_end() {
        let rule = |top| (Shared(0), Symbol(top), Rule { shared: Shared(1), word: Word::POP, line: 1 });
        let initial = State { shared: Shared(0), stacks: vec![Stack::default(); 2] };
        let threads = vec![ThreadRules::new([rule(1)]), ThreadRules::new([rule(2)])];
        let system = Explicit { shared_states: 2, threads, initial };
        for (shared, tops, expected) in [
            (0, [1, 1], false),
            (0, [2, 2], false),
            (0, [2, 1], true),
            (1, [1, 2], true),
            (1, [0, 2], true),
            (1, [0, 0], false),
        ] {
            let (shared, tops) = (Shared(shared), tops.map(Symbol));
            assert_eq!(deadlocked(&system, shared, &tops), expected, "{shared} {tops:?}");
            let property = Property { deadlock: true, ..Property::default() };
            assert!(!property.is_empty());
            assert_eq!(property.violated_at(&system, shared, &tops), expected);
            assert!(!Property::default().violated_at(&system, shared, &tops));
        }
    }

    #[test]
    fn orbits_match_where_some_arrangement_does() {
        let kinds = Kinds::new([0, 0, 1, 0]);
        let symbols = [None, Some(0), Some(1), Some(2)].map(|symbol| symbol.map(Symbol));
        for code in 0..256_usize {
            let place = |thread: usize| symbols[code >> (2 * thread) & 3];
            let pattern = Pattern { shared: None, tops: (0..4).map(place).collect() };
            for tops in 0..81_u32 {
                let tops: Vec<Symbol> = (0..4).map(|thread| Symbol(tops / 3_u32.pow(thread) % 3)).collect();
                let mut sorted = tops.clone();
                kinds.sort(&mut sorted);
                let orbit = kinds.members_of_orbit(&sorted);
                let expected = orbit.iter().any(|tops| pattern.matches(Shared(0), tops.iter().copied()));
                let places = pattern.places(&kinds, Shared(0), &tops);
                assert_eq!(places.is_some(), expected, "{pattern:?} {tops:?}");
                if let Some(places) = places {
                    assert!(pattern.matches(Shared(0), places.iter().map(|&thread| tops[thread])));
                }
            }
        }
    }
}
