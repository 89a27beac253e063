//! Which locks are held where objects are accessed, and by whom: what proves most programs free of races, whatever their data is.
//!
//! This is what lockset analyses look at (Savage et al., *Eraser*, TOCS 1997), as a program of which others make proofs. In it, an
//! access to a part of an object is one to all of the object, and happens whatever values say. *Objects* are the finest sets of
//! slots such that no access is to slots of two of them; they are watched as `races` does it with slots. Left out are
//! accesses to what has not escaped: those of `main` before others are created and after they have been joined, and to what
//! nobody else writes meanwhile (`concurrent.rs`). What is left to be kept are the variables of the thread library, and those
//! that say whether a lock was taken (`slice.rs`).
//!
//! Invariant: if two threads of the program race, the result goes wrong. It may go wrong where they do not.

use crate::concurrent::Concurrent;
use crate::lower::Lowered;
use crate::races::{Access, accesses, watch_accesses};
use crate::slots::Kind;
use allways_model::program::{Expr, LocationId, Program, Slot};
use std::collections::HashSet;
use std::ops::Range;

/// What is watched in a program that does not tell the parts of an object apart.
const WATCHED_OBJECT: &str = "#watched object";

/// The program that watches objects, and the names of the shared variables of the thread library in it; nothing if it is not
/// known which accesses are atomic.
pub fn watch(lowered: &Lowered) -> Option<(Program, HashSet<String>)> {
    let (program, cells) = (&lowered.program, &lowered.cells);
    let mut accesses = accesses(lowered)?;
    let concurrent = Concurrent::of(program);
    let locations = memory_locations(cells);
    for (number, here) in accesses.iter_mut().enumerate() {
        let (at, procedure) = (LocationId(number), program.locations[number].procedure);
        here.retain(|access| {
            let mut slots = access.slots().map(|slot| locations[cells[slot].1].clone());
            slots.any(|slots| concurrent.meets(procedure, at, slots, access.writes))
        });
    }
    let mut objects = Objects((0..cells.len()).collect());
    for access in accesses.iter().flatten() {
        for slot in access.slots() {
            objects.unify(access.first, slot);
            objects.unify(access.first, cells[slot].1);
        }
    }
    let mut written_atomically = vec![false; cells.len()];
    for here in &mut accesses {
        let mut whole: Vec<Access> = Vec::new();
        for access in here.drain(..) {
            let first = objects.find(access.first);
            let is = |kind| access.slots().any(|slot| cells[slot].0 == kind);
            let may_be_atomic = access.atomic || is(Kind::Atomic);
            written_atomically[first] |= access.writes && may_be_atomic;
            for atomic in [false, true] {
                let may_be = if atomic { may_be_atomic } else { !access.atomic && is(Kind::Plain) };
                let (index, condition) = (Expr::Constant(0), Vec::new());
                let of_object = Access { first, length: 1, index, atomic, condition, ..access };
                if may_be && !whole.contains(&of_object) {
                    whole.push(of_object);
                }
            }
        }
        *here = whole;
    }
    let of_library = |slots: Range<Slot>| cells[slots].iter().any(|(kind, _)| *kind == Kind::Library);
    let library =
        program.shared.iter().filter(|variable| of_library(variable.slot..variable.slot + variable.slots()));
    let library = library.map(|variable| variable.name.clone()).collect();
    let whole = (0..cells.len()).map(|slot| (Kind::Plain, slot)).collect();
    let mut watching = program.clone();
    watch_accesses(&mut watching, WATCHED_OBJECT, whole, written_atomically, &accesses);
    Some((watching, library))
}

/// The slots of the memory location for which a slot stands.
fn memory_locations(cells: &[(Kind, Slot)]) -> Vec<Range<Slot>> {
    let mut locations: Vec<Range<Slot>> = (0..cells.len()).map(|slot| slot..slot + 1).collect();
    for (slot, &(_, stands)) in cells.iter().enumerate() {
        locations[stands].end = locations[stands].end.max(slot + 1);
    }
    locations
}

/// Sets of slots, each with the least slot of those that it was made of.
struct Objects(Vec<Slot>);

impl Objects {
    fn find(&mut self, mut slot: Slot) -> Slot {
        while self.0[slot] != slot {
            self.0[slot] = self.0[self.0[slot]];
            slot = self.0[slot];
        }
        slot
    }

    fn unify(&mut self, one: Slot, other: Slot) {
        let (one, other) = (self.find(one), self.find(other));
        self.0[one.max(other)] = one.min(other);
    }
}
