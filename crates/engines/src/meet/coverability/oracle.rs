//! The forward oracle (UCOB, section V): which local states can occur together with which shared states, if numbers of threads
//! and who else is there are forgotten.
//!
//! The set is closed: it contains the initial pairs; where a rule can fire with what it contains, it contains what the rule
//! gives, and whatever can stand beside stays beside. So it bounds what is reachable, and a configuration with a token
//! outside of it can be left out of a search backward. Sets of local states are bits, 64 to a word.

use super::net::{Entry, place};
use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_evidence::counters::Limit;
use allways_model::counters::{Counters, Local, Rule, Shared};

/// For each shared state, the local states that may occur with it; `None` if it cannot be reached.
pub struct Oracle {
    allowed: Vec<Option<Vec<u64>>>,
    places: usize,
}

impl Oracle {
    /// The least closed set. It may take more memory than the system, so the limits are asked first.
    pub fn new(system: &Counters, budget: &Budget) -> Result<Oracle, StopReason> {
        let mut from: Vec<Vec<&Rule>> = vec![Vec::new(); system.shared.len()];
        for rule in &system.rules {
            from[rule.from.index()].push(rule);
        }
        let mut oracle = Oracle { allowed: vec![None; system.shared.len()], places: system.locals.len() };
        let mut waiting = Waiting { list: Vec::new(), listed: vec![false; system.shared.len()] };
        for initial in &system.initial {
            let mut tokens = oracle.none();
            initial.tokens.iter().for_each(|(local, _)| set(&mut tokens, local));
            initial.any.iter().for_each(|&local| set(&mut tokens, local));
            oracle.add(initial.shared, &tokens, &mut waiting, budget)?;
        }
        while let Some(shared) = waiting.pop() {
            budget.check()?;
            let Some(here) = oracle.allowed[shared.index()].clone() else { continue };
            for rule in &from[shared.index()] {
                if rule.takes.iter().all(|(local, _)| is_set(&here, local)) {
                    let mut after = here.clone();
                    if !rule.is_plain() {
                        after = oracle.none();
                        let beside = (0..system.locals.len() as Local).filter(|&local| is_set(&here, local));
                        beside.filter_map(|local| rule.goes(local)).for_each(|local| set(&mut after, local));
                    }
                    rule.gives.iter().for_each(|(local, _)| set(&mut after, local));
                    oracle.add(rule.to, &after, &mut waiting, budget)?;
                }
            }
        }
        Ok(oracle)
    }

    fn none(&self) -> Vec<u64> {
        vec![0; self.places.div_ceil(64)]
    }

    fn add(
        &mut self,
        shared: Shared,
        tokens: &[u64],
        waiting: &mut Waiting,
        budget: &Budget,
    ) -> Result<(), StopReason> {
        let mut changed = false;
        if self.allowed[shared.index()].is_none() {
            budget.room_for(size_of_val(tokens))?;
            changed = true;
        }
        let none = || vec![0; tokens.len()];
        let allowed = self.allowed[shared.index()].get_or_insert_with(none);
        for (word, &more) in allowed.iter_mut().zip(tokens) {
            changed |= more & !*word != 0;
            *word |= more;
        }
        if changed {
            waiting.push(shared);
        }
        Ok(())
    }

    /// Whether a rule can fire within the bound.
    pub fn can_fire(&self, rule: &Rule) -> bool {
        let allowed = &self.allowed[rule.from.index()];
        allowed.as_ref().is_some_and(|allowed| rule.takes.iter().all(|(local, _)| is_set(allowed, local)))
    }

    /// Whether a configuration is within the bound.
    pub fn allows(&self, shared: Shared, row: &[Entry]) -> bool {
        let allowed = &self.allowed[shared.index()];
        allowed.as_ref().is_some_and(|allowed| row.iter().all(|&entry| is_set(allowed, place(entry))))
    }

    /// Whether a token can be in a place, with any shared state.
    pub fn reaches(&self, local: Local) -> bool {
        self.allowed.iter().flatten().any(|allowed| is_set(allowed, local))
    }

    /// Whether a token can be in a place together with a shared state.
    pub fn allows_place(&self, shared: Shared, local: Local) -> bool {
        self.allowed[shared.index()].as_ref().is_some_and(|allowed| is_set(allowed, local))
    }

    /// The bound as evidence.
    pub fn limits(&self, budget: &Budget) -> Result<Vec<Limit>, StopReason> {
        let reached =
            self.allowed.iter().enumerate().filter_map(|(at, allowed)| Some((at, allowed.as_ref()?)));
        let limit = |(shared, allowed): (usize, &Vec<u64>)| {
            let count: u32 = allowed.iter().map(|word| word.count_ones()).sum();
            budget.room_for(count as usize * size_of::<(Local, Option<u64>)>())?;
            let places = (0..self.places as Local).filter(|&local| is_set(allowed, local));
            Ok(Limit { shared: Shared(shared as u32), tokens: places.map(|local| (local, None)).collect() })
        };
        reached.map(limit).collect()
    }
}

fn set(bits: &mut [u64], local: Local) {
    bits[local as usize / 64] |= 1 << (local % 64);
}

fn is_set(bits: &[u64], local: Local) -> bool {
    bits[local as usize / 64] >> (local % 64) & 1 == 1
}

/// Shared states that are to be looked at again, each listed once.
struct Waiting {
    list: Vec<Shared>,
    listed: Vec<bool>,
}

impl Waiting {
    fn push(&mut self, shared: Shared) {
        if !std::mem::replace(&mut self.listed[shared.index()], true) {
            self.list.push(shared);
        }
    }

    fn pop(&mut self) -> Option<Shared> {
        let shared = self.list.pop()?;
        self.listed[shared.index()] = false;
        Some(shared)
    }
}
