//! Shared variables that are never read, taken out.
//!
//! A state of a program has a value for each shared slot, and memory that is only pointed to has many. Nobody can tell whether
//! a slot that is never read is written, so the slots that are read get new numbers, and the others none. Elements of one
//! array stay next to each other; addresses are numbers of their own and stay what they are. Names in traces would be lost, so
//! this is for programs of which only proofs are asked.

use crate::irrelevant::can_fail;
use allways_model::program::{
    Binary, Edge, Expr, Location, LocationId, Op, Place, ProcedureId, Program, Slot, Target, Value, Variable,
};
use std::collections::HashMap;

/// Takes out what is never read.
pub fn compact(program: &mut Program) {
    let mut kept = vec![false; program.shared_slots()];
    for op in program.locations.iter().flat_map(|location| &location.edges).map(|edge| &edge.op) {
        for expr in op.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Shared(slot) | Expr::NextShared(slot) => kept[*slot] = true,
                Expr::SharedElement(slot, length, ..) => kept[*slot..slot + length].fill(true),
                _ => {}
            });
        }
        if let Op::Acquire(lock) | Op::Release(lock) = op {
            let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
            kept[lock.slot..lock.slot + length].fill(true);
        }
        let (plain, alone) = (is_plain(op), op.places().len() == 1);
        for place in op.places() {
            match &place.target {
                Target::SharedElement(slot, length, _) if !(plain && alone) => {
                    kept[*slot..slot + length].fill(true);
                }
                Target::Shared(slot) if !plain => kept[*slot] = true,
                _ => {}
            }
        }
    }
    // An array is kept or left out as a whole.
    loop {
        let edges = program.locations.iter().flat_map(|location| &location.edges);
        let partly = edges.flat_map(|edge| edge.op.places()).find_map(|place| match &place.target {
            Target::SharedElement(slot, length, _) => {
                let own = &kept[*slot..slot + length];
                (own.contains(&true) && own.contains(&false)).then_some((*slot, *length))
            }
            _ => None,
        });
        let Some((slot, length)) = partly else { break };
        kept[slot..slot + length].fill(true);
    }
    check_indices(program, &kept);
    let mut next = 0;
    let numbers: Vec<Option<Slot>> = kept
        .iter()
        .map(|&kept| {
            next += usize::from(kept);
            kept.then(|| next - 1)
        })
        .collect();
    for location in &mut program.locations {
        location.edges.iter_mut().for_each(|edge| renumber(&mut edge.op, &numbers));
    }
    program.shared = program.shared.iter().flat_map(|variable| parts(variable, &numbers)).collect();
}

/// Whether nothing but the storing of values can be left out of a step.
fn is_plain(op: &Op) -> bool {
    matches!(op, Op::Assign(_, values, None) if !values.iter().any(can_fail))
}

/// Where an element of an array that is left out is written, asks whether there is such an element.
fn check_indices(program: &mut Program, kept: &[bool]) {
    let mut outside: HashMap<ProcedureId, LocationId> = HashMap::new();
    for number in 0..program.locations.len() {
        let here = LocationId(number);
        let (procedure, span) = (program.locations[here].procedure, program.locations[here].span);
        for edge in 0..program.locations[here].edges.len() {
            let Edge { op: Op::Assign(places, ..), .. } = &program.locations[here].edges[edge] else {
                continue;
            };
            let [Place { target: Target::SharedElement(slot, length, index), .. }] = &places[..] else {
                continue;
            };
            if kept[*slot] {
                continue;
            }
            let (index, length) = (Box::new(index.clone()), Box::new(Expr::Constant(*length as Value)));
            let least = Box::new(Expr::Constant(0));
            let low = Expr::Binary(Binary::GreaterEqual, index.clone(), least, span);
            let high = Expr::Binary(Binary::Less, index, length, span);
            let within = Expr::Binary(Binary::And, Box::new(low), Box::new(high), span);
            let wrong = *outside.entry(procedure).or_insert_with(|| {
                let wrong = LocationId(program.locations.len());
                let edges = vec![Edge { op: Op::Error, to: wrong, span }];
                program.locations.push(Location { procedure, edges, span });
                wrong
            });
            let location = &mut program.locations[here];
            location.edges.push(Edge { op: Op::Guard(within.clone(), false), to: wrong, span });
            location.edges[edge].op = Op::Guard(within, true);
        }
    }
}

/// What is left of a variable: its slots one by one, unless all are left.
fn parts(variable: &Variable, numbers: &[Option<Slot>]) -> Vec<Variable> {
    let own = &numbers[variable.slot..variable.slot + variable.slots()];
    if let Some(Some(slot)) = own.first().filter(|_| own.iter().all(Option::is_some)) {
        return vec![Variable { slot: *slot, ..variable.clone() }];
    }
    let parts = own.iter().zip(&variable.initial).enumerate().filter_map(|(index, (slot, initial))| {
        let (name, initial) = (format!("{}[{index}]", variable.name), vec![*initial]);
        Some(Variable { name, slot: (*slot)?, length: None, initial, ..variable.clone() })
    });
    parts.collect()
}

fn renumber(op: &mut Op, numbers: &[Option<Slot>]) {
    let new = |slot: &mut Slot| *slot = numbers[*slot].unwrap_or(0);
    if let Op::Assign(places, values, _) = op {
        let gone = |target: &Target| matches!(target, Target::Shared(slot) if numbers[*slot].is_none());
        let both = std::mem::take(places).into_iter().zip(std::mem::take(values));
        (*places, *values) = both.filter(|(place, _)| !gone(&place.target)).unzip();
        if places.is_empty() && matches!(op, Op::Assign(_, _, None)) {
            *op = Op::Skip;
        }
    }
    op.rewrite(&mut |expr| match expr {
        Expr::Shared(slot) | Expr::NextShared(slot) | Expr::SharedElement(slot, ..) => new(slot),
        _ => {}
    });
    if let Op::Assign(places, ..) | Op::Call(_, _, places) = op {
        for place in places {
            if let Target::Shared(slot) | Target::SharedElement(slot, ..) = &mut place.target {
                new(slot);
            }
        }
    }
    if let Op::Acquire(lock) | Op::Release(lock) = op {
        new(&mut lock.slot);
    }
}
