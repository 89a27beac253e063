//! Smaller systems with the same answer: what cannot happen and what does not matter is left out before a search.
//!
//! * *Dead*: rules that cannot fire, and places that no token reaches, by the [`Oracle`].
//! * *Irrelevant*: a place matters if a target wants a token there, or a rule that matters takes one there; a rule matters if it
//!   leads to more tokens in a place that matters, changes the shared state, or moves tokens. What is given to other places,
//!   or moved there, vanishes.
//! * *Dominated*: rules for which there is another between the same shared states that takes no more, and that nowhere leads to
//!   less; equal ones among them.
//!
//! Where a rule tests for an exact number, more tokens may be in the way; then only what is dead is left out.
//!
//! *Why the evidence is lifted as it is.* A run is one of the original rules, from an initial configuration that has besides what
//! has to be there from the start: more never hurts. A proof stays one if places that are left out weigh nothing, are wanted by
//! no member of the basis, and have any number within each limit as far as the oracle allows it. Limits: what the oracle
//! allows is closed under all rules, what the search found is closed under those that were kept, so what is in both is closed
//! under those; a dead rule cannot fire there; one that does not matter leads to no more tokens in the places that are kept,
//! and one that is dominated to no more than the other. Weights: neither makes anything heavier. Basis: what leads to a
//! member by a rule that does not matter covers the member already, and by one that is dominated, covers what leads there by
//! the other. The checker knows nothing of this, and tests what comes out for the original system.

use super::oracle::Oracle;
use crate::budget::Budget;
use allways_evidence::counters::{Basis, Limit, Run, Weights};
use allways_evidence::{Certificate, Counterexample, StopReason, Verdict};
use allways_model::counters::{Bag, Configuration, Counters, Initial, Local, Rule, Shared, Target};
use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;
use std::collections::HashSet;

/// So many pairs of rules are compared at most.
const MOST_COMPARED: usize = 1 << 21;

/// A smaller system, and how it came about.
pub struct Reduced<'a> {
    /// The smaller system.
    pub system: Counters,
    original: &'a Counters,
    oracle: Oracle,
    /// The original numbers of its rules and places.
    rules: Vec<u32>,
    places: Vec<Local>,
    is_kept: Vec<bool>,
}

