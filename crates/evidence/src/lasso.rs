//! A run that makes no progress, and the checker that walks it.
//!
//! A run is a *stem* from an initial state, and what comes after it: for a thread that starves, a *cycle* that leads back to where it
//! begins, to be gone round for ever; for a thread that is stuck, whatever the others do. The checker walks the run by the
//! program's own semantics, without reduction and encoding. Then
//!
//! * of a cycle, it tests that it closes, that the thread is not where it should come to (nowhere on the cycle; if it should
//!   come there only once, nowhere on the stem either), and that it is weakly fair: each thread takes a step in it, or is in one
//!   of its states unable to. A cycle without steps is a state in which no thread can move: the run ends there, and is fair.
//! * of a thread that is stuck, it looks at every state that can be reached from the end of the stem: in none of them can the
//!   thread move, and no step from one to the next wakes it.

use crate::listed::{Listed, show};
use crate::{End, Rejection, Run, RunStep, StopReason};
use allways_model::program::Program;
use allways_model::program::progress::wakes;
use allways_model::program::semantics::{Outcome, State, Step, steps};
use std::collections::VecDeque;

/// A run that makes no progress.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lasso {
    /// What it shows.
    pub halt: Halt,
    /// Where it starts.
    pub initial: State,
    /// Its steps: the stem, then the cycle.
    pub steps: Vec<LassoStep>,
}

/// What a run without progress shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// A thread cannot move, from the end of the run on, whatever happens.
    Stuck {
        /// The thread.
        thread: usize,
    },
    /// A thread does not come to where it should, although the schedule is fair.
    Starved {
        /// The property, by its number in the program.
        property: usize,
        /// The thread.
        thread: usize,
        /// The first step of the cycle, counted from 0; as many as there are steps if no thread can move any more.
        cycle: usize,
    },
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LassoStep {
    /// Which thread moves.
    pub thread: usize,
    /// By which edge of its location.
    pub edge: usize,
    /// The state afterwards.
    pub state: State,
}

impl Lasso {
    /// The state before a step; of the number of steps, the last one.
    pub fn state(&self, step: usize) -> &State {
        step.checked_sub(1).map_or(&self.initial, |before| &self.steps[before].state)
    }
}

impl Lasso {
    /// The same as a run of the program, if it is one: each step starts somewhere.
    pub fn run(&self) -> Option<Run> {
        let slots: Vec<Option<usize>> = (0..self.initial.threads.len()).map(Some).collect();
        let step = |(index, step): (usize, &LassoStep)| {
            let thread = step.thread;
            let location = self.state(index).threads.get(thread)?.top()?.location;
            let (state, slots) = (step.state.clone(), slots.clone());
            Some(RunStep { thread, location, edge: step.edge, started: None, state, slots })
        };
        let steps = self.steps.iter().enumerate().map(step).collect::<Option<_>>()?;
        let (initial, end) = (self.initial.clone(), End::Halted(self.halt));
        Some(Run { initial, slots, steps, end })
    }
}

/// How many steps there are between two looks whether to stop.
const LOOK: usize = 256;

/// Accepts a run without progress of a program with so many threads of each template, or says why not.
pub fn check(
    program: &Program,
    counts: &[usize],
    lasso: &Lasso,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    let malformed = |what: &str| Err(Rejection::Malformed(what.to_string()));
    let threads: usize = counts.iter().sum();
    let thread = match lasso.halt {
        Halt::Stuck { thread } | Halt::Starved { thread, .. } => thread,
    };
    if thread >= threads {
        return malformed("there is no such thread");
    }
    let initial = State::initial(program, counts).unwrap_or_default();
    if !initial.contains(&lasso.initial) {
        return Err(Rejection::NotInitial(show(&lasso.initial)));
    }
    for (index, step) in lasso.steps.iter().enumerate() {
        if index % LOOK == 0
            && let Some(reason) = stop()
        {
            return Err(Rejection::Stopped(reason));
        }
        let from = lasso.state(index);
        let leads = |taken: Step| taken.edge == step.edge && taken.outcome == Outcome::To(step.state.clone());
        if step.thread >= threads || !steps(program, from, step.thread).into_iter().any(leads) {
            let (from, to) = (show(from), show(&step.state));
            let what = format!("thread {} cannot go from {from} to {to} by edge {}", step.thread, step.edge);
            return Err(Rejection::BadStep { step: index + 1, what });
        }
    }
    match lasso.halt {
        Halt::Stuck { thread } => stuck(program, lasso.state(lasso.steps.len()), thread, stop),
        Halt::Starved { property, thread, cycle } => {
            let Some(eventually) = program.progress.get(property) else {
                return malformed("the program has no such property");
            };
            if cycle > lasso.steps.len() {
                return malformed("the cycle begins after the end");
            }
            if lasso.state(cycle).threads[thread].template != eventually.template {
                return malformed("the property is not about this thread");
            }
            let from = if eventually.again { cycle } else { 0 };
            let reaches = |&step: &usize| eventually.is_reached(&lasso.state(step).threads[thread]);
            if let Some(step) = (from..=lasso.steps.len()).find(reaches) {
                let what = format!("thread {thread} is where it should come to");
                return Err(Rejection::BadStep { step, what });
            }
            fair_cycle(program, lasso, cycle)
        }
    }
}

/// Whether the cycle closes and is weakly fair.
fn fair_cycle(program: &Program, lasso: &Lasso, cycle: usize) -> Result<(), Rejection> {
    let length = lasso.steps.len();
    if lasso.state(cycle) != lasso.state(length) {
        let what = "the cycle does not lead back to where it begins".to_string();
        return Err(Rejection::BadStep { step: length, what });
    }
    for thread in 0..lasso.initial.threads.len() {
        let moves = lasso.steps[cycle..].iter().any(|step| step.thread == thread);
        let disabled = |step| steps(program, lasso.state(step), thread).is_empty();
        if !moves && !(cycle..=length).any(disabled) {
            let what = format!("not fair: thread {thread} can always move in the cycle, and never does");
            return Err(Rejection::BadStep { step: length, what });
        }
    }
    Ok(())
}

/// Whether a thread can never move again, whatever happens.
fn stuck(
    program: &Program,
    from: &State,
    thread: usize,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Result<(), Rejection> {
    let moves = |state: &State| {
        Err(Rejection::Violated(format!("thread {thread} is not stuck: it moves in {}", show(state))))
    };
    if from.threads[thread].ended(program) {
        return Err(Rejection::Violated(format!("thread {thread} is not stuck: it has come to its end")));
    }
    let mut seen = Listed::default();
    seen.insert(from);
    let mut queue = VecDeque::from([from.clone()]);
    let mut taken = 0;
    while let Some(state) = queue.pop_front() {
        for mover in 0..state.threads.len() {
            for step in steps(program, &state, mover) {
                taken += 1;
                if taken % LOOK == 0
                    && let Some(reason) = stop()
                {
                    return Err(Rejection::Stopped(reason));
                }
                if mover == thread {
                    return moves(&state);
                }
                match step.outcome {
                    Outcome::To(next) => {
                        if wakes(program, &state, (mover, step.edge), &next, thread) {
                            return moves(&state);
                        }
                        if seen.insert(&next).1 {
                            queue.push_back(next);
                        }
                    }
                    // Nothing comes after a violation.
                    Outcome::Wrong(_) => {}
                    Outcome::Beyond(span) => {
                        let why = format!("line {}: a single step does too much to be followed", span.line);
                        return Err(Rejection::Stopped(StopReason::GaveUp(why)));
                    }
                }
            }
        }
    }
    Ok(())
}
