//! What an abstraction of views distinguishes: predicates that are split on, and terms that are bounded.
//!
//! Predicates are found, not given, unless the program has hints: the terms are the variables themselves, their differences,
//! within a thread and between threads, and their remainders; the numbers come from the program. Later levels split on the
//! conditions of the program as well.

use super::Cell;
use super::setting::Setting;
use super::steps::{Hint, ID, Known, local};
use super::values::Values;
use super::weights::Explained;
use allways_evidence::views::weighed;
use allways_model::program::{LocationId, Type};
use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::{BTreeMap, BTreeSet};

/// A difference of two terms, and the numbers that may bound it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    /// The term that is bounded…
    pub left: Term,
    /// …relative to this one.
    pub right: Term,
    /// The numbers.
    pub numbers: Vec<i128>,
}

impl Form {
    fn single(term: &Term, numbers: &[i128]) -> Form {
        Form { left: term.clone(), right: Term::number(0), numbers: numbers.to_vec() }
    }

    fn pair(left: &Term, right: &Term, numbers: &[i128]) -> Form {
        Form { left: left.clone(), right: right.clone(), numbers: numbers.to_vec() }
    }
}

/// What is distinguished of views at some locations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Forms {
    /// Formulas, or terms with few values, that are split on.
    pub split: Vec<Term>,
    /// Terms that are bounded.
    pub bounded: Vec<Form>,
}

impl Forms {
    /// Terms for the values of a key.
    pub(super) fn keys(&self) -> Vec<Term> {
        let (one, zero) = (Term::number(1), Term::number(0));
        let key =
            |term: &Term| if term.is_boolean() { Term::choice(term, &one, &zero) } else { term.clone() };
        self.split.iter().map(key).collect()
    }

    pub(super) fn terms(&self) -> Vec<Term> {
        self.bounded.iter().map(|form| form.left.minus(&form.right)).collect()
    }

    /// What a cell says, part by part.
    pub(super) fn parts(&self, cell: &Cell) -> Vec<Term> {
        let key = self.split.iter().zip(&cell.key).map(|(term, &value)| match (term.is_boolean(), value) {
            (true, 0) => term.negation(),
            (true, _) => term.clone(),
            (false, value) => term.equal(&Term::number(value)),
        });
        let bounds = self.bounded.iter().zip(&cell.bounds);
        key.chain(bounds.flat_map(|(form, bounds)| bounds.formulas(form))).collect()
    }

    pub(super) fn formula(&self, cell: &Cell) -> Term {
        Term::and(self.parts(cell))
    }
}

/// How much to distinguish.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Level {
    /// How many threads a view has.
    pub size: usize,
    /// Whether threads of which there is a known number are in every view.
    pub anchored: bool,
    /// Split on the predicates of the program.
    pub hints: bool,
    /// Bound variables and their differences.
    pub differences: bool,
    /// Split on the conditions of the program.
    pub conditions: bool,
    /// Bound sums of three variables.
    pub sums: bool,
}

/// A type with so few values is split on.
const FEW: i64 = 4;

/// The most numbers that bound one variable and no other.
const MOST_OWN: usize = 16;

/// The most conditions that are split on.
const MOST_CONDITIONS: usize = 10;

/// What to distinguish at some locations.
pub fn forms(
    (setting, explained, values): (&Setting<'_>, &Explained, &Values<'_>),
    level: Level,
    locations: &[LocationId],
) -> Forms {
    let steps = setting.steps;
    let mut split = Vec::new();
    let mut shared = Vec::new();
    let mut own: Vec<Vec<Term>> = Vec::new();
    let numbers = numbers(setting);
    for (slot, known) in steps.shared.iter().enumerate() {
        let variable = Term::variable(&known.name);
        match known.ty {
            _ if known.forgotten || !values.matters(slot) => {}
            Type::Lock => split.push(variable.equal(&Term::number(0))),
            _ if few(known) || values.few(slot) => split.push(variable),
            _ => shared.push(variable),
        }
    }
    for (position, &location) in locations.iter().enumerate() {
        let template = setting.template(location).unwrap_or_default();
        let mut mine = Vec::new();
        for (slot, known) in steps.locals[template.index()].iter().enumerate() {
            let variable = Term::variable(&local(&known.name, position));
            if known.hidden && known.name == ID {
                let locks = steps.shared.iter().filter(|known| known.ty == Type::Lock);
                split.extend(locks.map(|lock| Term::variable(&lock.name).equal(&variable)));
            } else if known.hidden {
                split.push(variable);
            } else if !known.forgotten && values.live(location, template.index(), slot) {
                let few = few(known) || values.few_local(template.index(), slot);
                if few { split.push(variable) } else { mine.push(variable) }
            }
        }
        own.push(mine);
    }
    if level.hints {
        steps.hints.iter().for_each(|hint| split.extend(instances(setting, hint, locations)));
    }
    if level.conditions {
        split.extend(conditions(setting, locations, values));
    }
    let mut forms = Forms { split, bounded: Vec::new() };
    if level.differences {
        forms.bounded = differences(setting, explained, &numbers, &shared, &own);
        if level.sums {
            forms.bounded.extend(sums(&shared, &own));
        }
    }
    forms
}

