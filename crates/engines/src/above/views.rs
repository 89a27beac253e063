//! The least set of views of some form that is closed: predicate abstraction, as an observation (DrUBA, section 5).
//!
//! Deviation from the paper: an abstract state is what k threads see together, and the thread that moves is always looked at;
//! see [`allways_evidence::views`]. The abstraction of a view has two parts. Its *key* is the locations and the values of some
//! terms: predicates that are split on, and variables with few values. For each key, *bounds* on other terms (differences of
//! variables, mostly) hold all views with this key together: from below, from above, and values that are never taken, each out
//! of a list of numbers.
//!
//! The set grows from the initial views. Each query asks the solver for a step that leaves the set; the example that it gives
//! is added, and its bounds loosened, until there is none. No abstract program is ever built.
//!
//! Invariant of the data: what was added can be reached from initial views under the abstraction; bounds only loosen; a crowd
//! that is not in the queue has no step that leaves the set.

pub mod bad;
mod expressions;
pub mod forms;
pub mod setting;
pub mod steps;
pub mod values;
mod walk;
pub mod weights;

use allways_evidence::StopReason;
use allways_evidence::views::Views;
use allways_model::program::LocationId;
use allways_smt::{Answer, Failure, Solver, Term};
use forms::{Form, Forms};
use setting::Setting;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use steps::Transition;

/// Keys of one combination of locations; with more, the abstraction is too fine.
const MOST_KEYS: usize = 400;

/// Why there is no closed set of this form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoViews {
    /// Something bad cannot be told from what is reachable: what.
    Coarse(String),
    /// There are too many abstract states.
    Fine,
    /// The solver has no answer.
    Solver(Failure),
    /// There was no time for it, or no use.
    Stopped(StopReason),
}

impl From<Failure> for NoViews {
    fn from(failure: Failure) -> NoViews {
        match failure {
            Failure::Stopped => NoViews::Stopped(StopReason::Interrupted),
            failure => NoViews::Solver(failure),
        }
    }
}

/// Bounds on the values of a term.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Bounds {
    least: Option<i128>,
    most: Option<i128>,
    never: Vec<i128>,
}

/// All views with one key.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Cell {
    key: Vec<i128>,
    bounds: Vec<Bounds>,
}

/// All views at some locations.
struct Row {
    forms: Forms,
    cells: Vec<Cell>,
}

/// The set, while it grows.
pub struct Growing<'a> {
    setting: &'a Setting<'a>,
    solver: &'a mut dyn Solver,
    forms: &'a dyn Fn(&[LocationId]) -> Forms,
    rows: BTreeMap<Vec<LocationId>, Row>,
    /// Views whose own steps are to be looked at.
    own: VecDeque<Vec<LocationId>>,
    /// Crowds of one more thread whose steps are to be looked at.
    crowds: VecDeque<Vec<LocationId>>,
    queued: HashSet<Vec<LocationId>>,
    /// How many queries were asked.
    pub queries: u64,
}

