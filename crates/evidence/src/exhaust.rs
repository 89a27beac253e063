//! All states of a program, one by one, by its own semantics: what `safe` is checked against where there are few states.
//!
//! A certificate is about a system that was made of a program: reduced, and encoded. Here neither is looked at. Whatever
//! [`semantics`](allways_model::program::semantics) says that threads can do is done, breadth first, until there is nothing
//! new, something goes wrong, or there are more states than the caller wants to pay for.
//!
//! Invariant: each row of `Seen` is a state that can be reached, and no two are equal; those that are not in the queue have
//! been looked at, with all steps of all their threads. So if the queue becomes empty, the rows are all states there are.

use crate::{Rejection, StopReason};
use allways_model::encoding::Threads;
use allways_model::program::semantics::{Outcome, State, Thread, steps};
use allways_model::program::{Program, Span, Value, Variable, Violation};
use hashbrown::{DefaultHashBuilder, HashTable};
use std::collections::VecDeque;
use std::hash::BuildHasher;

/// What came of looking at all states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// All were looked at, and nothing goes wrong in any.
    All {
        /// How many there are.
        states: usize,
    },
    /// They cannot be looked at within the bounds; nothing is known. Why.
    Beyond(String),
}

/// Steps, and numbers in a row, for each state that may be looked at; programs with more are given up. Deep recursion has few
/// states, and long ones.
const STEPS: usize = 64;
const NUMBERS: usize = 256;

/// How many steps there are between two looks whether to stop.
const LOOK: usize = 256;

/// Looks at all states of a program with so many threads from the start, but at no more than `most`. A program that goes wrong
/// (or, if asked, is stuck) is rejected: whoever says that it is safe is mistaken. Asks `stop` now and then whether to go on.
pub fn exhaust(
    program: &Program,
    threads: &Threads,
    deadlock: bool,
    most: usize,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<Exhausted, Rejection> {
    let too_many = || Ok(Exhausted::Beyond(format!("there are more than {most} states")));
    if threads.many.contains(&true) {
        return Ok(Exhausted::Beyond("any number of threads has no end of states".to_string()));
    }
    if starts(program, &threads.running) > most as u128 {
        return too_many();
    }
    let Some(initial) = State::initial(program, &threads.running) else { return too_many() };
    let mut seen = Seen::default();
    let mut queue = VecDeque::new();
    for state in initial {
        if seen.insert(&state) {
            queue.push_back(state);
        }
    }
    let mut taken = 0;
    while let Some(state) = queue.pop_front() {
        match state.violated(program) {
            None => {}
            Some(Outcome::Wrong(violation)) => return Err(wrong(violation)),
            Some(Outcome::Beyond(span)) => return Ok(beyond(span)),
            Some(Outcome::To(_)) => return Ok(Exhausted::Beyond("a property that leads on".to_string())),
        }
        let mut moves = false;
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                moves = true;
                taken += 1;
                if taken % LOOK == 0
                    && let Some(reason) = stop()
                {
                    return Err(Rejection::Stopped(reason));
                }
                match step.outcome {
                    Outcome::Wrong(violation) => return Err(wrong(violation)),
                    Outcome::Beyond(span) => return Ok(beyond(span)),
                    Outcome::To(next) if seen.insert(&next) => queue.push_back(next),
                    Outcome::To(_) => {}
                }
            }
            if seen.len() > most || taken > most.saturating_mul(STEPS) {
                return too_many();
            }
            if seen.rows.len() > most.saturating_mul(NUMBERS) {
                return Ok(Exhausted::Beyond("states become too large".to_string()));
            }
        }
        if deadlock && !moves && !state.threads.iter().all(|thread| thread.ended(program)) {
            return Err(Rejection::Violated("no thread can move, although not all have ended".to_string()));
        }
    }
    Ok(Exhausted::All { states: seen.len() })
}

fn wrong(violation: Violation) -> Rejection {
    let Violation { kind, line, column } = violation;
    Rejection::Violated(format!("the program goes wrong in line {line}, column {column} ({})", kind.word()))
}

fn beyond(span: Span) -> Exhausted {
    Exhausted::Beyond(format!("line {}: a single step does too much to be followed", span.line))
}

/// How many initial states there are.
fn starts(program: &Program, running: &[usize]) -> u128 {
    let of = |variables: &[Variable]| {
        let open = variables.iter().flat_map(|variable| {
            let (low, high) = variable.ty.bounds().unwrap_or_default();
            let values = u128::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(1);
            variable.initial.iter().map(move |initial| if initial.is_none() { values } else { 1 })
        });
        open.fold(1, u128::saturating_mul)
    };
    let mut all = of(&program.shared);
    for (template, &count) in program.templates.iter().zip(running) {
        let own = of(&program.procedures[template.body].locals);
        all = all.saturating_mul(own.saturating_pow(u32::try_from(count).unwrap_or(u32::MAX)));
    }
    all
}

/// A set of states, as rows of numbers in one array.
#[derive(Default)]
struct Seen {
    rows: Vec<Value>,
    /// Where each row ends.
    ends: Vec<usize>,
    /// Numbers of rows, found by their hash.
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Seen {
    fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a state; whether it is new.
    fn insert(&mut self, state: &State) -> bool {
        let start = self.rows.len();
        write(state, &mut self.rows);
        let Seen { rows, ends, table, hasher } = self;
        let (known, new) = rows.split_at(start);
        let row = |number: u32| {
            let number = number as usize;
            &known[if number == 0 { 0 } else { ends[number - 1] }..ends[number]]
        };
        let hash = hasher.hash_one(new);
        if table.find(hash, |&number| row(number) == new).is_some() {
            rows.truncate(start);
            return false;
        }
        table.insert_unique(hash, ends.len() as u32, |&number| hasher.hash_one(row(number)));
        ends.push(rows.len());
        true
    }
}

/// Different states are different rows: each part that may differ in length comes after its length.
fn write(state: &State, row: &mut Vec<Value>) {
    row.extend_from_slice(&state.shared);
    for Thread { template, id, this, stack } in &state.threads {
        row.extend([template.0 as Value, *id as Value, *this, stack.len() as Value]);
        for frame in stack {
            let calling = frame.calling.map_or(-1, |edge| edge as Value);
            row.extend([frame.location.0 as Value, calling, frame.locals.len() as Value]);
            row.extend_from_slice(&frame.locals);
        }
    }
}