fn few(known: &Known) -> bool {
    known.ty.bounds().is_some_and(|(low, high)| high.saturating_sub(low) < FEW)
}

/// A hint for each thread, or each pair of threads, of its template.
fn instances(setting: &Setting<'_>, hint: &Hint, locations: &[LocationId]) -> Vec<Term> {
    let Some(template) = hint.template else { return vec![hint.formula.clone()] };
    let fits = |&position: &usize| setting.template(locations[position]) == Some(template);
    let threads: Vec<usize> = (0..locations.len()).filter(fits).collect();
    let mut all = Vec::new();
    for &thread in &threads {
        match hint.other {
            false => all.push(setting.about(&hint.formula, &[thread])),
            true => {
                let others = threads.iter().filter(|&&other| other != thread);
                all.extend(others.map(|&other| setting.about(&hint.formula, &[thread, other])));
            }
        }
    }
    all
}

/// Numbers that the program compares with or adds, and their neighbours.
fn numbers(setting: &Setting<'_>) -> Vec<i128> {
    let mut found: BTreeSet<i128> = BTreeSet::from([0]);
    let mut see = |term: &Term| constants(term, &mut found);
    for transition in setting.steps.from.iter().flatten() {
        see(&transition.guard);
        transition.shared.iter().chain(&transition.locals).for_each(|(_, value)| see(value));
    }
    setting.bad.iter().for_each(|bad| see(&bad.condition));
    let locals = setting.steps.locals.iter().flatten();
    let known = setting.steps.shared.iter().chain(locals);
    found.extend(known.flat_map(|known| known.initial).map(i128::from));
    let near = found.iter().flat_map(|&number| [number.saturating_sub(1), number, number.saturating_add(1)]);
    let mut all: Vec<i128> = near.collect::<BTreeSet<_>>().into_iter().collect();
    // Those near to zero are the ones that matter, if there are many.
    all.sort_by_key(|number| number.unsigned_abs());
    all.truncate(16);
    all
}

fn constants(term: &Term, found: &mut BTreeSet<i128>) {
    match term.node() {
        Node::Number(value) => {
            found.insert(*value);
        }
        Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => {
            parts.iter().for_each(|part| constants(part, found))
        }
        Node::Times(_, part) | Node::Not(part) => constants(part, found),
        Node::Quotient(part, divisor) | Node::Remainder(part, divisor) => {
            found.insert(*divisor);
            constants(part, found);
        }
        Node::Choice(condition, then, other) => {
            [condition, then, other].iter().for_each(|part| constants(part, found))
        }
        Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
            constants(left, found);
            constants(right, found);
        }
        Node::Variable(_) | Node::Truth(_) => {}
    }
}

/// The divisors of the program.
fn divisors(setting: &Setting<'_>) -> BTreeSet<i128> {
    fn look(term: &Term, found: &mut BTreeSet<i128>) {
        match term.node() {
            Node::Quotient(part, divisor) | Node::Remainder(part, divisor) => {
                found.insert(*divisor);
                look(part, found);
            }
            Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|part| look(part, found))
            }
            Node::Times(_, part) | Node::Not(part) => look(part, found),
            Node::Choice(condition, then, other) => {
                [condition, then, other].iter().for_each(|part| look(part, found))
            }
            Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
                look(left, found);
                look(right, found);
            }
            Node::Variable(_) | Node::Truth(_) | Node::Number(_) => {}
        }
    }
    let mut found = BTreeSet::new();
    for transition in setting.steps.from.iter().flatten() {
        look(&transition.guard, &mut found);
        transition.shared.iter().chain(&transition.locals).for_each(|(_, value)| look(value, &mut found));
    }
    found.into_iter().filter(|&divisor| (2..=8).contains(&divisor)).collect()
}

