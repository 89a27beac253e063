//! Which variables take few values, and which matter.
//!
//! Flags and states are integers in C, and a proof splits on them rather than bounding them. For each variable the set of its
//! values is collected from the initial value and from what steps store, as long as these are numbers, copies and sums of
//! variables with few values themselves; with more than a few, nothing is said. A guess of where to look: no proof rests on it.

use super::steps::{Known, Steps, local};
use allways_model::program::reduction::Reduction;
use allways_model::program::{LocationId, Program, Variable};
use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::{BTreeSet, HashMap};

/// More values than this are not few.
const FEW: usize = 4;

/// The most ways to combine the values of the parts of a sum.
const COMBINED: usize = 64;

/// The values of a variable; none if they are not few.
type Few = Option<BTreeSet<i128>>;

/// What is known of the values of variables.
pub struct Values<'a> {
    reduction: &'a Reduction,
    /// Where the local variables of the program are live, before anything is left out.
    live: Vec<Vec<bool>>,
    shared: Vec<Few>,
    locals: Vec<Vec<Few>>,
}

impl Values<'_> {
    /// Collects the values of a program.
    pub fn new<'a>(program: &Program, reduction: &'a Reduction, steps: &Steps) -> Values<'a> {
        // A local variable without a value gets one before it is read.
        let at_first = |known: &Known| {
            let initial = known.initial.map(i128::from).into_iter().collect();
            (!known.hidden && !known.forgotten).then_some(initial)
        };
        let start = |known: &Known| at_first(known).filter(|_| known.initial.is_some());
        let shared: Vec<Few> = steps.shared.iter().map(start).collect();
        let mut locals: Vec<Vec<Few>> =
            steps.locals.iter().map(|locals| locals.iter().map(at_first).collect()).collect();
        for (template, locals) in program.templates.iter().zip(&mut locals) {
            let body = &program.procedures[template.body];
            let parameters: usize = body.locals[..body.parameters].iter().map(Variable::slots).sum();
            locals.iter_mut().take(parameters).for_each(|parameter| *parameter = None);
        }
        let live = allways_model::program::reduction::live(program);
        let mut values = Values { reduction, live, shared, locals };
        while values.grow(steps) {}
        values
    }

    /// Adds what steps store. Whether something was new.
    fn grow(&mut self, steps: &Steps) -> bool {
        let mut new = false;
        for (location, transitions) in steps.from.iter().enumerate() {
            let Some(template) = steps.templates[location] else { continue };
            let names: HashMap<String, &Few> = {
                let own = steps.locals[template.index()].iter().zip(&self.locals[template.index()]);
                let shared =
                    steps.shared.iter().zip(&self.shared).map(|(known, few)| (known.name.clone(), few));
                shared.chain(own.map(|(known, few)| (local(&known.name, 0), few))).collect()
            };
            let mut found: Vec<(bool, usize, Few)> = Vec::new();
            for transition in transitions {
                let stored = transition.shared.iter().map(|(slot, value)| (true, *slot, value));
                let own = transition.locals.iter().map(|(slot, value)| (false, *slot, value));
                found
                    .extend(stored.chain(own).map(|(shared, slot, value)| (shared, slot, of(value, &names))));
            }
            for (shared, slot, more) in found {
                let known = match shared {
                    true => &mut self.shared[slot],
                    false => &mut self.locals[template.index()][slot],
                };
                let Some(before) = known else { continue };
                let all: Few = more.map(|more| before.union(&more).copied().collect());
                let all = all.filter(|all: &BTreeSet<i128>| all.len() <= FEW);
                if all.as_ref() != Some(before) {
                    *known = all;
                    new = true;
                }
            }
        }
        new
    }

    /// Whether a shared variable takes few values.
    pub fn few(&self, slot: usize) -> bool {
        self.shared[slot].is_some()
    }

    /// Whether a local variable of a template does.
    pub fn few_local(&self, template: usize, slot: usize) -> bool {
        self.locals[template][slot].is_some()
    }

    /// Whether the value of a shared variable matters. One that is constant was left out of the program, not of formulas.
    pub fn matters(&self, slot: usize) -> bool {
        self.reduction.shared.get(slot).is_none_or(|&matters| matters) || self.few(slot)
    }

    /// Whether the value of a local variable matters at a location, with the template that runs it.
    pub fn live(&self, location: LocationId, template: usize, slot: usize) -> bool {
        let at = |live: &[Vec<bool>]| live[location.index()].get(slot).copied().unwrap_or(true);
        at(&self.reduction.live) || at(&self.live) && self.few_local(template, slot)
    }
}

/// The values of a term.
fn of(term: &Term, names: &HashMap<String, &Few>) -> Few {
    let each = |part: &Term, work: &dyn Fn(i128) -> Option<i128>| -> Few {
        of(part, names)?.into_iter().map(work).collect()
    };
    match term.node() {
        Node::Number(value) => Some(BTreeSet::from([*value])),
        Node::Variable(name) => names.get(&**name).copied()?.clone(),
        Node::Choice(_, then, other) => Some(&of(then, names)? | &of(other, names)?),
        Node::Times(factor, part) => each(part, &|value| value.checked_mul(*factor)),
        Node::Quotient(part, divisor) => each(part, &|value| value.checked_div_euclid(*divisor)),
        Node::Remainder(part, divisor) => each(part, &|value| value.checked_rem_euclid(*divisor)),
        Node::Sum(parts) => {
            let mut sums: BTreeSet<i128> = BTreeSet::from([0]);
            for part in parts {
                let values = of(part, names)?;
                if sums.len() * values.len() > COMBINED {
                    return None;
                }
                let pairs = sums.iter().flat_map(|sum| values.iter().map(|value| sum.checked_add(*value)));
                sums = pairs.collect::<Option<_>>()?;
            }
            Some(sums)
        }
        _ => None,
    }
}
