//! Where control can go within a procedure, and what is known along the way.

use super::super::{Expr, LocationId, Op};

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
pub(super) struct Forward<T> {
    /// For each location, once something has led there.
    at: Vec<Option<Vec<T>>>,
    /// The locations from which it has not been followed yet.
    todo: Vec<LocationId>,
    /// What is known if one or the other is the case.
    join: fn(T, T) -> T,
}

impl<T: Copy + PartialEq> Forward<T> {
    /// Nothing leads anywhere.
    pub(super) fn new(locations: usize, join: fn(T, T) -> T) -> Forward<T> {
        Forward { at: vec![None; locations], todo: Vec::new(), join }
    }

    /// Something leads to a location, and this is known then.
    pub(super) fn come(&mut self, to: LocationId, known: &[T]) {
        let joined: Vec<T> = match &self.at[to.index()] {
            None => known.to_vec(),
            Some(before) => before.iter().zip(known).map(|(&a, &b)| (self.join)(a, b)).collect(),
        };
        if self.at[to.index()].as_ref() != Some(&joined) {
            self.at[to.index()] = Some(joined);
            self.todo.push(to);
        }
    }

    /// A location from which what is known is to be followed.
    pub(super) fn next(&mut self) -> Option<(LocationId, Vec<T>)> {
        let location = self.todo.pop()?;
        Some((location, self.at[location.index()].clone()?))
    }

    /// What is known at each location that something leads to.
    pub(super) fn finish(self) -> Vec<Option<Vec<T>>> {
        self.at
    }
}
