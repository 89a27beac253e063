//! Stores to variables that nobody reads.
//!
//! What is stored in a shared variable that no expression reads changes nothing, unless storing it goes wrong: the index may not
//! be one of the array, or the value may not be there. Where [`Values`] say that neither happens, the store is left out.
//! Invariant: with and without it, the same steps can be taken, with the same values in all other variables. Traces would lack
//! these stores, so this is for programs of which only proofs are asked.

use crate::bounds::range_of;
use crate::irrelevant::can_fail;
use crate::values::Values;
use allways_model::program::{Expr, LocationId, Op, Place, Program, Slot, Target, WATCHED};

/// Leaves out stores to shared variables that nobody reads; says whether there were any.
pub fn forget(program: &mut Program) -> bool {
    let special = !program.never.is_empty() || !program.hints.is_empty();
    if special || program.shared.iter().any(|variable| variable.name == WATCHED) {
        return false;
    }
    let read = read_slots(program);
    let stored = |place: &Place| match place.target {
        Target::Shared(slot) => (!read[slot]).then_some((slot, 1)),
        Target::SharedElement(slot, length, _) => {
            (!read[slot..slot + length].contains(&true)).then_some((slot, length))
        }
        Target::Local(_) | Target::LocalElement(..) | Target::Others(_) => None,
    };
    let candidate = |op: &Op| matches!(op, Op::Assign(places, _, None) if places.iter().any(|place| stored(place).is_some()));
    if !program.locations.iter().flat_map(|location| &location.edges).any(|edge| candidate(&edge.op)) {
        return false;
    }
    let Some(values) = Values::of(program) else { return false };
    let mut useless: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (number, location) in program.locations.iter().enumerate() {
        for (index, edge) in location.edges.iter().enumerate() {
            let Op::Assign(places, stores, None) = &edge.op else { continue };
            let here = LocationId(number);
            let is_useless = |&(place, value): &(&Place, &Expr)| {
                let Some((_, length)) = stored(place) else { return false };
                let in_bounds = match &place.target {
                    Target::SharedElement(_, _, index) => {
                        !can_fail(index) && values.is_within(here, index, (0, length as i128 - 1))
                    }
                    _ => true,
                };
                in_bounds && !can_fail(value) && values.is_within(here, value, range_of(place.ty))
            };
            let found = places.iter().zip(stores).enumerate().filter(|(_, store)| is_useless(store));
            let found: Vec<usize> = found.map(|(store, _)| store).collect();
            if !found.is_empty() {
                useless.push((number, index, found));
            }
        }
    }
    drop(values);
    for (location, edge, stores) in &useless {
        let op = &mut program.locations[*location].edges[*edge].op;
        if let Op::Assign(places, values, _) = op {
            for &store in stores.iter().rev() {
                places.remove(store);
                values.remove(store);
            }
            if places.is_empty() {
                *op = Op::Skip;
            }
        }
    }
    !useless.is_empty()
}

/// Which shared slots some expression reads, or are locks.
fn read_slots(program: &Program) -> Vec<bool> {
    let mut read = vec![false; program.shared_slots()];
    let mut mark = |slot: Slot, length: usize| read[slot..slot + length].fill(true);
    for op in program.locations.iter().flat_map(|location| &location.edges).map(|edge| &edge.op) {
        for expr in op.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Shared(slot) | Expr::NextShared(slot) => mark(*slot, 1),
                Expr::SharedElement(slot, length, ..) => mark(*slot, *length),
                _ => {}
            });
        }
        if let Op::Acquire(lock) | Op::Release(lock) = op {
            mark(lock.slot, lock.element.as_ref().map_or(1, |(length, _)| *length));
        }
    }
    read
}
