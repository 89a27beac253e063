//! Data races by their definition, on the program as it is lowered, without joined steps: two threads of one reachable state
//! whose next steps access one memory location, one of them writing, not both atomically.

use allways_c::lower::Lowered;
use allways_c::slots::Kind;
use allways_model::program::expression::{Choices, Scope};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Binary, Expr, LocationId, Op, Program, Target};
use std::collections::{BTreeSet, HashSet};

/// An access.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Access {
    /// The slot that stands for the memory location.
    pub slot: usize,
    /// Whether it writes.
    pub writes: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Whether it is inside of an atomic section.
    pub section: bool,
    /// Whether it is one of the thread library, which takes part in no race.
    pub library: bool,
}

/// A program whose atomic sections are none.
pub fn without_sections(program: &Program) -> Program {
    let mut open = program.clone();
    for edge in open.locations.iter_mut().flat_map(|location| &mut location.edges) {
        if matches!(edge.op, Op::AtomicBegin | Op::AtomicEnd) {
            edge.op = Op::Skip;
        }
    }
    open
}

/// What is found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Found {
    Race,
    None,
    /// No race so far, and something that is not followed.
    Beyond,
}

/// Whether two threads race; nothing if there are more states than this.
pub fn races(lowered: &Lowered, most: usize) -> Option<Found> {
    let program = &lowered.program;
    let open = without_sections(program);
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut beyond = false;
    while let Some(state) = todo.pop() {
        let mut next: Vec<BTreeSet<Access>> =
            (0..state.threads.len()).map(|thread| accesses(lowered, &open, &state, thread)).collect();
        next.iter_mut().for_each(|next| next.retain(|access| !access.library));
        for (one, left) in next.iter().enumerate() {
            for right in &next[one + 1..] {
                let conflict = |a: &Access| {
                    right
                        .iter()
                        .any(|b| a.slot == b.slot && (a.writes || b.writes) && !(a.atomic && b.atomic))
                };
                if left.iter().any(conflict) {
                    return Some(Found::Race);
                }
            }
        }
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if seen.insert(next.clone()) => todo.push(next),
                    Outcome::To(_) => {}
                    Outcome::Wrong(_) => panic!("something else goes wrong"),
                    Outcome::Beyond(_) => beyond = true,
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(if beyond { Found::Beyond } else { Found::None })
}

/// What the next step of a thread may access; of an atomic section, everything in it.
pub fn accesses(lowered: &Lowered, open: &Program, state: &State, thread: usize) -> BTreeSet<Access> {
    let mut found = BTreeSet::new();
    let Some(top) = state.threads[thread].top() else { return found };
    let begins = |location: LocationId| {
        let edges = &lowered.program.locations[location].edges;
        matches!(edges.first(), Some(edge) if edge.op == Op::AtomicBegin)
    };
    if !begins(top.location) {
        step_accesses(lowered, state, thread, false, &mut found);
        return found;
    }
    let mut seen = HashSet::from([state.clone()]);
    let mut todo = vec![state.clone()];
    while let Some(inside) = todo.pop() {
        let Some(here) = inside.threads[thread].top() else { continue };
        step_accesses(lowered, &inside, thread, true, &mut found);
        let edges = &lowered.program.locations[here.location].edges;
        for step in steps(open, &inside, thread) {
            if let Outcome::To(next) = step.outcome
                && edges[step.edge].op != Op::AtomicEnd
                && seen.insert(next.clone())
            {
                todo.push(next);
            }
        }
    }
    found
}

fn step_accesses(
    lowered: &Lowered,
    state: &State,
    thread: usize,
    atomic: bool,
    found: &mut BTreeSet<Access>,
) {
    let Some(top) = state.threads[thread].top() else { return };
    let scope = Scope { shared: &state.shared, locals: &top.locals, this: 0, next: None, control: &[] };
    let special = lowered.special.get(&top.location);
    let mut see = |slot: usize, writes: bool, target: &Target| {
        let kind = match special {
            Some((place, kind)) if place == target => *kind,
            _ => lowered.cells[slot].0,
        };
        let library = kind == Kind::Library;
        let (slot, atomic, section) = (lowered.cells[slot].1, atomic || kind == Kind::Atomic, atomic);
        found.insert(Access { slot, writes, atomic, section, library });
    };
    for edge in &lowered.program.locations[top.location].edges {
        edge.op.expressions().for_each(|expr| reads(expr, &scope, &mut see));
        for place in edge.op.places() {
            match &place.target {
                Target::Shared(slot) => see(*slot, true, &place.target),
                Target::SharedElement(first, _, index) => {
                    if let Some(index) = value(index, &scope) {
                        see(first + index as usize, true, &place.target);
                    }
                }
                _ => {}
            }
        }
    }
}

fn value(expr: &Expr, scope: &Scope<'_>) -> Option<i64> {
    expr.value(scope, &mut Choices::default()).ok()
}

/// The shared slots that an expression reads in a state. (There are no choices in the programs here.)
fn reads(expr: &Expr, scope: &Scope<'_>, see: &mut dyn FnMut(usize, bool, &Target)) {
    match expr {
        Expr::Shared(slot) => see(*slot, false, &Target::Shared(*slot)),
        Expr::SharedElement(first, length, index, _) => {
            reads(index, scope, see);
            if let Some(at) = value(index, scope) {
                see(first + at as usize, false, &Target::SharedElement(*first, *length, (**index).clone()));
            }
        }
        Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => reads(part, scope, see),
        Expr::Binary(operator, left, right, _) => {
            reads(left, scope, see);
            let needed = match operator {
                Binary::And => value(left, scope) == Some(1),
                Binary::Or => value(left, scope) == Some(0),
                _ => true,
            };
            if needed {
                reads(right, scope, see);
            }
        }
        Expr::If(condition, then, other) => {
            reads(condition, scope, see);
            match value(condition, scope) {
                Some(0) => reads(other, scope, see),
                Some(_) => reads(then, scope, see),
                None => {}
            }
        }
        _ => {}
    }
}
