//! Rules in a form that is fast to use forward: which can fire in a row, and what comes out.
//!
//! A row is as in [`net`](super::net), except that [`ANY`] stands for any number of tokens, from which none is missed. Each
//! rule is listed under one place from which it takes, the one from which the fewest rules of the same shared state take: it can
//! fire only where there is a token, so the lists of a row's places are all that has to be looked at. Of a large net, few rules
//! are left. Tests for an exact number are left out: the relaxed reading has no use forward, and who needs the exact one
//! looks at the [rules](allways_model::counters::Rule) themselves.

use super::net::{Entry, count, entry, place, row, too_many};
use super::oracle::Oracle;
use allways_evidence::StopReason;
use allways_model::counters::{Counters, Initial, Local, Rule, Shared};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;

/// Any number of tokens. A rule whose tokens are as many as this is not packed.
pub const ANY: u32 = u32::MAX;

struct Packed {
    to: Shared,
    takes: Vec<Entry>,
    gives: Vec<Entry>,
    moves: Vec<(Local, Option<Local>)>,
}

/// The rules that can fire at all.
pub struct Firing {
    rules: Vec<Packed>,
    /// By shared state, those that take nothing.
    always: Vec<Vec<u32>>,
    /// The others.
    taking: HashMap<(Shared, Local), Vec<u32>, FxBuildHasher>,
}

impl Firing {
    /// Packs the rules of a system. Equal ones are listed once, and those that cannot fire are not.
    pub fn new(system: &Counters, oracle: &Oracle) -> Result<Firing, StopReason> {
        let mut seen = HashSet::new();
        let listed: Vec<(u32, &Rule)> = (0..)
            .zip(&system.rules)
            .filter(|(_, rule)| oracle.can_fire(rule) && seen.insert(Rule { line: 0, ..(*rule).clone() }))
            .collect();
        let mut takers: HashMap<(Shared, Local), usize, FxBuildHasher> = HashMap::default();
        for (_, rule) in &listed {
            rule.takes.iter().for_each(|(local, _)| *takers.entry((rule.from, local)).or_default() += 1);
        }
        let mut firing = Firing {
            rules: system.rules.iter().map(Packed::new).collect::<Result<_, _>>()?,
            always: vec![Vec::new(); system.shared.len()],
            taking: HashMap::default(),
        };
        for (number, rule) in listed {
            let places = rule.takes.iter().map(|(local, _)| local);
            match places.min_by_key(|&local| takers[&(rule.from, local)]) {
                None => firing.always[rule.from.index()].push(number),
                Some(local) => firing.taking.entry((rule.from, local)).or_default().push(number),
            }
        }
        Ok(firing)
    }

    /// The rules that may be able to fire, in their order.
    pub fn candidates(&self, shared: Shared, row: &[Entry], rules: &mut Vec<u32>) {
        rules.clear();
        rules.extend(&self.always[shared.index()]);
        for &entry in row {
            rules.extend(self.taking.get(&(shared, place(entry))).into_iter().flatten());
        }
        rules.sort_unstable();
    }

    /// The shared state after a rule.
    pub fn to(&self, rule: u32) -> Shared {
        self.rules[rule as usize].to
    }

    /// What a rule makes of a row with the shared state before it; says whether it can fire.
    pub fn fire(&self, rule: u32, before: &[Entry], after: &mut Vec<Entry>) -> Result<bool, StopReason> {
        let rule = &self.rules[rule as usize];
        after.clear();
        if !minus(before, &rule.takes, after) {
            return Ok(false);
        }
        if !rule.moves.is_empty() {
            let rest = std::mem::take(after);
            for (local, tokens) in rest.into_iter().map(|entry| (place(entry), count(entry))) {
                let to = match rule.moves.binary_search_by_key(&local, |&(from, _)| from) {
                    Ok(index) => rule.moves[index].1,
                    Err(_) => Some(local),
                };
                to.map_or(Ok(()), |to| put(after, to, tokens))?;
            }
        }
        rule.gives.iter().try_for_each(|&entry| put(after, place(entry), count(entry)))?;
        Ok(true)
    }
}