impl<'a> Reduced<'a> {
    /// Leaves out what can be left out.
    pub fn new(original: &'a Counters, budget: &Budget) -> Result<Reduced<'a>, StopReason> {
        let oracle = Oracle::new(original, budget)?;
        let mut rules: Vec<u32> = (0..original.rules.len() as u32).collect();
        rules.retain(|&rule| oracle.can_fire(&original.rules[rule as usize]));
        let mut is_kept: Vec<bool> =
            (0..original.locals.len() as Local).map(|local| oracle.reaches(local)).collect();
        // Weights must not grow where tokens are moved, also from where there are none.
        for &(from, _) in rules.iter().flat_map(|&rule| &original.rules[rule as usize].moves) {
            is_kept[from as usize] = true;
        }
        let possible = |target: &&Target| target.tokens.iter().all(|(local, _)| is_kept[local as usize]);
        let targets: Vec<&Target> = original.targets.iter().filter(possible).collect();
        if original.is_monotone() {
            let relevant = Relevant::new(original, &rules, &targets);
            rules.retain(|&rule| relevant.rules[rule as usize]);
            is_kept.iter_mut().zip(&relevant.places).for_each(|(kept, relevant)| *kept &= relevant);
        }
        let places: Vec<Local> =
            (0..original.locals.len() as Local).filter(|&local| is_kept[local as usize]).collect();
        let mut numbers = vec![None; original.locals.len()];
        places.iter().enumerate().for_each(|(at, &local)| numbers[local as usize] = Some(at as Local));
        let projection = Projection { numbers };
        let mut seen: HashSet<Rule> = HashSet::new();
        let mut made: Vec<(u32, Rule)> = Vec::new();
        for &number in &rules {
            let rule = projection.rule(&original.rules[number as usize]);
            if seen.insert(Rule { line: 0, ..rule.clone() }) {
                made.push((number, rule));
            }
        }
        if original.is_monotone() {
            let dominated = dominated(&made, budget)?;
            let mut dominated = dominated.into_iter();
            made.retain(|_| !dominated.next().unwrap_or(false));
        }
        let (rules, made) = made.into_iter().unzip();
        let system = Counters {
            shared: original.shared.clone(),
            locals: places.iter().map(|&local| original.locals[local as usize].clone()).collect(),
            rules: made,
            initial: original.initial.iter().map(|initial| projection.initial(initial)).collect(),
            targets: targets.into_iter().map(|target| projection.target(target)).collect(),
        };
        Ok(Reduced { system, original, oracle, rules, places, is_kept })
    }

    /// What is left of how much, if it is less.
    pub fn remark(&self) -> Option<String> {
        let (rules, all_rules) = (self.system.rules.len(), self.original.rules.len());
        let (places, all_places) = (self.system.locals.len(), self.original.locals.len());
        let less = rules < all_rules || places < all_places;
        less.then(|| format!("reduced to {rules} of {all_rules} rules and {places} of {all_places} places"))
    }

    /// What is said of the smaller system, of the original.
    pub fn lift(&self, verdict: Verdict, budget: &Budget) -> Verdict {
        match verdict {
            Verdict::Unsafe(Counterexample::Run(run)) => match self.run(&run) {
                Some(run) => Verdict::from(run),
                None => {
                    Verdict::Unknown(StopReason::GaveUp("a run has no initial configuration".to_string()))
                }
            },
            Verdict::Safe(Certificate::Basis(basis)) => match self.basis(*basis, budget) {
                Ok(basis) => Verdict::from(basis),
                Err(reason) => Verdict::Unknown(reason),
            },
            other => other,
        }
    }

    fn run(&self, run: &Run) -> Option<Run> {
        let tokens = self.bag(&run.initial.tokens);
        let start = |initial: &Initial| {
            let rest = initial.tokens.iter().filter(|&(local, _)| !self.is_kept[local as usize]);
            let tokens = tokens.plus(&rest.collect());
            let start = Configuration { shared: run.initial.shared, tokens };
            initial.contains(&start).then_some(start)
        };
        let initial = self.original.initial.iter().find_map(start)?;
        Some(Run { initial, rules: run.rules.iter().map(|&rule| self.rules[rule as usize]).collect() })
    }

    fn basis(&self, basis: Basis, budget: &Budget) -> Result<Basis, StopReason> {
        if self.system.targets.is_empty() {
            // Nothing mattered, and the oracle is the proof.
            return Ok(Basis { bound: Some(self.oracle.limits(budget)?), ..Basis::default() });
        }
        let bound = match basis.bound {
            None => self.oracle.limits(budget)?,
            Some(limits) => {
                let lifted = limits.into_iter().map(|limit| {
                    budget.check()?;
                    Ok(self.limit(limit))
                });
                lifted.collect::<Result<Vec<Limit>, StopReason>>()?
            }
        };
        let weights = basis.weights.into_iter();
        let weights = weights.map(|weights| Weights { locals: self.bag(&weights.locals), ..weights });
        let members = basis
            .members
            .into_iter()
            .map(|Configuration { shared, tokens }| Configuration { shared, tokens: self.bag(&tokens) });
        Ok(Basis { bound: Some(bound), weights: weights.collect(), members: members.collect() })
    }

    fn bag(&self, bag: &Bag) -> Bag {
        bag.iter().map(|(local, count)| (self.places[local as usize], count)).collect()
    }

    fn limit(&self, limit: Limit) -> Limit {
        let mut tokens: Vec<(Local, Option<u64>)> =
            limit.tokens.iter().map(|&(local, most)| (self.places[local as usize], most)).collect();
        let others = (0..self.original.locals.len() as Local)
            .filter(|&local| !self.is_kept[local as usize] && self.oracle.allows_place(limit.shared, local));
        tokens.extend(others.map(|local| (local, None)));
        tokens.sort_unstable_by_key(|&(local, _)| local);
        Limit { tokens, ..limit }
    }
}

/// Which rules and places matter.
struct Relevant {
    rules: Vec<bool>,
    places: Vec<bool>,
}

impl Relevant {
    /// Of these rules, for these targets.
    fn new(system: &Counters, rules: &[u32], targets: &[&Target]) -> Relevant {
        let mut relevant =
            Relevant { rules: vec![false; system.rules.len()], places: vec![false; system.locals.len()] };
        if targets.is_empty() {
            return relevant;
        }
        // By place, the rules that lead to more there; and the places from which tokens are moved to it.
        let mut growing: Vec<Vec<u32>> = vec![Vec::new(); system.locals.len()];
        let mut sources: Vec<Vec<Local>> = vec![Vec::new(); system.locals.len()];
        let mut waiting: Vec<Local> = Vec::new();
        let mut matters: Vec<u32> = Vec::new();
        for &number in rules {
            let rule = &system.rules[number as usize];
            if rule.from != rule.to || !rule.is_plain() {
                matters.push(number);
            }
            for (local, tokens) in rule.gives.iter() {
                if tokens > rule.takes.count(local) {
                    growing[local as usize].push(number);
                }
            }
            for &(from, to) in &rule.moves {
                to.into_iter().for_each(|to| sources[to as usize].push(from));
            }
        }
        let wanted = targets.iter().flat_map(|target| target.tokens.iter().map(|(local, _)| local));
        relevant.add(wanted, &mut waiting);
        loop {
            while let Some(number) = matters.pop() {
                if !std::mem::replace(&mut relevant.rules[number as usize], true) {
                    let takes = system.rules[number as usize].takes.iter();
                    relevant.add(takes.map(|(local, _)| local), &mut waiting);
                }
            }
            let Some(local) = waiting.pop() else { return relevant };
            matters.extend(&growing[local as usize]);
            relevant.add(sources[local as usize].iter().copied(), &mut waiting);
        }
    }

