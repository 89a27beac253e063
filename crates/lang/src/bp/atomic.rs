//! What cannot be part of an atomic section.
//!
//! A section is one step of one thread, so it cannot wait or wake others; and since it is found by trying everything
//! inside, it must be finite, so no recursion. A section ends with the procedure that began it; what it calls is inside
//! altogether.

use crate::cursor::range;
use crate::diagnostic::{Diagnostics, Severity};
use allways_model::program::{LocationId, Op, ProcedureId, Program};
use std::collections::HashSet;

/// Reports what is inside atomic sections and must not be.
pub(super) fn check(program: &Program, meetings: &HashSet<LocationId>, diagnostics: &mut Diagnostics) {
    let recursive = recursive(program);
    for location in inside(program) {
        for (index, edge) in program.locations[location].edges.iter().enumerate() {
            let what = match &edge.op {
                _ if index == 0 && meetings.contains(&location) => "`sync`",
                Op::Wait(_) => "`wait`",
                Op::Broadcast(_) => "`broadcast`",
                Op::Signal(_) => "`signal`",
                Op::Fork(_) | Op::Spawn(..) => "the start of a thread",
                Op::Call(callee, ..) if recursive[callee.index()] => "a recursive call",
                _ => continue,
            };
            let words = || {
                let help = "`atomic_begin` leads here without an `atomic_end` in between".to_string();
                (format!("expected the end of the atomic section before {what}"), Some(help))
            };
            diagnostics.add(Severity::Error, range(edge.span), words);
        }
    }
}

/// The locations that a thread can be at inside an atomic section, in order.
fn inside(program: &Program) -> Vec<LocationId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        /// In the procedure that began the section.
        Here,
        /// In a procedure that it calls, where the section cannot end.
        Below,
    }
    let mut seen = vec![Seen::No; program.locations.len()];
    let mut todo = Vec::new();
    for location in &program.locations {
        let begins = location.edges.iter().filter(|edge| edge.op == Op::AtomicBegin);
        todo.extend(begins.map(|edge| (edge.to, Seen::Here)));
    }
    while let Some((location, how)) = todo.pop() {
        if seen[location.index()] == Seen::Below || seen[location.index()] == how {
            continue;
        }
        seen[location.index()] = how;
        for edge in &program.locations[location].edges {
            match &edge.op {
                Op::AtomicEnd if how == Seen::Here => continue,
                Op::Call(callee, ..) => todo.push((program.procedures[*callee].entry, Seen::Below)),
                _ => {}
            }
            todo.push((edge.to, how));
        }
    }
    LocationId::all(&program.locations).filter(|location| seen[location.index()] != Seen::No).collect()
}

/// For each procedure, whether a call of it may come to call itself or another that does.
fn recursive(program: &Program) -> Vec<bool> {
    let mut callers: Vec<Vec<ProcedureId>> = vec![Vec::new(); program.procedures.len()];
    let mut calls = vec![0; program.procedures.len()];
    for location in &program.locations {
        for edge in &location.edges {
            if let Op::Call(callee, ..) = edge.op {
                callers[callee.index()].push(location.procedure);
                calls[location.procedure.index()] += 1;
            }
        }
    }
    // Whoever calls only what is known to end is known to end.
    let mut ending: Vec<ProcedureId> =
        ProcedureId::all(&program.procedures).filter(|procedure| calls[procedure.index()] == 0).collect();
    let mut recursive = vec![true; calls.len()];
    while let Some(callee) = ending.pop() {
        recursive[callee.index()] = false;
        for &caller in &callers[callee.index()] {
            calls[caller.index()] -= 1;
            if calls[caller.index()] == 0 {
                ending.push(caller);
            }
        }
    }
    recursive
}
