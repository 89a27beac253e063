//! A run to a bad state with the fewest context switches, and among those the fewest steps.
//!
//! People follow a run context by context (Musuvathi and Qadeer, PLDI 2007), so its cost is (contexts, steps), compared in
//! this order. The search (`search.rs`) is that of Dijkstra over *arrivals*: a state, and the thread that has moved last. It needs no
//! heap: contexts are dealt with one after another, and all arrivals within `c` contexts come from two queues that are sorted by
//! steps, those within `c - 1` contexts, from which another thread moves, and those within `c`, from which the same one
//! moves on. Merged, they give new arrivals in the order of their cost.
//!
//! Invariant: arrivals are numbered in the order of their cost, and to arrive at a state by a thread a second time is of no
//! use. Nor is it, by another thread, one context later and with no fewer steps than the first arrival, or two contexts
//! later: the first goes on just as well by a switch.
//!
//! Steps from a state that is only [passed](Pushdown::is_transient) belong to the step before: they cost nothing, and the thread
//! that has moved last is still the one that moved before.
//!
//! A context may have infinitely many states, so runs of more steps than the known one are left out at first. What is left
//! out could be better only if it had fewer contexts. How many contexts are needed is found by sets of stacks
//! ([`symbolic`](super::symbolic)), for which an infinite context is one step; while fewer are needed than the best run has,
//! longer ones are searched.
//!
//! Where that takes more than a moment, something is done beside it that is not sure to find the best run, but soon has a good one:
//! random [runs](walks) of fewer contexts; the best of them made better [part by part](windows); and another bad state that is
//! looked for breadth first, up to renaming of threads, whose run is then made better in the same way. The best run that is known at any time bounds the
//! search. So a run that was met by chance ends up no worse than one that a systematic search finds in the same time; and whoever
//! stops early has the best run so far, and says what stopped it.

mod search;
pub mod windows;

use super::symbolic::Symbolic;
use super::{free, walks};
use crate::budget::Budget;
use crate::engine::Question;
use crate::race::{Lane, race};
use crate::store::{Halt, Space};
use allways_evidence::{StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;
use search::Search;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Arrivals that are stored at most, and states of the search beside it.
const ARRIVALS: usize = 8_000_000;
const STATES_BESIDE: usize = 16_000_000;

/// Runs of no more contexts than this are not searched part by part.
const FEW_CONTEXTS: u32 = 3;

/// How long the search is alone.
const HEAD_START: Duration = Duration::from_millis(50);

/// Contexts and steps.
pub type Cost = (u32, usize);

/// What a search may take besides its budget. Of the time that is left it never takes more than an eighth.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Time.
    pub patience: Duration,
    /// Arrivals that are stored, and steps that are made at random.
    pub arrivals: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort { patience: Duration::from_secs(5), arrivals: ARRIVALS }
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortest {
    /// The best run to a bad state that is known.
    pub trace: Trace,
    /// Whether there is no better one.
    pub minimal: bool,
    /// Why the search ended early, if it did.
    pub stopped: Option<StopReason>,
}

/// A run to a bad state with the fewest context switches, and among those the fewest steps; or, if a limit is reached first,
/// one that is no worse than the known one.
pub fn shortest(
    system: &dyn Pushdown,
    property: &Property,
    known: &Trace,
    effort: Effort,
    budget: &Budget,
) -> Shortest {
    let share = budget.time_left().map_or(effort.patience, |left| (left / 8).min(effort.patience));
    let budget = budget.within(share);
    let best = Best::new(system, known);
    let (contexts, _) = best.cost();
    let all = |budget: &Budget| Some(improve(property, &best, effort.arrivals, budget));
    let beside = |budget: &Budget| {
        look_beside(property, &best, effort.arrivals, budget);
        None
    };
    let lanes = [Lane::new(&all), Lane { after: HEAD_START, ..Lane::new(&beside) }];
    let raced = race(&lanes, |searched| *searched == Some(Ok(())), None, &budget);
    let mut searched = raced.results.into_iter().flatten().flatten().next().unwrap_or(Ok(()));
    if matches!(searched, Err(StopReason::Bound(_))) && best.cost().0 < contexts {
        // With fewer contexts to stay below, there may be few enough runs.
        searched = improve(property, &best, effort.arrivals, &budget);
    }
    let stopped = searched.err();
    // A rule that is missing could lead on a shorter way.
    let minimal = stopped.is_none() && system.incomplete().is_none();
    Shortest { trace: best.trace(), minimal, stopped }
}

/// The best run that is known.
struct Best<'a> {
    system: &'a dyn Pushdown,
    run: Mutex<(Cost, Trace)>,
}

