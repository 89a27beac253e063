//! A part of a program: the variables that decide whether it goes wrong, without those that only decide when.
//!
//! This is localisation reduction (Kurshan). *Kept* are the variables that are read where the program may go wrong: in assertions, in
//! the last conditions before an error, in indices, divisors and values that [`Values`] cannot show to be within bounds; and those
//! whose values flow into kept ones. All others are forgotten, mutexes among them: nothing is stored in them, and a condition that
//! reads one may be true or false.
//!
//! Where threads race for objects (`objects.rs`), locks are kept, since they decide, and what says whether they were taken.
//!
//! Invariant: every run of the program is one of the result, up to the values of forgotten variables, and what goes wrong in it goes
//! wrong in the result. So this is for programs of which only proofs are asked.

use crate::bounds::range_of;
use crate::irrelevant::is_partial;
use crate::marks::Marks;
use crate::outline::keep_with_copies;
use crate::strict::is_beyond;
use crate::values::Values;
use allways_model::program::{
    Binary, Edge, Expr, LocationId, Op, Place, ProcedureId, Program, Slot, Target, Unary, Variable, WATCHED,
};
use std::collections::HashSet;

/// The part of a program; nothing if all of it is needed, or if there is something of which it is not known how to leave it out.
pub fn slice(program: &Program) -> Option<Program> {
    slice_with(program, &HashSet::new())
}

/// The part of a program, and the shared variables of these names.
pub fn slice_with(program: &Program, locks: &HashSet<String>) -> Option<Program> {
    let special = !program.never.is_empty() || !program.hints.is_empty() || !program.progress.is_empty();
    if special || program.shared.iter().any(|variable| variable.name == WATCHED || variable.mixed) {
        return None;
    }
    let values = Values::of(program)?;
    let program = &without_closed_ways(program, &values);
    let mut kept = Marks::new(program);
    keep_with_copies(&mut kept, locks, program);
    let before_errors = before_errors(program);
    while kept.grew() {
        for (number, location) in program.locations.iter().enumerate() {
            let (here, at) = (location.procedure, LocationId(number));
            for edge in &location.edges {
                keep(&mut kept, &values, here, at, &edge.op)?;
                if let (true, Op::Guard(condition, _)) = (before_errors[edge.to.index()], &edge.op) {
                    kept.used(here, condition);
                }
            }
        }
    }
    let mut part = program.clone();
    let mut forgot = false;
    for location in &mut part.locations {
        for edge in &mut location.edges {
            forgot |= forget(&kept, location.procedure, &mut edge.op);
        }
    }
    part.shared.iter_mut().for_each(|variable| settle(variable, |slot| kept.shared(slot)));
    for (number, procedure) in part.procedures.iter_mut().enumerate() {
        let is_kept = |slot| kept.local(ProcedureId(number), slot);
        procedure.locals.iter_mut().for_each(|variable| settle(variable, is_kept));
    }
    forgot.then_some(part)
}

/// The program without the ways that no run takes, since a condition on them is never met: what it reads decides nothing.
fn without_closed_ways(program: &Program, values: &Values<'_>) -> Program {
    let mut result = program.clone();
    for (number, location) in result.locations.iter_mut().enumerate() {
        for edge in &mut location.edges {
            if let Op::Guard(condition, true) = &edge.op
                && !may_fail(values, LocationId(number), condition)
                && values.is_within(LocationId(number), condition, (0, 0))
            {
                edge.op = Op::Guard(Expr::Constant(0), true);
            }
        }
    }
    result
}

/// Locations from which an error comes without another condition.
pub fn before_errors(program: &Program) -> Vec<bool> {
    let is_error = |op: &Op| matches!(op, Op::Error | Op::NoResult | Op::Beyond);
    let mut found: Vec<bool> = program
        .locations
        .iter()
        .map(|location| location.edges.iter().any(|edge| is_error(&edge.op)))
        .collect();
    let mut grows = true;
    while std::mem::take(&mut grows) {
        for (number, location) in program.locations.iter().enumerate() {
            let leads = |edge: &Edge| {
                found[edge.to.index()] && !matches!(edge.op, Op::Guard(..) | Op::Call(..) | Op::Return(_))
            };
            if !found[number] && location.edges.iter().any(leads) {
                (found[number], grows) = (true, true);
            }
        }
    }
    found
}

