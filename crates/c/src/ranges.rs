//! Fewer values of inputs that are restricted before they are used.
//!
//! `int i = input(); if (i < 0 || i >= 10) abort(); use(a[i]);` has 2^32 ways to go on, of which all but ten end at once. From
//! the step that chooses a value for a local variable, the values that it may have at each location are followed, as an interval, up
//! to where the variable gets another value. A comparison with a constant restricts the interval; any other use needs all its
//! values. Invariant: a value outside of what is needed, and below (above) all constants that it is compared with, goes the
//! same way as the greatest (least) such value, and on this way nobody uses it. So the values from one below the least needed
//! or compared to one above the greatest suffice.
//!
//! A condition that is first stored in a local variable counts as well: the values are followed apart for each of its outcomes.
//!
//! A shared variable is followed in the same way while `main` is alone; when another thread starts, all the values that the
//! variable may have then are needed.

use crate::concurrent::Concurrent;
use allways_model::program::{
    Binary, Edge, Expr, LocationId, Op, Place, Program, Slot, Target, Unary, Value,
};
use std::collections::HashMap;

/// A choice is narrowed if so many values remain at most.
const MOST_VALUES: u64 = 64;

/// Values from one to another.
type Interval = (Value, Value);

/// What is known of the values that a choice gives to a variable.
struct Chosen {
    variable: Target,
    /// The least and the greatest value that matters by itself.
    needed: Option<Interval>,
}

/// Narrows choices for variables.
pub fn narrow(program: &mut Program) {
    let reads = |expr: &Expr| {
        let mut reads = false;
        expr.visit(&mut |part| reads |= matches!(part, Expr::OtherLocal(_) | Expr::NextLocal(_)));
        reads
    };
    let special = |edge: &Edge| {
        matches!(edge.op, Op::Fork(_))
            || edge.op.expressions().any(reads)
            || edge.op.places().iter().any(|place| matches!(place.target, Target::Others(_)))
    };
    // Other threads may look at local variables.
    if program.locations.iter().flat_map(|location| &location.edges).any(special)
        || !program.never.is_empty()
        || !program.hints.is_empty()
    {
        return;
    }
    let concurrent = Concurrent::of(program);
    for location in 0..program.locations.len() {
        for edge in 0..program.locations[location].edges.len() {
            let choice = &program.locations[location].edges[edge];
            let Some((variable, low, high)) = chosen(&choice.op) else { continue };
            let Some((least, most)) = needed(program, &concurrent, choice, variable, (low, high)) else {
                continue;
            };
            let least = least.saturating_sub(1).clamp(low, high);
            let most = most.saturating_add(1).clamp(low, high);
            if most.abs_diff(least) < MOST_VALUES
                && let Op::Assign(_, values, _) = &mut program.locations[location].edges[edge].op
            {
                values[0] = Expr::Choose(least, most);
            }
        }
    }
}

/// The variable that a step does nothing but choose one of many values for.
fn chosen(op: &Op) -> Option<(Target, Value, Value)> {
    let Op::Assign(places, values, None) = op else { return None };
    match (&places[..], &values[..]) {
        ([place], [Expr::Choose(low, high)]) if high.abs_diff(*low) >= MOST_VALUES => match place.target {
            Target::Local(_) | Target::Shared(_) => Some((place.target.clone(), *low, *high)),
            _ => None,
        },
        _ => None,
    }
}

/// The values that matter of those that a step chooses; `None` if these may be too many.
fn needed(
    program: &Program,
    concurrent: &Concurrent,
    choice: &Edge,
    variable: Target,
    all: Interval,
) -> Option<Interval> {
    let shared = matches!(variable, Target::Shared(_));
    let mut chosen = Chosen { variable, needed: None };
    let mut known: HashMap<(LocationId, Told), Interval> = HashMap::new();
    let mut todo = vec![(choice.to, None, all)];
    while let Some((location, told, interval)) = todo.pop() {
        let before = known.get(&(location, told)).copied();
        let after = hull(before, Some(interval));
        if before == after {
            continue;
        }
        let interval = after?;
        known.insert((location, told), interval);
        let edges = &program.locations[location].edges;
        if shared
            && (!concurrent.is_alone(location) || edges.iter().any(|edge| matches!(edge.op, Op::Call(..))))
        {
            // Others may look at it, and change it.
            chosen.need(interval);
        } else {
            for edge in edges {
                let next = chosen.step(&edge.op, told, interval);
                todo.extend(next.into_iter().map(|(told, interval)| (edge.to, told, interval)));
            }
        }
        if too_many(chosen.needed) {
            return None;
        }
    }
    // Nobody looks.
    Some(chosen.needed.unwrap_or((0, 0)))
}

