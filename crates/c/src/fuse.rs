//! Joins steps that no other thread can see with the step before them.
//!
//! A step is *visible* if it reads or writes a shared slot that another thread may access at the same time, at least one of
//! them writing (`concurrent.rs`), or if it spawns a thread. All other steps commute with the steps of other threads that
//! may come right before them: they neither read what these write nor write what these access, and they do not wait for
//! others. (A step that may have to wait, for whatever reason, is no such step: it would keep the one before it from
//! being taken.) So a visible step followed by invisible ones is as good as atomic (Lipton, *Reduction*, CACM 1975): in every
//! run the invisible ones can be moved forward to the visible one, and what goes wrong in one of them goes wrong there. A step
//! that allows a waiting thread to start is moved in the same way: what it is moved over is not of that thread. A thread can be
//! interrupted before every visible step and at the heads of loops (so that no section runs for ever), and nowhere else.
//!
//! In a program of which only proofs are asked, a step is invisible, too, if locks protect whatever it accesses (`protected.rs`): nobody
//! accesses that between two steps of who holds the lock. So what a thread does from the step in which it takes a lock to the one in
//! which it gives it back is one step, where nothing else is accessed meanwhile.
//!
//! The result has atomic sections where the program had none; sections of the program itself grow by what follows them.

use crate::concurrent::{Concurrent, locations_of};
use crate::protected::Protected;
use allways_model::program::{
    Binary, Count, Edge, Expr, Location, LocationId, Op, ProcedureId, Program, Slot, TemplateId, Unary,
};
use std::collections::HashSet;

/// A section is interrupted before a choice that would lead to more ways through it.
const MOST_WAYS: u64 = 64;

/// Which threads access a shared slot.
#[derive(Clone, Default)]
struct Access {
    /// The template of the first thread seen; more than one thread if `many`.
    who: Option<usize>,
    many: bool,
    written: bool,
}

/// Joins invisible steps with the visible ones before them. In traces people look for where `main` creates threads, joins them
/// and sees what they have done; so its steps that would be visible if all threads always lived are not joined.
pub fn fuse(program: &mut Program) {
    let visible = visible_slots(program);
    let main = program.templates.iter().find(|template| template.name == "main").map(|main| main.body);
    join(program, None, &|here, op| {
        let mut sees = false;
        op.shared_accesses(&mut |slot, length, _| sees |= visible[slot..slot + length].contains(&true));
        sees && Some(here) == main
    });
}

/// The same in a program of which only proofs are asked.
pub fn fuse_for_proofs(program: &mut Program) {
    let protected = Protected::of(program);
    join(program, protected.as_ref(), &|_, _| false);
}

/// Joins invisible steps of procedures with the visible ones before them, unless they are to be shown.
fn join(program: &mut Program, protected: Option<&Protected>, shown: &dyn Fn(ProcedureId, &Op) -> bool) {
    let concurrent = Concurrent::of(program);
    let inside = inside_sections(program);
    let Some(inside) = inside else { return };
    let heads = loop_heads(program);
    let count = program.locations.len();
    let cut: Vec<bool> = (0..count)
        .map(|location| {
            let here = &program.locations[location];
            let number = LocationId(location);
            // To stop before a choice where there is nobody else costs nothing, and keeps sections small.
            let alone = concurrent.is_alone(number);
            let stops = here.edges.iter().any(|edge| {
                let is_protected = protected.is_some_and(|protected| protected.covers(number, &edge.op));
                !is_protected && concurrent.sees(here.procedure, number, &edge.op)
                    || shown(here.procedure, &edge.op)
                    || alone && edge.op.ways() > 1
                    || matches!(
                        edge.op,
                        Op::AtomicBegin
                            | Op::Call(..)
                            | Op::Return(_)
                            | Op::Wait(_)
                            | Op::Broadcast(_)
                            | Op::Signal(_)
                            | Op::Fork(_)
                            | Op::Spawn(..)
                    )
            });
            !inside[location]
                && (stops || may_wait(&here.edges) || heads.contains(&number) || here.edges.is_empty())
        })
        .collect();
    let mut cut = cut;
    for procedure in &program.procedures {
        cut[procedure.entry.index()] = true;
    }
    // After a call or the start of a thread, a section cannot go on.
    for location in &program.locations {
        for edge in &location.edges {
            if matches!(edge.op, Op::Call(..) | Op::Spawn(..)) {
                cut[edge.to.index()] = true;
            }
        }
    }
    cut_many_ways(program, &inside, &mut cut);
    let mut leave: Vec<Option<LocationId>> = vec![None; count];
    for location in 0..count {
        let here = &program.locations[location];
        // These are no part of a section.
        let calls =
            here.edges.iter().any(|edge| matches!(edge.op, Op::Call(..) | Op::Return(_) | Op::Spawn(..)));
        let begins = here.edges.iter().any(|edge| matches!(edge.op, Op::AtomicBegin));
        if !cut[location] || calls || !begins && here.edges.iter().all(|edge| cut[edge.to.index()]) {
            continue;
        }
        // The section: the same edges, from a copy of this location.
        let (procedure, span) = (here.procedure, here.span);
        let edges = std::mem::take(&mut program.locations[location].edges);
        let copy = LocationId(program.locations.len());
        program.locations.push(Location { procedure, edges, span });
        program.locations[location].edges = vec![Edge { op: Op::AtomicBegin, to: copy, span }];
        close(program, copy, &cut, &mut leave);
    }
    // What is not the start of a section is inside of one.
    for location in 0..count {
        if !cut[location] {
            close(program, LocationId(location), &cut, &mut leave);
        }
    }
    forget_unreachable(program);
}

