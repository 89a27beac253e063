//! A certificate that no bad configuration can be covered, and the checker that tests it.
//!
//! It has two sets. The *bound* D is downward closed: a configuration is in D if it is within one of the [`Limit`]s, and
//! not too heavy for any of the [`Weights`]. Limits come from a search forward (the forward oracle of UCOB, section V, or a
//! Karp–Miller set), weights from place invariants. The *basis* B is a finite set of configurations; U is the set of those
//! that cover a member of B. It comes from a search backward (UCOB, Algorithm 1). Either may be trivial: without limits and
//! weights D is everything, and U may be empty. The checker tests:
//!
//! 1. every initial configuration is in D;
//! 2. D is closed under every rule;
//! 3. each least bad configuration is in U or not in D;
//! 4. no initial configuration is in U;
//! 5. for every b in B and every rule, each least configuration from which the rule, relaxed, leads to one that covers b is
//!    in U or not in D.
//!
//! *Then no run covers a target.* By 1 and 2 all reachable configurations are in D. Say that a reachable x covers a target
//! with the least bad configuration t. As x is in D, so is t, which is smaller; by 3, t is in U, and so is x, which is larger.
//! So look at the first configuration of the run to x that is in U. By 4 it is not the initial one, so it is some z after y,
//! y not in U. z covers some b in B. Whatever the rule does, so does the relaxed rule, so y covers one of the least
//! configurations of 5, p. y is reachable, hence in D, hence p is in D, hence by 5 p is in U, and so is y: a contradiction.
//!
//! *2 is tested limit by limit.* Where a rule can fire within a limit m, what it makes of the configurations within m is, but
//! for smaller ones, all that is within one limit: m without what is taken, moved, with what is given, where any number less
//! some is any number. (Of places that are tested for an exact number, nothing is left over.) A set of configurations
//! within one limit is within a finite union of limits only if it is within one of them, since it is directed: so nothing is
//! rejected that is closed. *Of weights* it is enough that no rule makes a configuration heavier: what it gives and the shared
//! state after weigh no more than what it takes and the shared state before, and no token gets heavier where it moves. A rule
//! that cannot fire within the limits, which are closed by themselves, may do anything: it never fires. So what the limits
//! and one of the weights have in common is closed, and so is what all of these sets have in common.

mod index;
mod limits;
mod weights;

pub use weights::Weights;

use crate::StopReason;
use crate::rejection::{Rejection, shorten};
use allways_model::counters::step::{MOST_PREDECESSORS, pre};
use allways_model::counters::{Configuration, Counters, Initial, Local, Rule, Shared};
use hashbrown::HashMap;
use index::Upward;
use limits::Limits;

/// All configurations with this shared state and at most so many tokens in each place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Limit {
    /// The shared state.
    pub shared: Shared,
    /// At most so many tokens, by place, sorted; `None` for any number. No token in places that are not listed.
    pub tokens: Vec<(Local, Option<u64>)>,
}

impl Limit {
    /// The limit for a place: `Some(0)` where there can be none.
    pub fn most(&self, local: Local) -> Option<u64> {
        let index = self.tokens.binary_search_by_key(&local, |&(at, _)| at);
        index.map_or(Some(0), |index| self.tokens[index].1)
    }

    /// Whether so many tokens are within the limit for a place.
    fn allows(&self, local: Local, count: u64) -> bool {
        self.most(local).is_none_or(|most| count <= most)
    }

    /// Whether a configuration is within this limit.
    pub fn contains(&self, configuration: &Configuration) -> bool {
        self.shared == configuration.shared
            && configuration.tokens.iter().all(|(local, count)| self.allows(local, count))
    }

    /// Whether all that is within the other is within this one.
    fn includes(&self, other: &Limit) -> bool {
        self.shared == other.shared
            && other.tokens.iter().all(|&(local, most)| match most {
                Some(most) => self.allows(local, most),
                None => self.most(local).is_none(),
            })
    }

    /// All initial configurations of a set are within this limit if these are.
    fn of_initial(initial: &Initial) -> Limit {
        let fixed = initial.tokens.iter().map(|(local, count)| (local, Some(count)));
        let any = initial.any.iter().map(|&local| (local, None));
        Limit::new(initial.shared, fixed.chain(any))
    }

    /// Adds up; `None` and anything is `None`.
    fn new(shared: Shared, tokens: impl Iterator<Item = (Local, Option<u64>)>) -> Limit {
        let mut sum: Vec<(Local, Option<u64>)> = tokens.collect();
        sum.sort_unstable_by_key(|&(local, _)| local);
        sum.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.zip(next.1).map(|(one, other)| one.saturating_add(other));
            }
            same
        });
        Limit { shared, tokens: sum }
    }

    /// What a rule makes of what is within this limit; `None` if it cannot fire there.
    fn after(&self, rule: &Rule) -> Option<Limit> {
        if self.shared != rule.from || !rule.takes.iter().all(|(local, count)| self.allows(local, count)) {
            return None;
        }
        let left = self.tokens.iter().filter_map(|&(local, most)| {
            let left = most.map(|most| most.saturating_sub(rule.takes.count(local)));
            Some((rule.goes(local)?, left))
        });
        let given = rule.gives.iter().map(|(local, count)| (local, Some(count)));
        Some(Limit::new(rule.to, left.chain(given)))
    }
}

