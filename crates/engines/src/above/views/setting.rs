//! What is known of a few threads at known locations, before and after a step.
//!
//! [`Setting`] knows a program, a number of threads for each template, and how many are looked at. A [`Crowd`] is some threads
//! at known locations; the thread at position p has local variables that end with `@p`. Nobody believes what is found by this:
//! the checker of views has a translation and a vocabulary of its own.

use super::bad::{Alternative, alternatives};
use super::steps::{ID, Known, SELF, Steps, Transition, Unsupported, local};
use allways_evidence::Views;
use allways_evidence::views::weighed;
use allways_model::program::{LocationId, Program, TemplateId};
use allways_smt::Term;
use std::collections::HashMap;

/// A program to be looked at through views.
pub struct Setting<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its steps.
    pub steps: &'a Steps,
    /// Numbers of threads, the size of views and the weights; the rows are not used here.
    pub views: &'a Views,
    /// The ways to violate a property.
    pub bad: Vec<Alternative>,
}

/// Threads at known locations.
pub type Crowd = Vec<LocationId>;

impl<'a> Setting<'a> {
    /// Makes one; fails if the properties cannot be said.
    pub fn new(program: &'a Program, steps: &'a Steps, views: &'a Views) -> Result<Setting<'a>, Unsupported> {
        let bad = alternatives(program, steps, views)?;
        Ok(Setting { program, steps, views, bad })
    }

    /// The template of a location at which threads can be.
    pub fn template(&self, location: LocationId) -> Option<TemplateId> {
        self.steps.templates.get(location.index()).copied().flatten()
    }

    /// Whether there are that many threads of each template, and all that are anchored are among them.
    pub fn possible(&self, crowd: &[LocationId]) -> bool {
        let of =
            |template| crowd.iter().filter(|&&location| self.template(location) == Some(template)).count();
        let fits = |(template, count): (usize, &Option<usize>)| match count {
            Some(count) if self.views.anchored => of(TemplateId(template)) == *count,
            Some(count) => of(TemplateId(template)) <= *count,
            None => true,
        };
        crowd.iter().all(|&location| self.template(location).is_some())
            && self.views.counts.iter().enumerate().all(fits)
    }

    /// Combinations of templates that views can have, as the locations where these start.
    pub fn starts(&self) -> Vec<Crowd> {
        let mut all: Vec<Vec<TemplateId>> = vec![Vec::new()];
        for _ in 0..self.views.size {
            let more = all.iter().flat_map(|chosen| {
                let least = chosen.last().copied().unwrap_or_default();
                TemplateId::all(&self.program.templates)
                    .skip(least.index())
                    .map(move |next| chosen.iter().copied().chain([next]).collect())
            });
            all = more.collect();
        }
        let crowds = all.into_iter().map(|templates| {
            let mut crowd: Crowd =
                templates.into_iter().map(|template| self.steps.entries[template.index()]).collect();
            crowd.sort_unstable();
            crowd
        });
        crowds.filter(|crowd| self.possible(crowd)).collect()
    }

    fn locals(&self, location: LocationId) -> &[Known] {
        self.template(location).map_or(&[], |template| &self.steps.locals[template.index()])
    }

    /// What is always true of threads at these locations: types, different numbers, and weights.
    pub fn facts(&self, crowd: &[LocationId]) -> Term {
        let mut facts: Vec<Term> = self
            .steps
            .shared
            .iter()
            .filter(|known| !known.forgotten)
            .map(|known| known.typed(&Term::variable(&known.name)))
            .collect();
        let numbered = |name: &str, position: usize| Term::variable(&local(name, position));
        for (position, &location) in crowd.iter().enumerate() {
            for known in self.locals(location).iter().filter(|known| !known.forgotten) {
                facts.push(known.typed(&numbered(&known.name, position)));
                if known.hidden {
                    facts.push(self.hidden(known, location, &numbered(&known.name, position)));
                    for (other, &elsewhere) in crowd.iter().enumerate().take(position) {
                        let alike = self.template(location) == self.template(elsewhere);
                        if alike || known.name == ID {
                            let same = numbered(&known.name, other).equal(&numbered(&known.name, position));
                            facts.push(same.negation());
                        }
                    }
                }
            }
        }
        for (index, weights) in self.views.weights.iter().enumerate() {
            let weight = |location: &LocationId| i128::from(weights.get(location).copied().unwrap_or(0));
            let (seen, sum) =
                (Term::number(crowd.iter().map(weight).sum::<i128>()), Term::variable(&weighed(index)));
            if self.views.total() == Some(crowd.len()) {
                facts.push(sum.equal(&seen));
            } else if weights.values().all(|&weight| weight >= 0) {
                facts.push(seen.at_most(&sum));
            } else if weights.values().all(|&weight| weight <= 0) {
                facts.push(sum.at_most(&seen));
            }
        }
        Term::and(facts)
    }

    fn hidden(&self, known: &Known, location: LocationId, value: &Term) -> Term {
        let count = self.template(location).and_then(|template| self.views.counts[template.index()]);
        match (known.name == SELF, count) {
            (true, Some(count)) => {
                Term::and([Term::number(0).at_most(value), value.less(&Term::number(count as i128))])
            }
            (true, None) => Term::number(0).at_most(value),
            (false, _) => Term::number(1).at_most(value),
        }
    }

    /// What the variables are at the start.
    pub fn initial(&self, crowd: &[LocationId]) -> Term {
        let starts = |known: &Known, value: Term| match known.initial {
            Some(initial) if !known.forgotten => value.equal(&Term::number(initial)),
            _ => Term::truth(true),
        };
        let shared = self.steps.shared.iter().map(|known| starts(known, Term::variable(&known.name)));
        let locals = crowd.iter().enumerate().flat_map(|(position, &location)| {
            let locals = self.locals(location).iter();
            locals.map(move |known| starts(known, Term::variable(&local(&known.name, position))))
        });
        let sums = (0..self.views.weights.len())
            .map(|index| Term::variable(&weighed(index)).equal(&Term::number(0)));
        Term::and(shared.chain(locals).chain(sums))
    }

    /// A formula about a view, for these threads of a crowd in this order.
    pub fn about(&self, formula: &Term, threads: &[usize]) -> Term {
        formula.replace(&|name| {
            let (name, position) = name.rsplit_once('@')?;
            let position: usize = position.parse().ok()?;
            Some(Term::variable(&local(name, *threads.get(position)?)))
        })
    }

    /// The guard of a step of the thread at a position.
    pub fn guard(&self, transition: &Transition, position: usize) -> Term {
        self.about(&transition.guard, &[position])
    }

    /// A formula about what is true after a step of the thread at a position, said of what was before.
    pub fn after(
        &self,
        formula: &Term,
        (from, transition): (LocationId, &Transition),
        position: usize,
    ) -> Term {
        let mut values: HashMap<String, Term> = HashMap::new();
        let new = |value: &Term| self.about(value, &[position]);
        for (slot, value) in &transition.shared {
            values.insert(self.steps.shared[*slot].name.clone(), new(value));
        }
        let locals = self.locals(from);
        for (slot, value) in &transition.locals {
            values.insert(local(&locals[*slot].name, position), new(value));
        }
        for (index, weights) in self.views.weights.iter().enumerate() {
            let weight = |location| i128::from(weights.get(&location).copied().unwrap_or(0));
            let change = transition.to.map_or(0, weight) - weight(from);
            if change != 0 {
                let name = weighed(index);
                values.insert(name.clone(), Term::variable(&name).plus(&Term::number(change)));
            }
        }
        formula.replace(&|name| values.get(name).cloned())
    }

    /// Whether a step can matter to threads other than the one that takes it.
    pub fn matters(&self, from: LocationId, transition: &Transition) -> bool {
        let weight = |weights: &std::collections::BTreeMap<LocationId, i64>, location| {
            weights.get(&location).copied().unwrap_or(0)
        };
        let moves = |weights| transition.to.is_some_and(|to| weight(weights, to) != weight(weights, from));
        transition.to.is_some() && (!transition.shared.is_empty() || self.views.weights.iter().any(moves))
    }

    /// The orders of these threads in which their locations are sorted.
    pub fn orders(&self, crowd: &[LocationId], threads: &[usize]) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = vec![Vec::new()];
        let mut sorted = threads.to_vec();
        sorted.sort_by_key(|&thread| crowd[thread]);
        for place in 0..sorted.len() {
            let here = crowd[sorted[place]];
            let extended = all.iter().flat_map(|chosen| {
                let free =
                    sorted.iter().filter(|&&thread| crowd[thread] == here && !chosen.contains(&thread));
                free.map(|&thread| chosen.iter().copied().chain([thread]).collect::<Vec<_>>())
                    .collect::<Vec<_>>()
            });
            all = extended.collect();
        }
        all
    }

    /// Each way to leave out one thread, other than an anchor, of a crowd with one more than a view has.
    pub fn parts(&self, crowd: &[LocationId]) -> Vec<Vec<usize>> {
        let loose = |&thread: &usize| !self.anchored(crowd[thread]);
        let left_out = (0..crowd.len()).filter(loose);
        left_out.map(|left_out| (0..crowd.len()).filter(|&thread| thread != left_out).collect()).collect()
    }

    /// Whether a thread at this location is in every view.
    pub fn anchored(&self, location: LocationId) -> bool {
        self.template(location).is_some_and(|template| self.views.anchors(template))
    }
}
