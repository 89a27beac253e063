//! Where the values of local variables are still needed.
//!
//! A local slot is live at a location if on some way from there, within the same activation or one that a fork copies, it
//! is read before it is overwritten for certain. What is not live can have any value: no step reads it until it has got a
//! new one. A write to an element of an array that is not known overwrites nothing for certain.
//!
//! A call reads its arguments at once. What the caller needs afterwards is live while the callee runs: what is live where
//! the call leads to, except the variables that results are stored in, and what the indices of their places read. Those
//! that other threads write are always live: no step of this thread says when.

use super::super::{Expr, LocationId, Op, Procedure, Program, Slot, Target};
use super::flow::goes_on;
use super::{expressions, index_of};

/// The local slots that are live at each location.
pub(super) fn at_locations(program: &Program) -> Vec<Vec<bool>> {
    let always: Vec<Vec<bool>> = program.procedures.iter().map(always).collect();
    let at_least = program.locations.iter().map(|location| always[location.procedure.index()].clone());
    let mut live: Vec<Vec<bool>> = at_least.collect();
    let mut before: Vec<Vec<LocationId>> = vec![Vec::new(); program.locations.len()];
    for (location, here) in LocationId::each(&program.locations) {
        for edge in &here.edges {
            before[edge.to.index()].push(location);
            if let Op::Fork(forked) = edge.op {
                before[forked.index()].push(location);
            }
        }
    }
    let mut todo: Vec<LocationId> = LocationId::all(&program.locations).collect();
    while let Some(location) = todo.pop() {
        let mut now = live[location.index()].clone();
        for edge in 0..program.locations[location].edges.len() {
            add(&mut now, &before_edge(program, &live, location, edge));
        }
        if now != live[location.index()] {
            live[location.index()] = now;
            todo.extend(&before[location.index()]);
        }
    }
    live
}

/// The variables that other threads write.
fn always(procedure: &Procedure) -> Vec<bool> {
    let slots = procedure.locals.iter().flat_map(|local| (0..local.slots()).map(|_| local.mixed));
    slots.collect()
}

fn add(to: &mut [bool], more: &[bool]) {
    to.iter_mut().zip(more).for_each(|(to, more)| *to |= more);
}

/// What is live before an edge is taken.
fn before_edge(program: &Program, live: &[Vec<bool>], location: LocationId, index: usize) -> Vec<bool> {
    let edge = &program.locations[location].edges[index];
    let mut now = match &edge.op {
        Op::Call(..) => on_return(program, live, (location, index)),
        op if goes_on(op) => live[edge.to.index()].clone(),
        _ => vec![false; live[location.index()].len()],
    };
    match &edge.op {
        Op::Assign(places, values, constraint) => {
            // A variable after the assignment is the one before it, unless it is assigned.
            constraint.iter().for_each(|constraint| read_next(constraint, &mut now));
            let assigned = places.iter().zip(values).map(|(place, _)| &place.target);
            assigned.for_each(|target| overwrite(target, &mut now));
        }
        Op::Fork(forked) => add(&mut now, &live[forked.index()]),
        _ => {}
    }
    expressions(&edge.op).into_iter().for_each(|expr| read(expr, &mut now));
    now
}

/// What of the caller is live when a call returns, before the results are stored.
pub(super) fn on_return(
    program: &Program,
    live: &[Vec<bool>],
    (location, index): (LocationId, usize),
) -> Vec<bool> {
    let edge = &program.locations[location].edges[index];
    let mut now = live[edge.to.index()].clone();
    if let Op::Call(callee, _, places) = &edge.op {
        let results = program.procedures[*callee].results.len();
        places.iter().take(results).for_each(|place| overwrite(&place.target, &mut now));
        places.iter().filter_map(index_of).for_each(|index| read(index, &mut now));
    }
    add(&mut now, &always(program.procedure_of(location)));
    now
}

fn overwrite(target: &Target, live: &mut [bool]) {
    if let Target::Local(slot) = target {
        live[*slot] = false;
    }
}

fn read(expr: &Expr, live: &mut [bool]) {
    let mut all = |first: Slot, length: usize| live[first..first + length].fill(true);
    expr.visit(&mut |part| match part {
        Expr::Local(slot) => all(*slot, 1),
        Expr::LocalElement(slot, length, ..) => all(*slot, *length),
        _ => {}
    });
}

fn read_next(expr: &Expr, live: &mut [bool]) {
    expr.visit(&mut |part| {
        if let Expr::NextLocal(slot) = part {
            live[*slot] = true;
        }
    });
}
