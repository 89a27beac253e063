//! Weights of locations that explain shared counters.
//!
//! If every step of every thread changes a variable x by a number that depends only on where the step starts and ends, as the
//! difference of a potential would, then x is its initial value plus the sum of the potentials of all threads: a reader count is
//! the number of readers. So it is with differences of variables: what was produced less what was consumed. The potential is found by walking along the steps. It is a guess: the bound on x minus the sum is
//! found, or not, like any other, and checked.

use super::steps::{Known, Steps, Transition};
use allways_model::program::{LocationId, Type};
use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::{BTreeMap, BTreeSet};

/// Weights, and what they explain.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explained {
    /// The weights of locations, other than 0.
    pub weights: Vec<BTreeMap<LocationId, i64>>,
    /// Terms over shared variables, each with the weights whose sum it differs from by a constant.
    pub terms: Vec<(Term, usize)>,
    /// Counters that are to be compared with what threads remember, too, each with weights.
    pub remembered: Vec<(Term, usize)>,
}

/// Weights for variables, for differences of two and for sums of two, wherever they are not all 0.
///
/// Only what steps write and what matters is a counter, and no more than a few of many variables are looked at.
pub fn weights(steps: &Steps, matters: &dyn Fn(usize) -> bool) -> Explained {
    let written = steps.from.iter().flatten().flat_map(|step| &step.shared).map(|(slot, _)| *slot);
    let counts = |slot: &usize| matters(*slot) && counts(&steps.shared[*slot]);
    let counters: BTreeSet<usize> = written.filter(counts).collect();
    let counters: Vec<usize> = counters.into_iter().take(MOST_COUNTERS).collect();
    let variable = |slot: usize| Term::variable(&steps.shared[slot].name);
    let mut explained = Explained::default();
    for (index, &one) in counters.iter().enumerate() {
        let alone = explained.add(variable(one), potential(steps, &[(one, 1)]));
        for &other in &counters[index + 1..] {
            let both = explained
                .add(variable(one).minus(&variable(other)), potential(steps, &[(one, 1), (other, -1)]));
            if !alone && !both {
                explained
                    .add(variable(one).plus(&variable(other)), potential(steps, &[(one, 1), (other, 1)]));
            }
        }
    }
    for &one in &counters {
        for &other in counters.iter().filter(|&&other| other != one) {
            explained.add_copies(steps, one, other);
        }
    }
    explained
}

fn counts(known: &Known) -> bool {
    known.ty != Type::Lock && !known.forgotten
}

impl Explained {
    fn add(&mut self, term: Term, potential: Option<BTreeMap<LocationId, i64>>) -> bool {
        let Some(potential) = potential else { return false };
        let weights: BTreeMap<_, _> = potential.into_iter().filter(|(_, weight)| *weight != 0).collect();
        if weights.is_empty() {
            return true;
        }
        let known = self.weights.iter().position(|known| *known == weights);
        if known.is_none() && self.weights.len() == MOST {
            return false;
        }
        let index = known.unwrap_or(self.weights.len());
        if known.is_none() {
            self.weights.push(weights);
        }
        self.terms.push((term, index));
        true
    }
}

impl Explained {
    /// What is stored in a variable may be what a thread has read there, and one more: then the variable is at most the number of
    /// times that it is written. So it is compared with a counter, less the threads that are still to write; and so are the
    /// local variables in which threads remember it.
    fn add_copies(&mut self, steps: &Steps, counter: usize, written: usize) {
        if potential(steps, &[(written, 1)]).is_some() || potential(steps, &[(counter, 1)]).is_none() {
            return;
        }
        let counter_grows = |step: &Transition| {
            change(step, counter, &steps.shared[counter].name).is_some_and(|change| change >= 0)
        };
        if !steps.from.iter().flatten().all(counter_grows) {
            return;
        }
        let writes = |step: &Transition, slot: usize| {
            if slot == written {
                Some(step.shared.iter().any(|(slot, _)| *slot == written).into())
            } else {
                exact(steps, step, slot)
            }
        };
        let weights = potential_by(steps, &[(counter, 1), (written, -1)], &writes);
        let variable = |slot: usize| Term::variable(&steps.shared[slot].name);
        if self.add(variable(counter).minus(&variable(written)), weights)
            && let Some(&(_, index)) = self.terms.last()
        {
            self.remembered.push((variable(counter), index));
        }
    }
}

/// The most sums of weights.
const MOST: usize = 8;

/// The most variables of which each pair is looked at.
const MOST_COUNTERS: usize = 24;

/// The potential of a sum of multiples of variables.
fn potential(steps: &Steps, parts: &[(usize, i64)]) -> Option<BTreeMap<LocationId, i64>> {
    potential_by(steps, parts, &|step, slot| exact(steps, step, slot))
}

/// The same, where steps are said to change variables by so much.
fn potential_by(
    steps: &Steps,
    parts: &[(usize, i64)],
    changes: &dyn Fn(&Transition, usize) -> Option<i64>,
) -> Option<BTreeMap<LocationId, i64>> {
    let mut weights: BTreeMap<LocationId, i64> = steps.entries.iter().map(|&entry| (entry, 0)).collect();
    let mut todo = steps.entries.clone();
    while let Some(from) = todo.pop() {
        for transition in &steps.from[from.index()] {
            let Some(to) = transition.to else { continue };
            let mut weight = weights[&from];
            for &(slot, factor) in parts {
                let change = changes(transition, slot)?;
                weight = weight.checked_add(change.checked_mul(factor)?)?;
            }
            match weights.get(&to) {
                Some(&known) if known != weight => return None,
                Some(_) => {}
                None => {
                    weights.insert(to, weight);
                    todo.push(to);
                }
            }
        }
    }
    // Evidence gives them 32 bits.
    weights.values().all(|&weight| i32::try_from(weight).is_ok()).then_some(weights)
}

fn exact(steps: &Steps, step: &Transition, slot: usize) -> Option<i64> {
    change(step, slot, &steps.shared[slot].name)
}

/// By how much a step changes a variable, if that is a number.
fn change(transition: &Transition, slot: usize, name: &str) -> Option<i64> {
    let Some((_, value)) = transition.shared.iter().find(|(changed, _)| *changed == slot) else {
        return Some(0);
    };
    let variable = Term::variable(name);
    match value.node() {
        Node::Sum(parts) => {
            let (own, rest): (Vec<_>, Vec<_>) = parts.iter().partition(|part| **part == variable);
            let numbers: Option<Vec<i128>> = rest.into_iter().map(Term::as_number).collect();
            (own.len() == 1).then_some(())?;
            i64::try_from(numbers?.into_iter().try_fold(0_i128, i128::checked_add)?).ok()
        }
        Node::Number(new) => i64::try_from(new.checked_sub(before(&transition.guard, &variable)?)?).ok(),
        _ => None,
    }
}

/// The value that a variable must have for a guard to be true, if it says so.
fn before(guard: &Term, variable: &Term) -> Option<i128> {
    match guard.node() {
        Node::And(parts) => parts.iter().find_map(|part| before(part, variable)),
        Node::Equal(left, right) if left == variable => right.as_number(),
        Node::Equal(left, right) if right == variable => left.as_number(),
        _ => None,
    }
}
