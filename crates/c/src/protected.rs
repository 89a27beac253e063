//! What locks protect: shared variables that are accessed only by who holds a lock.
//!
//! Locks, and who holds them where, are those of [`Values`]. A lock *protects* a slot if, while `main` is not alone, every thread that is
//! about to access the slot holds the lock. A lock also protects itself, that is the slot that says whether it is taken, if every step
//! that accesses this slot is one of who holds it, or can only be taken while nobody does.
//!
//! Invariant: while a thread holds a lock, no other thread takes a step that accesses a slot which that lock protects. For the other one would
//! hold it, too, or would need it to be free.

use crate::concurrent::Concurrent;
use crate::values::Values;
use allways_model::program::{LocationId, Op, Program, Slot};
use std::collections::BTreeSet;

/// Which locks protect which slots, and where they are held.
pub struct Protected {
    /// The locks that protect each shared slot; nothing if nobody accesses it while `main` is not alone.
    by: Vec<Option<BTreeSet<Slot>>>,
    /// The locks that are held at each location; nothing if no thread comes there.
    held: Vec<Option<BTreeSet<Slot>>>,
}

impl Protected {
    /// What is known of a program; nothing if it is too large.
    pub fn of(program: &Program) -> Option<Protected> {
        let values = Values::of(program)?;
        let concurrent = Concurrent::of(program);
        let held: Vec<Option<BTreeSet<Slot>>> =
            LocationId::all(&program.locations).map(|location| values.locks(location)).collect();
        let mut by: Vec<Option<BTreeSet<Slot>>> = vec![None; program.shared_slots()];
        for (location, here) in LocationId::each(&program.locations) {
            let Some(locks) = held[location.index()].as_ref().filter(|_| !concurrent.is_alone(location))
            else {
                continue;
            };
            for edge in &here.edges {
                edge.op.shared_accesses(&mut |first, length, _| {
                    for (slot, known) in by.iter_mut().enumerate().skip(first).take(length) {
                        let mut locks = locks.clone();
                        if values.needs_free(location, &edge.op, slot) {
                            locks.insert(slot);
                        }
                        *known = Some(match known.as_ref() {
                            Some(known) => known & &locks,
                            None => locks,
                        });
                    }
                });
            }
        }
        Some(Protected { by, held })
    }

    /// Whether nobody else accesses what a step accesses while a thread is at a location and about to take it.
    pub fn covers(&self, location: LocationId, op: &Op) -> bool {
        let Some(held) = &self.held[location.index()] else { return true };
        let mut covered = true;
        op.shared_accesses(&mut |first, length, _| {
            let is_covered = |by: &Option<BTreeSet<Slot>>| by.as_ref().is_none_or(|by| !by.is_disjoint(held));
            covered &= self.by[first..first + length].iter().all(is_covered);
        });
        covered
    }
}
