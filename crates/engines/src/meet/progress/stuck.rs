//! Which threads can be stuck: how far each state is from one in which a thread can move, has ended, or is woken.

use super::graph::{Graph, StateNumber, reaches_others};
use allways_model::program::Program;
use allways_model::program::progress::wakes;

/// There is no way.
pub const NEVER: u32 = u32::MAX;

/// For each thread, how many steps each state is away from one in which it can move or has ended, or at least from one step
/// before it is woken; [`NEVER`] where it is stuck.
pub fn escapes(program: &Program, graph: &Graph) -> Vec<Vec<u32>> {
    let reverse = Reverse::new(graph);
    let woken = woken(program, graph);
    (0..graph.threads()).map(|thread| escape(program, graph, &reverse, &woken[thread], thread)).collect()
}

fn escape(
    program: &Program,
    graph: &Graph,
    reverse: &Reverse,
    woken: &[StateNumber],
    thread: usize,
) -> Vec<u32> {
    let mut away = vec![NEVER; graph.len()];
    let mut queue = Vec::new();
    for state in 0..graph.len() as StateNumber {
        let location = graph.location(state, thread);
        let ended = location.is_none_or(|location| program.locations[location].edges.is_empty());
        if ended || graph.enabled(state, thread) {
            away[state as usize] = 0;
            queue.push(state);
        }
    }
    for &state in woken {
        if away[state as usize] == NEVER {
            away[state as usize] = 1;
            queue.push(state);
        }
    }
    // Those that are nearest come first, so this is breadth first.
    let mut next = 0;
    while next < queue.len() {
        let state = queue[next];
        next += 1;
        for &from in reverse.before(state) {
            if away[from as usize] == NEVER {
                away[from as usize] = away[state as usize] + 1;
                queue.push(from);
            }
        }
    }
    away
}

/// For each thread, the states with a step of another thread that wakes it.
fn woken(program: &Program, graph: &Graph) -> Vec<Vec<StateNumber>> {
    let mut woken = vec![Vec::new(); graph.threads()];
    if !reaches_others(program) {
        return woken;
    }
    for number in 0..graph.len() as StateNumber {
        let before = graph.state(number);
        for step in graph.moves(number) {
            let after = graph.state(step.to);
            let by = (step.thread as usize, step.edge as usize);
            for (thread, woken) in woken.iter_mut().enumerate() {
                if wakes(program, &before, by, &after, thread) {
                    woken.push(number);
                }
            }
        }
    }
    woken
}

/// From where each state is reached.
struct Reverse {
    first: Vec<usize>,
    from: Vec<StateNumber>,
}

impl Reverse {
    fn new(graph: &Graph) -> Reverse {
        let states = || 0..graph.len() as StateNumber;
        let mut first = vec![0; graph.len() + 1];
        states().flat_map(|state| graph.moves(state)).for_each(|step| first[step.to as usize + 1] += 1);
        for state in 0..graph.len() {
            first[state + 1] += first[state];
        }
        let mut at = first.clone();
        let mut from = vec![0; first[graph.len()]];
        for state in states() {
            for step in graph.moves(state) {
                from[at[step.to as usize]] = state;
                at[step.to as usize] += 1;
            }
        }
        Reverse { first, from }
    }

    fn before(&self, state: StateNumber) -> &[StateNumber] {
        &self.from[self.first[state as usize]..self.first[state as usize + 1]]
    }
}
