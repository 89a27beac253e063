//! Steps without numbers that are chosen by conditions: one step for each case.
//!
//! A machine adds by `x + 1` if that fits, else by what is left of it: as a term, a choice. Here it is two steps, with the
//! condition in the guard, so that what a step stores is linear, and so are the predicates that are found along it. What is
//! brought back into a range from just outside it, is moved by the size of the range. Cases that cannot be are left out.

use crate::above::views::setting::Setting;
use crate::above::views::steps::Transition;
use allways_model::program::LocationId;
use allways_smt::term::Node;
use allways_smt::{Answer, Failure, Solver, Term};
use std::collections::BTreeSet;

/// The most cases of one step; what is left then stays a choice.
const MOST: usize = 32;

/// The steps of a program, case by case.
pub fn split(setting: &Setting<'_>, solver: &mut dyn Solver) -> Result<Vec<Vec<Transition>>, Failure> {
    let mut all = Vec::new();
    for (location, transitions) in setting.steps.from.iter().enumerate() {
        let facts = setting.facts(&[LocationId(location)]);
        let mut cases = Vec::new();
        for transition in transitions {
            let mut todo = vec![transition.clone()];
            let mut made = 0;
            while let Some(case) = todo.pop() {
                if !possible(&[&facts, &case.guard], solver)? {
                    continue;
                }
                match divided(&case).filter(|_| made < MOST) {
                    Some(parts) => {
                        made += parts.len() - 1;
                        todo.extend(parts);
                    }
                    None => cases.push(case),
                }
            }
        }
        all.push(cases);
    }
    Ok(all)
}

/// Whether formulas can be true together, as far as the solver knows.
pub(super) fn possible(formulas: &[&Term], solver: &mut dyn Solver) -> Result<bool, Failure> {
    if formulas.iter().any(|formula| formula.as_truth() == Some(false)) {
        return Ok(false);
    }
    let mut names = BTreeSet::new();
    formulas.iter().for_each(|formula| formula.variables(&mut names));
    names.iter().try_for_each(|name| solver.declare(name))?;
    solver.push()?;
    formulas.iter().try_for_each(|formula| solver.assert(formula))?;
    let answer = solver.check()?;
    solver.pop()?;
    Ok(answer != Answer::Unsat)
}

/// The cases of the first choice in a step.
fn divided(step: &Transition) -> Option<Vec<Transition>> {
    let terms = step.shared.iter().chain(&step.locals).map(|(_, value)| value);
    let choice = terms.chain([&step.guard]).find_map(first)?;
    let Node::Choice(condition, then, other) = choice.node() else { return None };
    let mut values = vec![(condition.clone(), then.clone())];
    match wrapped(condition, then, other) {
        Some(ways) => values.extend(ways),
        None => values.push((condition.negation(), other.clone())),
    }
    let case = |(condition, value): (Term, Term)| {
        let so = |term: &Term| instead(term, &choice, &value);
        Transition {
            guard: Term::and([condition, so(&step.guard)]),
            shared: step.shared.iter().map(|(slot, value)| (*slot, so(value))).collect(),
            locals: step.locals.iter().map(|(slot, value)| (*slot, so(value))).collect(),
            ..step.clone()
        }
    };
    Some(values.into_iter().map(case).collect())
}

/// A choice with none in it.
fn first(term: &Term) -> Option<Term> {
    match term.node() {
        Node::Number(_) | Node::Variable(_) | Node::Truth(_) => None,
        Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => parts.iter().find_map(first),
        Node::Times(_, part) | Node::Quotient(part, _) | Node::Remainder(part, _) | Node::Not(part) => {
            first(part)
        }
        Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
            first(left).or_else(|| first(right))
        }
        Node::Choice(condition, then, other) => {
            let inside = [condition, then, other].into_iter().find_map(first);
            inside.or_else(|| Some(term.clone()))
        }
    }
}

/// A term with a part replaced.
fn instead(term: &Term, part: &Term, by: &Term) -> Term {
    if term == part {
        return by.clone();
    }
    if term.size() <= part.size() {
        return term.clone();
    }
    let go = |term: &Term| instead(term, part, by);
    match term.node() {
        Node::Number(_) | Node::Variable(_) | Node::Truth(_) => term.clone(),
        Node::Sum(parts) => parts.iter().map(go).fold(Term::number(0), |sum, part| sum.plus(&part)),
        Node::Times(factor, inner) => go(inner).times(*factor),
        Node::Quotient(inner, divisor) => go(inner).quotient(*divisor),
        Node::Remainder(inner, divisor) => go(inner).remainder(*divisor),
        Node::Applied(function, left, right) => Term::of(*function, &go(left), &go(right)),
        Node::Choice(condition, then, other) => Term::choice(&go(condition), &go(then), &go(other)),
        Node::Not(inner) => go(inner).negation(),
        Node::And(parts) => Term::and(parts.iter().map(go)),
        Node::Or(parts) => Term::or(parts.iter().map(go)),
        Node::Equal(left, right) => go(left).equal(&go(right)),
        Node::AtMost(left, right) => go(left).at_most(&go(right)),
    }
}

/// The cases of a number outside its range, if that is what a choice is about: just above it, just below it, and elsewhere.
fn wrapped(inside: &Term, value: &Term, other: &Term) -> Option<Vec<(Term, Term)>> {
    let Node::And(parts) = inside.node() else { return None };
    let [low, high] = &parts[..] else { return None };
    let (Node::AtMost(low, least), Node::AtMost(most, high)) = (low.node(), high.node()) else { return None };
    let (low, high) = (low.as_number()?, high.as_number()?);
    (least == value && most == value).then_some(())?;
    let size = high - low + 1;
    let remainder = value.minus(&Term::number(low)).remainder(size).plus(&Term::number(low));
    (remainder == *other).then_some(())?;
    let within = |from: i128, to: i128| {
        Term::and([Term::number(from).at_most(value), value.at_most(&Term::number(to))])
    };
    let far = Term::or([value.less(&Term::number(low - size)), Term::number(high + size).less(value)]);
    Some(vec![
        (within(high + 1, high + size), value.minus(&Term::number(size))),
        (within(low - size, low - 1), value.plus(&Term::number(size))),
        (far, other.clone()),
    ])
}
