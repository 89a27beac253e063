//! A run to a bad state with the fewest context switches, and among those the fewest steps.
//!
//! People follow a run context by context (Musuvathi and Qadeer, PLDI 2007), so its cost is (contexts, steps), compared in
//! this order. The search is that of Dijkstra over *arrivals*: a state, and the thread that has moved last. It needs no heap:
//! contexts are dealt with one after another, and all arrivals within `c` contexts come from two queues that are sorted by
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
//! Where that takes too many arrivals or too long, the known run is made better [part by part](windows). With fewer contexts
//! and steps to stay below, there may be few enough runs to search them all.

pub mod windows;

use super::symbolic::Symbolic;
use crate::budget::{Budget, Progress};
use crate::engine::Question;
use crate::store::states::make_room;
use crate::store::{Graph, Move, StackId, StateId, States, Threads, trace};
use allways_evidence::{StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use std::time::Duration;

/// Arrivals that are stored at most.
const ARRIVALS: usize = 2_000_000;

/// Runs of no more contexts than this are not searched part by part.
const FEW_CONTEXTS: u32 = 3;

/// Time that is spent at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Moves between two looks at the limits.
const WORK: usize = 4096;

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shortest {
    /// The best run to a bad state that is known.
    pub trace: Trace,
    /// Whether there is no better one.
    pub minimal: bool,
}

/// A run to a bad state with the fewest context switches, and among those the fewest steps; or, if a limit is reached first,
/// one that is no worse than the known one.
///
/// The limits are those of `budget`, and besides an eighth of the time that is left, a few seconds, and a few million states.
pub fn shortest(system: &dyn Pushdown, property: &Property, known: &Trace, budget: &Budget) -> Shortest {
    shortest_among(system, property, known, ARRIVALS, budget)
}

/// The same with so many arrivals at most in a search of all runs.
pub fn shortest_among(
    system: &dyn Pushdown,
    property: &Property,
    known: &Trace,
    max_arrivals: usize,
    budget: &Budget,
) -> Shortest {
    let share = budget.time_left().map_or(PATIENCE, |left| (left / 8).min(PATIENCE));
    let (half, whole) = (budget.within(share / 2), budget.within(share));
    let mut trace = known.clone();
    // A run of few contexts has no parts that could be much better. Otherwise the search of all runs is better tried from the
    // run that its parts give, and some of its arrivals are spent on finding out whether that is needed.
    let few = |trace: &Trace| cost(system, trace).0 <= FEW_CONTEXTS;
    let trial = if few(known) { max_arrivals } else { max_arrivals / 4 };
    let mut searched = improve(system, property, &mut trace, trial, &half);
    if searched.is_err() && !few(known) {
        if !few(&trace) {
            windows::improve(system, property, &mut trace, &whole);
        }
        searched = improve(system, property, &mut trace, max_arrivals - trial, &whole);
    }
    // A rule that is missing could lead on a shorter way.
    Shortest { trace, minimal: searched.is_ok() && system.incomplete().is_none() }
}

/// Replaces the run by better ones until there is none.
fn improve(
    system: &dyn Pushdown,
    property: &Property,
    best: &mut Trace,
    max_arrivals: usize,
    budget: &Budget,
) -> Result<(), StopReason> {
    let (_, mut max_steps) = cost(system, best);
    let mut needed = None;
    let mut search = Search::new(system, property, budget);
    loop {
        search.reset(max_steps, max_arrivals);
        let (contexts, steps) = cost(system, best);
        if let Some(bad) = search.run(None, contexts, steps)? {
            *best = search.trace(bad);
        }
        if !search.cut {
            return Ok(());
        }
        max_steps = max_steps.saturating_mul(2);
        if search.passed {
            // Sets of stacks count contexts in which others only finish the step of somebody else.
            continue;
        }
        let (contexts, _) = cost(system, best);
        let needed = match needed {
            Some(needed) => needed,
            None => *needed.insert(needed_contexts(system, property, contexts, max_arrivals, budget)?),
        };
        if needed == contexts {
            return Ok(());
        }
    }
}

/// The contexts and the steps of a run, without those that belong to the step before.
pub fn cost(system: &dyn Pushdown, trace: &Trace) -> (u32, usize) {
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

type ArrivalId = u32;

/// A state, and how it was come to.
#[derive(Clone, Copy)]
struct Arrival {
    state: StateId,
    /// The thread that moved last; [`NOBODY`] at an initial state.
    thread: u32,
    /// The thread that finished its step, usually the same.
    finisher: u32,
    contexts: u32,
    steps: u32,
    /// From where; itself at an initial state.
    parent: ArrivalId,
    /// The arrival at the same state before this one; itself if it is the first.
    earlier: ArrivalId,
}

const NOBODY: u32 = u32::MAX;

/// A state to go to in place of a bad one.
struct Goal {
    row: Vec<u32>,
    /// The thread that moves next from there. To come there by another one is worth a context less.
    next: u32,
    /// What is known to be enough, the context of `next` included.
    contexts: u32,
    steps: u32,
}

/// The search among runs of so many steps at most.
struct Search<'a> {
    property: &'a Property,
    /// Where to go, if not to a bad state.
    goal: Option<Goal>,
    threads: Threads<'a>,
    states: States,
    arrivals: Vec<Arrival>,
    /// For each state the last arrival at it.
    latest: Vec<ArrivalId>,
    max_steps: usize,
    max_arrivals: usize,
    /// Whether a run was left out because it has too many steps.
    cut: bool,
    /// Whether some state was only passed.
    passed: bool,
    budget: &'a Budget<'a>,
    work: usize,
    row: Vec<u32>,
    tops: Vec<Symbol>,
}

impl<'a> Search<'a> {
    fn new(system: &'a dyn Pushdown, property: &'a Property, budget: &'a Budget<'a>) -> Search<'a> {
        Search {
            property,
            goal: None,
            // States are not renamed; but threads of one kind have the same stacks and moves.
            threads: Threads::new(system, Kinds::of(system)),
            states: States::new(1 + system.threads()),
            arrivals: Vec::new(),
            latest: Vec::new(),
            max_steps: 0,
            max_arrivals: 0,
            cut: false,
            passed: false,
            budget,
            work: 0,
            row: Vec::new(),
            tops: Vec::new(),
        }
    }

    /// Forgets all arrivals.
    fn reset(&mut self, max_steps: usize, max_arrivals: usize) {
        (self.max_steps, self.max_arrivals) = (max_steps, max_arrivals);
        (self.cut, self.passed, self.goal) = (false, false, None);
        self.states = States::new(1 + self.threads.count());
        self.arrivals.clear();
        self.latest.clear();
    }

    /// Puts a state into `row`.
    fn intern(&mut self, state: &State) {
        self.row.clear();
        self.row.push(state.shared.0);
        for (thread, stack) in state.stacks.iter().enumerate() {
            self.row.push(self.threads.stacks_mut(thread).intern(stack).0);
        }
    }

    /// The best arrival at a bad state, or at the goal, with a cost below this one: from the initial states, or from a state
    /// in the midst of a context of some thread, which counts as one.
    fn run(
        &mut self,
        from: Option<(&State, u32)>,
        contexts: u32,
        steps: usize,
    ) -> Result<Option<ArrivalId>, StopReason> {
        self.look()?;
        let system = self.threads.system();
        let starts = match from {
            None => system.initial().into_iter().map(|state| (state, NOBODY, 0)).collect(),
            Some((state, thread)) => vec![(state.clone(), thread, 1)],
        };
        for (state, thread, context) in starts {
            self.intern(&state);
            let id = self.arrivals.len() as ArrivalId;
            if self.arrive((thread, thread), context, 0, id) {
                return Ok(Some(id));
            }
        }
        let mut before = 0..self.arrivals.len();
        for context in 1..=contexts {
            let last = context == contexts;
            let max_steps = if last { steps - 1 } else { self.max_steps };
            let mut first = self.arrivals.len();
            if context == 1 && from.is_some() {
                (before, first) = (0..0, 0);
            }
            let (mut switching, mut staying) = (before.start, first);
            loop {
                let steps = |id: usize| self.arrivals.get(id).map(|arrival| arrival.steps);
                let switches = switching < before.end
                    && steps(staying).is_none_or(|staying| steps(switching) <= Some(staying));
                let next = *(if switches { &mut switching } else { &mut staying });
                let Some(&from) = self.arrivals.get(next) else { break };
                if from.steps as usize >= max_steps {
                    self.cut |= !last;
                    break;
                }
                let passed = self.threads.system().is_transient(Shared(self.states.column(from.state, 0)));
                let movers = if passed {
                    // It was left as soon as it was reached.
                    0..0
                } else if switches {
                    0..self.threads.count() as u32
                } else {
                    from.thread..from.thread + 1
                };
                for thread in movers.filter(|&thread| !switches || thread != from.thread) {
                    if let Some(bad) =
                        self.expand(next as ArrivalId, (thread, thread), (context, from.steps + 1))?
                    {
                        return Ok(Some(bad));
                    }
                }
                *(if switches { &mut switching } else { &mut staying }) += 1;
            }
            before = first..self.arrivals.len();
        }
        Ok(None)
    }

    /// Lets a thread move from an arrival; a bad state that it arrives at, if there is one.
    fn expand(
        &mut self,
        parent: ArrivalId,
        (thread, mover): (u32, u32),
        (contexts, steps): (u32, u32),
    ) -> Result<Option<ArrivalId>, StopReason> {
        let from = self.arrivals[parent as usize];
        let column = 1 + mover as usize;
        let (shared, stack) = (self.states.column(from.state, 0), self.states.column(from.state, column));
        let moves: Vec<Move> = self.threads.moves(mover as usize, Shared(shared), stack).to_vec();
        self.work += 1;
        for to in moves {
            self.row.clear();
            self.row.extend(self.states.row(from.state));
            self.row[0] = to.shared.0;
            self.row[column] = to.local;
            self.work += 1 + self.row.len() / 64;
            let id = self.arrivals.len() as ArrivalId;
            if self.arrive((thread, mover), contexts, steps, parent) {
                return Ok(Some(id));
            }
            if id < self.arrivals.len() as ArrivalId && self.threads.system().is_transient(to.shared) {
                self.passed = true;
                for finisher in 0..self.threads.count() as u32 {
                    if let Some(bad) = self.expand(id, (thread, finisher), (contexts, steps))? {
                        return Ok(Some(bad));
                    }
                }
            }
        }
        if self.work >= WORK || self.arrivals.len() > self.max_arrivals {
            self.work = 0;
            self.look()?;
        }
        Ok(None)
    }

    /// Notes an arrival at the state in `row`, if it is of any use; whether that state is new and bad.
    fn arrive(
        &mut self,
        (thread, finisher): (u32, u32),
        contexts: u32,
        steps: u32,
        parent: ArrivalId,
    ) -> bool {
        let (state, new) = self.states.insert(&self.row);
        let id = self.arrivals.len() as ArrivalId;
        let mut arrival = Arrival { state, thread, finisher, contexts, steps, parent, earlier: id };
        if new {
            make_room(&mut self.latest, 1);
            self.latest.push(id);
        } else {
            if self.useless(&arrival) {
                return false;
            }
            arrival.earlier = std::mem::replace(&mut self.latest[state as usize], id);
        }
        make_room(&mut self.arrivals, 1);
        self.arrivals.push(arrival);
        match &self.goal {
            None => new && self.bad(),
            Some(goal) => {
                let contexts = contexts + u32::from(thread != goal.next);
                goal.row == self.row && (contexts, steps) < (goal.contexts, goal.steps)
            }
        }
    }

    /// Whether whatever can be done from this arrival can be done as well from one before it.
    fn useless(&self, arrival: &Arrival) -> bool {
        let mut at = self.latest[arrival.state as usize];
        loop {
            let other = &self.arrivals[at as usize];
            if other.thread == arrival.thread {
                return true;
            }
            if other.earlier == at {
                return (arrival.contexts, arrival.steps) >= (other.contexts + 1, other.steps);
            }
            at = other.earlier;
        }
    }

    /// Whether the state in `row` is bad.
    fn bad(&mut self) -> bool {
        self.tops.clear();
        let locals = self.row[1..].iter().enumerate();
        self.tops.extend(locals.map(|(thread, &local)| self.threads.stacks(thread).symbol(StackId(local))));
        self.property.violated_at(self.threads.system(), Shared(self.row[0]), &self.tops)
    }

    /// Whether to go on.
    fn look(&self) -> Result<(), StopReason> {
        if self.arrivals.len() > self.max_arrivals {
            return Err(StopReason::Bound(format!("the first {} states", self.max_arrivals)));
        }
        self.budget.tick(&Progress { states: self.states.len(), ..Progress::default() })?;
        self.budget.room_for(self.states.growth(4 * WORK).unwrap_or(0) + self.threads.growth(4 * WORK))
    }

    fn state(&self, id: StateId) -> State {
        let mut row = self.states.row(id);
        let shared = Shared(row.next().unwrap_or_default());
        let stacks = row.enumerate().map(|(thread, stack)| self.threads.stacks(thread).get(StackId(stack)));
        State { shared, stacks: stacks.collect() }
    }

    /// The run to an arrival.
    fn trace(&self, mut id: ArrivalId) -> Trace {
        let (mut run, mut movers) = (Vec::new(), Vec::new());
        loop {
            let arrival = &self.arrivals[id as usize];
            run.push(self.state(arrival.state));
            if arrival.parent == id {
                break;
            }
            movers.push(arrival.finisher as usize);
            id = arrival.parent;
        }
        run.reverse();
        movers.reverse();
        trace::of(self.threads.system(), &run, &movers)
    }
}
