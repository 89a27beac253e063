//! What happens inside a step: the edges that a thread takes, and what is chosen on each.
//!
//! A step of the [semantics](super::semantics) may be a whole atomic section, of which only the state afterwards is known, and
//! a choice shows only in what it leads to. Who wants to do in a real run what a step does, needs the way through it.

use super::expression::Choices;
use super::semantics::{MOST, Outcome, State, go, take};
use super::{LocationId, Op, Program, Value};
use std::collections::HashMap;

/// An edge on the way through a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Move {
    /// From where.
    pub location: LocationId,
    /// By which of the edges there.
    pub edge: usize,
    /// The state before.
    pub before: State,
    /// What was chosen, in the order of evaluation.
    pub chosen: Vec<Value>,
}

/// A way through a step of a thread by an edge of its location that ends as given. `None` if there is none, or if it takes too
/// long to find.
pub fn through(
    program: &Program,
    state: &State,
    thread: usize,
    edge: usize,
    end: &Outcome,
) -> Option<Vec<Move>> {
    let top = state.threads[thread].top()?;
    let begin = program.locations[top.location].edges.get(edge)?;
    if begin.op != Op::AtomicBegin {
        let mut found = None;
        moves(program, state, thread, edge, &mut |chosen, outcome| {
            if found.is_none() && outcome == *end {
                let before = state.clone();
                found = Some(vec![Move { location: top.location, edge, before, chosen }]);
            }
        });
        return found;
    }
    let mut search = Search { program, thread, end, from: HashMap::new(), todo: Vec::new() };
    let mut first = state.clone();
    go(&mut first, thread, begin.to);
    let depth = first.threads[thread].stack.len();
    let start = Move { location: top.location, edge, before: state.clone(), chosen: Vec::new() };
    search.from.insert(first.clone(), None);
    search.todo.push(first);
    let mut way = search.run(depth)?;
    way.push(start);
    way.reverse();
    Some(way)
}

/// Where an edge leads, over all choices, as far as that is affordable.
fn moves(
    program: &Program,
    state: &State,
    thread: usize,
    edge: usize,
    see: &mut dyn FnMut(Vec<Value>, Outcome),
) {
    let Some(top) = state.threads[thread].top() else { return };
    let taken = &program.locations[top.location].edges[edge];
    let mut tried = 0;
    Choices::each_of_few(|choices| {
        match take(program, state, thread, (edge, taken), choices) {
            Ok(Some(next)) => see(choices.taken(), Outcome::To(next)),
            Ok(None) => {}
            Err(no_value) => see(choices.taken(), Outcome::from(no_value)),
        }
        tried += 1;
        tried <= MOST
    });
}

/// A search inside an atomic section.
struct Search<'a> {
    program: &'a Program,
    thread: usize,
    end: &'a Outcome,
    /// How each state was reached first.
    from: HashMap<State, Option<Move>>,
    todo: Vec<State>,
}

impl Search<'_> {
    /// The way to the end, last move first.
    fn run(&mut self, depth: usize) -> Option<Vec<Move>> {
        while let Some(state) = self.todo.pop() {
            let stack = &state.threads[self.thread].stack;
            let location = stack.last()?.location;
            let edges = &self.program.locations[location].edges;
            let here = stack.len() == depth;
            if edges.is_empty() && *self.end == Outcome::To(state.clone()) {
                return Some(self.back(&state));
            }
            for (edge, taken) in edges.iter().enumerate() {
                let left = match taken.op {
                    Op::Return(_) if here => Some(state.clone()),
                    Op::AtomicEnd if here => {
                        let mut left = state.clone();
                        go(&mut left, self.thread, taken.to);
                        Some(left)
                    }
                    _ => None,
                };
                if let Some(left) = left {
                    if *self.end == Outcome::To(left) {
                        return Some(self.back(&state));
                    }
                    continue;
                }
                let mut over = None;
                moves(self.program, &state, self.thread, edge, &mut |chosen, outcome| {
                    let step = Move { location, edge, before: state.clone(), chosen };
                    match outcome {
                        Outcome::To(next) if !self.from.contains_key(&next) => {
                            self.from.insert(next.clone(), Some(step));
                            self.todo.push(next);
                        }
                        Outcome::To(_) => {}
                        outcome if outcome == *self.end => over = Some(step),
                        _ => {}
                    }
                });
                if let Some(step) = over {
                    let mut way = vec![step];
                    way.extend(self.back(&state));
                    return Some(way);
                }
            }
            if self.from.len() > MOST {
                return None;
            }
        }
        None
    }

    fn back(&self, state: &State) -> Vec<Move> {
        let mut way = Vec::new();
        let mut at = state;
        while let Some(Some(step)) = self.from.get(at) {
            way.push(step.clone());
            at = &step.before;
        }
        way
    }
}
