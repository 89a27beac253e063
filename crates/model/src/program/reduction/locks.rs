//! Whether only the holder of a lock releases it.
//!
//! For each location, which locks does a thread hold for certain whenever its control is there? It holds a lock after it
//! has acquired it and until it releases it, or calls a procedure that may. At the start of a procedure or of a forked
//! thread nothing is known to be held. What is held is what is held on all ways to the location.
//!
//! If at each release the lock is held for certain, then no release goes wrong, ever. By induction over the steps of a
//! run, a lock that a thread holds for certain, at the location of any of its frames (for a frame that waits for a call
//! to return: less what the callee may release), has that thread's number in it. Take any step. Other threads' locks with
//! a number in them are not acquired, since they are not free; and a release is of a lock that the releasing thread holds
//! for certain, which by the induction hypothesis has its number in it, so it is nobody else's: what other threads hold
//! for certain stays theirs. The stepping thread itself gains a lock by acquiring it, and then its number is in it; it
//! loses one by releasing it, and that is taken into account at its location, and in all frames below as something that
//! the callee may release. Nothing else writes a lock: that is checked, and so is that nothing reads one, since the value
//! is no longer a number of a thread when nobody needs to know who holds a lock.

use super::super::{Expr, LockPlace, Op, Place, Program, Slot};
use super::flow::{Forward, goes_on};
use super::{expressions, index_of, lock_slots, written};
use std::ops::Range;

/// The locks that are held for certain at each location, if anything leads there. `None` if a lock is more than that: then
/// nothing is known.
pub(super) fn held_for_certain(program: &Program) -> Option<Vec<Option<Vec<bool>>>> {
    let locks = lock_slots(program);
    let releases = releases(program, &locks)?;
    (!touched_otherwise(program, &locks)).then(|| held(program, &releases))
}

/// Whether every release is by the thread that holds the lock.
pub(super) fn are_safe(program: &Program) -> bool {
    let Some(held) = held_for_certain(program) else { return false };
    program.locations.iter().zip(&held).all(|(location, held)| {
        location.edges.iter().all(|edge| match &edge.op {
            Op::Release(lock) => held.as_ref().is_none_or(|held| held[lock.slot]),
            _ => true,
        })
    })
}

/// The locks that each procedure may release, itself or by what it calls. `None` if it is not known what is released, or
/// if what is acquired or released is no lock.
fn releases(program: &Program, locks: &[bool]) -> Option<Vec<Vec<bool>>> {
    let mut releases = vec![vec![false; locks.len()]; program.procedures.len()];
    let mut calls = Vec::new();
    for location in &program.locations {
        for edge in &location.edges {
            match &edge.op {
                Op::Release(LockPlace { slot, element: None, .. }) if locks[*slot] => {
                    releases[location.procedure.index()][*slot] = true;
                }
                Op::Release(_) => return None,
                Op::Acquire(lock) => {
                    let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
                    if locks[lock.slot..lock.slot + length].contains(&false) {
                        return None;
                    }
                }
                Op::Call(callee, ..) => calls.push((location.procedure, *callee)),
                _ => {}
            }
        }
    }
    loop {
        let before = releases.clone();
        for &(caller, callee) in &calls {
            let more = releases[callee.index()].clone();
            releases[caller.index()].iter_mut().zip(more).for_each(|(released, more)| *released |= more);
        }
        if releases == before {
            return Some(releases);
        }
    }
}

/// Whether a lock is read or written like another variable.
fn touched_otherwise(program: &Program, locks: &[bool]) -> bool {
    let any = |slots: Range<Slot>| locks[slots].contains(&true);
    let reads = |expr: &Expr| {
        let mut found = false;
        expr.visit(&mut |part| {
            found |= match part {
                Expr::Shared(slot) | Expr::NextShared(slot) => locks[*slot],
                Expr::SharedElement(slot, length, ..) => any(*slot..slot + length),
                _ => false,
            }
        });
        found
    };
    let mut ops = program.locations.iter().flat_map(|location| &location.edges).map(|edge| &edge.op);
    program.never.iter().any(|never| reads(&never.expr))
        || ops.any(|op| {
            let places: &[Place] =
                if let Op::Assign(places, ..) | Op::Call(_, _, places) = op { places } else { &[] };
            expressions(op).into_iter().chain(places.iter().filter_map(index_of)).any(reads)
                || places.iter().filter_map(written).any(|(shared, slots)| shared && any(slots))
        })
}

/// The locks that are held for certain at each location, if anything leads there.
fn held(program: &Program, releases: &[Vec<bool>]) -> Vec<Option<Vec<bool>>> {
    let nothing = vec![false; program.shared_slots()];
    let mut held = Forward::new(program.locations.len(), |a: bool, b| a && b);
    for procedure in &program.procedures {
        held.come(procedure.entry, &nothing);
    }
    while let Some((location, here)) = held.next() {
        for edge in program.locations[location].edges.iter().filter(|edge| goes_on(&edge.op)) {
            let mut now = here.clone();
            match &edge.op {
                Op::Acquire(LockPlace { slot, element: None, .. }) => now[*slot] = true,
                Op::Release(lock) => now[lock.slot] = false,
                Op::Call(callee, ..) => {
                    now.iter_mut()
                        .zip(&releases[callee.index()])
                        .for_each(|(now, released)| *now &= !released);
                }
                Op::Fork(forked) => held.come(*forked, &nothing),
                _ => {}
            }
            held.come(edge.to, &now);
        }
    }
    held.finish()
}
