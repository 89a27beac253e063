//! How far a configuration is from a target, at least: by linear programming.
//!
//! Whatever leads from a configuration `m` to one that covers the target `t` solves the *state inequation*: there are numbers
//! `x` of firings, none negative, with `m + Cx ≥ t`. The least sum of `x`, over the rationals, is a distance that no run
//! undercuts (Blondin, Haase and Offtermatt, *Directed reachability for infinite-state systems*, TACAS 2021). The dual program
//! is over *potentials* `y` of states: maximise `y·(t - m)` where no rule gains more than 1, and none of `y` is negative. Its
//! constraints do not know `m`. So potentials that are best for one configuration bound the distance of every other one from
//! below, by a sum; and a search that has solved a few programs knows the distances of most configurations well enough.
//!
//! Tokens that a rule moves may be moved one by one here, at no cost, which can only make distances smaller. Where there is any
//! number of tokens, potentials must be 0, or else they say nothing. Potentials are kept in thousandths, and at most
//! `MOST`: what cannot be covered from somewhere is very far. They guide a search and prove nothing.
//!
//! Where the matrix is small, no bounds are needed: a program is [solved](Simplex) for every configuration, from where the last one
//! ended.

use super::firing::ANY;
use super::linear::{Row, SLICE, effect, sum};
use super::net::{Entry, count, place};
use super::oracle::Oracle;
use super::simplex::{Least, Simplex};
use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_model::counters::{Counters, Shared, Target};
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOutcome, Variable};
use std::collections::HashSet;

/// The largest potential, in firings.
const MOST: f64 = 1e4;

/// A distance of one firing.
pub const STEP: i64 = 1000;

/// What a firing that remains counts, where one that was taken counts 1.
const WEIGHT: i64 = 5;

/// What goes first in a search is least: mostly greedy, but what can be repeated for ever without coming nearer falls behind.
pub fn rank(distance: i64, steps: u32) -> i64 {
    distance.saturating_mul(WEIGHT).saturating_add(i64::from(steps) * STEP)
}

/// So many potentials are kept for a target; then the oldest but one goes. The first is that of the start.
const KEPT: usize = 48;

/// Programs that start from where the last one ended are kept for so many sets of places with any number of tokens, and used
/// if there are no more targets than this.
const KEPT_SETS: usize = 8;
const FEW_GOALS: usize = 4;

/// Distances to the targets of a system.
pub struct Distance {
    shared: usize,
    states: usize,
    /// What rules that can fire add, with the cost of a firing: 1, or 0 for a token that is moved.
    effects: Vec<(Row, f64)>,
    goals: Vec<Goal>,
    size: usize,
    /// By the states with any number of tokens, the latest last; `None` if the programs are too large for this.
    quick: Option<Vec<(Vec<usize>, Simplex)>>,
}

struct Goal {
    /// What is wanted.
    wanted: Row,
    potentials: Vec<Potential>,
}

struct Potential {
    /// By state, in thousandths.
    values: Vec<i64>,
    /// What is wanted, by these values.
    wanted: i64,
}

impl Distance {
    /// All distances are 0 until a program is [solved](Distance::learn).
    pub fn new(system: &Counters, oracle: &Oracle) -> Distance {
        let shared = system.shared.len();
        let mut effects = HashSet::new();
        for rule in system.rules.iter().filter(|rule| oracle.can_fire(rule)) {
            effects.insert((effect(rule, shared), true));
            let moves = rule.moves.iter().filter_map(|&(from, to)| Some((from, to?)));
            effects.extend(
                moves.map(|(from, to)| {
                    (sum([(shared + to as usize, 1), (shared + from as usize, -1)]), false)
                }),
            );
        }
        // What only takes gains nothing.
        effects.retain(|(row, _)| row.iter().any(|&(_, change)| change > 0));
        let mut effects: Vec<(Row, bool)> = effects.into_iter().collect();
        effects.sort_unstable();
        let effects: Vec<(Row, f64)> =
            effects.into_iter().map(|(row, costs)| (row, f64::from(u8::from(costs)))).collect();
        let size = effects.iter().map(|(row, _)| row.len()).sum();
        let goals: Vec<Goal> = system.targets.iter().map(|target| Goal::new(target, shared)).collect();
        let states = shared + system.locals.len();
        let first = Simplex::new(states, &effects).filter(|_| goals.len() <= FEW_GOALS);
        let quick = first.map(|simplex| vec![(Vec::new(), simplex)]);
        Distance { shared, states, effects, goals, size, quick }
    }

    /// Whether distances can be [measured](Distance::measure).
    pub fn is_quick(&self) -> bool {
        self.quick.is_some()
    }

