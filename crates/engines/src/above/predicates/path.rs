//! The run of a program behind a run of its Boolean program: which steps of which threads, one after another.
//!
//! The values of all variables are followed as terms over the initial ones and what is chosen on the way. A run of the Boolean
//! program is *spurious* if the conditions along it cannot be true together.

use crate::above::views::setting::Setting;
use crate::above::views::steps::{Transition, local};
use allways_model::program::LocationId;
use allways_smt::Term;
use std::collections::HashMap;

/// A step of a thread.
#[derive(Clone, Copy)]
pub struct Place<'a> {
    /// The program.
    pub setting: &'a Setting<'a>,
    /// The thread.
    pub thread: usize,
    /// From where.
    pub from: LocationId,
    /// What it does.
    pub transition: &'a Transition,
}

impl Place<'_> {
    /// When it can be taken.
    pub fn guard(&self) -> Term {
        self.setting.guard(self.transition, self.thread)
    }

    /// What a formula about the state afterwards says of the state before.
    pub fn after(&self, formula: &Term) -> Term {
        self.setting.after(formula, (self.from, self.transition), self.thread)
    }
}

/// A run: steps, and what must be true in the end.
pub struct Path<'a> {
    /// The steps; the last may be one that goes wrong.
    pub steps: Vec<Place<'a>>,
    /// What is true in the end, if it is a property that is violated.
    pub end: Term,
    /// What is true at the start.
    pub initial: Term,
}

/// What is known along a path, over the initial values and choices.
pub struct Followed {
    /// The condition of each step, then of the end.
    pub conditions: Vec<Term>,
    /// The values of the variables that have changed, before each step and at the end.
    pub values: Vec<HashMap<String, Term>>,
}

/// Choices of different steps have different names.
pub fn chosen(term: &Term, step: usize) -> Term {
    term.replace(&|name| name.starts_with('?').then(|| Term::variable(&format!("{name}.{step}"))))
}

impl Path<'_> {
    /// The guard of a step, or what is true in the end.
    pub fn guard(&self, step: usize) -> Term {
        self.steps.get(step).map_or_else(|| self.end.clone(), |place| chosen(&place.guard(), step))
    }

    /// What a formula about the state after a step says of the state before.
    pub fn before(&self, formula: &Term, step: usize) -> Term {
        let place = &self.steps[step];
        // Names of choices of later steps are already apart.
        let mut fresh = place.transition.clone();
        fresh.shared.iter_mut().chain(&mut fresh.locals).for_each(|(_, value)| *value = chosen(value, step));
        place.setting.after(formula, (place.from, &fresh), place.thread)
    }

    /// Follows the path.
    pub fn follow(&self) -> Followed {
        let mut now: HashMap<String, Term> = HashMap::new();
        let mut followed = Followed { conditions: Vec::new(), values: vec![now.clone()] };
        for (step, place) in self.steps.iter().enumerate() {
            let known = &now;
            let say = |term: &Term| {
                let own = place.setting.about(&chosen(term, step), &[place.thread]);
                own.replace(&|name| known.get(name).cloned())
            };
            followed.conditions.push(say(&place.transition.guard));
            let steps = place.setting.steps;
            let template = place.setting.template(place.from).unwrap_or_default();
            let locals = &steps.locals[template.index()];
            let stored =
                place.transition.shared.iter().map(|(slot, value)| (steps.shared[*slot].name.clone(), value));
            let own = place.transition.locals.iter();
            let own = own.map(|(slot, value)| (local(&locals[*slot].name, place.thread), value));
            let changed: Vec<(String, Term)> =
                stored.chain(own).map(|(name, value)| (name, say(value))).collect();
            now.extend(changed);
            followed.values.push(now.clone());
        }
        let end = self.end.replace(&|name| now.get(name).cloned());
        followed.conditions.push(end);
        followed
    }
}

impl Followed {
    /// A formula about the state before a step, over initial values and choices.
    pub fn at(&self, step: usize, formula: &Term) -> Term {
        let values = &self.values[step.min(self.values.len() - 1)];
        formula.replace(&|name| values.get(name).cloned())
    }
}
