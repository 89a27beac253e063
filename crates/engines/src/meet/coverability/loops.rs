//! Loops of rules that can be repeated wherever they can be walked once: accelerations, for all nodes of a tree.
//!
//! Invariant: a loop starts and ends in the same shared state; where there are `Loop::needs`, its rules can be walked, one
//! after another; afterwards each place has as many tokens more as `changes` says. So where no place becomes less, except those
//! that have any number, it can be walked again and again, and where a place becomes more, that becomes any number.
//!
//! Rules that by themselves lead back and take nothing away for good are loops from the start. Others are
//! [learned](Loops::learn), as long as they are few and short: to try them all costs time at every node.

use super::firing::ANY;
use super::karp_miller::enlarge_to_any;
use super::net::{Entry, count, place};
use allways_model::counters::{Bag, Counters, Local, Shared};
use std::collections::{BTreeMap, HashSet};

/// More loops, or longer ones, are not remembered.
const MOST: usize = 1 << 10;
const LONGEST: usize = 1 << 8;

struct Loop {
    shared: Shared,
    /// Last first.
    rules: Vec<u32>,
    needs: Vec<(Local, u64)>,
    /// Without zeros.
    changes: Vec<(Local, i64)>,
}

/// Those that are remembered.
pub struct Loops {
    loops: Vec<Loop>,
    known: HashSet<Vec<u32>>,
}

impl Loops {
    /// The loops of one rule.
    pub fn new(system: &Counters) -> Loops {
        let mut loops = Loops { loops: Vec::new(), known: HashSet::new() };
        for (number, rule) in system.rules.iter().enumerate() {
            if rule.is_plain() && rule.from == rule.to && rule.gives.covers(&rule.takes) {
                loops.learn(system, &[number as u32]);
            }
        }
        loops
    }

    /// Remembers a loop, by its rules, last first.
    pub fn learn(&mut self, system: &Counters, rules: &[u32]) {
        if self.loops.len() == MOST || rules.len() > LONGEST || self.known.contains(rules) {
            return;
        }
        let Some(&last) = rules.first() else { return };
        let mut needs = Bag::new();
        let mut changes: BTreeMap<Local, i64> = BTreeMap::new();
        for &number in rules {
            let rule = &system.rules[number as usize];
            needs = needs.minus(&rule.gives).plus(&rule.takes);
            rule.gives.iter().for_each(|(local, tokens)| *changes.entry(local).or_default() += tokens as i64);
            rule.takes.iter().for_each(|(local, tokens)| *changes.entry(local).or_default() -= tokens as i64);
        }
        changes.retain(|_, change| *change != 0);
        if changes.values().all(|&change| change < 0) {
            return;
        }
        self.known.insert(rules.to_vec());
        self.loops.push(Loop {
            shared: system.rules[last as usize].to,
            rules: rules.to_vec(),
            needs: needs.iter().collect(),
            changes: changes.into_iter().collect(),
        });
    }

    /// The rules of a loop, last first.
    pub fn rules(&self, number: usize) -> &[u32] {
        &self.loops[number].rules
    }

    /// Gives any number to places of a row by one of the loops; says by which, and the places with what they had.
    pub fn enlarge(&self, shared: Shared, row: &mut Vec<Entry>) -> Option<(usize, Vec<Entry>)> {
        for (number, repeated) in self.loops.iter().enumerate() {
            let grown = if repeated.shared == shared { repeated.grown(row) } else { Vec::new() };
            if !grown.is_empty() {
                enlarge_to_any(row, &grown);
                return Some((number, grown));
            }
        }
        None
    }
}

impl Loop {
    /// The places that become any number; none if the loop cannot be repeated.
    fn grown(&self, row: &[Entry]) -> Vec<Entry> {
        let entry = |local: Local| {
            row.binary_search_by_key(&local, |&entry| place(entry)).ok().map(|index| row[index])
        };
        let enough = |&(local, tokens): &(Local, u64)| {
            entry(local).is_some_and(|entry| count(entry) == ANY || u64::from(count(entry)) >= tokens)
        };
        let mut grown = Vec::new();
        for &(local, change) in &self.changes {
            match entry(local) {
                Some(entry) if count(entry) == ANY => {}
                _ if change < 0 => return Vec::new(),
                here => grown.push(here.unwrap_or(super::net::entry(local, 0))),
            }
        }
        if grown.is_empty() || !self.needs.iter().all(enough) {
            return Vec::new();
        }
        grown
    }
}
