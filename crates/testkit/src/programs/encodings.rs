//! The encoding of a program, and its reduction, against what was explored of the program by brute force.
//!
//! Without reduction, the states in which everybody may move are the states of the program, one for one; with it, the
//! verdicts and the shared variables that matter are the same; with joined steps, the verdicts.

use super::explore::Explored;
use crate::reference;
use allways_model::encoding::{Encoded, Mode, Point, Threads};
use allways_model::program::reduction::reduce;
use allways_model::program::semantics::{self, Frame};
use allways_model::program::{
    Edge, Location, LocationId, Op, Procedure, Program, Template, TemplateId, Type, Value,
};
use allways_model::property::deadlocked;
use allways_model::pushdown::{Pushdown, State};
use std::collections::BTreeSet;
use std::sync::Arc;

/// More states than any encoding has of a program that was explored.
const MOST_STATES: usize = 300_000;

/// Compares the encodings of a program with what was explored of it. Panics if they differ; `name` says which program.
///
/// Not if more threads are started than there is room for, or both cannot be cut at the same depth; then `false`.
pub fn encodings_agree(name: &str, program: &Program, threads: &Threads, explored: &Explored) -> bool {
    if explored.cut && program.locations.iter().any(|location| starts_inside(program, location)) {
        return false;
    }
    let depth = if explored.cut { explored.depth } else { usize::MAX };
    let Some(whole) = encoding(name, program, threads, (Form::Whole, depth)) else { return false };
    let expected: BTreeSet<Picture> = explored.states.iter().map(|state| picture(program, state)).collect();
    let found: BTreeSet<Picture> = whole.normal.iter().map(|state| whole.picture(state)).collect();
    assert_eq!(found.difference(&expected).next(), None, "{name}\na state that cannot be reached");
    assert_eq!(expected.difference(&found).next(), None, "{name}\na state is not reached");
    whole.agrees(name, explored, &vec![true; program.shared_slots()]);
    let reduced = encoding(name, program, threads, (Form::Reduced, depth))
        .expect("the reduction starts no more threads");
    reduced.agrees(name, explored, &reduce(program).shared);
    let joined =
        encoding(name, program, threads, (Form::Joined, depth)).expect("joined steps start no more threads");
    assert_eq!(joined.violation, explored.violation, "{name}\nviolation with joined steps");
    // What goes wrong may do so before it comes to a deadlock.
    let deadlock = joined.violation || joined.deadlock == explored.deadlock;
    assert!(deadlock, "{name}\ndeadlock with joined steps");
    assert!(joined.normal.len() <= reduced.normal.len(), "{name}\nmore states with joined steps");
    true
}

/// Whether a thread is started inside a procedure. What then lies at the bottom of its stack is no frame of the program.
fn starts_inside(program: &Program, location: &Location) -> bool {
    let fork = |edge: &Edge| matches!(edge.op, Op::Fork(_));
    let body = |template: &Template| template.body == location.procedure;
    location.edges.iter().any(fork) && !program.templates.iter().any(body)
}

/// What is made of a program.
#[derive(Clone, Copy)]
enum Form {
    /// Everything.
    Whole,
    /// What matters.
    Reduced,
    /// The same, where threads stop only where others can tell.
    Joined,
}

/// An encoding, explored.
struct Searched {
    encoded: Encoded,
    /// The states in which everybody may move.
    normal: Vec<State>,
    violation: bool,
    deadlock: bool,
}

/// Explores an encoding; `None` if there is not enough room for all threads that are started.
fn encoding(
    name: &str,
    program: &Program,
    threads: &Threads,
    (form, depth): (Form, usize),
) -> Option<Searched> {
    let encoded = match form {
        Form::Whole => Encoded::new(program, threads, false),
        Form::Reduced => Encoded::new(program, threads, true),
        Form::Joined => Encoded::joined(Arc::new(program.clone()), Arc::new(reduce(program)), threads),
    };
    let encoded = encoded.unwrap_or_else(|why| panic!("{name}\n{why:?}"));
    let states = reference::reachable(&encoded, depth, MOST_STATES);
    if encoded.incomplete().is_some() {
        return None;
    }
    let (states, _) = states.unwrap_or_else(|| panic!("{name}\ntoo many states"));
    let mut searched = Searched { encoded, normal: Vec::new(), violation: false, deadlock: false };
    for state in states {
        let tops = state.visible().tops;
        let stuck = deadlocked(&searched.encoded, state.shared, &tops);
        match searched.encoded.key(state.shared).mode {
            Mode::Normal => {
                searched.deadlock |= stuck;
                searched.normal.push(state);
            }
            Mode::Violated => searched.violation = true,
            mode => assert!(!stuck, "{name}\nnobody moves in {mode:?}"),
        }
    }
    Some(searched)
}

