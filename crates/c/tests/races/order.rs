//! Data races by what happens before what (C11, 5.1.2.4), on the program as it is lowered: every execution is walked with vector
//! clocks, and two conflicting accesses that no chain of program order and synchronisation orders are a race, however far
//! apart they are. This is another definition than that of `reference`, and the two must agree.
//!
//! Objects of the thread library, atomic variables and atomic sections synchronise: who reads one has seen what happened before it
//! was written.

use super::reference::{Access, Found, accesses, without_sections};
use allways_c::lower::Lowered;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::{BTreeMap, BTreeSet, HashSet};

type Clock = Vec<u16>;

/// What stands for atomic sections among the slots that synchronise.
const SECTIONS: usize = usize::MAX;

/// A state of an execution, and what has happened before it, as far as that matters.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Node {
    state: State,
    clocks: Vec<Clock>,
    /// What happened before each synchronising slot was written.
    released: BTreeMap<usize, Clock>,
    /// The last accesses to each memory location: who, when, whether it writes, whether it is atomic.
    last: BTreeMap<usize, BTreeMap<(usize, bool, bool), u16>>,
}

fn join(clock: &mut Clock, other: &Clock) {
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

impl Node {
    /// Notes what a thread accesses in its next step; whether that races with what was accessed before.
    fn moves(&mut self, thread: usize, accessed: &BTreeSet<Access>) -> bool {
        let in_section = accessed.iter().any(|access| access.section);
        let synchronising = accessed.iter().filter(|access| access.library || access.atomic);
        let synchronising: Vec<(usize, bool)> = synchronising
            .map(|access| (access.slot, access.writes))
            .chain(in_section.then_some((SECTIONS, true)))
            .collect();
        for (slot, _) in &synchronising {
            if let Some(released) = self.released.get(slot) {
                join(&mut self.clocks[thread], released);
            }
        }
        self.clocks[thread][thread] += 1;
        let (own, now) = (self.clocks[thread].clone(), self.clocks[thread][thread]);
        for access in accessed.iter().filter(|access| !access.library) {
            let last = self.last.entry(access.slot).or_default();
            let races = last.iter().any(|(&(other, writes, atomic), &time)| {
                other != thread
                    && (writes || access.writes)
                    && !(atomic && access.atomic)
                    && own[other] < time
            });
            if races {
                return true;
            }
            last.insert((thread, access.writes, access.atomic), now);
        }
        for (slot, writes) in synchronising {
            if writes {
                let released = self.released.entry(slot).or_insert_with(|| vec![0; own.len()]);
                join(released, &own);
            }
        }
        false
    }
}

/// Whether an execution has a race; nothing if there are more of their states than this.
pub fn races(lowered: &Lowered, most: usize) -> Option<Found> {
    let program = &lowered.program;
    let open = without_sections(program);
    let mut todo: Vec<Node> = Vec::new();
    for state in State::initial(program, &State::counts(program))? {
        let clocks = vec![vec![0; state.threads.len()]; state.threads.len()];
        todo.push(Node { state, clocks, released: BTreeMap::new(), last: BTreeMap::new() });
    }
    let mut seen: HashSet<Node> = todo.iter().cloned().collect();
    let mut beyond = false;
    while let Some(node) = todo.pop() {
        for thread in 0..node.state.threads.len() {
            let next = steps(program, &node.state, thread);
            let can_move = next.iter().any(|step| !matches!(step.outcome, Outcome::Beyond(_)));
            let mut moved = node.clone();
            if can_move && moved.moves(thread, &accesses(lowered, &open, &node.state, thread)) {
                return Some(Found::Race);
            }
            for step in next {
                match step.outcome {
                    Outcome::To(state) => {
                        let next = Node { state, ..moved.clone() };
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(_) => panic!("something else goes wrong"),
                    Outcome::Beyond(_) => beyond = true,
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(if beyond { Found::Beyond } else { Found::None })
}
