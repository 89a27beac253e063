//! Runs without progress, from what was found in the graph: short stems, and cycles that are fair.

use super::components::Components;
use super::graph::{Graph, Move, StateNumber};
use allways_evidence::{Halt, Lasso, LassoStep};
use std::collections::VecDeque;

/// The run to a state in which a thread is stuck.
pub fn stuck(graph: &Graph, thread: usize, state: StateNumber) -> Lasso {
    let mut walk = Walk::new(graph);
    walk.start(|_| true, |at| at == state);
    walk.lasso(Halt::Stuck { thread })
}

/// A run that puts off what a thread is promised: to the nearest state of a fair component, and round in it. Only once
/// promised, it is put off on the way, too.
pub fn starved(
    graph: &Graph,
    (property, thread): (usize, usize),
    before: impl Fn(StateNumber) -> bool,
    components: &Components,
    fair: &[bool],
) -> Lasso {
    let of = |state: StateNumber| components.of[state as usize];
    let is_fair = |state: StateNumber| fair.get(of(state) as usize).copied().unwrap_or(false);
    let mut walk = Walk::new(graph);
    walk.start(before, is_fair);
    let (entry, cycle) = (walk.at, walk.moves.len());
    let inside = |state: StateNumber| of(state) == of(entry);
    // Who has neither moved on the cycle, nor been unable to.
    let mut waiting: Vec<usize> = (0..graph.threads()).collect();
    let mut done = 0;
    loop {
        let visited = walk.moves[cycle..].iter().map(|&(from, _)| from).skip(done).chain([walk.at]);
        let visited: Vec<StateNumber> = visited.collect();
        waiting.retain(|&thread| {
            let moves = walk.moves[cycle..].iter().any(|(_, step)| step.thread as usize == thread);
            !moves && visited.iter().all(|&state| graph.enabled(state, thread))
        });
        done = walk.moves.len() - cycle;
        let serves = |_: StateNumber, step: &Move| {
            waiting.contains(&(step.thread as usize))
                || waiting.iter().any(|&thread| !graph.enabled(step.to, thread))
        };
        if waiting.is_empty() || !walk.extend(inside, serves) {
            break;
        }
    }
    if walk.moves.len() > cycle && walk.at != entry {
        walk.extend(inside, |_, step| step.to == entry);
    }
    walk.lasso(Halt::Starved { property, thread, cycle })
}

/// A run on its way.
struct Walk<'a> {
    graph: &'a Graph,
    first: StateNumber,
    /// The state from which each step starts, and the step.
    moves: Vec<(StateNumber, Move)>,
    /// Where it has come to.
    at: StateNumber,
}

impl<'a> Walk<'a> {
    fn new(graph: &'a Graph) -> Walk<'a> {
        Walk { graph, first: 0, moves: Vec::new(), at: 0 }
    }

    /// From an initial state to the nearest state that is wanted, through those that are allowed.
    fn start(&mut self, allowed: impl Fn(StateNumber) -> bool, wanted: impl Fn(StateNumber) -> bool) {
        let initial = 0..self.graph.initial as StateNumber;
        if let Some(first) = initial.clone().find(|&state| allowed(state) && wanted(state)) {
            (self.first, self.at) = (first, first);
            return;
        }
        let starts: Vec<StateNumber> = initial.filter(|&state| allowed(state)).collect();
        let path = shortest(self.graph, &starts, allowed, |_, step| wanted(step.to)).unwrap_or_default();
        if let (Some((first, _)), Some((_, last))) = (path.first(), path.last()) {
            (self.first, self.at) = (*first, last.to);
        }
        self.moves = path;
    }

    /// On to the nearest step that is wanted, through states that are allowed; whether there is one.
    fn extend(
        &mut self,
        allowed: impl Fn(StateNumber) -> bool,
        wanted: impl Fn(StateNumber, &Move) -> bool,
    ) -> bool {
        let Some(path) = shortest(self.graph, &[self.at], allowed, wanted) else { return false };
        self.at = path.last().map_or(self.at, |(_, step)| step.to);
        self.moves.extend(path);
        true
    }

    fn lasso(&self, halt: Halt) -> Lasso {
        let steps = self.moves.iter().map(|(_, step)| LassoStep {
            thread: step.thread as usize,
            edge: step.edge as usize,
            state: self.graph.state(step.to),
        });
        Lasso { halt, initial: self.graph.state(self.first), steps: steps.collect() }
    }
}

/// The shortest way that ends with a step that is wanted, through states that are allowed.
fn shortest(
    graph: &Graph,
    from: &[StateNumber],
    allowed: impl Fn(StateNumber) -> bool,
    wanted: impl Fn(StateNumber, &Move) -> bool,
) -> Option<Vec<(StateNumber, Move)>> {
    let mut reached: Vec<Option<(StateNumber, Move)>> = vec![None; graph.len()];
    let mut met = vec![false; graph.len()];
    let mut queue: VecDeque<StateNumber> = from.iter().copied().collect();
    from.iter().for_each(|&state| met[state as usize] = true);
    while let Some(state) = queue.pop_front() {
        for step in graph.moves(state).iter().filter(|step| allowed(step.to)) {
            if wanted(state, step) {
                let mut path = vec![(state, *step)];
                let mut at = state;
                while let Some(before) = reached[at as usize] {
                    path.push(before);
                    at = before.0;
                }
                path.reverse();
                return Some(path);
            }
            if !std::mem::replace(&mut met[step.to as usize], true) {
                reached[step.to as usize] = Some((state, *step));
                queue.push_back(step.to);
            }
        }
    }
    None
}
