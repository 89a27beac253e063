//! Can a fair run put off for ever what is promised to a thread? Ranks that say no, or where it can.
//!
//! A run that puts it off stays, from some point on, in one strongly connected component of the pending states, or ends in a
//! pending state. A component has a fair run in it if and only if each thread takes a step within it or cannot move in one of its
//! states: then going round through all of it is fair; else there is a thread that can always move, and always leaves.

use super::components::{Components, OUTSIDE};
use super::graph::{Graph, StateNumber};
use allways_evidence::Ranks;
use allways_model::program::{Eventually, Goal};

/// What was found out about a goal.
pub enum Found {
    /// It is always reached.
    Ranks(Ranks),
    /// It can be put off: the components of pending states, and which of them can be stayed in.
    Fair {
        /// The states in which it is pending.
        pending: Vec<bool>,
        /// Their components.
        components: Components,
        /// For each component, whether a fair run can stay there, or end there.
        fair: Vec<bool>,
    },
}

/// Looks for a fair run that puts off a goal.
pub fn look(graph: &Graph, goal: Goal, eventually: &Eventually) -> Found {
    let there = |state: StateNumber| {
        graph.location(state, goal.thread).is_some_and(|location| eventually.locations.contains(&location))
    };
    let pending = pending(graph, eventually.again, there);
    let components = Components::new(graph, &pending);
    let threads = graph.threads();
    let mut goes_round = vec![false; components.count];
    let mut moves_inside = vec![false; components.count * threads];
    let mut always_enabled = vec![true; components.count * threads];
    let mut ends = vec![false; components.count];
    let mut enabled = vec![false; threads];
    for state in 0..graph.len() as StateNumber {
        let component = components.of[state as usize];
        if component == OUTSIDE {
            continue;
        }
        let at = component as usize;
        enabled.fill(false);
        for step in graph.moves(state) {
            enabled[step.thread as usize] = true;
            if components.of[step.to as usize] == component {
                goes_round[at] = true;
                moves_inside[at * threads + step.thread as usize] = true;
            }
        }
        ends[at] |= graph.moves(state).is_empty();
        for (thread, &enabled) in enabled.iter().enumerate() {
            always_enabled[at * threads + thread] &= enabled;
        }
    }
    let mut ranks = Ranks::default();
    let mut fair = vec![false; components.count];
    for at in 0..components.count {
        let leaves =
            |&thread: &usize| always_enabled[at * threads + thread] && !moves_inside[at * threads + thread];
        match (0..threads).find(leaves) {
            Some(thread) if goes_round[at] => {
                ranks.helpful.insert(at as u32, thread);
            }
            _ => fair[at] = goes_round[at] || ends[at],
        }
    }
    if fair.contains(&true) {
        return Found::Fair { pending, components, fair };
    }
    ranks.of_states = components.of.iter().map(|&rank| (rank != OUTSIDE).then_some(rank)).collect();
    Found::Ranks(ranks)
}

/// The states in which a goal is pending: all that are not there if it is promised again and again, else those that are reached
/// without having been there.
fn pending(graph: &Graph, again: bool, there: impl Fn(StateNumber) -> bool) -> Vec<bool> {
    let all = 0..graph.len() as StateNumber;
    if again {
        return all.map(|state| !there(state)).collect();
    }
    let mut pending = vec![false; graph.len()];
    let mut todo: Vec<StateNumber> =
        (0..graph.initial as StateNumber).filter(|&state| !there(state)).collect();
    todo.iter().for_each(|&state| pending[state as usize] = true);
    while let Some(state) = todo.pop() {
        for step in graph.moves(state) {
            if !pending[step.to as usize] && !there(step.to) {
                pending[step.to as usize] = true;
                todo.push(step.to);
            }
        }
    }
    pending
}
