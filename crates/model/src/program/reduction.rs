//! What can be left out of a program without changing any verdict.
//!
//! [`reduce`] makes a program with the same locations, edges and slots that reads less, and says which values still
//! matter where. It goes in four steps, each on the outcome of the one before; each file argues why its step is sound.
//!
//! 1. `constants`: variables with only one value are replaced by it, and locations that are never reached do nothing.
//!    `fold` simplifies expressions without hiding anything that could go wrong.
//! 2. `relevance`: variables whose values can neither steer a thread nor make anything go wrong are no longer computed.
//!    `intervals` tells what can go wrong.
//! 3. `liveness`: where the value of a local variable is read again before it is overwritten.
//! 4. `locks`: whether every release is by the thread that holds the lock.
//!
//! Where the states themselves are not asked for, `stops` says at which locations a thread has to stop at all.
//!
//! What this means for a state: projected to the shared slots that matter and, frame by frame, to the live local slots,
//! the reachable states of the program are those of the reduced program in which everything else is set to 0 after each
//! step. A step that goes wrong does so in both, one that cannot be taken can be taken in neither.

mod constants;
mod flow;
mod fold;
mod intervals;
mod liveness;
mod locks;
mod relevance;
mod stops;
#[cfg(test)]
mod tests;

use super::{Expr, LocationId, Op, Place, Program, Slot, Target, Type};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use stops::Company;
pub(crate) use stops::stops;

/// A program with the same locations, edges and slots, in which less matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// The program.
    pub program: Program,
    /// For each shared slot, whether its value matters. What does not matter is never read.
    pub shared: Vec<bool>,
    /// For each shared slot, whether it is a lock.
    pub locks: Vec<bool>,
    /// Whether every release of a lock is by the thread that holds it, so that nobody needs to know who that is.
    pub locks_are_safe: bool,
    /// For each location, which local slots are live there.
    pub live: Vec<Vec<bool>>,
    /// For each call (its location and the number of the edge), which local slots of the caller are live
    /// when it returns, before the results are stored.
    pub live_on_return: HashMap<(LocationId, usize), Vec<bool>>,
}

/// How many programs were reduced.
static REDUCTIONS: AtomicUsize = AtomicUsize::new(0);

impl Reduction {
    /// How many reductions have been made in this process.
    pub fn made() -> usize {
        REDUCTIONS.load(Ordering::Relaxed)
    }

    /// Nothing is left out.
    pub fn none(program: &Program) -> Reduction {
        let locks = lock_slots(program);
        let all = |location: LocationId| vec![true; program.procedure_of(location).slots()];
        Reduction {
            shared: vec![true; program.shared_slots()],
            locks_are_safe: !locks.contains(&true),
            locks,
            live: LocationId::all(&program.locations).map(all).collect(),
            live_on_return: calls(program).map(|call| (call, all(call.0))).collect(),
            program: program.clone(),
        }
    }
}

/// For each location, which local slots are live there if nothing is left out.
pub fn live(program: &Program) -> Vec<Vec<bool>> {
    liveness::at_locations(program)
}

/// Leaves out what does not matter.
pub fn reduce(program: &Program) -> Reduction {
    REDUCTIONS.fetch_add(1, Ordering::Relaxed);
    let mut reduced = constants::fold(program);
    let shared = relevance::forget(&mut reduced);
    let live = liveness::at_locations(&reduced);
    start_dead(&mut reduced, &live);
    // Calls that are never reached can still be named in evidence, so all of them are looked up.
    let live_on_return =
        calls(program).map(|call| (call, liveness::on_return(&reduced, &live, call))).collect();
    Reduction {
        locks: lock_slots(&reduced),
        locks_are_safe: locks::are_safe(&reduced),
        shared,
        live,
        live_on_return,
        program: reduced,
    }
}

/// The location and the number of each edge that calls a procedure.
fn calls(program: &Program) -> impl Iterator<Item = (LocationId, usize)> {
    LocationId::each(&program.locations).flat_map(|(location, here)| {
        let calls = here.edges.iter().enumerate().filter(|(_, edge)| matches!(edge.op, Op::Call(..)));
        calls.map(move |(index, _)| (location, index))
    })
}

/// Gives local variables that are dead at the start of their procedure one initial value instead of any.
fn start_dead(program: &mut Program, live: &[Vec<bool>]) {
    for procedure in &mut program.procedures {
        let live = &live[procedure.entry.index()];
        for local in &mut procedure.locals {
            for (slot, initial) in (local.slot..).zip(&mut local.initial) {
                if !live[slot] {
                    *initial = Some(local.ty.default_value());
                }
            }
        }
    }
}

fn lock_slots(program: &Program) -> Vec<bool> {
    let slots = program.shared.iter().flat_map(|variable| (0..variable.slots()).map(|_| variable.ty));
    slots.map(|ty| ty == Type::Lock).collect()
}

/// What a place may write: shared or not, and which slots. `None` for the variables of other threads.
fn written(place: &Place) -> Option<(bool, Range<Slot>)> {
    Some(match place.target {
        Target::Shared(slot) => (true, slot..slot + 1),
        Target::Local(slot) => (false, slot..slot + 1),
        Target::SharedElement(slot, length, _) => (true, slot..slot + length),
        Target::LocalElement(slot, length, _) => (false, slot..slot + length),
        Target::Others(_) => return None,
    })
}

/// The index in a place.
fn index_of(place: &Place) -> Option<&Expr> {
    match &place.target {
        Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => Some(index),
        Target::Shared(_) | Target::Local(_) | Target::Others(_) => None,
    }
}

/// The expressions that are evaluated before a step is over; those in the places of a call are evaluated when it returns.
fn expressions(op: &Op) -> Vec<&Expr> {
    match op {
        Op::Guard(expr, _) | Op::Assert(expr) => vec![expr],
        Op::Assign(places, values, constraint) => {
            places.iter().filter_map(index_of).chain(values).chain(constraint).collect()
        }
        Op::Call(_, exprs, _) | Op::Return(exprs) | Op::Spawn(_, exprs) => exprs.iter().collect(),
        Op::Acquire(lock) | Op::Release(lock) => lock.element.iter().map(|(_, index)| index).collect(),
        Op::Skip
        | Op::Error
        | Op::NoResult
        | Op::Beyond
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Fork(_)
        | Op::Wait(_)
        | Op::Broadcast(_)
        | Op::Signal(_) => Vec::new(),
    }
}