fn too_many(needed: Option<Interval>) -> bool {
    needed.is_some_and(|(least, most)| most.abs_diff(least) >= MOST_VALUES)
}

fn hull(left: Option<Interval>, right: Option<Interval>) -> Option<Interval> {
    match (left, right) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (left, right) => left.or(right),
    }
}

fn meet((a, b): Interval, (c, d): Interval) -> Option<Interval> {
    (a.max(c) <= b.min(d)).then_some((a.max(c), b.min(d)))
}

/// A local variable that was given a constant, and nothing else since.
type Told = Option<(Slot, Value)>;

/// What is still told after a step.
fn kept(op: &Op, told: Told) -> Told {
    let overwrites = |slot: Slot| {
        op.places().iter().any(|place| match place.target {
            Target::Local(own) | Target::Others(own) => own == slot,
            Target::LocalElement(first, length, _) => (first..first + length).contains(&slot),
            Target::Shared(_) | Target::SharedElement(..) => false,
        })
    };
    told.filter(|&(slot, _)| !overwrites(slot))
}

/// Whether a condition about the variable of which something is told holds.
fn is_told(expr: &Expr, told: Told) -> Option<bool> {
    let (slot, value) = told?;
    match expr {
        Expr::Local(own) if *own == slot => Some(value != 0),
        Expr::Unary(Unary::Not, part) => is_told(part, told).map(|holds| !holds),
        Expr::Binary(operator, left, right, _) => match (operator, &**left, &**right) {
            (Binary::Equal, Expr::Local(own), Expr::Constant(other)) if *own == slot => Some(value == *other),
            (Binary::Unequal, Expr::Local(own), Expr::Constant(other)) if *own == slot => {
                Some(value != *other)
            }
            _ => None,
        },
        _ => None,
    }
}

impl Chosen {
    fn need(&mut self, interval: Interval) {
        self.needed = hull(self.needed, Some(interval));
    }

    /// What is told and the values after a step, if the variable keeps its value and the step can be taken.
    fn step(&mut self, op: &Op, told: Told, interval: Interval) -> Vec<(Told, Interval)> {
        op.expressions().for_each(|expr| self.look(expr, interval));
        let after = |told: Told, interval: Option<Interval>| {
            interval.into_iter().map(|interval| (told, interval)).collect()
        };
        match op {
            Op::Guard(expr, expected) if is_told(expr, told).is_some_and(|holds| holds != *expected) => {
                Vec::new()
            }
            Op::Guard(expr, expected) => after(told, self.restricted(expr, *expected, interval)),
            Op::Assert(expr) => after(told, self.restricted(expr, true, interval)),
            // Its frame is left; of the other steps, some write it.
            Op::Return(_) => Vec::new(),
            op if op.places().iter().any(|place| place.target == self.variable) => Vec::new(),
            Op::Assign(places, values, None) => match (&places[..], &values[..]) {
                ([Place { target: Target::Local(slot), .. }], [Expr::Constant(value)]) => {
                    after(Some((*slot, *value)), Some(interval))
                }
                ([Place { target: Target::Local(slot), .. }], [Expr::If(condition, then, other)]) => {
                    let (Expr::Constant(then), Expr::Constant(other)) = (&**then, &**other) else {
                        return after(None, Some(interval));
                    };
                    let both = [(true, *then), (false, *other)].into_iter().flat_map(|(expected, value)| {
                        after(Some((*slot, value)), self.restricted(condition, expected, interval))
                    });
                    both.collect::<Vec<_>>()
                }
                _ => after(kept(op, told), Some(interval)),
            },
            op => after(kept(op, told), Some(interval)),
        }
    }

