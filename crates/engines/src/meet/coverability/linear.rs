//! Weights by linear programming: why a configuration cannot be covered, as one inequality.
//!
//! If a configuration cannot even be covered when rules may fire in fractions and tokens may be owed in between (the *state
//! inequation*: Esparza, Ledesma-Garza, Majumdar, Meyer and Niksic, *An SMT-based approach to coverability analysis*, CAV 2014),
//! then by Farkas' lemma there are weights of states, none negative, by which no rule makes anything heavier and the
//! configuration is heavier than all that is initial. They are the solution of a linear program, and a certificate: see
//! [`Weights`]. Weights that exclude one configuration exclude many others, so a backward search that learns a few of them
//! has less to look at (as in Geffroy, Leroux and Sutre, *Occam's razor applied to the Petri net coverability problem*, RP
//! 2016; and Blondin, Finkel, Haase and Haddad, *Approaching the coverability problem continuously*, TACAS 2016).
//!
//! The program is solved in floating-point numbers. What comes out is made of fractions with a small common denominator, which is
//! guessed, and then every inequality is tested in integers: weights that fail the test are not used.

use super::net::{Entry, count, place};
use super::oracle::Oracle;
use super::simplex::{Least, Simplex};
use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_evidence::counters::Weights;
use allways_model::counters::{Bag, Counters, Rule, Shared};
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOutcome, Variable};
use std::collections::HashSet;
use std::time::Duration;

/// How often the budget is asked while the program is solved.
pub const SLICE: Duration = Duration::from_millis(50);

/// Larger denominators of a single weight, and of all together, are not guessed.
const LARGEST_DENOMINATOR: u64 = 10_000;
const LARGEST_COMMON: u64 = 1 << 32;

/// Numbers by state, sorted: shared states first, then local ones.
pub type Row = Vec<(usize, i64)>;

/// The linear program of a system: all but the configuration that is to be excluded.
pub struct Linear {
    problem: Problem,
    /// The variables for the weights of states, and for the most that an initial configuration weighs.
    weights: Vec<Variable>,
    most: Variable,
    shared: usize,
    /// Sums of weights that must not be positive, one for each rule that can fire and for each move.
    effects: Vec<Row>,
    /// What is initial.
    starts: Vec<Row>,
    /// How many numbers all of these have.
    size: usize,
    /// The same program the other way round, to be solved for many configurations, if it is small and has one start.
    near: Option<Near>,
}

/// A program about the way from the start.
struct Near {
    simplex: Simplex,
    /// By state, how many tokens there are at the start; any number where weights must be zero.
    start: Vec<f64>,
}

/// What is known of the way from the start to a configuration.
pub enum Way {
    /// There is none, by these weights.
    None(Weights),
    /// It takes so many firings at least.
    AtLeast(f64),
}

impl Linear {
    /// The program of the rules that can fire at all.
    pub fn new(system: &Counters, oracle: &Oracle) -> Linear {
        let shared = system.shared.len();
        let states = shared + system.locals.len();
        let mut free = vec![true; states];
        for local in system.initial.iter().flat_map(|initial| &initial.any) {
            free[shared + *local as usize] = false;
        }
        let mut effects = HashSet::new();
        for rule in system.rules.iter().filter(|rule| oracle.can_fire(rule)) {
            effects.insert(effect(rule, shared));
            let moves = rule.moves.iter().filter_map(|&(from, _)| Some((from, rule.goes(from)?)));
            effects.extend(
                moves.map(|(from, to)| sum([(shared + to as usize, 1), (shared + from as usize, -1)])),
            );
        }
        // With weights that are not negative, what only takes makes nothing heavier.
        effects.retain(|row| row.iter().any(|&(at, change)| change > 0 && free[at]));
        let mut effects: Vec<Row> = effects.into_iter().collect();
        effects.sort_unstable();
        let starts: Vec<Row> =
            system.initial.iter().map(|initial| row(shared, initial.shared, initial.tokens.iter())).collect();
        let mut problem = Problem::new(OptimizationDirection::Minimize);
        let weights: Vec<Variable> = free
            .iter()
            .map(|&free| problem.add_var(1.0, (0.0, if free { f64::INFINITY } else { 0.0 })))
            .collect();
        let most = problem.add_var(0.0, (0.0, f64::INFINITY));
        for effect in &effects {
            problem.add_constraint(terms(&weights, effect), ComparisonOp::Le, 0.0);
        }
        for start in &starts {
            let mut terms = terms(&weights, start);
            terms.add(most, -1.0);
            problem.add_constraint(terms, ComparisonOp::Le, 0.0);
        }
        let size = effects.iter().chain(&starts).map(Vec::len).sum();
        let near = Near::new(&effects, &starts, &free);
        Linear { problem, weights, most, shared, effects, starts, size, near }
    }

