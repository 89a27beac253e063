//! A run that is made better part by part, where it is too much to search all runs.
//!
//! A *window* is a few contexts of the run, one after another. Between the states at its ends, a run is searched that has
//! fewer contexts, or as many and fewer steps; from the last windows, one to any bad state. If there is one, it takes their
//! place. Windows grow while any of them can be searched. Two steps of different threads that can be
//! exchanged are so already in small windows, which merges most contexts of a schedule that goes round among the threads.
//!
//! Invariant: what there is at any time is a run to a bad state, no worse than the known one.

use super::cost;
use super::search::{Goal, Search};
use crate::budget::Budget;
use allways_evidence::{StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State};
use hashbrown::HashMap;
use std::ops::Range;

/// Arrivals that are stored at most for one window, first and later.
const ARRIVALS: [usize; 2] = [30_000, 120_000];

/// Makes a run better until the largest windows that can be searched make it no better, or a limit is reached.
pub fn improve(system: &dyn Pushdown, property: &Property, best: &mut Trace, budget: &Budget) {
    cut_loops(system, best);
    let mut search = Search::new(system, property, budget);
    for max_arrivals in ARRIVALS {
        if grow(&mut search, best, max_arrivals).is_err() {
            break;
        }
    }
}

/// Replaces windows by better ones, small windows first.
fn grow(search: &mut Search, best: &mut Trace, max_arrivals: usize) -> Result<(), StopReason> {
    let system = search.threads.system();
    let mut size = 2;
    loop {
        let (mut at, mut improved, mut searched) = (0, false, false);
        while let Some(window) = Window::of(system, best, at, size) {
            match better(search, best, &window, max_arrivals) {
                Ok(true) => improved = true,
                Ok(false) => {
                    searched = true;
                    at += size.div_ceil(2);
                }
                Err(StopReason::Bound(_)) => at += size.div_ceil(2),
                Err(reason) => return Err(reason),
            }
        }
        if improved {
            continue;
        }
        let (contexts, _) = cost(system, best);
        if !searched || size >= contexts as usize {
            return Ok(());
        }
        size += size.div_ceil(2);
    }
}

/// Leaves out what lies between two visits of one state.
fn cut_loops(system: &dyn Pushdown, trace: &mut Trace) {
    let mut last_visit: HashMap<&State, usize> = HashMap::new();
    for (index, step) in trace.steps.iter().enumerate() {
        last_visit.insert(&step.state, index + 1);
    }
    let whole = |state: &State| !system.is_transient(state.shared);
    let mut steps = Vec::new();
    let (mut at, mut state) = (0, &trace.initial);
    loop {
        if whole(state) {
            at = last_visit.get(state).copied().unwrap_or(at);
        }
        let Some(step) = trace.steps.get(at) else { break };
        steps.push(step.clone());
        (at, state) = (at + 1, &step.state);
    }
    drop(last_visit);
    trace.steps = steps;
}

/// Some contexts of a run.
struct Window {
    /// Its steps.
    steps: Range<usize>,
    /// The thread that moves before it.
    before: Option<u32>,
    /// The thread that moves after it; none in the last window.
    after: Option<u32>,
    /// Its cost; a context before it counts, and so does one after it.
    cost: (u32, usize),
}

impl Window {
    /// The window of so many contexts from a context on, if there is one.
    fn of(system: &dyn Pushdown, trace: &Trace, first: usize, size: usize) -> Option<Window> {
        let (mut context, mut last, mut steps) = (0, None, 0);
        let (mut start, mut before) = (None, None);
        let mut state = &trace.initial;
        for (index, step) in trace.steps.iter().enumerate() {
            let thread = Some(step.thread as u32);
            if !system.is_transient(state.shared) {
                if last != thread {
                    if context == first {
                        (start, before) = (Some(index), last);
                    }
                    if context == first + size {
                        let contexts = u32::from(before.is_some()) + size as u32 + 1;
                        let steps_range = start?..index;
                        return Some(Window {
                            steps: steps_range,
                            before,
                            after: thread,
                            cost: (contexts, steps),
                        });
                    }
                    context += 1;
                    last = thread;
                }
                steps += usize::from(start.is_some());
            }
            state = &step.state;
        }
        let contexts = u32::from(before.is_some()) + (context - first.min(context)) as u32;
        Some(Window { steps: start?..trace.steps.len(), before, after: None, cost: (contexts, steps) })
    }
}

/// Puts a better run in the place of a window, if there is one.
fn better(
    search: &mut Search,
    best: &mut Trace,
    window: &Window,
    max_arrivals: usize,
) -> Result<bool, StopReason> {
    let Window { steps: Range { start, end }, before, after, cost: (contexts, steps) } = *window;
    let state_at = |index: usize| if index == 0 { &best.initial } else { &best.steps[index - 1].state };
    search.reset(steps + steps / 4, max_arrivals);
    if let Some(next) = after {
        let state = search.intern(state_at(end));
        search.goal = Some(Goal { state, next, contexts, steps: steps as u32 });
    }
    let from = before.map(|thread| (state_at(start), thread));
    let Some(found) = search.run(from, &|| (contexts, steps))? else { return Ok(false) };
    let part = search.trace(found);
    let system = search.threads.system();
    let rest = best.steps[end..].iter().cloned();
    let rest: Vec<_> = if after.is_some() { rest.collect() } else { Vec::new() };
    let whole = Trace {
        initial: if start == 0 { part.initial } else { best.initial.clone() },
        steps: best.steps[..start].iter().cloned().chain(part.steps).chain(rest).collect(),
    };
    let improves = cost(system, &whole) < cost(system, best);
    debug_assert!(improves, "the search stays below the cost of the window");
    if improves {
        *best = whole;
    }
    Ok(improves)
}