/// Interrupts sections before a choice where choices have led to many ways already: each is followed to the end of a step, and
/// those that lead to the same state are only then known to.
fn cut_many_ways(program: &Program, inside: &[bool], cut: &mut [bool]) {
    let mut ways = vec![0u64; cut.len()];
    let mut todo: Vec<(LocationId, u64)> = LocationId::each(&program.locations)
        .filter(|(location, _)| cut[location.index()])
        .map(|(location, _)| (location, 1))
        .collect();
    while let Some((location, before)) = todo.pop() {
        let here = location.index();
        let edges = &program.locations[location].edges;
        let choices = edges.iter().map(|edge| edge.op.ways()).max().unwrap_or(1);
        if before > 1 && choices > 1 && before.saturating_mul(choices) > MOST_WAYS && !inside[here] {
            cut[here] = true;
        }
        let before = if cut[here] { 1 } else { before };
        if ways[here] >= before {
            continue;
        }
        ways[here] = before;
        for edge in edges {
            todo.push((edge.to, before.saturating_mul(edge.op.ways()).min(MOST_WAYS + 1)));
        }
    }
}

/// Whether a thread may be stuck at a location with these edges.
pub(crate) fn may_wait(edges: &[Edge]) -> bool {
    let mut conditions: Vec<(&Expr, bool)> = Vec::new();
    for edge in edges {
        match &edge.op {
            Op::Guard(expr, expected) => conditions.push((expr, *expected)),
            Op::Assign(_, _, Some(_)) | Op::Acquire(_) | Op::Wait(_) => {}
            // Can always be taken.
            _ => return false,
        }
    }
    // One of them holds: both ways of a condition, or one that says that no other does.
    let both = |(expr, expected): &(&Expr, bool)| conditions.contains(&(*expr, !*expected));
    let rest = |(expr, expected): &(&Expr, bool)| {
        let mut none = Vec::new();
        conjuncts(expr, &mut none);
        let others = conditions.iter().filter(|(other, _)| other != expr);
        let denied = |(other, holds): &(&Expr, bool)| {
            *holds
                && none
                    .iter()
                    .any(|part| matches!(part, Expr::Unary(Unary::Not, inner) if **inner == **other))
        };
        *expected && none.len() + 1 == conditions.len() && others.clone().all(denied)
    };
    !edges.is_empty() && !conditions.iter().any(|condition| both(condition) || rest(condition))
}

/// The parts of a conjunction.
fn conjuncts<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(Binary::And, left, right, _) => {
            conjuncts(left, parts);
            conjuncts(right, parts);
        }
        part => parts.push(part),
    }
}

/// Makes the edges of a location inside a section leave it where they lead to a place of interruption.
fn close(program: &mut Program, location: LocationId, cut: &[bool], leave: &mut [Option<LocationId>]) {
    for edge in 0..program.locations[location].edges.len() {
        let (to, op) = {
            let edge = &mut program.locations[location].edges[edge];
            // Sections of the program are part of the new one.
            if matches!(edge.op, Op::AtomicBegin | Op::AtomicEnd) {
                edge.op = Op::Skip;
            }
            (edge.to, edge.op.clone())
        };
        if to.index() >= cut.len() || !cut[to.index()] || matches!(op, Op::Error | Op::Beyond | Op::Return(_))
        {
            continue;
        }
        let end = match leave[to.index()] {
            Some(end) => end,
            None => {
                let (procedure, span) = (program.locations[to].procedure, program.locations[to].span);
                program.locations.push(Location {
                    procedure,
                    edges: vec![Edge { op: Op::AtomicEnd, to, span }],
                    span,
                });
                let end = LocationId(program.locations.len() - 1);
                leave[to.index()] = Some(end);
                end
            }
        };
        program.locations[location].edges[edge].to = end;
    }
}

/// The slots that more than one thread accesses, one of them writing.
pub fn visible_slots(program: &Program) -> Vec<bool> {
    visible_locations(program, |slot| slot)
}

