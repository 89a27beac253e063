//! Variables that have only one value, and locations that are never reached.
//!
//! A shared variable is a constant if everything that is stored in it is its initial value. A local variable is a
//! constant at a location if it has the same value whenever control comes there; what flows where is followed along the
//! edges of its procedure, and from a fork to the forked location, which gets a copy of the local variables. Only live
//! variables are followed: no step reads the others. Edges whose condition is known to fail are not followed, and a
//! location that nothing leads to is never reached.
//!
//! The assumptions are optimistic and support each other: the first is that all shared variables are constants; if a
//! reached step stores something else, that one is given up, and at the end everything is computed again. What remains is true of
//! the initial states and kept by every step: if all frames of a state are at reached locations with local variables as
//! known there, and the shared constants have their values, then every edge that can be taken is one that was followed,
//! what it stores was compared with what is known, and the same holds afterwards. A caller's variables do not change
//! while the callee runs, except by its results, and except those that other threads write: these are never constants.

use super::super::expression::OPEN;
use super::super::{Expr, LocationId, Op, Place, Procedure, Program, Slot, Type};
use super::flow::{Forward, goes_on};
use super::fold::{Known, Scope, constant, fold_step, store};
use super::{liveness, written};

/// The same program with constants in place of variables. Steps from locations that are never reached cannot be taken.
pub(super) fn fold(program: &Program) -> Program {
    let mut shared: Vec<Known> = program
        .shared
        .iter()
        .flat_map(|variable| variable.initial.iter().map(|&initial| (variable.ty, initial)))
        .map(|(ty, initial)| initial.filter(|_| ty != Type::Lock))
        .collect();
    let live: Vec<Vec<Slot>> = liveness::at_locations(program).iter().map(|live| slots(live)).collect();
    let known = loop {
        let before = shared.clone();
        let known = propagate(program, &live, &mut shared);
        if shared == before {
            break known;
        }
    };
    let mut locals = nothing_known(program);
    let mut folded = program.clone();
    for ((location, known), live) in folded.locations.iter_mut().zip(&known).zip(&live) {
        let procedure = &program.procedures[location.procedure];
        know(&mut locals, live, known.iter().flatten());
        for edge in &mut location.edges {
            edge.op = match known {
                Some(_) => {
                    fold_step(&edge.op, procedure, &Scope { shared: &shared, locals: &locals, next: &locals })
                }
                None => Op::Guard(Expr::Constant(0), true),
            };
        }
        forget(&mut locals, live.iter().copied());
    }
    folded
}

/// The slots that are live.
fn slots(live: &[bool]) -> Vec<Slot> {
    live.iter().enumerate().filter(|(_, live)| **live).map(|(slot, _)| slot).collect()
}

/// Nothing about any local variable, whatever the procedure.
fn nothing_known(program: &Program) -> Vec<Known> {
    vec![None; program.procedures.iter().map(Procedure::slots).max().unwrap_or(0)]
}

fn know<'a>(locals: &mut [Known], slots: &[Slot], known: impl Iterator<Item = &'a Known>) {
    slots.iter().zip(known).for_each(|(&slot, &known)| locals[slot] = known);
}

fn forget(locals: &mut [Known], slots: impl Iterator<Item = Slot>) {
    slots.for_each(|slot| locals[slot] = None);
}

/// What is known of the live local variables at each location, if it is reached. Constants in which a reached step stores
/// something else are given up.
fn propagate(program: &Program, live: &[Vec<Slot>], shared: &mut [Known]) -> Vec<Option<Vec<Known>>> {
    let mut known = Forward::new(program.locations.len(), |a: Known, b| a.filter(|_| a == b));
    let of = |locals: &[Known], location: LocationId| -> Vec<Known> {
        live[location.index()].iter().map(|&slot| locals[slot]).collect()
    };
    for template in &program.templates {
        let body = &program.procedures[template.body];
        known.come(body.entry, &of(&at_entry(body), body.entry));
    }
    let mut locals = nothing_known(program);
    while let Some((location, here)) = known.next() {
        let procedure = program.procedure_of(location);
        let live = &live[location.index()];
        for edge in &program.locations[location].edges {
            know(&mut locals, live, here.iter());
            let op =
                fold_step(&edge.op, procedure, &Scope { shared: &*shared, locals: &locals, next: &locals });
            give_up(&op, shared);
            let (places, values): (&[Place], &[Expr]) = match &op {
                Op::Assign(places, values, _) => (places, values),
                Op::Call(callee, _, places) => {
                    let callee = &program.procedures[*callee];
                    known.come(callee.entry, &of(&at_entry(callee), callee.entry));
                    (places, &[])
                }
                Op::Fork(forked) => {
                    known.come(*forked, &of(&locals, *forked));
                    (&[], &[])
                }
                _ => (&[], &[]),
            };
            if goes_on(&op) {
                store(places, values, procedure, &mut locals);
                known.come(edge.to, &of(&locals, edge.to));
                let stored = places.iter().filter_map(written).filter(|(shared, _)| !shared);
                forget(&mut locals, stored.flat_map(|(_, slots)| slots));
            }
        }
        forget(&mut locals, live.iter().copied());
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

/// Gives up the constants in which a step stores something else.
fn give_up(op: &Op, shared: &mut [Known]) {
    match op {
        Op::Assign(places, ..) | Op::Call(_, _, places) => {
            let values: &[Expr] = if let Op::Assign(_, values, _) = op { values } else { &[] };
            for (index, place) in places.iter().enumerate() {
                let Some((true, slots)) = written(place) else { continue };
                let value = values.get(index).and_then(constant);
                shared[slots].iter_mut().filter(|known| **known != value).for_each(|known| *known = None);
            }
        }
        Op::Acquire(lock) | Op::Release(lock) => {
            let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
            shared[lock.slot..lock.slot + length].fill(None);
        }
        _ => {}
    }
}
