//! Where control can go within a procedure, and what is known along the way.

use super::super::{Expr, LocationId, Op};
use std::collections::BTreeSet;

/// Whether a thread can get beyond an edge by this step. One that waits is led on by others.
pub(super) fn goes_on(op: &Op) -> bool {
    match op {
        Op::Guard(Expr::Constant(value), expected) => (*value != 0) == *expected,
        Op::Assert(Expr::Constant(value)) => *value != 0,
        Op::Assign(_, _, Some(Expr::Constant(0))) | Op::Error | Op::NoResult | Op::Beyond | Op::Return(_) => {
            false
        }
        _ => true,
    }
}

/// What is known at each location, slot by slot: what is known on all ways that lead there.
pub(super) struct Forward<T, J> {
    /// For each location, once something has led there.
    at: Vec<Option<Vec<T>>>,
    /// The locations from which it has not been followed yet, the first of the program first: most ways lead onwards, so
    /// that what comes together at a location is followed from there once.
    todo: BTreeSet<LocationId>,
    /// What is known if one or the other is the case.
    join: J,
}

impl<T: Copy + PartialEq, J: Fn(T, T) -> T> Forward<T, J> {
    /// Nothing leads anywhere.
    pub(super) fn new(locations: usize, join: J) -> Forward<T, J> {
        Forward { at: vec![None; locations], todo: BTreeSet::new(), join }
    }

    /// Something leads to a location, and this is known then.
    pub(super) fn come(&mut self, to: LocationId, known: &[T]) {
        let changed = match &mut self.at[to.index()] {
            Some(before) => {
                let mut changed = false;
                for (before, &now) in before.iter_mut().zip(known) {
                    let joined = (self.join)(*before, now);
                    changed |= joined != *before;
                    *before = joined;
                }
                changed
            }
            none => {
                *none = Some(known.to_vec());
                true
            }
        };
        if changed {
            self.todo.insert(to);
        }
    }

    /// A location from which what is known is to be followed.
    pub(super) fn next(&mut self) -> Option<(LocationId, Vec<T>)> {
        let location = self.todo.pop_first()?;
        Some((location, self.at[location.index()].clone()?))
    }

    /// What is known at each location that something leads to.
    pub(super) fn finish(self) -> Vec<Option<Vec<T>>> {
        self.at
    }
}