impl Packed {
    fn new(rule: &Rule) -> Result<Packed, StopReason> {
        let (takes, gives) = (row(&rule.takes)?, row(&rule.gives)?);
        if takes.iter().chain(&gives).any(|&entry| count(entry) == ANY) {
            return Err(too_many());
        }
        Ok(Packed { to: rule.to, takes, gives, moves: rule.moves.clone() })
    }
}

/// Adds tokens; any number stays any number.
fn put(row: &mut Vec<Entry>, local: Local, tokens: u32) -> Result<(), StopReason> {
    match row.binary_search_by_key(&local, |&entry| place(entry)) {
        Ok(index) => {
            let here = count(row[index]);
            let sum = here.saturating_add(tokens);
            if sum == ANY && here != ANY && tokens != ANY {
                return Err(too_many());
            }
            row[index] = entry(local, sum);
        }
        Err(index) => row.insert(index, entry(local, tokens)),
    }
    Ok(())
}

/// What is left of a row when tokens are taken; says whether they are there.
fn minus(row: &[Entry], takes: &[Entry], left: &mut Vec<Entry>) -> bool {
    let mut at = 0;
    for &here in row {
        let Some(&taken) = takes.get(at).filter(|&&taken| place(taken) <= place(here)) else {
            left.push(here);
            continue;
        };
        if place(taken) < place(here) || count(taken) > count(here) {
            return false;
        }
        at += 1;
        match count(here) {
            ANY => left.push(here),
            tokens if tokens > count(taken) => left.push(entry(place(here), tokens - count(taken))),
            _ => {}
        }
    }
    at == takes.len()
}

/// The largest of a set of initial configurations, with [`ANY`].
pub fn open_row(initial: &Initial) -> Result<Vec<Entry>, StopReason> {
    let mut tokens = row(&initial.tokens)?;
    if tokens.iter().any(|&entry| count(entry) == ANY) {
        return Err(too_many());
    }
    tokens.retain(|&entry| initial.any.binary_search(&place(entry)).is_err());
    tokens.extend(initial.any.iter().map(|&local| entry(local, ANY)));
    tokens.sort_unstable();
    Ok(tokens)
}

/// Whether the first row has nowhere more tokens.
pub fn within(small: &[Entry], large: &[Entry]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small.iter().all(|&entry| {
        let other = large.by_ref().find(|&&other| place(other) >= place(entry));
        other.is_some_and(|&other| place(other) == place(entry) && count(entry) <= count(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_is_never_missed_and_moves_as_any_number() {
        let bag = |tokens: &[(Local, u64)]| tokens.iter().copied().collect();
        let plain = Rule::plain(Shared(0), Shared(0), bag(&[(0, 2), (1, 1)]), bag(&[(2, 3)]), 1);
        let moving = Rule { moves: vec![(0, Some(2)), (1, None)], ..plain.clone() };
        let rules = [&plain, &moving].map(|rule| Packed::new(rule).unwrap());
        let firing = Firing { rules: rules.into(), always: Vec::new(), taking: HashMap::default() };
        let before = [entry(0, ANY), entry(1, 2), entry(3, 1)];
        let mut after = Vec::new();
        assert_eq!(firing.fire(0, &before, &mut after), Ok(true));
        assert_eq!(after, [entry(0, ANY), entry(1, 1), entry(2, 3), entry(3, 1)]);
        assert_eq!(firing.fire(1, &before, &mut after), Ok(true));
        assert_eq!(after, [entry(2, ANY), entry(3, 1)]);
        assert_eq!(firing.fire(0, &[entry(0, 1), entry(1, 1)], &mut after), Ok(false));
        assert_eq!(firing.fire(0, &[entry(0, 2)], &mut after), Ok(false));
        assert_eq!(firing.fire(0, &[], &mut after), Ok(false));
    }
}
