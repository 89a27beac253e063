//! All ends that runs of a program of ours can have.

use super::ours::{End, result};
use allways_model::program::semantics::{Outcome, State, Thread, steps};
use allways_model::program::{Program, Value};
use std::collections::{BTreeSet, HashSet};

/// An end of a run: what is in `result`, and all shared values.
pub type Ends = BTreeSet<(End, Vec<Value>)>;

/// All ends, unless there are more states than this.
pub fn ends(program: &Program, most: usize) -> Option<Ends> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut ends = Ends::new();
    while let Some(state) = todo.pop() {
        let mut moved = false;
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                moved = true;
                match step.outcome {
                    Outcome::To(next) => {
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(violation) => {
                        ends.insert((End::Wrong(format!("{violation:?}")), Vec::new()));
                    }
                    Outcome::Beyond(_) => {
                        ends.insert((End::Beyond, Vec::new()));
                    }
                }
            }
        }
        if !moved {
            // A thread that was not created waits at its start.
            let entry = |thread: &Thread| program.procedures[program.templates[thread.template].body].entry;
            let over = |thread: &Thread| {
                thread.ended(program) || thread.top().is_some_and(|top| top.location == entry(thread))
            };
            let all = state.threads.iter().all(over);
            let end = match all {
                true => End::Result(state.shared[result(program)]),
                false => End::Wrong("no thread can move".to_string()),
            };
            ends.insert((end, state.shared));
        }
        if seen.len() > most {
            return None;
        }
    }
    Some(ends)
}
