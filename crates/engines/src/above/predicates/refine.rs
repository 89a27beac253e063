//! Predicates that exclude a spurious run of a Boolean program.
//!
//! Candidates are the comparisons of the conditions that contradict each other (a minimal set of them), as they look at each
//! point of the run: weakest preconditions along its steps. To these are added what two inequalities at a point say of the rest
//! if one variable is got rid of, which is how a bound is found that holds through a loop, and the predicates that are known
//! already. At each point those count that are true (or false) in every run along the steps up to there. From the end to the
//! start, as few of them are kept as are enough for the step to those of the next point: an interpolant at each point, made of
//! candidates. The plain and the known ones are kept rather than others.
//!
//! A run is looked at from as late a point as shows that it is spurious, with what the predicates say there in the place of
//! all that was before: a reason that is found in one round of a loop holds in every other.

use super::Predicate;
use super::atoms::{Literal, bounds, comparisons, literal, near, resolvent};
use super::cases::possible;
use super::path::{Followed, Path};
use super::variables;
use allways_evidence::StopReason;
use allways_model::program::TemplateId;
use allways_smt::term::Node;
use allways_smt::{Failure, Solver, Term};
use std::collections::BTreeMap;

/// The most candidates at one point.
const MOST_CANDIDATES: usize = 60;

/// What comes of a run of a Boolean program.
pub enum Refined {
    /// It is one of the program.
    Feasible,
    /// It is not, as these predicates show.
    Spurious(Vec<Predicate>),
    /// There was no time for it.
    Stopped(StopReason),
}

/// Looks for predicates that exclude a run of these threads.
pub fn refine(
    path: &Path<'_>,
    threads: &[TemplateId],
    facts: &Term,
    (predicates, instances): (&[Predicate], &[Term]),
    solver: &mut dyn Solver,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<Refined, Failure> {
    let followed = path.follow();
    let start = Term::and([facts.clone(), path.initial.clone()]);
    let Some(core) = contradiction(&start, &followed, solver)? else { return Ok(Refined::Feasible) };
    let mut search = Search { path, followed, start, facts, instances, solver };
    // Nothing that comes after the last condition of the contradiction matters.
    let last = core.iter().copied().max().unwrap_or(0);
    let mut points: BTreeMap<usize, (Vec<Literal>, Vec<Term>)> = BTreeMap::new();
    let mut formulas: Vec<Term> = Vec::new();
    for step in (0..=last).rev() {
        if step < last {
            formulas = formulas.iter().map(|formula| path.before(formula, step)).collect();
        }
        if core.contains(&step) {
            formulas.push(path.guard(step));
        }
        formulas.retain(|formula| formula.as_truth().is_none());
        points.insert(step, (search.candidates(&formulas, threads), formulas.clone()));
    }
    let mut found: Vec<Predicate> = Vec::new();
    let mut others: Vec<Predicate> = Vec::new();
    let mut goal = vec![Term::truth(false)];
    for step in (0..=last).rev() {
        if let Some(reason) = stop() {
            return Ok(Refined::Stopped(reason));
        }
        let (candidates, formulas) = points.remove(&step).unwrap_or_default();
        others.extend(candidates.iter().filter_map(|literal| Predicate::of(&literal.predicate, threads)));
        let kept = search.kept(step, (candidates, &formulas), &goal)?;
        found.extend(kept.iter().filter_map(|literal| Predicate::of(&literal.predicate, threads)));
        goal = kept.iter().map(Literal::formula).collect();
        if goal.is_empty() {
            break;
        }
    }
    for pool in [found, others] {
        let mut new: Vec<Predicate> = Vec::new();
        for predicate in pool {
            if !predicates.contains(&predicate) && !new.contains(&predicate) {
                new.push(predicate);
            }
        }
        if !new.is_empty() {
            return Ok(Refined::Spurious(new));
        }
    }
    Ok(Refined::Spurious(Vec::new()))
}

/// Conditions of a path that cannot be true together, none of which can be left out; none if all can be true.
fn contradiction(
    start: &Term,
    followed: &Followed,
    solver: &mut dyn Solver,
) -> Result<Option<Vec<usize>>, Failure> {
    let conditions = &followed.conditions;
    let together = |steps: &[usize], solver: &mut dyn Solver| {
        let formulas: Vec<&Term> =
            [start].into_iter().chain(steps.iter().map(|&step| &conditions[step])).collect();
        possible(&formulas, solver)
    };
    let mut core: Vec<usize> =
        (0..conditions.len()).filter(|&step| conditions[step].as_truth() != Some(true)).collect();
    if together(&core, solver)? {
        return Ok(None);
    }
    let mut index = 0;
    while index < core.len() {
        let rest: Vec<usize> = core.iter().copied().filter(|&step| step != core[index]).collect();
        if together(&rest, solver)? { index += 1 } else { core = rest }
    }
    Ok(Some(core))
}

struct Search<'a> {
    path: &'a Path<'a>,
    followed: Followed,
    start: Term,
    facts: &'a Term,
    instances: &'a [Term],
    solver: &'a mut dyn Solver,
}