    /// Whether the way to a configuration can be measured quickly.
    pub fn is_quick(&self) -> bool {
        self.near.is_some()
    }

    /// What is known of the way from the start to a configuration, quickly.
    pub fn way(&mut self, shared: Shared, tokens: &[Entry]) -> Way {
        let tokens = tokens.iter().map(|&entry| (place(entry), u64::from(count(entry))));
        let wanted = row(self.shared, shared, tokens);
        let Some(near) = &mut self.near else { return Way::AtLeast(0.0) };
        let mut missing: Vec<f64> = near.start.iter().map(|tokens| -tokens).collect();
        wanted.iter().for_each(|&(at, number)| missing[at] += number as f64);
        match near.simplex.solve(&missing) {
            Least::Cost(cost) => Way::AtLeast(cost),
            Least::Unknown => Way::AtLeast(0.0),
            Least::None(weights) => {
                let weights = integers(&weights).and_then(|weights| self.judge(&weights, &wanted));
                weights.map_or(Way::AtLeast(0.0), Way::None)
            }
        }
    }

    /// How many numbers the program has: what solving it costs grows with this.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Weights that exclude a configuration, if there are any and they are found.
    pub fn exclude(
        &self,
        shared: Shared,
        tokens: &[Entry],
        budget: &Budget,
    ) -> Result<Option<Weights>, StopReason> {
        let tokens = tokens.iter().map(|&entry| (place(entry), u64::from(count(entry))));
        let excluded = row(self.shared, shared, tokens);
        let mut problem = self.problem.clone();
        let mut terms = terms(&self.weights, &excluded);
        terms.add(self.most, -1.0);
        problem.add_constraint(terms, ComparisonOp::Ge, 1.0);
        problem.set_time_limit(SLICE);
        let mut outcome = problem.solve();
        loop {
            budget.check()?;
            match outcome {
                Ok(SolveOutcome::Solution(solution)) => {
                    let values: Vec<f64> = self.weights.iter().map(|&at| solution.var_value(at)).collect();
                    return Ok(integers(&values).and_then(|weights| self.judge(&weights, &excluded)));
                }
                Ok(interrupted) => outcome = interrupted.resume(),
                Err(_) => return Ok(None),
            }
        }
    }

    /// The same weights, if they do what they should.
    fn judge(&self, weights: &[u64], excluded: &Row) -> Option<Weights> {
        let weigh = |row: &Row| -> i128 {
            row.iter().map(|&(at, number)| i128::from(number) * i128::from(weights[at])).sum()
        };
        let most = self.starts.iter().map(weigh).max().unwrap_or(0);
        let fits = self.effects.iter().all(|effect| weigh(effect) <= 0) && weigh(excluded) > most;
        let bag = |weights: &[u64]| -> Bag {
            weights.iter().enumerate().map(|(at, &weight)| (at as u32, weight)).collect()
        };
        let (of_shared, of_locals) = weights.split_at(self.shared);
        let most = u64::try_from(most).ok().filter(|_| fits)?;
        Some(Weights { locals: bag(of_locals), shared: bag(of_shared), most })
    }
}

