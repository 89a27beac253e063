//! What it takes for views to be closed, as queries that must have no answer.
//!
//! [`Setting`] knows a program, a number of threads for each template, and how many are looked at. A [`Crowd`] is some threads
//! at known locations; the thread at position p has local variables that end with `@p`.

use super::bad::{Alternative, alternatives};
use super::names::{ID, Names, SELF, local, typed};
use super::translate::{Step, Unsupported, steps, unsupported};
use super::{Views, weighed};
use allways_model::program::{LocationId, Program, Span, TemplateId, Type};
use allways_smt::{Query, Term};
use std::collections::HashMap;

/// A program to be looked at through views.
pub(super) struct Setting<'a> {
    program: &'a Program,
    names: &'a Names,
    /// What a thread at each location can do.
    steps: Vec<Vec<Step>>,
    views: &'a Views,
    /// The ways to violate a property.
    bad: Vec<Alternative>,
}

/// The most variables, times locations: each step has a value for each variable.
const MOST_VALUES: usize = 1 << 20;

/// Threads at known locations.
type Crowd = Vec<LocationId>;

impl<'a> Setting<'a> {
    /// Makes one; fails if the properties cannot be said.
    pub(super) fn new(
        program: &'a Program,
        names: &'a Names,
        views: &'a Views,
    ) -> Result<Setting<'a>, Unsupported> {
        let slots = names.locals.iter().map(Vec::len).sum::<usize>().saturating_add(names.shared.len());
        if slots.saturating_mul(program.locations.len()) > MOST_VALUES {
            return unsupported("a program with so many variables and locations", Span::default());
        }
        let bad = alternatives(program, names, views)?;
        let all = LocationId::all(&program.locations).map(|location| steps(program, names, location));
        Ok(Setting { program, names, steps: all.collect::<Result<_, _>>()?, views, bad })
    }

    /// The template of a location at which threads can be.
    pub(super) fn template(&self, location: LocationId) -> Option<TemplateId> {
        self.names.templates.get(location.index()).copied().flatten()
    }

    /// Whether there are that many threads of each template, and all that are anchored are among them.
    fn possible(&self, crowd: &[LocationId]) -> bool {
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
    fn starts(&self) -> Vec<Crowd> {
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
                templates.into_iter().map(|template| entry(self.program, template)).collect();
            crowd.sort_unstable();
            crowd
        });
        crowds.filter(|crowd| self.possible(crowd)).collect()
    }

    fn locals(&self, location: LocationId) -> &[(String, Type, Option<i64>)] {
        self.template(location).map_or(&[], |template| &self.names.locals[template.index()])
    }

    fn hidden(&self, location: LocationId) -> &[&'static str] {
        self.template(location).map_or(&[], |template| &self.names.hidden[template.index()])
    }

    /// What is always true of threads at these locations: types, different numbers, and weights.
    fn facts(&self, crowd: &[LocationId]) -> Term {
        let mut facts: Vec<Term> =
            self.names.shared.iter().map(|(name, ty, _)| typed(*ty, &Term::variable(name))).collect();
        let numbered = |name: &str, position: usize| Term::variable(&local(name, position));
        for (position, &location) in crowd.iter().enumerate() {
            let locals = self.locals(location).iter();
            facts.extend(locals.map(|(name, ty, _)| typed(*ty, &numbered(name, position))));
            for &name in self.hidden(location) {
                facts.push(self.numbers(name, location, &numbered(name, position)));
                for (other, &elsewhere) in crowd.iter().enumerate().take(position) {
                    if name == ID || self.template(location) == self.template(elsewhere) {
                        facts.push(numbered(name, other).equal(&numbered(name, position)).negation());
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

    /// Which numbers threads at a location can have.
    fn numbers(&self, name: &str, location: LocationId, value: &Term) -> Term {
        let count = self.template(location).and_then(|template| self.views.counts[template.index()]);
        match (name == SELF, count) {
            (true, Some(count)) => {
                Term::and([Term::number(0).at_most(value), value.less(&Term::number(count as i128))])
            }
            (true, None) => Term::number(0).at_most(value),
            (false, _) => Term::number(1).at_most(value),
        }
    }

    /// What the variables are at the start.
    fn initial(&self, crowd: &[LocationId]) -> Term {
        let starts = |initial: &Option<i64>, name: &str| match initial {
            Some(initial) => Term::variable(name).equal(&Term::number(*initial)),
            None => Term::truth(true),
        };
        let shared = self.names.shared.iter().map(|(name, _, initial)| starts(initial, name));
        let locals = crowd.iter().enumerate().flat_map(|(position, &location)| {
            let locals = self.locals(location).iter();
            locals.map(move |(name, _, initial)| starts(initial, &local(name, position)))
        });
        let sums = (0..self.views.weights.len())
            .map(|index| Term::variable(&weighed(index)).equal(&Term::number(0)));
        Term::and(shared.chain(locals).chain(sums))
    }

    /// A formula about a view, for these threads of a crowd in this order.
    fn about(&self, formula: &Term, threads: &[usize]) -> Term {
        formula.replace(&|name| {
            let (name, position) = name.rsplit_once('@')?;
            let position: usize = position.parse().ok()?;
            Some(Term::variable(&local(name, *threads.get(position)?)))
        })
    }

    /// The condition of a step of the thread at a position.
    fn condition(&self, step: &Step, position: usize) -> Term {
        self.about(&step.condition, &[position])
    }

    /// A formula about what is true after a step of the thread at a position, said of what was before.
    fn after(&self, formula: &Term, (from, step): (LocationId, &Step), position: usize) -> Term {
        let mut values: HashMap<String, Term> = HashMap::new();
        let new = |value: &Term| self.about(value, &[position]);
        for ((name, ..), value) in self.names.shared.iter().zip(&step.shared) {
            values.insert(name.clone(), new(value));
        }
        for ((name, ..), value) in self.locals(from).iter().zip(&step.locals) {
            values.insert(local(name, position), new(value));
        }
        for (index, weights) in self.views.weights.iter().enumerate() {
            let weight = |location| i128::from(weights.get(&location).copied().unwrap_or(0));
            let change = step.to.map_or(0, weight) - weight(from);
            if change != 0 {
                let name = weighed(index);
                values.insert(name.clone(), Term::variable(&name).plus(&Term::number(change)));
            }
        }
        formula.replace(&|name| values.get(name).cloned())
    }

    /// Whether a step can matter to threads other than the one that takes it.
    fn matters(&self, from: LocationId, step: &Step) -> bool {
        let weight = |weights: &std::collections::BTreeMap<LocationId, i64>, location| {
            weights.get(&location).copied().unwrap_or(0)
        };
        let moves = |weights| step.to.is_some_and(|to| weight(weights, to) != weight(weights, from));
        let same =
            |((name, ..), value): (&(String, Type, Option<i64>), &Term)| *value == Term::variable(name);
        let changes = !self.names.shared.iter().zip(&step.shared).all(same);
        step.to.is_some() && (changes || self.views.weights.iter().any(moves))
    }

    /// The orders of these threads in which their locations are sorted.
    fn orders(&self, crowd: &[LocationId], threads: &[usize]) -> Vec<Vec<usize>> {
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
    fn parts(&self, crowd: &[LocationId]) -> Vec<Vec<usize>> {
        let loose = |&thread: &usize| !self.anchored(crowd[thread]);
        let left_out = (0..crowd.len()).filter(loose);
        left_out.map(|left_out| (0..crowd.len()).filter(|&thread| thread != left_out).collect()).collect()
    }

    /// Whether a thread at this location is in every view.
    fn anchored(&self, location: LocationId) -> bool {
        self.template(location).is_some_and(|template| self.views.anchors(template))
    }
}

/// Where the threads of a template start.
pub(super) fn entry(program: &Program, template: TemplateId) -> LocationId {
    program.procedures[program.templates[template].body].entry
}

/// That these threads of a crowd are a view in V, if V allows their locations.
fn viewed(setting: &Setting<'_>, crowd: &[LocationId], threads: &[usize]) -> Option<Term> {
    let mut locations: Vec<LocationId> = threads.iter().map(|&thread| crowd[thread]).collect();
    locations.sort_unstable();
    let formula = setting.views.rows.get(&locations)?;
    Some(Term::and(setting.orders(crowd, threads).iter().map(|order| setting.about(formula, order))))
}

/// Hands over all queries that must have no answer for the views to be closed, until told to stop.
pub(super) fn obligations<E>(
    setting: &Setting<'_>,
    mut each: impl FnMut(Query) -> Result<(), E>,
) -> Result<(), E> {
    let views = setting.views;
    let everybody: Vec<usize> = (0..views.size).collect();
    let never = || Term::truth(false);
    for crowd in setting.starts() {
        let view = viewed(setting, &crowd, &everybody).unwrap_or_else(never);
        let formulas = vec![setting.facts(&crowd), setting.initial(&crowd), view.negation()];
        each(Query {
            title: format!("a view of an initial state is missing, at {}", at(setting, &crowd)),
            formulas,
        })?;
    }
    let locations: Vec<LocationId> = LocationId::all(&setting.program.locations)
        .filter(|&location| setting.template(location).is_some())
        .collect();
    for crowd in views.rows.keys().filter(|crowd| setting.possible(crowd)) {
        let Some(view) = viewed(setting, crowd, &everybody) else { continue };
        let facts = setting.facts(crowd);
        for bad in setting.bad.iter().filter(|bad| bad.met(crowd)) {
            let formulas = vec![facts.clone(), view.clone(), bad.condition.clone()];
            each(Query { title: format!("a property is violated at {}", at(setting, crowd)), formulas })?;
        }
        for (position, &from) in crowd.iter().enumerate() {
            if position > 0 && crowd[position - 1] == from {
                // The threads at one location are interchangeable.
                continue;
            }
            for step in &setting.steps[from.index()] {
                let line = step.line;
                let mut formulas = vec![facts.clone(), view.clone(), setting.condition(step, position)];
                let Some(to) = step.to else {
                    let title = format!("line {line} goes wrong at {}", at(setting, crowd));
                    each(Query { title, formulas })?;
                    continue;
                };
                let mut moved = crowd.clone();
                moved[position] = to;
                let target = viewed(setting, &moved, &everybody).unwrap_or_else(never);
                formulas.push(setting.after(&target, (from, step), position).negation());
                let title =
                    format!("a step in line {line} leads from {} out of the views", at(setting, crowd));
                each(Query { title, formulas })?;
            }
        }
        for &from in &locations {
            let mut more = crowd.clone();
            more.push(from);
            if !setting.possible(&more)
                || !setting.steps[from.index()].iter().any(|step| setting.matters(from, step))
            {
                continue;
            }
            let parts: Option<Vec<Term>> =
                setting.parts(&more).iter().map(|part| viewed(setting, &more, part)).collect();
            let Some(parts) = parts else { continue };
            let known = Term::and([setting.facts(&more)].into_iter().chain(parts));
            for step in setting.steps[from.index()].iter().filter(|step| setting.matters(from, step)) {
                let target = setting.after(&view, (from, step), views.size).negation();
                let formulas = vec![known.clone(), setting.condition(step, views.size), target];
                let (line, place) = (step.line, at(setting, crowd));
                let title =
                    format!("a step of another thread in line {line} leads from {place} out of the views");
                each(Query { title, formulas })?;
            }
        }
    }
    Ok(())
}

/// Locations by their lines.
fn at(setting: &Setting<'_>, crowd: &[LocationId]) -> String {
    let lines = crowd.iter().map(|&location| setting.program.locations[location].span.line.to_string());
    format!("lines {}", lines.collect::<Vec<_>>().join(", "))
}