/// The slots of which more than one thread accesses one, one of them writing, where a slot stands for several.
pub(crate) fn visible_locations(program: &Program, stands: impl Fn(Slot) -> Slot) -> Vec<bool> {
    let mut found = vec![Access::default(); program.shared_slots()];
    for (template, of) in program.templates.iter().enumerate() {
        let many = of.spawned || of.count != Count::Fixed(1);
        for location in locations_of(program, TemplateId(template)) {
            for edge in &program.locations[location].edges {
                edge.op.shared_accesses(&mut |slot, length, written| {
                    for slot in slot..slot + length {
                        let access = &mut found[stands(slot)];
                        access.many |= many || access.who.is_some_and(|who| who != template);
                        access.who = Some(template);
                        access.written |= written;
                    }
                });
            }
        }
    }
    found.into_iter().map(|access| access.many && access.written).collect()
}

/// Which locations are inside of atomic sections of the program. None if some are both inside and outside.
pub(crate) fn inside_sections(program: &Program) -> Option<Vec<bool>> {
    let mut inside: Vec<Option<bool>> = vec![None; program.locations.len()];
    let mut todo: Vec<(LocationId, bool)> =
        program.procedures.iter().map(|procedure| (procedure.entry, false)).collect();
    while let Some((location, within)) = todo.pop() {
        match inside[location.index()] {
            Some(before) if before == within => continue,
            Some(_) => return None,
            None => inside[location.index()] = Some(within),
        }
        for edge in &program.locations[location].edges {
            let after = match edge.op {
                Op::AtomicBegin => true,
                Op::AtomicEnd => false,
                // A procedure that is called inside of a section would be inside as well.
                Op::Call(..) if within => return None,
                _ => within,
            };
            if !matches!(edge.op, Op::Return(_) | Op::Error | Op::Beyond) {
                todo.push((edge.to, after));
            }
        }
    }
    Some(inside.into_iter().map(|inside| inside == Some(true)).collect())
}

/// The locations to which an edge leads back in a walk in depth.
fn loop_heads(program: &Program) -> HashSet<LocationId> {
    let mut heads = HashSet::new();
    let mut state = vec![0u8; program.locations.len()];
    for procedure in &program.procedures {
        let mut stack = vec![(procedure.entry, 0)];
        if state[procedure.entry.index()] != 0 {
            continue;
        }
        state[procedure.entry.index()] = 1;
        while let Some((location, next)) = stack.pop() {
            let edges = &program.locations[location].edges;
            let Some(edge) = edges.get(next) else {
                state[location.index()] = 2;
                continue;
            };
            stack.push((location, next + 1));
            if matches!(edge.op, Op::Return(_)) {
                continue;
            }
            match state[edge.to.index()] {
                0 => {
                    state[edge.to.index()] = 1;
                    stack.push((edge.to, 0));
                }
                1 => {
                    heads.insert(edge.to);
                }
                _ => {}
            }
        }
    }
    heads
}

/// Leaves out locations that cannot be reached, and steps that do nothing and lead on alone.
pub fn forget_unreachable(program: &mut Program) {
    let shortcut = |program: &Program, mut to: LocationId| {
        // A step that does nothing, from a location without any other.
        for _ in 0..program.locations.len() {
            match &program.locations[to].edges[..] {
                [Edge { op: Op::Skip, to: next, .. }] if *next != to => to = *next,
                _ => break,
            }
        }
        to
    };
    for location in 0..program.locations.len() {
        for edge in 0..program.locations[location].edges.len() {
            let to = program.locations[location].edges[edge].to;
            if !matches!(program.locations[location].edges[edge].op, Op::Return(_) | Op::Error | Op::Beyond) {
                program.locations[location].edges[edge].to = shortcut(program, to);
            }
        }
    }
    for procedure in 0..program.procedures.len() {
        let entry = program.procedures[procedure].entry;
        program.procedures[procedure].entry = shortcut(program, entry);
    }
    let mut number: Vec<Option<LocationId>> = vec![None; program.locations.len()];
    let mut order = Vec::new();
    let mut todo: Vec<LocationId> =
        program.procedures.iter().rev().map(|procedure| procedure.entry).collect();
    while let Some(location) = todo.pop() {
        if number[location.index()].is_some() {
            continue;
        }
        number[location.index()] = Some(LocationId(order.len()));
        order.push(location);
        todo.extend(program.locations[location].edges.iter().rev().map(|edge| edge.to));
    }
    let renumbered = |location: LocationId| number[location.index()].unwrap_or_default();
    let mut kept = Vec::with_capacity(order.len());
    for location in order {
        let mut location = program.locations[location].clone();
        location.edges.iter_mut().for_each(|edge| edge.to = renumbered(edge.to));
        kept.push(location);
    }
    for procedure in &mut program.procedures {
        procedure.entry = renumbered(procedure.entry);
    }
    program.locations = kept;
}
