//! Steps that nobody can take, and assertions that hold.
//!
//! Where [`Values`] say that no thread can be at a location, its steps are left out; where they say that an assertion holds
//! whenever a thread is there, and that evaluating it does not go wrong, it is one no more. What remains does the same. But the
//! values are found by an analysis that no checker follows, so this is for programs of which only proofs are asked.

use crate::irrelevant::can_fail;
use crate::values::Values;
use allways_model::program::{LocationId, Op, Program};

/// Leaves out what cannot happen; says whether there was anything.
pub fn forget(program: &mut Program) -> bool {
    if !program.never.is_empty() || !program.hints.is_empty() {
        return false;
    }
    let Some(values) = Values::of(program) else { return false };
    let mut holding = Vec::new();
    let mut deserted = Vec::new();
    for (number, location) in program.locations.iter().enumerate() {
        let here = LocationId(number);
        if !values.is_reached(here) {
            deserted.push(here);
            continue;
        }
        for (index, edge) in location.edges.iter().enumerate() {
            if let Op::Assert(expr) = &edge.op
                && !can_fail(expr)
                && values.is_within(here, expr, (1, 1))
            {
                holding.push((here, index));
            }
        }
    }
    let some = !holding.is_empty() || deserted.iter().any(|&here| !program.locations[here].edges.is_empty());
    drop(values);
    for (location, edge) in holding {
        program.locations[location].edges[edge].op = Op::Skip;
    }
    for location in deserted {
        program.locations[location].edges.clear();
    }
    some
}
