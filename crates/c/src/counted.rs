//! Numbers of threads that a loop creates, as variables.
//!
//! Threads that are created later are, for [views](allways_evidence::views), any number of threads that are there from the start. That
//! a counter is at most `n`, where each of `n` threads adds one, takes more. So two variables count the steps that create threads of
//! a template, and its threads that have begun; and a thread begins when fewer have begun than were created. That is always so: the
//! runs are those of the program.
//!
//! The counters have the non-negative values of an `int`, and a run that creates more threads goes wrong, so nobody has to believe
//! that the loops of the program end in time; a proof shows it. In the same way, what a step adds to or takes from a signed variable is added or taken
//! without wrapping around: a result that does not fit goes wrong. Where numbers of threads are known, bounds on such variables mostly
//! follow from them.
//!
//! Invariant: a run of the program is one of the result, or of the result there is a run that goes wrong. So this is for programs of
//! which only proofs are asked.

use crate::bounds::range_of;
use crate::concurrent::Concurrent;
use allways_model::program::{
    Binary, Count, Edge, Expr, Location, LocationId, Op, Place, Program, Slot, Span, Target, TemplateId,
    Type, Unary, Value, Variable,
};
use std::collections::HashSet;

/// What the counters of creations are called; the name of the template follows.
const CREATED: &str = "#created ";

/// What the counters of threads that have begun are called.
const BEGUN: &str = "#begun ";

/// The most threads of a template that are counted.
const MOST: Value = i32::MAX as Value;

/// Counts the threads that loops with counters create; says whether there are any.
pub fn count(program: &mut Program) -> bool {
    let counted: Vec<TemplateId> =
        TemplateId::all(&program.templates).filter(|&template| is_counted(program, template)).collect();
    counted.iter().for_each(|&template| count_threads(program, template));
    if !counted.is_empty() {
        start_with_what_main_stores(program);
        add_exactly(program);
    }
    !counted.is_empty()
}

/// Whether a program counts threads.
pub fn counts(program: &Program) -> bool {
    program.shared.iter().any(|variable| variable.name.starts_with(BEGUN))
}

/// Whether all steps that start threads of a template are in loops that count.
fn is_counted(program: &Program, template: TemplateId) -> bool {
    let wanted = &program.templates[template];
    if !wanted.spawned || wanted.count != Count::Fixed(0) {
        return false;
    }
    let starts = |location: &LocationId| {
        let edges = &program.locations[*location].edges;
        edges.iter().any(|edge| matches!(edge.op, Op::Spawn(spawned, _) if spawned == template))
    };
    let mut all = LocationId::all(&program.locations).filter(starts).peekable();
    all.peek().is_some() && all.all(|location| loop_counts(program, location))
}

/// Whether a location is in a loop that adds a constant to some variable in each round, as far as one can see, and that ends.
fn loop_counts(program: &Program, location: LocationId) -> bool {
    let next = |from: LocationId| program.locations[from].edges.iter().map(|edge| edge.to);
    let reachable = |start: Vec<LocationId>| {
        let mut seen: HashSet<LocationId> = start.iter().copied().collect();
        let mut todo = start;
        while let Some(here) = todo.pop() {
            todo.extend(next(here).filter(|&to| seen.insert(to)));
        }
        seen
    };
    let after = reachable(next(location).collect());
    let inside = |&here: &LocationId| after.contains(&here) && reachable(vec![here]).contains(&location);
    let body: HashSet<LocationId> = after.iter().copied().filter(inside).collect();
    let edges = || body.iter().flat_map(|&here| &program.locations[here].edges);
    let ends = edges().any(|edge| matches!(edge.op, Op::Guard(..)) && !body.contains(&edge.to));
    ends && edges().any(|edge| {
        matches!(&edge.op, Op::Assign(places, values, None)
        if places.iter().zip(values).any(|(place, value)| adds(place, value)))
    })
}

/// Whether a value is that of the place, a constant more or less.
fn adds(place: &Place, value: &Expr) -> bool {
    let value = if let Expr::Unary(Unary::Wrap(_), value) = value { value } else { value };
    let Expr::Binary(Binary::Plus | Binary::Minus, left, right, _) = value else { return false };
    let own = match place.target {
        Target::Shared(slot) => Expr::Shared(slot),
        Target::Local(slot) => Expr::Local(slot),
        _ => return false,
    };
    **left == own && matches!(**right, Expr::Constant(_))
}