    fn add(&mut self, places: impl Iterator<Item = Local>, waiting: &mut Vec<Local>) {
        for local in places {
            if !std::mem::replace(&mut self.places[local as usize], true) {
                waiting.push(local);
            }
        }
    }
}

/// The numbers of places that are kept.
struct Projection {
    numbers: Vec<Option<Local>>,
}

impl Projection {
    fn bag(&self, bag: &Bag) -> Bag {
        bag.iter().filter_map(|(local, count)| Some((self.numbers[local as usize]?, count))).collect()
    }

    fn list(&self, places: &[Local]) -> Vec<Local> {
        places.iter().filter_map(|&local| self.numbers[local as usize]).collect()
    }

    fn rule(&self, rule: &Rule) -> Rule {
        let moves = rule.moves.iter().filter_map(|&(from, to)| {
            Some((self.numbers[from as usize]?, to.and_then(|to| self.numbers[to as usize])))
        });
        Rule {
            takes: self.bag(&rule.takes),
            gives: self.bag(&rule.gives),
            moves: moves.collect(),
            exactly: self.list(&rule.exactly),
            ..rule.clone()
        }
    }

    fn initial(&self, initial: &Initial) -> Initial {
        Initial { shared: initial.shared, tokens: self.bag(&initial.tokens), any: self.list(&initial.any) }
    }

    fn target(&self, target: &Target) -> Target {
        Target { shared: target.shared, tokens: self.bag(&target.tokens) }
    }
}

/// Which rules are dominated by another that is not. No two are equal.
fn dominated(rules: &[(u32, Rule)], budget: &Budget) -> Result<Vec<bool>, StopReason> {
    const EVERY: usize = 1 << 12;
    let mut dominated = vec![false; rules.len()];
    let effects: Vec<Vec<(Local, i64)>> = rules.iter().map(|(_, rule)| effect(rule)).collect();
    // What dominates a rule leads to more wherever the rule does, so it is listed there.
    let mut listed: HashMap<(Shared, Shared, Option<Local>), Vec<usize>, FxBuildHasher> = HashMap::default();
    for (index, (_, rule)) in rules.iter().enumerate().filter(|(_, (_, rule))| rule.is_plain()) {
        listed.entry((rule.from, rule.to, None)).or_default().push(index);
        for &(local, _) in effects[index].iter().filter(|(_, change)| *change > 0) {
            listed.entry((rule.from, rule.to, Some(local))).or_default().push(index);
        }
    }
    let (mut compared, mut next_look) = (0, 0);
    for (index, (_, rule)) in rules.iter().enumerate().filter(|(_, (_, rule))| rule.is_plain()) {
        let more = effects[index].iter().filter(|(_, change)| *change > 0).map(|&(local, _)| Some(local));
        let lists = more.chain([None]).map(|local| &listed[&(rule.from, rule.to, local)]);
        let Some(shortest) = lists.min_by_key(|list| list.len()) else { continue };
        compared += shortest.len();
        if compared > MOST_COMPARED {
            break;
        }
        if compared >= next_look {
            next_look = compared + EVERY;
            budget.check()?;
        }
        dominated[index] = shortest.iter().any(|&other| {
            other != index
                && !dominated[other]
                && rule.takes.covers(&rules[other].1.takes)
                && nowhere_less(&effects[other], &effects[index])
        });
    }
    Ok(dominated)
}

/// What a plain rule adds, by place, without zeros. No number of a rule is larger than 32 bits.
fn effect(rule: &Rule) -> Vec<(Local, i64)> {
    let places: Bag = rule.takes.join(&rule.gives);
    let change = |local| rule.gives.count(local) as i64 - rule.takes.count(local) as i64;
    let changes = places.iter().map(|(local, _)| (local, change(local)));
    changes.filter(|&(_, change)| change != 0).collect()
}

/// Whether the first adds nowhere less than the second.
fn nowhere_less(one: &[(Local, i64)], other: &[(Local, i64)]) -> bool {
    let of = |changes: &[(Local, i64)], local: Local| {
        changes.binary_search_by_key(&local, |&(at, _)| at).map_or(0, |index| changes[index].1)
    };
    one.iter().all(|&(local, change)| change >= of(other, local))
        && other.iter().all(|&(local, change)| change <= of(one, local))
}
