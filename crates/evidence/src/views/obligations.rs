//! What it takes for views to be closed, as queries that must have no answer.
//!
//! A [`Scene`] is some threads of a state, with terms in place of values. At first each value is a variable of its own; a step
//! gives another scene, with other terms. That V contains a view of a scene is the formula of its row, with the terms of the
//! scene for its variables. So all queries are of one form: what is known of a scene, and that something is missing after a
//! step of it.

use super::names::{ID, Named, Names, local, typed};
use super::property::Shown;
use super::translate::{Step, Unsupported, steps, unsupported};
use super::{Views, weighed};
use allways_model::program::{LocationId, Program, Span, TemplateId};
use allways_smt::{Query, Term};
use std::collections::HashMap;

/// The most variables, times locations: each step has a value for each variable.
const MOST_VALUES: usize = 1 << 20;

/// Views that are to be closed.
pub(super) struct Closing<'a> {
    program: &'a Program,
    names: &'a Names,
    views: &'a Views,
    /// What a thread at each location can do.
    steps: Vec<Vec<Step>>,
    properties: Vec<Shown<'a>>,
    /// The names of the shared values of a scene: the variables, then the sums of weights.
    shared: Vec<String>,
    /// The same for the local values of a thread of each template: the variables, then the hidden ones.
    locals: Vec<Vec<String>>,
}

/// Some threads of a state.
#[derive(Clone)]
struct Scene {
    shared: Vec<Term>,
    threads: Vec<Actor>,
}

#[derive(Clone)]
struct Actor {
    template: TemplateId,
    location: LocationId,
    locals: Vec<Term>,
}