/// What makes it believable that no bad configuration can be covered.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Basis {
    /// The limits of a set that contains all reachable configurations; `None` for all configurations there are.
    pub bound: Option<Vec<Limit>>,
    /// What else bounds them.
    pub weights: Vec<Weights>,
    /// The least configurations of a set that contains all bad ones within the bound, and that no run enters.
    pub members: Vec<Configuration>,
}

/// Accepts a proof by the five tests above. Asks `stop` now and then whether to go on.
pub fn check_basis(
    system: &Counters,
    basis: &Basis,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    system.validate().map_err(Rejection::Malformed)?;
    check_shape(system, basis).map_err(|what| Rejection::Malformed(what.to_string()))?;
    let mut checker = Checker {
        system,
        stop,
        work: 0,
        bound: None,
        weights: &basis.weights,
        upward: Upward::new(&basis.members),
    };
    if let Some(limits) = &basis.bound {
        checker.bound = Some(Limits::new(limits));
        checker.check_bound(limits)?;
    }
    checker.check_weights()?;
    checker.check_basis(&basis.members)
}

/// Rules change the counts of what the system has; anything else makes no sense for it.
pub(super) fn check_shape(system: &Counters, basis: &Basis) -> Result<(), &'static str> {
    let shared = |shared: Shared| shared.index() < system.shared.len();
    let local = |local: Local| (local as usize) < system.locals.len();
    for limit in basis.bound.iter().flatten() {
        if !shared(limit.shared) || !limit.tokens.iter().all(|&(at, _)| local(at)) {
            return Err("a limit names a state that the system does not have");
        }
        if !limit.tokens.is_sorted_by(|one, next| one.0 < next.0) {
            return Err("the places of a limit are not sorted");
        }
    }
    let fits = |b: &Configuration| shared(b.shared) && b.tokens.iter().all(|(at, _)| local(at));
    match basis.members.iter().all(fits) {
        true => Ok(()),
        false => Err("the basis names a state that the system does not have"),
    }
}

/// Most bounds have one limit for each shared state, with any number of most tokens. Then it need not be written down what
/// each rule makes of it: a rule that moves nothing leads to no more than what was there and what it gives.
struct Roomy<'a> {
    limit: &'a Limit,
    /// By shared state, whether the first limit includes this one.
    known: HashMap<Shared, bool>,
}

impl Roomy<'_> {
    /// Whether what a rule makes of the limit is within the goal, as far as that can be seen at once.
    fn has_room(&mut self, rule: &Rule, goal: &Limit) -> bool {
        rule.is_plain()
            && rule.gives.iter().all(|(local, _)| goal.most(local).is_none())
            && *self.known.entry(goal.shared).or_insert_with(|| {
                let same = Limit { shared: goal.shared, ..self.limit.clone() };
                goal.includes(&same)
            })
    }
}

struct Checker<'a> {
    system: &'a Counters,
    stop: &'a dyn Fn() -> Option<StopReason>,
    work: usize,
    /// The limits; `None` for no bound.
    bound: Option<Limits<'a>>,
    weights: &'a [Weights],
    upward: Upward<'a>,
}