impl Searched {
    /// Compares with the reference the verdicts and the shared variables that matter.
    fn agrees(&self, name: &str, explored: &Explored, matters: &[bool]) {
        assert_eq!(self.violation, explored.violation, "{name}\nviolation");
        assert_eq!(self.deadlock, explored.deadlock, "{name}\ndeadlock");
        let program = self.encoded.program();
        let visible = |values: &[Value]| -> Vec<Value> {
            let values = free_or_held(program, values).into_iter().zip(matters);
            values.map(|(value, &matters)| if matters { value } else { 0 }).collect()
        };
        let expected: BTreeSet<Vec<Value>> = explored.shared().into_iter().map(visible).collect();
        let found = self.normal.iter().map(|state| visible(&self.encoded.key(state.shared).values));
        assert_eq!(found.collect::<BTreeSet<_>>(), expected, "{name}\nshared values");
    }

    fn picture(&self, state: &State) -> Picture {
        let program = self.encoded.program();
        let values = self.encoded.key(state.shared).values;
        let mut threads = Vec::new();
        for (number, (role, stack)) in self.encoded.roles().iter().zip(&state.stacks).enumerate() {
            let mut frames = Vec::new();
            for cell in stack.symbols().map(|symbol| self.encoded.cell(symbol)) {
                let place = match cell.point {
                    Point::Idle | Point::Bottom => continue,
                    Point::At(location) | Point::Given(location) | Point::Inside(location) => location,
                    Point::Returning(location, edge) => program.locations[location].edges[edge].to,
                };
                frames.push((place, with_mixed(program, &values, number, place, cell.locals.to_vec())));
            }
            if !frames.is_empty() || stack.depth() == 0 {
                threads.push((role.template, role.this, held_by(program, &values, number), frames));
            }
        }
        threads.sort();
        (free_or_held(program, &values), threads)
    }
}

/// The local variables of a thread's frame, those that other threads write taken from where they are kept: at the end of
/// the shared values, as many for each thread as any of them has, and whether it has started.
fn with_mixed(
    program: &Program,
    values: &[Value],
    thread: usize,
    place: LocationId,
    mut locals: Vec<Value>,
) -> Vec<Value> {
    let each = 1 + program.procedures.iter().map(Procedure::slots).max().unwrap_or(0);
    let first = program.shared_slots() + program.events.len() + program.templates.len() + thread * each;
    for local in program.procedure_of(place).locals.iter().filter(|local| local.mixed) {
        locals[local.slot] = values[first + local.slot];
    }
    locals
}

/// A state as both sides see it: the shared values, and of each thread its template, its number, the locks that it holds
/// and its frames, the topmost first. Which of those that were started later is which does not matter.
type Picture = (Vec<Value>, Vec<(TemplateId, Value, Vec<usize>, Vec<(LocationId, Vec<Value>)>)>);

fn picture(program: &Program, state: &semantics::State) -> Picture {
    let place = |frame: &Frame| match frame.calling {
        Some(edge) => program.locations[frame.location].edges[edge].to,
        None => frame.location,
    };
    let gone =
        |thread: &semantics::Thread| program.templates[thread.template].vanishes && thread.ended(program);
    let threads = state.threads.iter().filter(|thread| !gone(thread)).map(|thread| {
        let frames = thread.stack.iter().rev().map(|frame| (place(frame), frame.locals.clone())).collect();
        (thread.template, thread.this, held_by(program, &state.shared, thread.id), frames)
    });
    let mut threads: Vec<_> = threads.collect();
    threads.sort();
    (free_or_held(program, &state.shared), threads)
}

/// For each shared slot, the lock being 0 or 1.
fn free_or_held(program: &Program, values: &[Value]) -> Vec<Value> {
    let locks = locks(program);
    let value =
        |slot: usize| if locks.contains(&slot) { Value::from(values[slot] != 0) } else { values[slot] };
    (0..program.shared_slots()).map(value).collect()
}

fn held_by(program: &Program, values: &[Value], thread: usize) -> Vec<usize> {
    locks(program).into_iter().filter(|&slot| values[slot] == thread as Value + 1).collect()
}

fn locks(program: &Program) -> Vec<usize> {
    let locks = program.shared.iter().filter(|variable| variable.ty == Type::Lock);
    locks.flat_map(|lock| lock.slot..lock.slot + lock.slots()).collect()
}
