//! The definitions of the papers, read literally.

use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State, Visible};
use std::collections::BTreeSet;

/// R(r,d) by DrUBA, Definition 1: the ends of paths `s0 … sl` with a scheduling function `f` such that
/// the delays `f(0) + Σ (f(i) - f(i-1) - 1) mod n` are at most `d` and `l` plus the delays fills at most `r` rounds.
///
/// A thread that cannot move takes a step that changes nothing.
pub fn rounds_delays(system: &dyn Pushdown, rounds: usize, delays: usize) -> BTreeSet<State> {
    let threads = system.threads();
    // A path so far: its end, the thread that moved last, its length, its delays.
    let mut paths: BTreeSet<(State, Option<usize>, usize, usize)> =
        system.initial().into_iter().map(|state| (state, None, 0, 0)).collect();
    let mut unexplored: Vec<_> = paths.iter().cloned().collect();
    while let Some((state, last, length, delayed)) = unexplored.pop() {
        for thread in 0..threads {
            let skipped = match last {
                None => thread,
                Some(last) => (thread + 2 * threads - last - 1) % threads,
            };
            let total = delayed + skipped;
            if total > delays || (length + 1 + total).div_ceil(threads) > rounds {
                continue;
            }
            for next in total_step(system, &state, thread) {
                let path = (next, Some(thread), length + 1, total);
                if paths.insert(path.clone()) {
                    unexplored.push(path);
                }
            }
        }
    }
    paths.into_iter().map(|(state, ..)| state).collect()
}

fn total_step(system: &dyn Pushdown, state: &State, thread: usize) -> Vec<State> {
    let next: Vec<State> =
        state.enabled(system, thread).iter().map(|rule| state.step(thread, rule)).collect();
    if next.is_empty() { vec![state.clone()] } else { next }
}

/// R_k by CUBA, section 2.3: the ends of paths of at most `contexts` contexts, through stacks of at most `max_depth`
/// symbols, and whether that bound cut anything off; `None` if there are more than `max_paths` paths to tell apart.
///
/// A context is a sequence of consecutive steps of one thread.
pub fn contexts(
    system: &dyn Pushdown,
    contexts: usize,
    max_depth: usize,
    max_paths: usize,
) -> Option<(BTreeSet<State>, bool)> {
    // A path so far: its end, the thread that moved last, its contexts.
    let mut paths: BTreeSet<(State, Option<usize>, usize)> =
        system.initial().into_iter().map(|state| (state, None, 0)).collect();
    let mut unexplored: Vec<_> = paths.iter().cloned().collect();
    let mut cut = false;
    while let Some((state, last, used)) = unexplored.pop() {
        for thread in 0..system.threads() {
            let used = if last == Some(thread) { used } else { used + 1 };
            if used > contexts {
                continue;
            }
            for rule in state.enabled(system, thread) {
                let path = (state.step(thread, &rule), Some(thread), used);
                if path.0.stacks[thread].depth() > max_depth {
                    cut = true;
                } else if paths.insert(path.clone()) {
                    unexplored.push(path);
                }
            }
        }
        if paths.len() > max_paths {
            return None;
        }
    }
    Some((paths.into_iter().map(|(state, ..)| state).collect(), cut))
}

/// All states reachable by any schedule through stacks of at most `max_depth` symbols, and whether that bound cut
/// anything off; `None` if there are more than `max_states`.
pub fn reachable(
    system: &dyn Pushdown,
    max_depth: usize,
    max_states: usize,
) -> Option<(BTreeSet<State>, bool)> {
    let mut reached: BTreeSet<State> = system.initial().into_iter().collect();
    let mut unexplored: Vec<State> = reached.iter().cloned().collect();
    let mut cut = false;
    while let Some(state) = unexplored.pop() {
        for thread in 0..system.threads() {
            for rule in state.enabled(system, thread) {
                let next = state.step(thread, &rule);
                if next.stacks[thread].depth() > max_depth {
                    cut = true;
                } else if reached.insert(next.clone()) {
                    unexplored.push(next);
                }
            }
        }
        if reached.len() > max_states {
            return None;
        }
    }
    Some((reached, cut))
}

/// What is visible of a set of states.
pub fn visible<'a>(states: impl IntoIterator<Item = &'a State>) -> BTreeSet<Visible> {
    states.into_iter().map(State::visible).collect()
}

/// The fewest context switches, and among runs with so few the fewest steps, to a state that violates the property, through
/// stacks of at most `max_depth` symbols; and whether that bound cut anything off. `None` if no such state is reached, or
/// after more than `max_paths` paths.
pub fn cheapest(
    system: &dyn Pushdown,
    property: &Property,
    max_depth: usize,
    max_paths: usize,
) -> Option<((usize, usize), bool)> {
    // Paths in the order of their cost: switches, steps; the thread that moved last, the end.
    let mut paths: BTreeSet<(usize, usize, Option<usize>, State)> =
        system.initial().into_iter().map(|state| (0, 0, None, state)).collect();
    let mut done: BTreeSet<(Option<usize>, State)> = BTreeSet::new();
    let mut cut = false;
    while let Some((switches, steps, last, state)) = paths.pop_first() {
        if property.violated_by(system, &state.visible()) {
            return Some(((switches, steps), cut));
        }
        if !done.insert((last, state.clone())) {
            continue;
        }
        for thread in 0..system.threads() {
            let switch = usize::from(last.is_some_and(|last| last != thread));
            for rule in state.enabled(system, thread) {
                let next = state.step(thread, &rule);
                if next.stacks[thread].depth() > max_depth {
                    cut = true;
                } else {
                    paths.insert((switches + switch, steps + 1, Some(thread), next));
                }
            }
        }
        if done.len() > max_paths {
            return None;
        }
    }
    None
}
