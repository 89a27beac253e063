//! Weights of locations that explain shared counters.
//!
//! If every step of every thread changes a variable x by a number that depends only on where the step starts and ends, as the
//! difference of a potential would, then x is its initial value plus the sum of the potentials of all threads: a reader count is
//! the number of readers. The potential is found by walking along the steps. It is a guess: the bound on x minus the sum is
//! found, or not, like any other, and checked.

use allways_evidence::views::steps::{Steps, Transition};
use allways_model::program::{LocationId, Type};
use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::BTreeMap;

/// One map for each variable that has a potential other than 0.
pub fn weights(steps: &Steps) -> Vec<BTreeMap<LocationId, i64>> {
    let counters = steps.shared.iter().enumerate().filter(|(_, known)| known.ty != Type::Lock);
    let mut all: Vec<BTreeMap<LocationId, i64>> = Vec::new();
    for (slot, known) in counters {
        if let Some(weights) = potential(steps, slot, &known.name)
            && weights.values().any(|&weight| weight != 0)
        {
            let weights: BTreeMap<_, _> = weights.into_iter().filter(|(_, weight)| *weight != 0).collect();
            if !all.contains(&weights) {
                all.push(weights);
            }
        }
    }
    all
}

fn potential(steps: &Steps, slot: usize, name: &str) -> Option<BTreeMap<LocationId, i64>> {
    let mut weights: BTreeMap<LocationId, i64> = steps.entries.iter().map(|&entry| (entry, 0)).collect();
    let mut todo = steps.entries.clone();
    while let Some(from) = todo.pop() {
        for transition in &steps.from[from] {
            let Some(to) = transition.to else { continue };
            let weight = weights[&from].checked_add(change(transition, slot, name)?)?;
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
    Some(weights)
}

/// By how much a step changes a variable, if that is a number.
fn change(transition: &Transition, slot: usize, name: &str) -> Option<i64> {
    let Some((_, value)) = transition.shared.iter().find(|(changed, _)| *changed == slot) else { return Some(0) };
    let variable = Term::variable(name);
    match value.node() {
        Node::Sum(parts) => {
            let (own, rest): (Vec<_>, Vec<_>) = parts.iter().partition(|part| **part == variable);
            let numbers: Option<Vec<i128>> = rest.into_iter().map(Term::as_number).collect();
            (own.len() == 1).then_some(())?;
            i64::try_from(numbers?.into_iter().sum::<i128>()).ok()
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
