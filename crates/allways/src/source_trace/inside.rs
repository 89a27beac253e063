//! What a thread did inside of an atomic section: the way from its beginning to the state that it leaves behind, or to what goes
//! wrong in it.
//!
//! A run has the section as one step. The way is searched breadth first among the states that a thread alone can reach in it, so
//! that it is a shortest one. Where there are too many, nothing is said.

use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Edge, LocationId, Op, Program, Violation};
use std::collections::{HashSet, VecDeque};

/// The most states that are looked at.
const MOST: usize = 2000;

/// Where a way leads.
#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    /// The state after the section.
    State(&'a State),
    /// A violation in it.
    Wrong(Violation),
}

/// A step inside.
pub(super) struct Inner {
    pub location: LocationId,
    pub edge: usize,
    pub before: State,
    /// Unchanged where it goes wrong.
    pub after: State,
}

/// The steps from a state through the section that an edge begins.
pub(super) fn inside(
    program: &Program,
    state: &State,
    thread: usize,
    begin: &Edge,
    goal: Goal<'_>,
) -> Option<Vec<Inner>> {
    let mut first = state.clone();
    first.threads[thread].stack.last_mut()?.location = begin.to;
    let depth = first.threads[thread].stack.len();
    // The states, each with the one before and the step that led to it.
    let mut found: Vec<(usize, LocationId, usize, State)> = vec![(0, begin.to, 0, first.clone())];
    let mut seen = HashSet::from([first]);
    let mut waiting = VecDeque::from([0]);
    while let Some(number) = waiting.pop_front() {
        let state = found[number].3.clone();
        let frames = &state.threads[thread].stack;
        let location = frames.last()?.location;
        let edges = &program.locations[location].edges;
        let is_end = |op: &Op| frames.len() == depth && matches!(op, Op::AtomicEnd | Op::Return(_));
        let stays = edges.is_empty() || edges.iter().any(|edge| is_end(&edge.op) && edge.op != Op::AtomicEnd);
        if stays && matches!(goal, Goal::State(goal) if *goal == state) {
            return Some(way(&found, number));
        }
        for step in steps(program, &state, thread) {
            let ends = is_end(&edges[step.edge].op);
            match (step.outcome, goal) {
                (Outcome::Wrong(violation), Goal::Wrong(wanted)) if violation == wanted => {
                    let mut steps = way(&found, number);
                    steps.push(Inner { location, edge: step.edge, before: state.clone(), after: state });
                    return Some(steps);
                }
                (Outcome::To(next), Goal::State(goal)) if ends && next == *goal => {
                    return Some(way(&found, number));
                }
                (Outcome::To(next), _) if !ends && found.len() < MOST && seen.insert(next.clone()) => {
                    waiting.push_back(found.len());
                    found.push((number, location, step.edge, next));
                }
                _ => {}
            }
        }
    }
    None
}

fn way(found: &[(usize, LocationId, usize, State)], mut number: usize) -> Vec<Inner> {
    let mut steps = Vec::new();
    while number > 0 {
        let (from, location, edge, after) = &found[number];
        let before = found[*from].3.clone();
        steps.push(Inner { location: *location, edge: *edge, before, after: after.clone() });
        number = *from;
    }
    steps.reverse();
    steps
}
