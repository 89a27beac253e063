//! Runs, rebuilt from the states they pass through.
//!
//! Where states stand for their orbits, a path names each state up to a renaming of threads within their kinds. The run is
//! rebuilt step by step, each time choosing a step into the right orbit; at the end the threads are renamed such that the
//! last state is bad as it stands. Threads of one kind start with equal stacks, so the renamed run is a run, too. A deadlock
//! is one under every name.

use allways_evidence::{Step, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Stack, State, Symbol};
use allways_model::symmetry::Kinds;

/// The run along a path of states, each a successor of the one before up to renaming.
pub fn along(system: &dyn Pushdown, kinds: &Kinds, property: &Property, path: &[State]) -> Trace {
    let mut run = vec![path[0].clone()];
    let mut movers = Vec::new();
    for orbit in &path[1..] {
        let from = &run[run.len() - 1];
        let (thread, to) = (0..system.threads())
            .find_map(|thread| {
                let mut successors =
                    from.enabled(system, thread).into_iter().map(|rule| from.step(thread, &rule));
                successors.find(|to| same_orbit(kinds, to, orbit)).map(|to| (thread, to))
            })
            .expect("each state of a path is a successor of the one before");
        movers.push(thread);
        run.push(to);
    }
    let last = run[run.len() - 1].visible();
    let places = property.bad.iter().find_map(|pattern| pattern.places(kinds, last.shared, &last.tops));
    if let Some(places) = places {
        for state in &mut run {
            state.stacks = places.iter().map(|&thread| state.stacks[thread].clone()).collect();
        }
        for mover in &mut movers {
            *mover = places.iter().position(|thread| thread == mover).expect("every thread has a place");
        }
    }
    of(system, &run, &movers)
}

/// The run through these states, with these threads moving between them.
pub fn of(system: &dyn Pushdown, run: &[State], movers: &[usize]) -> Trace {
    let mut steps = Vec::new();
    for (pair, &thread) in run.windows(2).zip(movers) {
        let rules = pair[0].enabled(system, thread);
        let rule = rules.iter().find(|rule| pair[0].step(thread, rule) == pair[1]);
        let line = rule.expect("threads of one kind have the same rules").line;
        steps.push(Step { thread, line, state: pair[1].clone() });
    }
    Trace { initial: run[0].clone(), steps }
}

fn same_orbit(kinds: &Kinds, one: &State, other: &State) -> bool {
    one.shared == other.shared
        && (0..kinds.count()).all(|kind| {
            let sorted = |state: &State| {
                let mut stacks: Vec<Vec<Symbol>> = kinds
                    .members(kind)
                    .iter()
                    .map(|&thread| state.stacks[thread].symbols().collect())
                    .collect();
                stacks.sort_unstable();
                stacks
            };
            match kinds.members(kind) {
                [thread] => stack(one, *thread) == stack(other, *thread),
                _ => sorted(one) == sorted(other),
            }
        })
}

fn stack(state: &State, thread: usize) -> &Stack {
    &state.stacks[thread]
}
