//! What can be left out of a program without changing any verdict.

use super::{LocationId, Op, Program, Type};
use std::collections::HashMap;

/// A program with the same locations, edges and slots, in which less matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reduction {
    /// The program.
    pub program: Program,
    /// For each shared slot, whether its value matters. What does not matter is never read.
    pub shared: Vec<bool>,
    /// For each shared slot, whether it is a lock.
    pub locks: Vec<bool>,
    /// Whether every release of a lock is by the thread that holds it, so that nobody needs to know who that is.
    pub locks_are_safe: bool,
    /// For each location, which local slots are live there.
    pub live: Vec<Vec<bool>>,
    /// For each call with results (its location and the number of the edge), which local slots of the caller are live
    /// when it returns, before the results are stored.
    pub live_on_return: HashMap<(LocationId, usize), Vec<bool>>,
}

impl Reduction {
    /// Nothing is left out.
    pub fn none(program: &Program) -> Reduction {
        let locks = program
            .shared
            .iter()
            .flat_map(|variable| (0..variable.slots()).map(|_| variable.ty == Type::Lock));
        let locks: Vec<bool> = locks.collect();
        let all = |location: LocationId| vec![true; program.procedure_of(location).slots()];
        let mut live_on_return = HashMap::new();
        for (location, here) in program.locations.iter().enumerate() {
            for (index, edge) in here.edges.iter().enumerate() {
                if let Op::Call(..) = edge.op {
                    live_on_return.insert((location, index), all(location));
                }
            }
        }
        Reduction {
            shared: vec![true; program.shared_slots()],
            locks_are_safe: !locks.contains(&true),
            locks,
            live: (0..program.locations.len()).map(all).collect(),
            live_on_return,
            program: program.clone(),
        }
    }
}

/// Leaves out what does not matter.
pub fn reduce(program: &Program) -> Reduction {
    Reduction::none(program)
}