/// Adds the counters of a template, and has its threads wait for their turn.
fn count_threads(program: &mut Program, template: TemplateId) {
    let (name, body) = (program.templates[template].name.clone(), program.templates[template].body);
    let span = program.templates[template].span;
    let created = declare(program, format!("{CREATED}{name}"), MOST, span);
    // One more, so that what a thread would store always is a value, whether or not it may begin.
    let begun = declare(program, format!("{BEGUN}{name}"), MOST + 1, span);
    for location in 0..program.locations.len() {
        for edge in 0..program.locations[LocationId(location)].edges.len() {
            let here = &program.locations[LocationId(location)];
            let (procedure, old) = (here.procedure, here.edges[edge].clone());
            if matches!(old.op, Op::Spawn(spawned, _) if spawned == template) {
                let start = LocationId(program.locations.len());
                let op = one_more((created, MOST), None, old.span);
                let span = old.span;
                program.locations.push(Location { procedure, edges: vec![old], span });
                program.locations[LocationId(location)].edges[edge] = Edge { op, to: start, span };
            }
        }
    }
    let entry = program.procedures[body].entry;
    let fewer = Expr::Binary(
        Binary::LessEqual,
        Box::new(Expr::NextShared(begun)),
        Box::new(Expr::Shared(created)),
        span,
    );
    let edges = vec![Edge { op: one_more((begun, MOST + 1), Some(fewer), span), to: entry, span }];
    program.procedures[body].entry = LocationId(program.locations.len());
    program.locations.push(Location { procedure: body, edges, span });
}

/// Declares a counter of the program.
fn declare(program: &mut Program, name: String, most: Value, span: Span) -> Slot {
    let slot = program.shared_slots();
    program.shared.push(Variable::counter(name, most, slot, span));
    slot
}

/// A step that adds one to a counter.
fn one_more((slot, most): (Slot, Value), constraint: Option<Expr>, span: Span) -> Op {
    let place = Place { target: Target::Shared(slot), ty: Type::Range(0, most), span };
    let value = Expr::Binary(Binary::Plus, Box::new(Expr::Shared(slot)), Box::new(Expr::Constant(1)), span);
    Op::Assign(vec![place], vec![value], constraint)
}

/// Has variables start with the constants that `main` stores in them while it is alone, on the one way from its entry, before
/// anything reads them or writes something else: so a counter is seen to change by its own steps only.
fn start_with_what_main_stores(program: &mut Program) {
    let Some(main) = program.templates.iter().find(|template| template.name == "main") else { return };
    let concurrent = Concurrent::of(program);
    let mut here = program.procedures[main.body].entry;
    let mut ways_in = vec![0usize; program.locations.len()];
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        ways_in[edge.to.index()] += 1;
    }
    let mut used: HashSet<Slot> = HashSet::new();
    ways_in[here.index()] += 1;
    while concurrent.is_alone(here) && ways_in[here.index()] == 1 {
        let [edge] = &program.locations[here].edges[..] else { break };
        let to = edge.to;
        let stored = match (&edge.op, constant_stores(&edge.op)) {
            (_, Some(stored)) if stored.iter().all(|(slot, _)| !used.contains(slot)) => stored,
            (Op::Skip | Op::Assign(..) | Op::Guard(..) | Op::AtomicBegin | Op::AtomicEnd, _) => Vec::new(),
            _ => break,
        };
        let fits = |&(slot, value): &(Slot, Value)| {
            variable_of(program, slot).is_some_and(|variable| variable.ty.contains(value))
        };
        if !stored.is_empty() && stored.iter().all(fits) {
            for (slot, value) in stored {
                let of_slot = program.shared.partition_point(|variable| variable.slot <= slot) - 1;
                let variable = &mut program.shared[of_slot];
                variable.initial[slot - variable.slot] = Some(value);
            }
            program.locations[here].edges[0].op = Op::Skip;
        } else {
            program.locations[here].edges[0].op.shared_accesses(&mut |slot, length, _| {
                used.extend(slot..slot + length);
            });
        }
        here = to;
    }
}

fn variable_of(program: &Program, slot: Slot) -> Option<&Variable> {
    program.shared[..program.shared.partition_point(|variable| variable.slot <= slot)].last()
}

/// What a step stores, if it does nothing but store constants in shared variables.
fn constant_stores(op: &Op) -> Option<Vec<(Slot, Value)>> {
    let Op::Assign(places, values, None) = op else { return None };
    let each = places.iter().zip(values).map(|(place, value)| match (&place.target, value) {
        (Target::Shared(slot), Expr::Constant(value)) if place.ty.contains(*value) => Some((*slot, *value)),
        _ => None,
    });
    each.collect()
}

/// Adds to signed variables, and takes from them, without wrapping around.
fn add_exactly(program: &mut Program) {
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        let Op::Assign(places, values, None) = &mut edge.op else { continue };
        for (place, value) in places.iter().zip(values) {
            let Expr::Unary(Unary::Wrap(machine), sum) = value else { continue };
            let (low, high) = machine.bounds();
            let (least, most) = range_of(place.ty);
            let is_sum = matches!(&**sum, Expr::Binary(Binary::Plus | Binary::Minus, left, right, _)
                if matches!(**left, Expr::Shared(_) | Expr::Local(_)) && matches!(**right, Expr::Constant(_)));
            if machine.signed && is_sum && low <= least && most <= high {
                *value = std::mem::replace(&mut **sum, Expr::Constant(0));
            }
        }
    }
}
