//! Strongly connected components of a part of a graph of states (Tarjan 1972), in topological order.
//!
//! Components are numbered in the order in which they are finished: a step from one to another leads to a smaller number. So
//! their numbers are ranks that no step raises.

use super::graph::{Graph, StateNumber};

/// No component: the state is not in the part.
pub const OUTSIDE: u32 = u32::MAX;

/// The component of each state of the part, and how many components there are.
pub struct Components {
    /// For each state, the number of its component, or [`OUTSIDE`].
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

/// What Tarjan's algorithm remembers of a state on its way.
struct Visit {
    state: StateNumber,
    /// The next of its moves.
    next: usize,
}

impl Components {
    /// Those of the states that are `inside`.
    pub fn new(graph: &Graph, inside: &[bool]) -> Components {
        const NEW: u32 = u32::MAX;
        let mut components = Components { of: vec![OUTSIDE; graph.len()], count: 0 };
        // The order in which states are met, and the earliest one that each can get back to.
        let (mut order, mut low) = (vec![NEW; graph.len()], vec![NEW; graph.len()]);
        let mut met = 0;
        let mut open: Vec<StateNumber> = Vec::new();
        let mut path: Vec<Visit> = Vec::new();
        for root in (0..graph.len() as StateNumber).filter(|&root| inside[root as usize]) {
            if order[root as usize] != NEW {
                continue;
            }
            path.push(Visit { state: root, next: 0 });
            while let Some(Visit { state, next }) = path.last_mut() {
                let at = *state as usize;
                if *next == 0 {
                    (order[at], low[at]) = (met, met);
                    met += 1;
                    open.push(*state);
                }
                let moves = graph.moves(*state);
                match moves.get(*next) {
                    Some(step) => {
                        *next += 1;
                        let to = step.to as usize;
                        if !inside[to] {
                            continue;
                        }
                        if order[to] == NEW {
                            path.push(Visit { state: step.to, next: 0 });
                        } else if components.of[to] == OUTSIDE {
                            low[at] = low[at].min(order[to]);
                        }
                    }
                    None => {
                        // A state without moves is met once only, since it is left at once.
                        let state = *state;
                        path.pop();
                        if let Some(before) = path.last() {
                            let before = before.state as usize;
                            low[before] = low[before].min(low[at]);
                        }
                        if low[at] == order[at] {
                            components.finish(state, &mut open);
                        }
                    }
                }
            }
        }
        components
    }

    /// Takes a component off the stack, down to the state that was met first.
    fn finish(&mut self, first: StateNumber, open: &mut Vec<StateNumber>) {
        while let Some(state) = open.pop() {
            self.of[state as usize] = self.count as u32;
            if state == first {
                break;
            }
        }
        self.count += 1;
    }
}
