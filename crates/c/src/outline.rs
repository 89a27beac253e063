//! The outline of a program: what of its data decides where threads can be, and which elements are accessed.
//!
//! *Kept* are given variables, what is read in assertions, in the last conditions before an error, in indices, divisors and distances
//! of shifts, and what flows into kept variables. All others are forgotten: nothing but zeros is stored in them, a condition that reads
//! one may be true or false, and of what is computed from them no more is left than that indices are in bounds.
//!
//! This is what `slice.rs` does, without knowing any values. So nothing rests on what variables can hold: it does not matter whether
//! numbers that are forgotten are too large to be followed, and programs with much data have less of it before values are looked at.
//!
//! Invariant: every run of the program is one of the result, up to the values of forgotten variables, and what goes wrong in it goes
//! wrong in the result, unless that is a number too large for a forgotten variable. So this is for programs of which only proofs
//! are asked.

use crate::irrelevant::is_partial;
use crate::marks::Marks;
use crate::slice::{before_errors, open, settle};
use crate::strict::is_beyond;
use allways_model::program::{Binary, Expr, Op, Place, ProcedureId, Program, Slot, Span, Target};
use std::collections::HashSet;

/// Forgets what is not part of the outline of a program; nothing if it does what is not looked at. Shared variables of these names
/// are kept.
pub fn draw(program: &mut Program, names: &HashSet<String>) -> Option<()> {
    let special = !program.never.is_empty() || !program.hints.is_empty() || !program.progress.is_empty();
    if special || program.shared.iter().any(|variable| variable.mixed) {
        return None;
    }
    let mut kept = Marks::new(program);
    keep_with_copies(&mut kept, names, program);
    let before_errors = before_errors(program);
    while kept.grew() {
        for location in &program.locations {
            for edge in &location.edges {
                keep(&mut kept, location.procedure, &edge.op)?;
                if let (true, Op::Guard(condition, _)) = (before_errors[edge.to.index()], &edge.op) {
                    kept.used(location.procedure, condition);
                }
            }
        }
    }
    for location in &mut program.locations {
        for edge in &mut location.edges {
            forget(&kept, location.procedure, &mut edge.op);
        }
    }
    program.shared.iter_mut().for_each(|variable| settle(variable, |slot| kept.shared(slot)));
    for (number, procedure) in program.procedures.iter_mut().enumerate() {
        let is_kept = |slot| kept.local(ProcedureId(number), slot);
        procedure.locals.iter_mut().for_each(|variable| settle(variable, is_kept));
    }
    Some(())
}

/// Marks the shared variables of these names, and the local variables whose values come from them: of a lock, they say whether it
/// was taken.
pub fn keep_with_copies(kept: &mut Marks, names: &HashSet<String>, program: &Program) {
    let named = program.shared.iter().filter(|variable| names.contains(&variable.name));
    let slots: HashSet<Slot> =
        named.flat_map(|variable| variable.slot..variable.slot + variable.slots()).collect();
    for &slot in &slots {
        kept.used(ProcedureId(0), &Expr::Shared(slot));
    }
    let mut copies: HashSet<(ProcedureId, Slot)> = HashSet::new();
    let mut grows = true;
    while std::mem::take(&mut grows) {
        for location in &program.locations {
            let here = location.procedure;
            for edge in &location.edges {
                let Op::Assign(places, values, _) = &edge.op else { continue };
                for (place, value) in places.iter().zip(values) {
                    let Target::Local(to) = place.target else { continue };
                    let mut copied = false;
                    value.visit(&mut |part| {
                        copied |= match part {
                            Expr::Shared(slot) => slots.contains(slot),
                            Expr::Local(slot) => copies.contains(&(here, *slot)),
                            _ => false,
                        };
                    });
                    grows |= copied && copies.insert((here, to));
                }
            }
        }
    }
    copies.iter().for_each(|&(procedure, slot)| kept.used(procedure, &Expr::Local(slot)));
}

/// Marks the variables that a step needs; nothing if it is one that is not looked at.
fn keep(kept: &mut Marks, here: ProcedureId, op: &Op) -> Option<()> {
    match op {
        Op::Acquire(_) | Op::Release(_) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) | Op::Fork(_) => {
            return None;
        }
        Op::Assert(condition) => kept.used(here, condition),
        Op::Guard(condition, _) => keep_partial(kept, here, condition),
        Op::Assign(places, values, constraint) => {
            for (place, value) in places.iter().zip(values) {
                match &place.target {
                    Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => {
                        kept.used(here, index);
                    }
                    Target::Others(_) => return None,
                    Target::Shared(_) | Target::Local(_) => {}
                }
                keep_partial(kept, here, value);
                if kept.place(here, place) {
                    kept.stored(here, place);
                    kept.used(here, value);
                }
            }
            if constraint.as_ref().is_some_and(is_partial_somewhere) {
                constraint.iter().for_each(|constraint| kept.used(here, constraint));
                places.iter().for_each(|place| kept.stored(here, place));
            }
        }
        Op::Call(..) | Op::Return(_) | Op::Spawn(..) => {
            op.expressions().for_each(|expr| kept.used(here, expr));
            op.places().iter().for_each(|place| kept.stored(here, place));
        }
        Op::Skip | Op::Error | Op::NoResult | Op::Beyond | Op::AtomicBegin | Op::AtomicEnd => {}
    }
    Some(())
}