impl Search<'_> {
    /// Candidates at a point at which formulas lead to the contradiction.
    fn candidates(&self, formulas: &[Term], threads: &[TemplateId]) -> Vec<Literal> {
        let mut certain: Vec<Literal> = Vec::new();
        let mut all: Vec<Literal> = Vec::new();
        for formula in formulas {
            conjuncts(formula, &mut |part| {
                certain.extend(literal(part).into_iter().flat_map(|literal| bounds(&literal)));
            });
            comparisons(formula, &mut |part| all.extend(literal(part)));
        }
        for (index, one) in certain.iter().enumerate() {
            all.extend(certain[..index].iter().filter_map(|other| resolvent(one, other)));
        }
        all.extend(all.iter().flat_map(near).collect::<Vec<_>>());
        all.extend(self.instances.iter().map(|known| Literal { predicate: known.clone(), holds: true }));
        let mut kept: Vec<Literal> = Vec::new();
        for literal in all {
            let sayable = Predicate::of(&literal.predicate, threads).is_some();
            if sayable && !kept.iter().any(|other| other.predicate == literal.predicate) {
                kept.push(literal);
            }
        }
        // The plainest first; what is known already costs nothing.
        kept.sort_by_cached_key(|literal| self.cost(&literal.predicate));
        kept.truncate(MOST_CANDIDATES);
        kept
    }

    fn cost(&self, predicate: &Term) -> (bool, usize, i128, u64) {
        let constant = greatest(predicate);
        (!self.instances.contains(predicate), variables(predicate).len(), constant, predicate.size())
    }

    /// As few candidates as are enough for the step to the goal, each with the value that it has at this point of the path.
    fn kept(
        &mut self,
        step: usize,
        (candidates, formulas): (Vec<Literal>, &[Term]),
        goal: &[Term],
    ) -> Result<Vec<Literal>, Failure> {
        let known: Vec<Term> =
            [&self.start].into_iter().chain(&self.followed.conditions[..step]).cloned().collect();
        let known = Term::and(known);
        let mut true_here: Vec<Literal> = Vec::new();
        for candidate in candidates {
            let here = self.followed.at(step, &candidate.predicate);
            for holds in [true, false] {
                let literal = Literal { predicate: candidate.predicate.clone(), holds };
                let opposite = if holds { here.negation() } else { here.clone() };
                if !possible(&[&known, &opposite], self.solver)? {
                    // What is always so says nothing.
                    if possible(&[self.facts, &literal.formula().negation()], self.solver)? {
                        true_here.push(literal);
                    }
                    break;
                }
            }
        }
        // That the step is taken from here, and misses the goal.
        let guard = self.path.guard(step);
        let missed = match goal {
            [only] if only.as_truth() == Some(false) => Term::truth(true),
            _ => Term::and(goal.iter().map(|formula| self.path.before(formula, step))).negation(),
        };
        let facts = self.facts;
        let mut enough = |literals: &[Literal]| {
            let all = Term::and(literals.iter().map(Literal::formula));
            possible(&[facts, &all, &guard, &missed], self.solver).map(|possible| !possible)
        };
        if !enough(&true_here)? {
            // No conjunction will do; at least what the conditions themselves compare.
            let mut compared: Vec<Term> = Vec::new();
            for formula in formulas {
                comparisons(formula, &mut |part| compared.extend(literal(part).map(|found| found.predicate)));
            }
            true_here.retain(|literal| compared.contains(&literal.predicate));
            return Ok(true_here);
        }
        let mut index = true_here.len();
        while index > 0 {
            index -= 1;
            let mut rest = true_here.clone();
            rest.remove(index);
            if enough(&rest)? {
                true_here = rest;
            }
        }
        Ok(true_here)
    }
}

/// The parts of a conjunction.
fn conjuncts(formula: &Term, see: &mut dyn FnMut(&Term)) {
    match formula.node() {
        Node::And(parts) => parts.iter().for_each(|part| conjuncts(part, see)),
        Node::Not(part) => match part.node() {
            Node::Or(parts) => parts.iter().for_each(|part| conjuncts(&part.negation(), see)),
            _ => see(formula),
        },
        _ => see(formula),
    }
}

/// The greatest number in a comparison.
fn greatest(term: &Term) -> i128 {
    match term.node() {
        Node::Number(value) => value.saturating_abs(),
        Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => {
            parts.iter().map(greatest).max().unwrap_or(0)
        }
        Node::Times(factor, part) => factor.saturating_abs().max(greatest(part)),
        Node::Quotient(part, divisor) | Node::Remainder(part, divisor) => greatest(part).max(*divisor),
        Node::Not(part) => greatest(part),
        Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
            greatest(left).max(greatest(right))
        }
        Node::Choice(condition, then, other) => greatest(condition).max(greatest(then)).max(greatest(other)),
        Node::Variable(_) | Node::Truth(_) => 0,
    }
}