    /// Takes note of how an expression uses the variable.
    fn look(&mut self, expr: &Expr, interval: Interval) {
        if let Some((_, constant)) = self.compared(expr) {
            // What lies outside of the interval does not come here.
            self.need((constant.clamp(interval.0, interval.1), constant.clamp(interval.0, interval.1)));
            return;
        }
        match expr {
            expr if self.is_variable(expr) => self.need(interval),
            Expr::NextShared(_) => self.need(interval),
            Expr::LocalElement(first, length, index, _) | Expr::SharedElement(first, length, index, _) => {
                let own = match (expr, &self.variable) {
                    (Expr::LocalElement(..), Target::Local(slot))
                    | (Expr::SharedElement(..), Target::Shared(slot)) => {
                        (*first..first + length).contains(slot)
                    }
                    _ => false,
                };
                if own {
                    self.need(interval);
                }
                self.look(index, interval);
            }
            Expr::Unary(_, part) => self.look(part, interval),
            Expr::Binary(_, left, right, _) => {
                self.look(left, interval);
                self.look(right, interval);
            }
            Expr::If(condition, then, other) => {
                self.look(condition, interval);
                self.look(then, interval);
                self.look(other, interval);
            }
            _ => {}
        }
    }

    fn is_variable(&self, expr: &Expr) -> bool {
        match (expr, &self.variable) {
            (Expr::Local(slot), Target::Local(own)) | (Expr::Shared(slot), Target::Shared(own)) => {
                slot == own
            }
            _ => false,
        }
    }

    /// A comparison of the variable, on the left, with a constant.
    fn compared(&self, expr: &Expr) -> Option<(Binary, Value)> {
        let Expr::Binary(operator, left, right, _) = expr else { return None };
        let turned = match operator {
            Binary::Equal | Binary::Unequal => *operator,
            Binary::Less => Binary::Greater,
            Binary::LessEqual => Binary::GreaterEqual,
            Binary::Greater => Binary::Less,
            Binary::GreaterEqual => Binary::LessEqual,
            _ => return None,
        };
        match (&**left, &**right) {
            (part, Expr::Constant(value)) if self.is_variable(part) => Some((*operator, *value)),
            (Expr::Constant(value), part) if self.is_variable(part) => Some((turned, *value)),
            _ => None,
        }
    }

    /// The values for which a condition may be as expected.
    fn restricted(&self, expr: &Expr, expected: bool, interval: Interval) -> Option<Interval> {
        if let Some((operator, value)) = self.compared(expr) {
            let below = |value: Option<Value>| value.and_then(|value| meet(interval, (Value::MIN, value)));
            let above = |value: Option<Value>| value.and_then(|value| meet(interval, (value, Value::MAX)));
            return match (operator, expected) {
                (Binary::Equal, true) | (Binary::Unequal, false) => meet(interval, (value, value)),
                (Binary::Less, true) | (Binary::GreaterEqual, false) => below(value.checked_sub(1)),
                (Binary::LessEqual, true) | (Binary::Greater, false) => below(Some(value)),
                (Binary::Greater, true) | (Binary::LessEqual, false) => above(value.checked_add(1)),
                (Binary::GreaterEqual, true) | (Binary::Less, false) => above(Some(value)),
                _ => Some(interval),
            };
        }
        match (expr, expected) {
            (Expr::Unary(Unary::Not, part), _) => self.restricted(part, !expected, interval),
            (Expr::Binary(Binary::And, left, right, _), true)
            | (Expr::Binary(Binary::Or, left, right, _), false) => {
                let interval = self.restricted(left, expected, interval)?;
                self.restricted(right, expected, interval)
            }
            (Expr::Binary(Binary::And, left, right, _), false)
            | (Expr::Binary(Binary::Or, left, right, _), true) => {
                hull(self.restricted(left, expected, interval), self.restricted(right, expected, interval))
            }
            _ => Some(interval),
        }
    }
}