impl Near {
    fn new(effects: &[Row], starts: &[Row], free: &[bool]) -> Option<Near> {
        let [start] = starts else { return None };
        let effects: Vec<(Row, f64)> = effects.iter().map(|effect| (effect.clone(), 1.0)).collect();
        let simplex = Simplex::new(free.len(), &effects)?;
        let mut tokens: Vec<f64> = free.iter().map(|&free| if free { 0.0 } else { f64::INFINITY }).collect();
        start.iter().for_each(|&(at, number)| tokens[at] += number as f64);
        Some(Near { simplex, start: tokens })
    }
}

/// A configuration as a row.
pub fn row(states: usize, shared: Shared, tokens: impl Iterator<Item = (u32, u64)>) -> Row {
    let tokens = tokens.map(|(local, count)| (states + local as usize, count as i64));
    sum([(shared.index(), 1)].into_iter().chain(tokens))
}

/// What a rule adds, by state. No number of a rule is larger than 32 bits.
pub fn effect(rule: &Rule, shared: usize) -> Row {
    let part = |bag: &Bag, sign: i64| -> Row {
        bag.iter().map(|(local, count)| (shared + local as usize, sign * count as i64)).collect()
    };
    let states = [(rule.from.index(), -1), (rule.to.index(), 1)];
    sum(states.into_iter().chain(part(&rule.takes, -1)).chain(part(&rule.gives, 1)))
}

/// A row of entries in any order, of which several may be for one state.
pub fn sum(entries: impl IntoIterator<Item = (usize, i64)>) -> Row {
    let mut row: Row = entries.into_iter().collect();
    row.sort_unstable_by_key(|&(at, _)| at);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    row.retain(|&(_, number)| number != 0);
    row
}

fn terms(weights: &[Variable], row: &Row) -> LinearExpr {
    let mut terms = LinearExpr::empty();
    row.iter().for_each(|&(at, number)| terms.add(weights[at], number as f64));
    terms
}

/// The integers that are multiples of these numbers by one factor, as far as they look like fractions.
fn integers(values: &[f64]) -> Option<Vec<u64>> {
    let mut common: u64 = 1;
    for &value in values {
        let denominator = denominator(value)?;
        common = common.checked_mul(denominator / gcd(common, denominator))?;
        if common > LARGEST_COMMON {
            return None;
        }
    }
    let scaled = values.iter().map(|value| (value * common as f64).round());
    scaled.map(|value| (0.0..1e12).contains(&value).then_some(value as u64)).collect()
}

/// The least denominator of a fraction that is as good as equal to a number, by its continued fraction.
fn denominator(value: f64) -> Option<u64> {
    const CLOSE: f64 = 1e-9;
    let (mut before, mut now) = (0_u64, 1_u64);
    let mut rest = value.abs();
    for _ in 0..32 {
        let whole = rest.floor();
        let scaled = value * now as f64;
        if (scaled - scaled.round()).abs() <= CLOSE * now as f64 {
            return Some(now);
        }
        rest = 1.0 / (rest - whole);
        let next = (rest.floor() as u64).checked_mul(now)?.checked_add(before)?;
        (before, now) = (now, next);
        if now > LARGEST_DENOMINATOR {
            return None;
        }
    }
    None
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { gcd(other, one % other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_look_like_fractions_become_integers() {
        assert_eq!(integers(&[0.5, 1.0 / 3.0, 2.0]), Some(vec![3, 2, 12]));
        assert_eq!(integers(&[0.999_999_999_99, 0.0]), Some(vec![1, 0]));
        assert_eq!(integers(&[7.0 / 9973.0]), Some(vec![7]));
        assert_eq!(integers(&[std::f64::consts::PI]), None);
        assert_eq!(integers(&[-1.0]), None);
    }
}
