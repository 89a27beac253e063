//! The property up to renaming: whether any renaming of a state matches a bad pattern.
//!
//! A pattern wants one symbol, or any, on top of each thread. So some renaming of a state matches if and only if on the
//! threads of each kind the state has each symbol at least as often as the pattern wants it there: hand out the wanted
//! ones first; whatever is left goes to the threads of which nothing is wanted.
//!
//! In a deadlock no thread has a rule. Whether a renaming has one is known from the state itself, since the kinds are
//! rejected where rules differ. That threads of one kind end alike is not taken on trust: some renaming is a deadlock if
//! and only if some thread of a kind has not ended with a top that another thread of that kind has.

use crate::{Invariant, Window};
use allways_model::property::{Pattern, Property};
use allways_model::pushdown::{Pushdown, Rule, Shared, Symbol};
use allways_model::symmetry::Kinds;
use hashbrown::HashSet;

pub(super) struct Bad<'a> {
    system: &'a dyn Pushdown,
    invariant: &'a Invariant,
    patterns: Vec<Wanted<'a>>,
    /// For each kind and window, whether some pattern wants its top on a thread of the kind.
    wanted: Vec<Vec<bool>>,
    /// No pattern wants something of fewer threads than this.
    least: usize,
    deadlock: bool,
    /// The tops of the row at hand.
    tops: Vec<Symbol>,
    rules: Vec<Rule>,
}

/// A pattern, and how often it wants each symbol on the threads of each kind.
struct Wanted<'a> {
    pattern: &'a Pattern,
    counts: Vec<(usize, Symbol, usize)>,
}

impl<'a> Bad<'a> {
    pub(super) fn new(system: &'a dyn Pushdown, property: &'a Property, invariant: &'a Invariant) -> Bad<'a> {
        let patterns: Vec<Wanted> =
            property.bad.iter().map(|pattern| Wanted::new(pattern, &invariant.kinds)).collect();
        let all: HashSet<(usize, Symbol)> =
            patterns.iter().flat_map(|wanted| &wanted.counts).map(|count| (count.0, count.1)).collect();
        let wanted = |(kind, windows): (usize, &Vec<Window>)| {
            windows.iter().map(|window| all.contains(&(kind, window.top()))).collect()
        };
        Bad {
            system,
            invariant,
            wanted: invariant.windows.iter().enumerate().map(wanted).collect(),
            least: patterns.iter().map(Wanted::threads).min().unwrap_or(usize::MAX),
            patterns,
            deadlock: property.deadlock,
            tops: Vec::new(),
            rules: Vec::new(),
        }
    }

    /// A renaming of a row that is bad, if there is one.
    pub(super) fn renaming(&mut self, row: &[u32]) -> Option<Vec<u32>> {
        let (invariant, numbers) = (self.invariant, row[1..].iter().enumerate());
        // Most rows have on too few threads what some pattern wants there, or not the shared state that it wants.
        let wanted =
            |&(thread, &number): &(usize, &u32)| self.wanted[invariant.kinds.kind(thread)][number as usize];
        let shared = |pattern: &Wanted<'_>| pattern.pattern.shared.is_none_or(|shared| shared.0 == row[0]);
        let possible = match self.least {
            0 => self.patterns.iter().any(shared),
            least => numbers.clone().filter(wanted).count() >= least,
        };
        if !self.deadlock && !possible {
            return None;
        }
        self.tops.clear();
        self.tops.extend(numbers.map(|(thread, &number)| invariant.window_of(thread, number).top()));
        match self.patterns.iter().find(|wanted| wanted.by(Shared(row[0]), &self.tops, &invariant.kinds)) {
            Some(bad) => Some(bad.rename(row, &self.tops, &invariant.kinds)),
            None => self.deadlocked(row),
        }
    }

    /// A renaming of a row that is a deadlock, if there is one and deadlocks are bad.
    fn deadlocked(&mut self, row: &[u32]) -> Option<Vec<u32>> {
        if !self.deadlock {
            return None;
        }
        for (thread, &top) in self.tops.iter().enumerate() {
            self.system.rules(thread, Shared(row[0]), top, &mut self.rules);
            if !self.rules.is_empty() {
                self.rules.clear();
                return None;
            }
        }
        let kinds = &self.invariant.kinds;
        for (thread, &top) in self.tops.iter().enumerate() {
            let waits = |&other: &usize| !self.system.ended(other, top);
            let alike = kinds.members(kinds.kind(thread)).iter().copied();
            // The thread itself first: then no renaming is needed.
            if let Some(other) = std::iter::once(thread).chain(alike).find(waits) {
                let mut renamed = row.to_vec();
                renamed.swap(1 + thread, 1 + other);
                return Some(renamed);
            }
        }
        None
    }
}

impl<'a> Wanted<'a> {
    fn new(pattern: &'a Pattern, kinds: &Kinds) -> Wanted<'a> {
        let mut counts: Vec<(usize, Symbol, usize)> = Vec::new();
        for (thread, &top) in pattern.tops.iter().enumerate().take(kinds.threads()) {
            let Some(symbol) = top else { continue };
            let kind = kinds.kind(thread);
            match counts.iter_mut().find(|count| (count.0, count.1) == (kind, symbol)) {
                Some(count) => count.2 += 1,
                None => counts.push((kind, symbol, 1)),
            }
        }
        Wanted { pattern, counts }
    }

    /// Of how many threads it wants something.
    fn threads(&self) -> usize {
        self.counts.iter().map(|count| count.2).sum()
    }

    /// Whether some renaming of this state matches.
    fn by(&self, shared: Shared, tops: &[Symbol], kinds: &Kinds) -> bool {
        self.pattern.shared.is_none_or(|wanted| wanted == shared)
            && self.counts.iter().all(|&(kind, symbol, wanted)| {
                kinds.members(kind).iter().filter(|&&thread| tops[thread] == symbol).count() >= wanted
            })
    }

    /// The row renamed so that it matches, which some renaming does.
    fn rename(&self, row: &[u32], tops: &[Symbol], kinds: &Kinds) -> Vec<u32> {
        let wanted = |thread: usize| self.pattern.tops.get(thread).copied().flatten();
        let mut from: Vec<usize> = (0..tops.len()).collect();
        for thread in 0..tops.len() {
            let Some(symbol) = wanted(thread) else { continue };
            // Never from a thread that has what is wanted of it, so what has been settled stays so.
            let fits = |&other: &usize| tops[from[other]] == symbol && wanted(other) != Some(symbol);
            if tops[from[thread]] != symbol
                && let Some(other) = kinds.members(kinds.kind(thread)).iter().copied().find(fits)
            {
                from.swap(thread, other);
            }
        }
        [row[0]].into_iter().chain(from.iter().map(|&thread| row[1 + thread])).collect()
    }
}