impl<'a> Growing<'a> {
    /// Nothing yet. `forms` says, for each combination of locations, what to distinguish.
    pub fn new(
        setting: &'a Setting<'a>,
        solver: &'a mut dyn Solver,
        forms: &'a dyn Fn(&[LocationId]) -> Forms,
    ) -> Growing<'a> {
        Growing {
            setting,
            solver,
            forms,
            rows: BTreeMap::new(),
            own: VecDeque::new(),
            crowds: VecDeque::new(),
            queued: HashSet::new(),
            queries: 0,
        }
    }

    /// Lets the set grow until it is closed. Asks `stop` now and then.
    pub fn close(&mut self, stop: &dyn Fn() -> Option<StopReason>) -> Result<(), NoViews> {
        let everybody: Vec<usize> = (0..self.setting.views.size).collect();
        for crowd in self.setting.starts() {
            let known = Term::and([self.setting.facts(&crowd), self.setting.initial(&crowd)]);
            self.include(&known, &crowd, &everybody, &|formula| formula.clone())?;
        }
        loop {
            if let Some(reason) = stop() {
                return Err(NoViews::Stopped(reason));
            }
            if let Some(view) = self.own.pop_front() {
                self.queued.remove(&view);
                self.steps_of_view(&view)?;
            } else if let Some(crowd) = self.crowds.pop_front() {
                self.queued.remove(&crowd);
                self.steps_of_crowd(&crowd)?;
            } else {
                return Ok(());
            }
        }
    }

    fn ask(&mut self, formulas: &[&Term]) -> Result<Answer, Failure> {
        let mut variables = BTreeSet::new();
        formulas.iter().for_each(|formula| formula.variables(&mut variables));
        variables.iter().try_for_each(|name| self.solver.declare(name))?;
        formulas.iter().try_for_each(|formula| self.solver.assert(formula))?;
        self.queries += 1;
        self.solver.check()
    }

    /// Whether some formulas can be true together.
    fn possible(&mut self, formulas: &[&Term]) -> Result<bool, NoViews> {
        self.solver.push()?;
        let answer = self.ask(formulas)?;
        self.solver.pop()?;
        Ok(answer != Answer::Unsat)
    }

    /// Adds all views of these threads of a crowd that are possible, when formulas about them are to be said `so`.
    fn include(
        &mut self,
        known: &Term,
        crowd: &[LocationId],
        threads: &[usize],
        so: &dyn Fn(&Term) -> Term,
    ) -> Result<(), NoViews> {
        let mut locations: Vec<LocationId> = threads.iter().map(|&thread| crowd[thread]).collect();
        locations.sort_unstable();
        let mut row = match self.rows.remove(&locations) {
            Some(row) => row,
            None => Row { forms: (self.forms)(&locations), cells: Vec::new() },
        };
        let mut changed = false;
        let mut outcome = Ok(());
        for order in self.setting.orders(crowd, threads) {
            let say = |formula: &Term| so(&self.setting.about(formula, &order));
            let (keys, terms) = (row.forms.keys(), row.forms.terms());
            let told: Vec<Term> = keys.iter().chain(&terms).map(say).collect();
            outcome = self.include_each(known, &mut row, &say, &told, keys.len(), &mut changed);
            if outcome.is_err() {
                break;
            }
        }
        if !row.cells.is_empty() {
            self.rows.insert(locations.clone(), row);
        }
        outcome?;
        if changed {
            self.has_grown(&locations);
        }
        Ok(())
    }

    fn include_each(
        &mut self,
        known: &Term,
        row: &mut Row,
        say: &dyn Fn(&Term) -> Term,
        told: &[Term],
        keys: usize,
        changed: &mut bool,
    ) -> Result<(), NoViews> {
        self.solver.push()?;
        // What is read off an example must be declared before.
        let mut variables = BTreeSet::new();
        told.iter().for_each(|term| term.variables(&mut variables));
        variables.iter().try_for_each(|name| self.solver.declare(name))?;
        let outside = say(&row.formula()).negation();
        let mut answer = self.ask(&[known, &outside])?;
        while answer != Answer::Unsat {
            if answer == Answer::Unknown {
                return Err(NoViews::Solver(Failure::Broken(
                    "it does not know the answer to a query".to_string(),
                )));
            }
            let values = self.solver.numbers(told)?;
            if values[..keys].iter().any(|value| value.abs() == i128::MAX) {
                // No key for it.
                return Err(NoViews::Fine);
            }
            let cell = row.loosen(&values[..keys], &values[keys..]);
            *changed = true;
            if row.cells.len() > MOST_KEYS {
                return Err(NoViews::Fine);
            }
            let outside = say(&row.forms.formula(&row.cells[cell])).negation();
            answer = self.ask(&[&outside])?;
        }
        self.solver.pop()?;
        Ok(())
    }

    fn has_grown(&mut self, view: &[LocationId]) {
        if self.queued.insert(view.to_vec()) {
            self.own.push_back(view.to_vec());
        }
        for location in LocationId::all(&self.setting.program.locations) {
            let mut crowd = view.to_vec();
            crowd.push(location);
            if !self.setting.possible(&crowd) {
                continue;
            }
            crowd.sort_unstable();
            if self.parts(&crowd).is_some() && self.queued.insert(crowd.clone()) {
                self.crowds.push_back(crowd);
            }
        }
    }

    /// What is known of a crowd, if all its views are possible.
    fn parts(&self, crowd: &[LocationId]) -> Option<Term> {
        let parts: Option<Vec<Term>> =
            self.setting.parts(crowd).iter().map(|part| self.viewed(crowd, part)).collect();
        Some(Term::and(parts?))
    }

    fn viewed(&self, crowd: &[LocationId], threads: &[usize]) -> Option<Term> {
        let mut locations: Vec<LocationId> = threads.iter().map(|&thread| crowd[thread]).collect();
        locations.sort_unstable();
        let formula = self.rows.get(&locations)?.formula();
        Some(Term::and(
            self.setting.orders(crowd, threads).iter().map(|order| self.setting.about(&formula, order)),
        ))
    }

    fn steps_of_view(&mut self, view: &[LocationId]) -> Result<(), NoViews> {
        let setting = self.setting;
        let everybody: Vec<usize> = (0..view.len()).collect();
        let facts = setting.facts(view);
        let now =
            |growing: &Growing<'_>| growing.viewed(view, &everybody).unwrap_or_else(|| Term::truth(false));
        for bad in setting.bad.iter().filter(|bad| bad.met(view)) {
            let formula = now(self);
            if self.possible(&[&facts, &formula, &bad.condition])? {
                return Err(NoViews::Coarse("a property may be violated".to_string()));
            }
        }
        for (position, &from) in view.iter().enumerate() {
            if position > 0 && view[position - 1] == from {
                continue;
            }
            for transition in &setting.steps.from[from.index()] {
                let known = Term::and([facts.clone(), now(self), setting.guard(transition, position)]);
                let Some(to) = transition.to else {
                    if self.possible(&[&known])? {
                        return Err(NoViews::Coarse(format!("line {} may go wrong", transition.span.line)));
                    }
                    continue;
                };
                let mut moved = view.to_vec();
                moved[position] = to;
                let so = |formula: &Term| setting.after(formula, (from, transition), position);
                self.include(&known, &moved, &everybody, &so)?;
            }
        }
        Ok(())
    }

    fn steps_of_crowd(&mut self, crowd: &[LocationId]) -> Result<(), NoViews> {
        let setting = self.setting;
        let facts = setting.facts(crowd);
        for (position, &from) in crowd.iter().enumerate() {
            if (position > 0 && crowd[position - 1] == from) || setting.anchored(from) {
                continue;
            }
            let others: Vec<usize> = (0..crowd.len()).filter(|&thread| thread != position).collect();
            let matter = |transition: &&Transition| setting.matters(from, transition);
            for transition in setting.steps.from[from.index()].iter().filter(matter) {
                let Some(seen) = self.viewed(crowd, &others) else { return Ok(()) };
                // What the others see may speak of nothing that changes.
                if setting.after(&seen, (from, transition), position) == seen {
                    continue;
                }
                let Some(parts) = self.parts(crowd) else { return Ok(()) };
                let known = Term::and([facts.clone(), parts, setting.guard(transition, position)]);
                let so = |formula: &Term| setting.after(formula, (from, transition), position);
                self.include(&known, crowd, &others, &so)?;
            }
        }
        Ok(())
    }

    /// How many abstract states there are.
    pub fn abstract_states(&self) -> usize {
        self.rows.values().map(|row| row.cells.len()).sum()
    }

    /// The set, as evidence; what follows from the rest is left out of its formulas.
    pub fn views(&mut self) -> Result<Views, NoViews> {
        let rows = std::mem::take(&mut self.rows);
        let mut views = Views { rows: BTreeMap::new(), ..self.setting.views.clone() };
        for (locations, row) in rows {
            let facts = self.setting.facts(&locations);
            let mut cells = Vec::new();
            for cell in &row.cells {
                cells.push(self.needed(&facts, row.forms.parts(cell))?);
            }
            views.rows.insert(locations, Term::or(cells));
        }
        Ok(views)
    }

    /// The conjunction of formulas, without those that follow from others.
    fn needed(&mut self, facts: &Term, mut parts: Vec<Term>) -> Result<Term, NoViews> {
        let mut index = 0;
        while index < parts.len() {
            let rest = Term::and(
                parts.iter().enumerate().filter(|(at, _)| *at != index).map(|(_, part)| part.clone()),
            );
            if self.possible(&[facts, &rest, &parts[index].negation()])? {
                index += 1;
            } else {
                parts.remove(index);
            }
        }
        Ok(Term::and(parts))
    }
}