/// What an operand without a result depends on, if it is one: an index, a divisor, a distance.
fn decisive(part: &Expr) -> Option<&Expr> {
    match part {
        Expr::SharedElement(_, _, index, _) | Expr::LocalElement(_, _, index, _) => Some(index),
        Expr::Binary(operator, _, right, _) if is_partial(*operator) => {
            (!matches!(**right, Expr::Constant(value) if value > 0)).then_some(right)
        }
        _ => None,
    }
}

fn is_partial_somewhere(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= is_beyond(part) || decisive(part).is_some());
    found
}

/// Marks what decides whether an expression has a value.
fn keep_partial(kept: &mut Marks, here: ProcedureId, expr: &Expr) {
    let mut beyond = false;
    expr.visit(&mut |part| {
        beyond |= is_beyond(part);
        decisive(part).iter().for_each(|part| kept.used(here, part));
    });
    if beyond {
        kept.used(here, expr);
    }
}

/// Leaves forgotten variables out of a step.
fn forget(kept: &Marks, here: ProcedureId, op: &mut Op) {
    match op {
        Op::Guard(condition, _) if !kept.has_all(here, condition) => {
            *condition = open(kept, here, condition, &|part| {
                tested(kept, here, part).map_or_else(either, |value| and_then(value, either()))
            });
        }
        Op::Assign(places, values, constraint) => {
            if constraint.as_ref().is_some_and(|constraint| !kept.has_all(here, constraint)) {
                *constraint = None;
            }
            let mut left: Vec<(Place, Expr)> = Vec::new();
            for (place, value) in places.drain(..).zip(values.drain(..)) {
                if kept.place(here, &place) {
                    left.push((place, value));
                    continue;
                }
                let value = tested(kept, here, &value);
                let is_element = matches!(place.target, Target::SharedElement(..) | Target::LocalElement(..));
                if is_element || value.is_some() {
                    left.push((
                        place,
                        value.map_or(Expr::Constant(0), |value| and_then(value, Expr::Constant(0))),
                    ));
                }
            }
            (*places, *values) = left.into_iter().unzip();
            if places.is_empty() {
                *op = constraint.take().map_or(Op::Skip, |constraint| Op::Guard(constraint, true));
            }
        }
        _ => {}
    }
}

/// An expression with a value wherever one has, and then another one.
fn and_then(first: Expr, then: Expr) -> Expr {
    Expr::If(Box::new(zero_of(first)), Box::new(then.clone()), Box::new(then))
}

/// Whether an expression is 0: a condition.
fn zero_of(expr: Expr) -> Expr {
    Expr::Binary(Binary::Equal, Box::new(expr), Box::new(Expr::Constant(0)), Span::default())
}

fn either() -> Expr {
    Expr::Choose(0, 1)
}

/// What is left of an expression that reads forgotten variables: a number, where it has a value; nothing if it always has one.
fn tested(kept: &Marks, here: ProcedureId, expr: &Expr) -> Option<Expr> {
    if kept.has_all(here, expr) {
        return is_partial_somewhere(expr).then(|| expr.clone());
    }
    let both = |left: Option<Expr>, right: Option<Expr>| match (left, right) {
        (Some(left), Some(right)) => Some(and_then(left, right)),
        (left, right) => left.or(right),
    };
    match expr {
        // Of which only zeros are stored.
        Expr::SharedElement(..) | Expr::LocalElement(..) => Some(expr.clone()),
        Expr::Unary(_, part) => tested(kept, here, part),
        Expr::Binary(Binary::And | Binary::Or, left, right, _) => {
            let maybe = tested(kept, here, right)
                .map(|right| Expr::If(Box::new(either()), Box::new(right), Box::new(Expr::Constant(0))));
            both(tested(kept, here, left), maybe)
        }
        Expr::Binary(operator, left, right, span) => {
            let left = tested(kept, here, left);
            let partial = is_partial(*operator) && decisive(expr).is_some();
            let right = match partial {
                true => Some(Expr::Binary(*operator, Box::new(Expr::Constant(0)), right.clone(), *span)),
                false => tested(kept, here, right),
            };
            both(left, right)
        }
        Expr::If(condition, then, other) => {
            let (then, other) = (tested(kept, here, then), tested(kept, here, other));
            let way = match kept.has_all(here, condition) {
                true => (**condition).clone(),
                false => either(),
            };
            let ways = (then.is_some() || other.is_some()).then(|| {
                let or_zero = |expr: Option<Expr>| Box::new(expr.unwrap_or(Expr::Constant(0)));
                Expr::If(Box::new(way), or_zero(then), or_zero(other))
            });
            both(tested(kept, here, condition), ways)
        }
        _ => None,
    }
}