impl<'a> Closing<'a> {
    /// Translates a program; fails if it has no formulas.
    pub(super) fn new(
        program: &'a Program,
        names: &'a Names,
        views: &'a Views,
    ) -> Result<Closing<'a>, Unsupported> {
        let own = names.locals.iter().zip(&names.hidden);
        let locals: Vec<Vec<String>> = own
            .map(|(locals, hidden)| {
                let hidden = hidden.iter().map(ToString::to_string);
                locals.iter().map(|variable| variable.0.clone()).chain(hidden).collect()
            })
            .collect();
        let sums = (0..views.weights.len()).map(weighed);
        let shared: Vec<String> =
            names.shared.iter().map(|variable| variable.0.clone()).chain(sums).collect();
        let values = locals.iter().fold(shared.len(), |sum, locals| sum.saturating_add(locals.len()));
        if values.saturating_mul(program.locations.len()) > MOST_VALUES {
            return unsupported("a program with so many variables and locations", Span::default());
        }
        let properties: Vec<Shown<'_>> =
            program.never.iter().map(|never| Shown::new(names, views, never)).collect();
        // Whether they have formulas does not depend on the threads.
        properties.iter().try_for_each(|property| property.violated(&[]).map(drop))?;
        let steps = LocationId::all(&program.locations).map(|location| steps(program, names, location));
        Ok(Closing {
            program,
            names,
            views,
            steps: steps.collect::<Result<_, _>>()?,
            properties,
            shared,
            locals,
        })
    }

    /// Hands over all queries, until told to stop.
    pub(super) fn queries<E: From<Unsupported>>(
        &self,
        each: &mut dyn FnMut(Query) -> Result<(), E>,
    ) -> Result<(), E> {
        let everybody: Vec<usize> = (0..self.views.size).collect();
        self.starts(TemplateId(0), &mut Vec::new(), &mut |crowd| {
            let Some(scene) = self.scene(crowd) else { return Ok(()) };
            let missing = self.contains(&scene, &everybody).negation();
            let formulas = vec![self.facts(&scene), self.initial(&scene), missing];
            each(Query {
                title: format!("a view of an initial state is missing, at {}", self.lines(crowd)),
                formulas,
            })
        })?;
        for crowd in self.views.rows.keys() {
            let Some(scene) = self.scene(crowd) else { continue };
            let known = Term::and([self.facts(&scene), self.contains(&scene, &everybody)]);
            for property in &self.properties {
                let violated = property.violated(crowd)?;
                if violated.as_truth() != Some(false) {
                    let title = format!("a property is violated at {}", self.lines(crowd));
                    each(Query { title, formulas: vec![known.clone(), violated] })?;
                }
            }
            for thread in 0..crowd.len() {
                // What is known is the same of all threads at one location: the first may take the steps of all.
                if !crowd[..thread].contains(&crowd[thread]) {
                    self.leaves(&scene, &known, thread, &everybody, each)?;
                }
            }
            for from in LocationId::all(&self.program.locations) {
                let larger: Vec<LocationId> = crowd.iter().copied().chain([from]).collect();
                let Some(scene) = self.scene(&larger) else { continue };
                // The views of these threads: each leaves out one that is not in every view.
                let all = 0..larger.len();
                let left_out =
                    all.clone().filter(|&thread| !self.views.anchors(scene.threads[thread].template));
                let seen = left_out.map(|left_out| {
                    let others: Vec<usize> = all.clone().filter(|&thread| thread != left_out).collect();
                    self.contains(&scene, &others)
                });
                let known = Term::and([self.facts(&scene)].into_iter().chain(seen));
                if known.as_truth() != Some(false) {
                    self.leaves(&scene, &known, crowd.len(), &everybody, each)?;
                }
            }
        }
        Ok(())
    }

    /// That a step of a thread goes wrong, or leads to where V does not contain the view of some threads, which V contained.
    fn leaves<E>(
        &self,
        scene: &Scene,
        known: &Term,
        thread: usize,
        viewed: &[usize],
        each: &mut dyn FnMut(Query) -> Result<(), E>,
    ) -> Result<(), E> {
        let within = viewed.contains(&thread);
        for step in &self.steps[scene.threads[thread].location.index()] {
            let (line, place) = (step.line, self.lines(&scene.locations(viewed)));
            let condition = step.condition.replace(&self.meaning(scene, &[thread]));
            let (title, missing) = match self.after(scene, thread, step) {
                // Of a thread outside, a view with it among its threads shows that.
                None if !within => continue,
                None => (format!("line {line} goes wrong at {place}"), Term::truth(true)),
                Some(after) if !within && after.shared == scene.shared => continue,
                Some(after) => {
                    let who = if within { "a step" } else { "a step of another thread" };
                    let title = format!("{who} in line {line} leads from {place} out of the views");
                    (title, self.contains(&after, viewed).negation())
                }
            };
            each(Query { title, formulas: vec![known.clone(), condition, missing] })?;
        }
        Ok(())
    }

    /// Goes through the places where as many threads as a view has can start, those of templates from this one on last.
    fn starts<E>(
        &self,
        template: TemplateId,
        crowd: &mut Vec<LocationId>,
        each: &mut dyn FnMut(&[LocationId]) -> Result<(), E>,
    ) -> Result<(), E> {
        if crowd.len() == self.views.size {
            return each(crowd);
        }
        for template in TemplateId::all(&self.program.templates).skip(template.index()) {
            crowd.push(entry(self.program, template));
            self.starts(template, crowd, each)?;
            crowd.pop();
        }
        Ok(())
    }

    /// Threads at these locations, if there can be threads there, and so many; all values are variables.
    fn scene(&self, crowd: &[LocationId]) -> Option<Scene> {
        let mut threads = Vec::new();
        for (position, &location) in crowd.iter().enumerate() {
            let template = self.names.templates.get(location.index()).copied().flatten()?;
            let locals =
                self.locals[template.index()].iter().map(|name| Term::variable(&local(name, position)));
            threads.push(Actor { template, location, locals: locals.collect() });
        }
        for (template, count) in self.views.counts.iter().enumerate() {
            let template = TemplateId(template);
            let here = threads.iter().filter(|actor| actor.template == template).count();
            let all_needed = self.views.anchors(template);
            if count.is_some_and(|count| here > count || all_needed && here < count) {
                return None;
            }
        }
        Some(Scene { shared: self.shared.iter().map(|name| Term::variable(name)).collect(), threads })
    }

    /// What is true of any threads in these places: the types of values, the numbers of threads, and sums of weights.
    fn facts(&self, scene: &Scene) -> Term {
        // Of what long arrays hold, nothing is ever asked.
        let short = |at: usize, long: &[bool]| !long.get(at).copied().unwrap_or(false);
        let typing = |(variable, value): (&Named, &Term)| typed(variable.1, value);
        let shared = self.names.shared.iter().zip(&scene.shared).enumerate();
        let shared = shared.filter(|slot| short(slot.0, &self.names.long.0));
        let mut facts: Vec<Term> = shared.map(|(_, slot)| typing(slot)).collect();
        for (index, actor) in scene.threads.iter().enumerate() {
            let variables = &self.names.locals[actor.template.index()];
            let own = variables.iter().zip(&actor.locals).enumerate();
            let own = own.filter(|slot| short(slot.0, &self.names.long.1[actor.template.index()]));
            facts.extend(own.map(|(_, slot)| typing(slot)));
            for (nth, name) in self.names.hidden[actor.template.index()].iter().enumerate() {
                let number = &actor.locals[variables.len() + nth];
                let (first, end) =
                    if *name == ID { (1, None) } else { (0, self.views.counts[actor.template.index()]) };
                facts.push(Term::number(first).at_most(number));
                facts.extend(end.map(|end| number.less(&Term::number(end as i128))));
                // No two threads have one number; `self` numbers those of one template.
                for other in &scene.threads[..index] {
                    if *name == ID || other.template == actor.template {
                        let theirs = &other.locals[self.names.locals[other.template.index()].len() + nth];
                        facts.push(theirs.equal(number).negation());
                    }
                }
            }
        }
        let sums = &scene.shared[self.names.shared.len()..];
        for (index, (weights, sum)) in self.views.weights.iter().zip(sums).enumerate() {
            let seen = Term::number(
                scene.threads.iter().map(|actor| self.weight(index, actor.location)).sum::<i128>(),
            );
            // Those who are not seen add to the sum, or take from it, or are nobody.
            let nobody = self.views.total() == Some(scene.threads.len());
            if nobody || weights.values().all(|&weight| weight >= 0) {
                facts.push(seen.at_most(sum));
            }
            if nobody || weights.values().all(|&weight| weight <= 0) {
                facts.push(sum.at_most(&seen));
            }
        }
        Term::and(facts)
    }

    /// That the values are those at the start.
    fn initial(&self, scene: &Scene) -> Term {
        let starts = |(variable, value): (&Named, &Term)| {
            variable.2.map_or(Term::truth(true), |initial| value.equal(&Term::number(initial)))
        };
        let mut all: Vec<Term> = self.names.shared.iter().zip(&scene.shared).map(starts).collect();
        // No thread has a weight yet.
        all.extend(scene.shared[self.names.shared.len()..].iter().map(|sum| sum.equal(&Term::number(0))));
        for actor in &scene.threads {
            all.extend(self.names.locals[actor.template.index()].iter().zip(&actor.locals).map(starts));
        }
        Term::and(all)
    }

    /// That V contains the view of these threads: its row allows it in each order in which the locations are sorted.
    fn contains(&self, scene: &Scene, threads: &[usize]) -> Term {
        let mut sorted = scene.locations(threads);
        sorted.sort_unstable();
        let Some(row) = self.views.rows.get(&sorted) else { return Term::truth(false) };
        let orders = permutations(threads).into_iter().filter(|order| scene.locations(order) == sorted);
        Term::and(orders.map(|order| row.replace(&self.meaning(scene, &order))))
    }

    /// What names mean in a formula about these threads, in this order.
    fn meaning(&self, scene: &Scene, threads: &[usize]) -> impl Fn(&str) -> Option<Term> + use<> {
        let shared = self.shared.iter().cloned().zip(scene.shared.iter().cloned());
        let mut values: HashMap<String, Term> = shared.collect();
        for (position, &thread) in threads.iter().enumerate() {
            let actor = &scene.threads[thread];
            let names = self.locals[actor.template.index()].iter().map(|name| local(name, position));
            values.extend(names.zip(actor.locals.iter().cloned()));
        }
        move |name| values.get(name).cloned()
    }

    /// The scene after a step of a thread; none if it goes wrong.
    fn after(&self, scene: &Scene, thread: usize, step: &Step) -> Option<Scene> {
        let to = step.to?;
        let meaning = self.meaning(scene, &[thread]);
        let mut after = scene.clone();
        let actor = &mut after.threads[thread];
        let from = std::mem::replace(&mut actor.location, to);
        let (variables, sums) = after.shared.split_at_mut(self.names.shared.len());
        let written = variables.iter_mut().zip(&step.shared).chain(actor.locals.iter_mut().zip(&step.locals));
        written.for_each(|(value, new)| *value = new.replace(&meaning));
        for (index, sum) in sums.iter_mut().enumerate() {
            *sum = sum.plus(&Term::number(self.weight(index, to) - self.weight(index, from)));
        }
        Some(after)
    }

    /// What a thread at a location adds to a sum.
    fn weight(&self, sum: usize, location: LocationId) -> i128 {
        self.views.weights[sum].get(&location).copied().unwrap_or(0).into()
    }

    /// Locations by their lines.
    fn lines(&self, crowd: &[LocationId]) -> String {
        let lines = crowd.iter().map(|&location| self.program.locations[location].span.line.to_string());
        format!("lines {}", lines.collect::<Vec<_>>().join(", "))
    }
}

impl Scene {
    fn locations(&self, threads: &[usize]) -> Vec<LocationId> {
        threads.iter().map(|&thread| self.threads[thread].location).collect()
    }
}

/// Where the threads of a template start.
pub(super) fn entry(program: &Program, template: TemplateId) -> LocationId {
    program.procedures[program.templates[template].body].entry
}

/// All orders.
fn permutations(of: &[usize]) -> Vec<Vec<usize>> {
    let Some((&first, rest)) = of.split_first() else { return vec![Vec::new()] };
    let inserted = permutations(rest)
        .into_iter()
        .flat_map(|order| (0..=order.len()).map(move |at| [&order[..at], &[first], &order[at..]].concat()));
    inserted.collect()
}