impl Row {
    fn formula(&self) -> Term {
        Term::or(self.cells.iter().map(|cell| self.forms.formula(cell)))
    }

    /// Adds a view; the index of its cell.
    fn loosen(&mut self, key: &[i128], values: &[i128]) -> usize {
        if let Some(index) = self.cells.iter().position(|cell| cell.key == key) {
            let bounds = self.cells[index].bounds.iter_mut().zip(&self.forms.bounded);
            bounds.zip(values).for_each(|((bounds, form), &value)| bounds.loosen(form, value));
            return index;
        }
        let bounds = self.forms.bounded.iter().zip(values).map(|(form, &value)| Bounds::of(form, value));
        self.cells.push(Cell { key: key.to_vec(), bounds: bounds.collect() });
        self.cells.len() - 1
    }
}

impl Bounds {
    /// The tightest bounds of this form for a value.
    fn of(form: &Form, value: i128) -> Bounds {
        Bounds {
            least: form.numbers.iter().copied().filter(|&number| number <= value).max(),
            most: form.numbers.iter().copied().filter(|&number| number >= value).min(),
            never: form.numbers.iter().copied().filter(|&number| number != value).collect(),
        }
    }

    /// Lets a value in.
    fn loosen(&mut self, form: &Form, value: i128) {
        let one = Bounds::of(form, value);
        self.least = self.least.zip(one.least).map(|(before, now)| before.min(now));
        self.most = self.most.zip(one.most).map(|(before, now)| before.max(now));
        self.never.retain(|&number| number != value);
    }

    /// What they say, as formulas.
    fn formulas(&self, form: &Form) -> Vec<Term> {
        let right = |value: i128| form.right.plus(&Term::number(value));
        if let (Some(least), Some(most)) = (self.least, self.most)
            && least == most
        {
            return vec![form.left.equal(&right(least))];
        }
        let least = self.least.map(|least| right(least).at_most(&form.left));
        let most = self.most.map(|most| form.left.at_most(&right(most)));
        let inside = |value: &&i128| {
            self.least.is_none_or(|least| least <= **value) && self.most.is_none_or(|most| **value <= most)
        };
        let never = self.never.iter().filter(inside).map(|&value| form.left.equal(&right(value)).negation());
        least.into_iter().chain(most).chain(never).collect()
    }
}
