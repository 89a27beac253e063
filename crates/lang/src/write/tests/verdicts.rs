//! The verdicts of a program, by trying everything.

use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::HashSet;

/// What can happen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Verdict {
    /// Something can go wrong.
    pub wrong: bool,
    /// All threads can get stuck. Not known if some thread could not be started.
    pub stuck: Option<bool>,
}

/// How many threads are started at most.
const STARTED: usize = 2;

/// How many states are visited at most.
const STATES: usize = 4_000;

/// The verdict, unless there are too many states. Threads are started only up to `threads` in all.
pub(super) fn verdict(program: &Program, threads: usize) -> Option<Verdict> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut verdict = Verdict { wrong: false, stuck: Some(false) };
    let mut cut = false;
    while let Some(state) = todo.pop() {
        verdict.wrong |= state.violated(program).is_some();
        verdict.stuck = verdict.stuck.map(|stuck| stuck || state.deadlocked(program));
        for thread in 0..state.threads.len() {
            if state.threads[thread].stack.len() > 4 {
                return None;
            }
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) if next.threads.len() > threads => cut = true,
                    Outcome::To(next) => {
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(_) => verdict.wrong = true,
                    Outcome::Beyond(_) => return None,
                }
            }
        }
        if seen.len() > STATES {
            return None;
        }
    }
    if cut {
        verdict.stuck = None;
    }
    Some(verdict)
}

/// Compares the verdicts of two programs, if both can be found.
#[track_caller]
pub(super) fn same(first: &Program, second: &Program, source: &str, written: &str) -> Option<Verdict> {
    let most = |program: &Program| {
        let at_start: usize = State::counts(program).iter().sum();
        at_start + if program.templates.iter().any(|template| template.spawned) { STARTED } else { 0 }
    };
    // Threads that were there from the start may have to be started, with one more that starts them, and one that looks.
    let started: usize = State::counts(first).iter().sum();
    let more =
        if State::counts(second).iter().sum::<usize>() < started || !first.never.is_empty() { 2 } else { 0 };
    let (one, mut other) = (verdict(first, most(first))?, verdict(second, most(first) + more)?);
    if one.stuck.is_none() {
        other.stuck = None;
    }
    assert_eq!(one, other, "{source}\n\nwritten:\n{written}");
    Some(one)
}
