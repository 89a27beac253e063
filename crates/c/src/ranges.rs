//! Fewer values of inputs that are restricted before they are used.
//!
//! `int i = input(); if (i < 0 || i >= 10) abort(); use(a[i]);` has 2^32 ways to go on, of which all but ten end at once. From
//! the step that chooses a value for a local variable, the values that it may have at each location are followed, as an interval, up
//! to where the variable gets another value. A comparison with a constant restricts the interval; any other use needs all its
//! values. Invariant: a value outside of what is needed, and below (above) all constants that it is compared with, goes the
//! same way as the greatest (least) such value, and on this way nobody uses it. So the values from one below the least needed
//! or compared to one above the greatest suffice.

use allways_model::program::{Binary, Edge, Expr, Op, Program, Slot, Target, Unary, Value};

/// A choice is narrowed if so many values remain at most.
const MOST_VALUES: u64 = 64;

/// Values from one to another.
type Interval = (Value, Value);

/// What is known of the values that a choice gives to a variable.
struct Chosen {
    slot: Slot,
    /// The least and the greatest value that matters by itself.
    needed: Option<Interval>,
}

/// Narrows choices for local variables.
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
    for location in 0..program.locations.len() {
        for edge in 0..program.locations[location].edges.len() {
            let Some((slot, low, high)) = chosen(&program.locations[location].edges[edge].op) else {
                continue;
            };
            let Some((least, most)) =
                needed(program, &program.locations[location].edges[edge], slot, (low, high))
            else {
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

/// The local variable that a step does nothing but choose one of many values for.
fn chosen(op: &Op) -> Option<(Slot, Value, Value)> {
    let Op::Assign(places, values, None) = op else { return None };
    match (&places[..], &values[..]) {
        ([place], [Expr::Choose(low, high)]) if high.abs_diff(*low) >= MOST_VALUES => match place.target {
            Target::Local(slot) => Some((slot, *low, *high)),
            _ => None,
        },
        _ => None,
    }
}

/// The values that matter of those that a step chooses; `None` if these may be too many.
fn needed(program: &Program, choice: &Edge, slot: Slot, all: Interval) -> Option<Interval> {
    let mut chosen = Chosen { slot, needed: None };
    let mut known: Vec<Option<Interval>> = vec![None; program.locations.len()];
    let mut todo = vec![(choice.to, all)];
    while let Some((location, interval)) = todo.pop() {
        let before = known[location.index()];
        let after = hull(before, Some(interval));
        if before == after {
            continue;
        }
        known[location.index()] = after;
        let interval = after?;
        for edge in &program.locations[location].edges {
            let Some(next) = chosen.step(&edge.op, interval) else { continue };
            if too_many(chosen.needed) {
                return None;
            }
            todo.push((edge.to, next));
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

impl Chosen {
    fn need(&mut self, interval: Interval) {
        self.needed = hull(self.needed, Some(interval));
    }

    /// The values after a step, if the variable keeps its value and the step can be taken.
    fn step(&mut self, op: &Op, interval: Interval) -> Option<Interval> {
        op.expressions().for_each(|expr| self.look(expr, interval));
        match op {
            Op::Guard(expr, expected) => self.restricted(expr, *expected, interval),
            Op::Assert(expr) => self.restricted(expr, true, interval),
            // Its frame is left; of the other steps, some write it.
            Op::Return(_) => None,
            op if op
                .places()
                .iter()
                .any(|place| matches!(place.target, Target::Local(slot) if slot == self.slot)) =>
            {
                None
            }
            _ => Some(interval),
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
            Expr::Local(slot) if *slot == self.slot => self.need(interval),
            Expr::LocalElement(first, length, index, _) => {
                if (*first..first + length).contains(&self.slot) {
                    self.need(interval);
                }
                self.look(index, interval);
            }
            Expr::SharedElement(_, _, part, _) | Expr::Unary(_, part) => self.look(part, interval),
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
            (Expr::Local(slot), Expr::Constant(value)) if *slot == self.slot => Some((*operator, *value)),
            (Expr::Constant(value), Expr::Local(slot)) if *slot == self.slot => Some((turned, *value)),
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
