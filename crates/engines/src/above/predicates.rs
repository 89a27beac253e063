//! Predicate abstraction: a program with integers as a concurrent program with Booleans.
//!
//! Paper: Kaiser, Kroening and Wahl (UCOB), section VI, whose Boolean programs come from SATABS: one Boolean for each predicate;
//! predicates over shared variables, over those of one thread, and *mixed* ones over both, which change for passive threads as well
//! when a shared variable does. Deviations: a predicate may also relate two threads; the Boolean program has a few threads, each
//! with predicates of its own, so that a passive update is an ordinary assignment; and what a step does to predicates that
//! change together is described exactly, not one by one.
//!
//! * [`atoms`]: predicates in one form;
//! * [`cases`]: steps without conditional values;
//! * [`boolean`]: the Boolean program;
//! * [`narrow`]: steps of it that no step of the program stands behind;
//! * [`path`]: the run of the program behind a run of the Boolean one, if there is any;
//! * [`refine`]: predicates that exclude a run;
//! * [`witness`]: a run that is none of the abstraction's making, with its inputs.

pub mod atoms;
pub mod boolean;
pub mod cases;
mod expressions;
pub mod narrow;
pub mod path;
pub mod refine;
pub mod witness;

use crate::above::views::steps::local;
use allways_model::program::TemplateId;
use allways_smt::Term;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most threads of whose variables a predicate speaks.
const MOST_THREADS: usize = 2;

/// A predicate: over shared variables and those of threads of these templates, in this order, with `@0`, `@1` in their names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Predicate {
    /// Whose local variables it speaks of.
    pub templates: Vec<TemplateId>,
    /// The comparison, in the form of [`atoms::literal`].
    pub formula: Term,
}

impl Predicate {
    /// The predicate that a comparison over the variables of some threads is. None if it is constant, speaks of too many
    /// threads, or of what is chosen in a step.
    pub fn of(comparison: &Term, threads: &[TemplateId]) -> Option<Predicate> {
        let formula = atoms::literal(comparison)?.predicate;
        let mut names = BTreeSet::new();
        formula.variables(&mut names);
        if names.is_empty() || names.iter().any(|name| name.starts_with('?')) {
            return None;
        }
        let mut about: Vec<usize> = names.iter().filter_map(|name| owner(name)).collect();
        about.sort_unstable();
        about.dedup();
        if about.len() > MOST_THREADS || about.iter().any(|&thread| thread >= threads.len()) {
            return None;
        }
        about.sort_by_key(|&thread| threads[thread]);
        let named = |order: &[usize]| {
            let place = |thread: usize| order.iter().position(|&other| other == thread);
            let formula = renamed(&formula, &|thread| place(thread).unwrap_or(thread));
            atoms::literal(&formula).map(|literal| Predicate {
                templates: order.iter().map(|&thread| threads[thread]).collect(),
                formula: literal.predicate,
            })
        };
        let mut found = named(&about)?;
        if let [one, other] = about[..]
            && threads[one] == threads[other]
        {
            // Which of two threads alike comes first does not matter.
            found = found.min(named(&[other, one])?);
        }
        Some(found)
    }

    /// The predicate about all choices of threads, each in the form of [`atoms::literal`].
    pub fn instances(&self, threads: &[TemplateId]) -> Vec<Term> {
        let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
        for template in &self.templates {
            let more = chosen.iter().flat_map(|chosen| {
                let free = (0..threads.len())
                    .filter(|thread| threads[*thread] == *template && !chosen.contains(thread));
                free.map(|thread| chosen.iter().copied().chain([thread]).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            });
            chosen = more.collect();
        }
        let about = |chosen: &Vec<usize>| {
            let formula =
                renamed(&self.formula, &|position| chosen.get(position).copied().unwrap_or(position));
            atoms::literal(&formula).map(|literal| literal.predicate)
        };
        chosen.iter().filter_map(about).collect()
    }
}

/// The instances of predicates for some threads, without doubles.
pub fn instances(predicates: &[Predicate], threads: &[TemplateId]) -> Vec<Term> {
    let mut all: Vec<Term> = Vec::new();
    for instance in predicates.iter().flat_map(|predicate| predicate.instances(threads)) {
        if !all.contains(&instance) {
            all.push(instance);
        }
    }
    all
}

/// The thread whose variable a name is.
fn owner(name: &str) -> Option<usize> {
    name.rsplit_once('@')?.1.parse().ok()
}

/// A formula about other threads.
fn renamed(formula: &Term, to: &dyn Fn(usize) -> usize) -> Term {
    formula.replace(&|name| {
        let thread = owner(name)?;
        let (name, _) = name.rsplit_once('@')?;
        Some(Term::variable(&local(name, to(thread))))
    })
}

/// The variables of a term.
fn variables(term: &Term) -> BTreeSet<Arc<str>> {
    let mut names = BTreeSet::new();
    term.variables(&mut names);
    names
}