impl<'a> Best<'a> {
    fn new(system: &'a dyn Pushdown, known: &Trace) -> Best<'a> {
        Best { system, run: Mutex::new((cost(system, known), known.clone())) }
    }

    fn cost(&self) -> Cost {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    fn trace(&self) -> Trace {
        self.run.lock().unwrap_or_else(PoisonError::into_inner).1.clone()
    }

    /// Takes a run if it is better.
    fn offer(&self, trace: Trace) {
        let cost = cost(self.system, &trace);
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        if cost < run.0 {
            *run = (cost, trace);
        }
    }
}

/// Replaces the best run by better ones until there is none.
fn improve(property: &Property, best: &Best, max_arrivals: usize, budget: &Budget) -> Result<(), StopReason> {
    let (_, mut max_steps) = best.cost();
    let mut needed = None;
    let mut search = Search::new(best.system, property, budget);
    loop {
        search.reset(max_steps, max_arrivals);
        if let Some(bad) = search.run(None, &|| best.cost())? {
            best.offer(search.trace(bad));
        }
        if !search.cut {
            return Ok(());
        }
        max_steps = max_steps.saturating_mul(2);
        if search.passed {
            // Sets of stacks count contexts in which others only finish the step of somebody else.
            continue;
        }
        let (contexts, _) = best.cost();
        let needed = match needed {
            Some(needed) => needed,
            None => *needed.insert(needed_contexts(best.system, property, contexts, max_arrivals, budget)?),
        };
        if needed == contexts {
            return Ok(());
        }
    }
}

/// Looks for better runs where they are found soon, if at all.
fn look_beside(property: &Property, best: &Best, max_steps: usize, budget: &Budget) {
    let improve = |mut trace: Trace, budget: &Budget| {
        if cost(best.system, &trace).0 > FEW_CONTEXTS {
            windows::improve(best.system, property, &mut trace, budget);
        }
        best.offer(trace);
    };
    let part = |share: u32| budget.time_left().map_or(Duration::MAX, |left| left / share);
    let (contexts, _) = best.cost();
    walks::improve(best.system, property, contexts, max_steps, &budget.within(part(4)), |run| {
        best.offer(run)
    });
    improve(best.trace(), &budget.within(part(3)));
    let question =
        Question { property: property.clone(), max_states: Some(STATES_BESIDE), ..Question::default() };
    let kinds = question.kinds(best.system);
    let mut space = Space::unobserved(best.system, kinds, &question, budget);
    if let Err(Halt::Bad(bad)) = free::explore(&mut space) {
        let trace = space.trace(bad);
        best.offer(trace.clone());
        improve(trace, budget);
    }
}

/// The contexts and the steps of a run, without those that belong to the step before.
pub fn cost(system: &dyn Pushdown, trace: &Trace) -> Cost {
    let (mut contexts, mut steps, mut last) = (0, 0, None);
    let mut before = &trace.initial;
    for step in &trace.steps {
        if !system.is_transient(before.shared) {
            contexts += u32::from(last != Some(step.thread));
            steps += 1;
            last = Some(step.thread);
        }
        before = &step.state;
    }
    (contexts, steps)
}

/// How many contexts it takes to a bad state; so many are known to be enough.
fn needed_contexts(
    system: &dyn Pushdown,
    property: &Property,
    enough: u32,
    max_states: usize,
    budget: &Budget,
) -> Result<u32, StopReason> {
    let question =
        Question { property: property.clone(), max_states: Some(max_states), ..Question::default() };
    let mut reached = Symbolic::new(system, Kinds::of(system), &question, budget);
    while !reached.bad() && reached.contexts() + 1 < enough {
        reached.add_context()?;
    }
    Ok(if reached.bad() { reached.contexts() } else { enough })
}
