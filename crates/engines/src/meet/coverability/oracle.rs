//! The forward oracle (UCOB, section V): which local states can occur together with which shared states, if numbers of threads
//! and who else is there are forgotten.
//!
//! The set is closed: it contains the initial pairs; where a rule can fire with what it contains, it contains what the rule
//! gives, and whatever can stand beside stays beside. So it bounds what is reachable, and a configuration with a token
//! outside of it can be left out of a search backward.

use super::net::{Entry, place};
use allways_evidence::counters::Limit;
use allways_model::counters::{Counters, Local, Rule, Shared};

/// For each shared state, the local states that may occur with it; `None` if it cannot be reached.
pub struct Oracle {
    allowed: Vec<Option<Vec<bool>>>,
}

impl Oracle {
    /// The least closed set.
    pub fn new(system: &Counters) -> Oracle {
        let mut from: Vec<Vec<&Rule>> = vec![Vec::new(); system.shared.len()];
        for rule in &system.rules {
            from[rule.from as usize].push(rule);
        }
        let mut oracle = Oracle { allowed: vec![None; system.shared.len()] };
        let mut waiting: Vec<Shared> = Vec::new();
        let places = system.locals.len();
        for initial in &system.initial {
            let tokens = initial.tokens.iter().map(|(local, _)| local).chain(initial.any.iter().copied());
            oracle.add(initial.shared, tokens, places, &mut waiting);
        }
        while let Some(shared) = waiting.pop() {
            let Some(here) = oracle.allowed[shared as usize].clone() else { continue };
            for rule in &from[shared as usize] {
                if !rule.takes.iter().all(|(local, _)| here[local as usize]) {
                    continue;
                }
                let beside = (0..places as Local).filter(|&local| here[local as usize]);
                let moved = beside.filter_map(|local| rule.goes(local));
                let given = rule.gives.iter().map(|(local, _)| local);
                oracle.add(rule.to, moved.chain(given), places, &mut waiting);
            }
        }
        oracle
    }

    fn add(
        &mut self,
        shared: Shared,
        tokens: impl Iterator<Item = Local>,
        places: usize,
        waiting: &mut Vec<Shared>,
    ) {
        let mut changed = self.allowed[shared as usize].is_none();
        let allowed = self.allowed[shared as usize].get_or_insert_with(|| vec![false; places]);
        for local in tokens {
            changed |= !std::mem::replace(&mut allowed[local as usize], true);
        }
        if changed && !waiting.contains(&shared) {
            waiting.push(shared);
        }
    }

    /// Whether a configuration is within the bound.
    pub fn allows(&self, shared: Shared, row: &[Entry]) -> bool {
        let allowed = &self.allowed[shared as usize];
        allowed.as_ref().is_some_and(|allowed| row.iter().all(|&entry| allowed[place(entry) as usize]))
    }

    /// The bound as evidence.
    pub fn limits(&self) -> Vec<Limit> {
        let reached =
            self.allowed.iter().enumerate().filter_map(|(shared, allowed)| Some((shared, allowed.as_ref()?)));
        let limit = |(shared, allowed): (usize, &Vec<bool>)| {
            let tokens =
                (0..allowed.len()).filter(|&local| allowed[local]).map(|local| (local as Local, None));
            Limit { shared: shared as Shared, tokens: tokens.collect() }
        };
        reached.map(limit).collect()
    }
}