    /// How far it is to the nearest target, in thousandths, by a program for this configuration; `None` if there is no way.
    pub fn measure(&mut self, shared: Shared, row: &[Entry]) -> Option<i64> {
        let Some(quick) = &mut self.quick else { return Some(0) };
        let mut missing = vec![0.0; self.states];
        missing[shared.index()] -= 1.0;
        let mut any = Vec::new();
        for &entry in row {
            let at = self.shared + place(entry) as usize;
            match count(entry) {
                ANY => any.push(at),
                tokens => missing[at] -= f64::from(tokens),
            }
        }
        match quick.iter().position(|(known, _)| *known == any) {
            Some(index) => quick[index..].rotate_left(1),
            None => {
                let simplex = Simplex::new(self.states, &self.effects)?;
                if quick.len() == KEPT_SETS {
                    quick.remove(0);
                }
                quick.push((any, simplex));
            }
        }
        let (any, simplex) = quick.last_mut()?;
        any.iter().for_each(|&at| missing[at] = f64::NEG_INFINITY);
        let mut least: Option<i64> = None;
        for goal in &self.goals {
            let mut missing = missing.clone();
            goal.wanted.iter().for_each(|&(at, number)| missing[at] += number as f64);
            let distance = match simplex.solve(&missing) {
                Least::Cost(cost) => (cost * STEP as f64) as i64,
                Least::Unknown => 0,
                Least::None(_) => continue,
            };
            least = Some(least.map_or(distance, |least| least.min(distance)));
        }
        least
    }

    /// How many numbers a program has: what solving it costs grows with this.
    pub fn size(&self) -> usize {
        self.size
    }

    /// How far it is to the nearest target, in thousandths, as far as is known.
    pub fn at_least(&self, shared: Shared, row: &[Entry]) -> i64 {
        let of = |goal: &Goal| goal.potentials.iter().map(|potential| self.by(potential, shared, row)).max();
        self.goals.iter().map(|goal| of(goal).unwrap_or(0).max(0)).min().unwrap_or(0)
    }

    fn by(&self, potential: &Potential, shared: Shared, row: &[Entry]) -> i64 {
        let mut distance = potential.wanted - potential.values[shared.index()];
        for &entry in row {
            let value = potential.values[self.shared + place(entry) as usize];
            if value > 0 && count(entry) == ANY {
                return 0;
            }
            distance -= value.saturating_mul(i64::from(count(entry)));
        }
        distance
    }

    /// Solves the program of a configuration and of the target that seems to be nearest. Says whether it is further away than
    /// was known.
    pub fn learn(&mut self, shared: Shared, row: &[Entry], budget: &Budget) -> Result<bool, StopReason> {
        let known = |goal: &Goal| {
            let all = goal.potentials.iter().map(|potential| self.by(potential, shared, row));
            all.max().unwrap_or(0).max(0)
        };
        let distances: Vec<i64> = self.goals.iter().map(known).collect();
        let Some((goal, &before)) = distances.iter().enumerate().min_by_key(|&(_, &distance)| distance)
        else {
            return Ok(false);
        };
        let Some(potential) = self.solve(&self.goals[goal], shared, row, budget)? else { return Ok(false) };
        let farther = self.by(&potential, shared, row) > before;
        if farther {
            let potentials = &mut self.goals[goal].potentials;
            if potentials.len() == KEPT {
                potentials.remove(1);
            }
            potentials.push(potential);
        }
        Ok(farther)
    }

    fn solve(
        &self,
        goal: &Goal,
        shared: Shared,
        row: &[Entry],
        budget: &Budget,
    ) -> Result<Option<Potential>, StopReason> {
        let mut gains = vec![0.0; self.states];
        let mut most = vec![MOST; self.states];
        goal.wanted.iter().for_each(|&(at, number)| gains[at] += number as f64);
        gains[shared.index()] -= 1.0;
        for &entry in row {
            let at = self.shared + place(entry) as usize;
            match count(entry) {
                ANY => most[at] = 0.0,
                tokens => gains[at] -= f64::from(tokens),
            }
        }
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let values: Vec<Variable> =
            gains.iter().zip(&most).map(|(&gain, &most)| problem.add_var(gain, (0.0, most))).collect();
        for (effect, cost) in &self.effects {
            let mut terms = LinearExpr::empty();
            effect.iter().for_each(|&(at, number)| terms.add(values[at], number as f64));
            problem.add_constraint(terms, ComparisonOp::Le, *cost);
        }
        problem.set_time_limit(SLICE);
        let mut outcome = problem.solve();
        loop {
            budget.check()?;
            match outcome {
                Ok(SolveOutcome::Solution(solution)) => {
                    let values: Vec<i64> = values
                        .iter()
                        .map(|&at| (solution.var_value(at) * STEP as f64).round() as i64)
                        .collect();
                    let wanted = goal.wanted.iter().map(|&(at, number)| number.saturating_mul(values[at]));
                    let wanted = wanted.fold(0, i64::saturating_add);
                    return Ok(Some(Potential { values, wanted }));
                }
                Ok(interrupted) => outcome = interrupted.resume(),
                Err(_) => return Ok(None),
            }
        }
    }
}

impl Goal {
    fn new(target: &Target, shared: usize) -> Goal {
        let states = target.shared.map(|state| (state.index(), 1));
        let tokens = target.tokens.iter().map(|(local, count)| (shared + local as usize, count as i64));
        Goal { wanted: sum(states.into_iter().chain(tokens)), potentials: Vec::new() }
    }
}
