//! Variables that have only one value, and locations that are never reached.
//!
//! A shared variable is a constant if everything that is stored in it is its initial value. A local variable is a
//! constant at a location if it has the same value whenever control comes there; what flows where is followed along the
//! edges of its procedure, and from a fork to the forked location, which gets a copy of the local variables. Edges whose
//! condition is known to fail are not followed, and a location that nothing leads to is never reached.
//!
//! The assumptions are optimistic and support each other: the first is that all shared variables are constants; if a
//! reached step stores something else, that one is given up and everything is computed again. What remains is true of
//! the initial states and kept by every step: if all frames of a state are at reached locations with local variables as
//! known there, and the shared constants have their values, then every edge that can be taken is one that was followed,
//! what it stores was compared with what is known, and the same holds afterwards. A caller's variables do not change
//! while the callee runs, except by its results, and except those that other threads write: these are never constants.

use super::super::expression::OPEN;
use super::super::{Expr, Op, Procedure, Program, Type};
use super::flow::{Forward, goes_on};
use super::fold::{Known, Scope, constant, fold_step, stored};
use super::written;

/// The same program with constants in place of variables. Steps from locations that are never reached cannot be taken.
pub(super) fn fold(program: &Program) -> Program {
    let mut shared: Vec<Known> = program
        .shared
        .iter()
        .flat_map(|variable| variable.initial.iter().map(|&initial| (variable.ty, initial)))
        .map(|(ty, initial)| initial.filter(|_| ty != Type::Lock))
        .collect();
    loop {
        let folded = fold_all(program, &shared);
        let confirmed = confirmed(&folded, &shared);
        if confirmed == shared {
            return folded;
        }
        shared = confirmed;
    }
}

fn fold_all(program: &Program, shared: &[Known]) -> Program {
    let known = propagate(program, shared);
    let mut folded = program.clone();
    for (location, known) in folded.locations.iter_mut().zip(&known) {
        let procedure = &program.procedures[location.procedure];
        for edge in &mut location.edges {
            edge.op = match known {
                Some(locals) => fold_step(&edge.op, procedure, &Scope { shared, locals, next: locals }),
                None => Op::Guard(Expr::Constant(0), true),
            };
        }
    }
    folded
}

/// What is known of the local variables at each location, if it is reached.
fn propagate(program: &Program, shared: &[Known]) -> Vec<Option<Vec<Known>>> {
    let mut known = Forward::new(program.locations.len(), |a: Known, b| a.filter(|_| a == b));
    for template in &program.templates {
        let body = &program.procedures[template.body];
        known.come(body.entry, &at_entry(body));
    }
    while let Some((location, locals)) = known.next() {
        let procedure = program.procedure_of(location);
        for edge in &program.locations[location].edges {
            let op = fold_step(&edge.op, procedure, &Scope { shared, locals: &locals, next: &locals });
            let mut after = locals.clone();
            match &op {
                Op::Assign(places, values, _) => after = stored(places, values, procedure, &locals),
                Op::Call(callee, _, places) => {
                    let callee = &program.procedures[*callee];
                    known.come(callee.entry, &at_entry(callee));
                    after = stored(places, &[], procedure, &locals);
                }
                Op::Fork(forked) => known.come(*forked, &locals),
                _ => {}
            }
            if goes_on(&op) {
                known.come(edge.to, &after);
            }
        }
    }
    known.finish()
}

/// What is known of the local variables at the start of a procedure.
fn at_entry(procedure: &Procedure) -> Vec<Known> {
    let locals = procedure.locals.iter().enumerate().flat_map(|(index, local)| {
        let varies = index < procedure.parameters || local.mixed;
        // One that has no value yet has none that is known.
        local.initial.iter().map(move |initial| initial.filter(|&value| !varies && value != OPEN))
    });
    locals.collect()
}

/// Those constants for which no step stores anything else.
fn confirmed(folded: &Program, shared: &[Known]) -> Vec<Known> {
    let mut confirmed = shared.to_vec();
    for edge in folded.locations.iter().flat_map(|location| &location.edges) {
        match &edge.op {
            Op::Assign(places, ..) | Op::Call(_, _, places) => {
                let values: &[Expr] = if let Op::Assign(_, values, _) = &edge.op { values } else { &[] };
                for (index, place) in places.iter().enumerate() {
                    let Some((true, slots)) = written(place) else { continue };
                    let value = values.get(index).and_then(constant);
                    slots.filter(|&slot| shared[slot] != value).for_each(|slot| confirmed[slot] = None);
                }
            }
            Op::Acquire(lock) | Op::Release(lock) => {
                let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
                confirmed[lock.slot..lock.slot + length].fill(None);
            }
            _ => {}
        }
    }
    confirmed
}
