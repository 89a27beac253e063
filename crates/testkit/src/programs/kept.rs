//! Whether a program keeps its promises of progress, by the definitions alone.
//!
//! A promise can be broken from a state if a fair run leads on from there without keeping it. These states are the greatest set Z of
//! states where it is not kept such that from each of them, for each thread, some way within Z leads to a step of that thread within
//! Z, or to a state in which the thread cannot move (Emerson and Lei 1986: by going from one thread to the next for ever). It is found by
//! taking states out as long as there is one that does not belong. No components, no ranks.
//!
//! That a thread is stuck is looked up in the states that can be reached, for each state anew.

use super::Limits;
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Op, Program};
use std::collections::{HashMap, HashSet};

/// What holds of a program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// Whether something goes wrong; then nothing else is known.
    pub violation: bool,
    /// For each of the program's goals, whether it is always reached.
    pub goals: Vec<bool>,
    /// Whether no thread can be stuck.
    pub unstuck: bool,
    /// How many states there are.
    pub states: usize,
}

struct Step {
    thread: usize,
    edge: usize,
    to: usize,
}

/// Looks at a program with so many threads of each template. `None` if there are too many states, or steps are not followed.
pub fn kept(program: &Program, counts: &[usize], limits: Limits) -> Option<Kept> {
    let mut states = State::initial(program, counts)?;
    let initial = states.len();
    let mut numbers: HashMap<State, usize> = states.iter().cloned().zip(0..).collect();
    let mut graph: Vec<Vec<Step>> = Vec::new();
    while graph.len() < states.len() {
        let state = states[graph.len()].clone();
        match state.violated(program) {
            None => {}
            Some(Outcome::Wrong(_)) => return Some(Kept { violation: true, ..Kept::default() }),
            Some(_) => return None,
        }
        let mut from_here = Vec::new();
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::Wrong(_) => return Some(Kept { violation: true, ..Kept::default() }),
                    Outcome::Beyond(_) => return None,
                    Outcome::To(next) => {
                        let new = states.len();
                        let to = *numbers.entry(next.clone()).or_insert(new);
                        if to == new {
                            states.push(next);
                        }
                        from_here.push(Step { thread, edge: step.edge, to });
                    }
                }
            }
        }
        let deep = state.threads.iter().any(|thread| thread.stack.len() > limits.depth);
        if deep || states.len() > limits.states || state.threads.len() > limits.threads {
            return None;
        }
        graph.push(from_here);
    }
    let goals = program.goals(counts).into_iter().map(|goal| {
        let eventually = &program.progress[goal.property];
        let away = |state: &State| {
            let top = state.threads[goal.thread].stack.last();
            !top.is_some_and(|top| eventually.locations.contains(&top.location))
        };
        let broken = broken(&graph, states.iter().map(away).collect(), counts.iter().sum());
        let from = if eventually.again { states.len() } else { initial };
        !(0..from).any(|state| broken[state])
    });
    let goals = goals.collect();
    let stuck =
        |state| (0..counts.iter().sum()).any(|thread| is_stuck(program, &states, &graph, state, thread));
    let unstuck = !(0..states.len()).any(stuck);
    Some(Kept { violation: false, goals, unstuck, states: states.len() })
}

/// The states of a set from which a fair run stays in it.
fn broken(graph: &[Vec<Step>], mut within: Vec<bool>, threads: usize) -> Vec<bool> {
    loop {
        let mut changed = false;
        for thread in 0..threads {
            // Those from which the thread can be served, backwards.
            let mut served = vec![false; graph.len()];
            loop {
                let before = served.iter().filter(|&&served| served).count();
                for state in (0..graph.len()).filter(|&state| within[state]) {
                    let unable = !graph[state].iter().any(|step| step.thread == thread);
                    let mut inside = graph[state].iter().filter(|step| within[step.to]);
                    served[state] |= unable || inside.any(|step| step.thread == thread || served[step.to]);
                }
                if served.iter().filter(|&&served| served).count() == before {
                    break;
                }
            }
            for state in 0..graph.len() {
                changed |= within[state] && !served[state];
                within[state] &= served[state];
            }
        }
        if !changed {
            return within;
        }
    }
}

/// Whether a thread has not ended, and in no state that can be reached from here can it move, or is it woken.
fn is_stuck(program: &Program, states: &[State], graph: &[Vec<Step>], from: usize, thread: usize) -> bool {
    let top = |state: usize| states[state].threads[thread].stack.last().map(|top| top.location);
    let Some(location) = top(from) else { return false };
    if program.locations[location].edges.is_empty() {
        return false;
    }
    let waits_for = match program.locations[location].edges[0].op {
        Op::Wait(event) => Some(event),
        _ => None,
    };
    let mut seen = HashSet::from([from]);
    let mut todo = vec![from];
    while let Some(state) = todo.pop() {
        for step in &graph[state] {
            let mover = states[state].threads[step.thread].stack.last().map(|top| top.location);
            let op = mover.map(|location| &program.locations[location].edges[step.edge].op);
            let woken = matches!(op, Some(Op::Broadcast(event)) if Some(*event) == waits_for);
            // Who waits once more at once may have been woken, too.
            let signalled = matches!(op, Some(Op::Signal(event)) if Some(*event) == waits_for)
                && (top(step.to) != top(state) || program.locations[location].edges[0].to == location);
            if step.thread == thread || woken || signalled {
                return false;
            }
            if seen.insert(step.to) {
                todo.push(step.to);
            }
        }
    }
    true
}
