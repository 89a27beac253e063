//! All that a program can do, by brute force.

use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Program, Value};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashSet};

/// What can be reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explored {
    /// The states in which nothing is violated.
    pub states: HashSet<State>,
    /// Whether something can go wrong.
    pub violation: bool,
    /// Whether a deadlock can be reached.
    pub deadlock: bool,
    /// The deepest stack that was looked at.
    pub depth: usize,
    /// Whether states with a deeper one were left out.
    pub cut: bool,
}

impl Explored {
    /// The values of the shared variables.
    pub fn shared(&self) -> BTreeSet<&[Value]> {
        self.states.iter().map(|state| &*state.shared).collect()
    }
}

/// How far a program is explored.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most states.
    pub states: usize,
    /// The most threads in a state, those that have ended included.
    pub threads: usize,
    /// The deepest stack. What goes deeper is left out, and the rest explored.
    pub depth: usize,
}

/// Explores a program with so many threads of each template. `None` if there are more states or threads than allowed, or
/// steps that the semantics does not follow.
pub fn explore(program: &Program, counts: &[usize], limits: Limits) -> Option<Explored> {
    let mut explored = Explored { depth: limits.depth, ..Explored::default() };
    let mut todo = State::initial(program, counts)?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        match state.violated(program) {
            None => {}
            Some(Outcome::Wrong(_)) => {
                explored.violation = true;
                continue;
            }
            Some(_) => return None,
        }
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::Wrong(_) => explored.violation = true,
                    Outcome::Beyond(_) => return None,
                    Outcome::To(next) if next.threads[thread].stack.len() > limits.depth => {
                        explored.cut = true
                    }
                    Outcome::To(next) if seen.contains(&next) => {}
                    Outcome::To(next) => {
                        seen.insert(next.clone());
                        todo.push(next);
                    }
                }
            }
        }
        if seen.len() > limits.states || state.threads.len() > limits.threads {
            return None;
        }
        explored.deadlock |= state.deadlocked(program);
        explored.states.insert(state);
    }
    Some(explored)
}

/// The fewest contexts, and among runs with so few the fewest steps, of a run that goes wrong, or (on request) ends in a
/// deadlock. For programs that were explored.
pub fn cheapest(program: &Program, counts: &[usize], deadlock: bool) -> Option<(usize, usize)> {
    let bad = |state: &State| state.violated(program).is_some() || deadlock && state.deadlocked(program);
    let mut seen: HashSet<(Option<usize>, State)> = HashSet::new();
    let initial =
        State::initial(program, counts)?.into_iter().map(|state| Reverse((0, 0, None, Some(state))));
    let mut todo: BinaryHeap<_> = initial.collect();
    while let Some(Reverse((contexts, steps_taken, last, state))) = todo.pop() {
        let Some(state) = state.filter(|state| !bad(state)) else { return Some((contexts, steps_taken)) };
        if !seen.insert((last, state.clone())) {
            continue;
        }
        for thread in 0..state.threads.len() {
            let contexts = contexts + usize::from(last != Some(thread));
            for step in steps(program, &state, thread) {
                // A step that goes wrong leads to no state.
                let next = if let Outcome::To(next) = step.outcome { Some(next) } else { None };
                todo.push(Reverse((contexts, steps_taken + 1, Some(thread), next)));
            }
        }
    }
    None
}