impl Checker<'_> {
    /// Tests 1 and 2.
    fn check_bound(&mut self, limits: &[Limit]) -> Result<(), Rejection> {
        for initial in &self.system.initial {
            let initial = Limit::of_initial(initial);
            if !self.within(&initial)? {
                let shown = self.show_limit(&initial);
                return Err(Rejection::NotClosed(format!(
                    "initial configurations {shown} are not within a limit"
                )));
            }
        }
        let mut from: HashMap<Shared, Vec<usize>> = HashMap::new();
        for (number, rule) in self.system.rules.iter().enumerate() {
            from.entry(rule.from).or_default().push(number);
        }
        for (index, limit) in limits.iter().enumerate() {
            let mut roomy = Roomy { limit, known: HashMap::new() };
            for &number in from.get(&limit.shared).map_or(&[][..], |rules| rules) {
                let rule = &self.system.rules[number];
                let goals = self.bound.as_ref().and_then(|bound| bound.first(rule.to));
                if goals.is_some_and(|goal| roomy.has_room(rule, goal)) {
                    self.spend(1)?;
                    continue;
                }
                let Some(after) = limit.after(rule) else { continue };
                if !self.within(&after)? {
                    return Err(Rejection::NotClosed(format!(
                        "limit {}, {}: rule {} of line {} leads to {}, which is not within a limit",
                        index + 1,
                        self.show_limit(limit),
                        number + 1,
                        rule.line,
                        self.show_limit(&after),
                    )));
                }
            }
        }
        Ok(())
    }

    /// Tests 1 and 2 for weights, after limits.
    fn check_weights(&mut self) -> Result<(), Rejection> {
        if self.weights.is_empty() {
            return Ok(());
        }
        let mut can_fire = Vec::with_capacity(self.system.rules.len());
        for rule in &self.system.rules {
            let takes = Configuration { shared: rule.from, tokens: rule.takes.clone() };
            can_fire.push(self.within_limits(&takes)?);
        }
        for (index, weights) in self.weights.iter().enumerate() {
            self.spend(can_fire.len())?;
            let checked = weights.check(self.system, &can_fire);
            checked.map_err(|why| Rejection::NotClosed(format!("weights {}: {why}", index + 1)))?;
        }
        Ok(())
    }

    /// Tests 3, 4 and 5.
    fn check_basis(&mut self, basis: &[Configuration]) -> Result<(), Rejection> {
        for bad in self.system.bad() {
            if self.in_bound(&bad)? && !self.covers(&bad)? {
                let what = format!(
                    "the target {} is within the bound and covers nothing of the basis",
                    self.show(&bad)
                );
                return Err(Rejection::NotClosed(what));
            }
        }
        let rules = Relevant::new(self.system);
        for (index, member) in basis.iter().enumerate() {
            let system = self.system;
            let place = || format!("basis {}, {}", index + 1, shorten(&system.show(member)));
            for initial in &self.system.initial {
                if let Some(initial) = initial.covering(member) {
                    let what =
                        format!("{}: the initial configuration {} covers it", place(), self.show(&initial));
                    return Err(Rejection::NotClosed(what));
                }
            }
            for number in rules.of(member) {
                let rule = &self.system.rules[number as usize];
                let Some(before) = pre(self.system, rule, member) else {
                    let why = format!(
                        "{}: more than {MOST_PREDECESSORS} predecessors by rule {} of line {}",
                        place(),
                        number + 1,
                        rule.line
                    );
                    return Err(Rejection::Stopped(StopReason::GaveUp(why)));
                };
                for before in before {
                    if before.covers(member) || !self.in_bound(&before)? || self.covers(&before)? {
                        continue;
                    }
                    let what = format!(
                        "{}: rule {} of line {} leads there from {}, which covers nothing of the basis",
                        place(),
                        number + 1,
                        rule.line,
                        self.show(&before)
                    );
                    return Err(Rejection::NotClosed(what));
                }
            }
        }
        Ok(())
    }

    fn in_bound(&mut self, configuration: &Configuration) -> Result<bool, Rejection> {
        self.spend(self.weights.len())?;
        Ok(self.weights.iter().all(|weights| weights.allow(configuration))
            && self.within_limits(configuration)?)
    }

    fn within_limits(&mut self, configuration: &Configuration) -> Result<bool, Rejection> {
        let Some(bound) = &self.bound else { return Ok(true) };
        let (contain, looked_at) = bound.contain(configuration);
        self.spend(looked_at)?;
        Ok(contain)
    }

    fn within(&mut self, limit: &Limit) -> Result<bool, Rejection> {
        let Some(bound) = &self.bound else { return Ok(true) };
        let (include, looked_at) = bound.include(limit);
        self.spend(looked_at)?;
        Ok(include)
    }

    fn covers(&mut self, configuration: &Configuration) -> Result<bool, Rejection> {
        let (covers, looked_at) = self.upward.contains(configuration);
        self.spend(1 + looked_at)?;
        Ok(covers)
    }

    fn spend(&mut self, work: usize) -> Result<(), Rejection> {
        const EVERY: usize = 1 << 14;
        self.work += work;
        if self.work >= EVERY {
            self.work = 0;
            if let Some(reason) = (self.stop)() {
                return Err(Rejection::Stopped(reason));
            }
        }
        Ok(())
    }

    fn show(&self, configuration: &Configuration) -> String {
        shorten(&self.system.show(configuration))
    }

    fn show_limit(&self, limit: &Limit) -> String {
        shorten(&self.system.show_tokens(limit.shared, limit.tokens.iter().copied()))
    }
}

/// The rules that can lead to a configuration from one that does not cover it already. A rule that keeps the shared state,
/// moves nothing and gives nothing that is in the configuration does not: what it needs before includes all of it.
struct Relevant {
    /// By the shared state after them: those that change it, or move.
    always: HashMap<Shared, Vec<u32>>,
    /// By the shared state and what they give: all others.
    giving: HashMap<(Shared, Local), Vec<u32>>,
}

impl Relevant {
    fn new(system: &Counters) -> Relevant {
        let mut rules = Relevant { always: HashMap::new(), giving: HashMap::new() };
        for (number, rule) in system.rules.iter().enumerate() {
            if rule.from != rule.to || !rule.is_plain() {
                rules.always.entry(rule.to).or_default().push(number as u32);
                continue;
            }
            for (local, _) in rule.gives.iter() {
                rules.giving.entry((rule.to, local)).or_default().push(number as u32);
            }
        }
        rules
    }

    fn of(&self, configuration: &Configuration) -> Vec<u32> {
        let always = self.always.get(&configuration.shared);
        let tokens = configuration.tokens.iter();
        let giving = tokens.filter_map(|(local, _)| self.giving.get(&(configuration.shared, local)));
        let mut rules: Vec<u32> = always.into_iter().chain(giving).flatten().copied().collect();
        rules.sort_unstable();
        rules.dedup();
        rules
    }
}