fn differences(
    setting: &Setting<'_>,
    explained: &Explained,
    numbers: &[i128],
    shared: &[Term],
    own: &[Vec<Term>],
) -> Vec<Form> {
    let mut all: Vec<Form> = Vec::new();
    let variables: Vec<&Term> = shared.iter().chain(own.iter().flatten()).collect();
    let near: Vec<i128> = numbers.iter().copied().filter(|number| number.abs() <= 2).collect();
    let compared = compared(setting);
    for (index, &one) in variables.iter().enumerate() {
        let own = named(one).and_then(|name| compared.get(name));
        let own = own.into_iter().flatten().filter(|number| !numbers.contains(number)).take(MOST_OWN);
        all.push(Form::single(one, &numbers.iter().chain(own).copied().collect::<Vec<_>>()));
        for (other, &another) in variables.iter().enumerate().skip(index + 1) {
            let numbers = if other < shared.len() { numbers } else { &near };
            all.push(Form::pair(one, another, numbers));
        }
        for divisor in divisors(setting) {
            all.push(Form::single(&one.remainder(divisor), &(0..divisor).collect::<Vec<_>>()));
        }
    }
    let sum = |index: usize| Term::variable(&weighed(index));
    all.extend((0..setting.views.weights.len()).map(|index| Form::single(&sum(index), numbers)));
    all.extend(explained.terms.iter().map(|(term, index)| Form::pair(term, &sum(*index), numbers)));
    for (counter, index) in &explained.remembered {
        let locals = own.iter().flatten();
        all.extend(locals.map(|local| Form::pair(&counter.minus(local), &sum(*index), &near)));
    }
    all
}

/// The name of a variable, without the position of its thread.
fn named(variable: &Term) -> Option<&str> {
    let Node::Variable(name) = variable.node() else { return None };
    Some(name.rsplit_once('@').map_or(&**name, |(name, _)| name))
}

/// For each variable, by its name, the numbers in comparisons that it is part of, and their neighbours.
fn compared(setting: &Setting<'_>) -> BTreeMap<String, BTreeSet<i128>> {
    let mut found: BTreeMap<String, BTreeSet<i128>> = BTreeMap::new();
    let mut atoms = Vec::new();
    let guards = setting.steps.from.iter().flatten().map(|transition| &transition.guard);
    let bad = setting.bad.iter().map(|bad| &bad.condition);
    guards.chain(bad).for_each(|formula| comparisons(formula, &mut atoms));
    for atom in atoms {
        let (mut names, mut numbers) = (BTreeSet::new(), BTreeSet::new());
        atom.variables(&mut names);
        constants(&atom, &mut numbers);
        for name in names {
            let name = name.rsplit_once('@').map_or(&*name, |(name, _)| name);
            let near = |&number: &i128| [number.saturating_sub(1), number, number.saturating_add(1)];
            found.entry(name.to_string()).or_default().extend(numbers.iter().flat_map(near));
        }
    }
    found
}

/// One variable against the sum of two.
fn sums(shared: &[Term], own: &[Vec<Term>]) -> Vec<Form> {
    let variables: Vec<&Term> = shared.iter().chain(own.iter().flatten()).collect();
    let mut all = Vec::new();
    for (first, &one) in variables.iter().enumerate() {
        for (second, &other) in variables.iter().enumerate().skip(first + 1) {
            for (third, &sum) in variables.iter().enumerate() {
                if third != first && third != second {
                    all.push(Form::pair(&one.plus(other), sum, &[-1, 0, 1]));
                }
            }
        }
    }
    all.truncate(200);
    all
}

/// The comparisons in the guards of the program, for each thread that runs them.
fn conditions(setting: &Setting<'_>, locations: &[LocationId], values: &Values<'_>) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for (position, &location) in locations.iter().enumerate() {
        let template = setting.template(location);
        let dead = |name: &str| {
            let locals = template.map_or(&[][..], |template| &setting.steps.locals[template.index()]);
            let slot = locals.iter().position(|known| local(&known.name, 0) == name);
            let live = |slot| template.is_some_and(|of| values.live(location, of.index(), slot));
            slot.is_some_and(|slot| !locals[slot].hidden && !live(slot))
        };
        for (from, transitions) in setting.steps.from.iter().enumerate() {
            for transition in transitions.iter().filter(|_| setting.template(LocationId(from)) == template) {
                let mut atoms = Vec::new();
                comparisons(&transition.guard, &mut atoms);
                for atom in atoms {
                    let mut names = BTreeSet::new();
                    atom.variables(&mut names);
                    let choice = names.iter().any(|name| name.starts_with('?') || dead(name));
                    let atom = setting.about(&atom, &[position]);
                    if !choice && !found.contains(&atom) && found.len() < MOST_CONDITIONS {
                        found.push(atom);
                    }
                }
            }
        }
    }
    found
}

fn comparisons(formula: &Term, found: &mut Vec<Term>) {
    match formula.node() {
        Node::And(parts) | Node::Or(parts) => parts.iter().for_each(|part| comparisons(part, found)),
        Node::Not(part) => comparisons(part, found),
        Node::Equal(..) | Node::AtMost(..) => found.push(formula.clone()),
        _ => {}
    }
}