/// Marks the variables that a step needs; nothing if it is one that cannot be left out in part.
fn keep(kept: &mut Marks, values: &Values<'_>, here: ProcedureId, at: LocationId, op: &Op) -> Option<()> {
    match op {
        Op::Acquire(_) | Op::Release(_) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) | Op::Fork(_) => {
            return None;
        }
        Op::Assert(condition) => kept.used(here, condition),
        Op::Guard(condition, _) => {
            if may_fail(values, at, condition) {
                kept.used(here, condition);
            }
        }
        Op::Assign(places, stored, constraint) => {
            for (place, value) in places.iter().zip(stored) {
                let index = match &place.target {
                    Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) => {
                        Some((index, *length))
                    }
                    Target::Others(_) => return None,
                    Target::Shared(_) | Target::Local(_) => None,
                };
                let goes_wrong = may_fail(values, at, value)
                    || !values.is_within(at, value, range_of(place.ty))
                    || index.is_some_and(|(index, length)| !is_element(values, at, index, length));
                if goes_wrong || kept.place(here, place) {
                    kept.stored(here, place);
                    kept.used(here, value);
                    index.iter().for_each(|(index, _)| kept.used(here, index));
                }
            }
            for constraint in constraint.iter().filter(|constraint| may_fail(values, at, constraint)) {
                kept.used(here, constraint);
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

fn is_element(values: &Values<'_>, at: LocationId, index: &Expr, length: usize) -> bool {
    !may_fail(values, at, index) && values.is_within(at, index, (0, length as i128 - 1))
}

/// Whether evaluating an expression may be a violation, or may lead to what is not followed, as far as is known.
fn may_fail(values: &Values<'_>, at: LocationId, expr: &Expr) -> bool {
    let mut fails = false;
    expr.visit(&mut |part| {
        fails |= match part {
            Expr::SharedElement(_, length, index, _) | Expr::LocalElement(_, length, index, _) => {
                !values.is_within(at, index, (0, *length as i128 - 1))
            }
            Expr::Binary(Binary::Divide | Binary::Remainder, _, by, _) => {
                !values.is_within(at, by, (1, i128::from(i64::MAX)))
            }
            Expr::Binary(operator, _, by, _) if is_partial(*operator) => !matches!(**by, Expr::Constant(_)),
            part => is_beyond(part),
        };
    });
    fails
}

/// Leaves forgotten variables out of a step; says whether there were any.
fn forget(kept: &Marks, here: ProcedureId, op: &mut Op) -> bool {
    match op {
        Op::Guard(condition, wanted) if !kept.has_all(here, condition) => {
            let (weaker, wanted) = (open(kept, here, condition, &|_| Expr::Choose(0, 1)), *wanted);
            *op = if matches!(weaker, Expr::Choose(..)) { Op::Skip } else { Op::Guard(weaker, wanted) };
            true
        }
        Op::Assign(places, values, constraint) => {
            let stays: Vec<bool> = places.iter().map(|place| kept.place(here, place)).collect();
            let vague = constraint.as_ref().is_some_and(|constraint| !kept.has_all(here, constraint));
            if vague {
                *constraint = None;
            }
            let all = stays.iter().all(|&stays| stays);
            let mut each = stays.iter();
            places.retain(|_: &Place| each.next() == Some(&true));
            let mut each = stays.iter();
            values.retain(|_| each.next() == Some(&true));
            if let (true, Some(constraint)) = (places.is_empty(), constraint.as_ref()) {
                *op = Op::Guard(constraint.clone(), true);
            } else if places.is_empty() {
                *op = Op::Skip;
            }
            vague || !all
        }
        _ => false,
    }
}

/// A condition in which what depends on forgotten variables may be true or false, as far as `left` says.
pub fn open(kept: &Marks, here: ProcedureId, condition: &Expr, left: &impl Fn(&Expr) -> Expr) -> Expr {
    if kept.has_all(here, condition) {
        return condition.clone();
    }
    let part = |part: &Expr| open(kept, here, part, left);
    match condition {
        Expr::Unary(Unary::Not, negated) => match part(negated) {
            Expr::Choose(low, high) => Expr::Choose(low, high),
            negated => Expr::Unary(Unary::Not, Box::new(negated)),
        },
        Expr::Binary(operator @ (Binary::And | Binary::Or), one, other, span) => {
            Expr::Binary(*operator, Box::new(part(one)), Box::new(part(other)), *span)
        }
        _ => left(condition),
    }
}

/// One initial value for what nobody reads or writes.
pub fn settle(variable: &mut Variable, is_kept: impl Fn(Slot) -> bool) {
    let value = variable.ty.bounds().map_or(0, |(low, high)| 0.clamp(low, high));
    for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
        if !is_kept(slot) {
            *initial = Some(value);
        }
    }
}
