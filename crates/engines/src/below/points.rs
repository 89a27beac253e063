//! Rare combinations of points of control first: bugs deep in large programs.
//!
//! A *combination* is where all threads are, whatever the values of variables. Of the states that are known and not expanded,
//! the next is one whose combination had the fewest states when it was found, and of those the one with the fewest context
//! switches that was found last. So a search gets to every combination by few states each before it looks at more of them: it goes deep where a
//! breadth-first search is lost among values that do not matter, and comes back for them.
//!
//! Invariant: every state that is stored is reachable, with a way to it through its parents. Nothing is ever safe by this.

use crate::budget::{Budget, Progress};
use crate::engine::{Figures, Info, Outcome, PushdownEngine, Question, Setting};
use crate::store::trace;
use crate::store::{Graph, StackId, Threads};
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::encoding::{Encoded, Point};
use allways_model::property::Property;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The engine; see the module.
pub struct Points;

/// How many states are expanded between two looks at the budget.
const POLL: u64 = 64;

impl PushdownEngine for Points {
    const INFO: Info = Info::new(
        "points",
        "explores states at rare combinations of points of control first, to find bugs in large systems; never proves",
    )
    .knowing(&[Setting::MaxStates]);

    fn search(&self, system: &dyn Pushdown, question: &Question, budget: &Budget) -> Outcome {
        let mut search = Search::new(system, question, budget);
        let verdict = match search.run() {
            Ok(trace) => Verdict::from(trace),
            Err(reason) => Verdict::Unknown(reason),
        };
        let remarks = vec![format!("{} combinations of points of control", search.points.len())];
        let figures = Figures {
            images: search.images,
            concrete_states: Some(search.states.len()),
            remarks,
            ..Figures::default()
        };
        Outcome::new(verdict, figures)
    }
}

/// A state that was found.
struct Found {
    shared: Shared,
    stacks: Box<[StackId]>,
    /// The state before it, if it is no initial one.
    parent: Option<u32>,
    /// Who moved last.
    mover: usize,
    /// How often another thread moved than before.
    switches: u32,
}

struct Search<'a> {
    system: &'a dyn Pushdown,
    question: &'a Question,
    visible: Property,
    budget: &'a Budget<'a>,
    threads: Threads<'a>,
    states: Vec<Found>,
    seen: FxHashSet<(Shared, Box<[StackId]>)>,
    /// How many states were found with each combination of points.
    points: FxHashMap<Box<[u32]>, u32>,
    /// States that are to be expanded: how many of the combination were known before, switches, number.
    queue: BinaryHeap<(Reverse<(u32, u32)>, u32)>,
    images: u64,
    /// The memory that must be left.
    reserve: usize,
}

impl<'a> Search<'a> {
    fn new(system: &'a dyn Pushdown, question: &'a Question, budget: &'a Budget<'a>) -> Search<'a> {
        Search {
            system,
            question,
            visible: Property { deadlock: false, ..question.property.clone() },
            budget,
            threads: Threads::new(system, question.kinds(system)),
            states: Vec::new(),
            seen: FxHashSet::default(),
            points: FxHashMap::default(),
            queue: BinaryHeap::new(),
            images: 0,
            reserve: budget.memory_left().map_or(0, |left| left / 2),
        }
    }

    fn run(&mut self) -> Result<Trace, StopReason> {
        if self.question.property.is_empty() {
            return Err(self.give_up("it looks for violations, and there is no property"));
        }
        for state in self.system.initial() {
            let stacks = state.stacks.iter().enumerate();
            let stacks =
                stacks.map(|(thread, stack)| self.threads.stacks_mut(thread).intern(stack)).collect();
            if let Some(trace) = self.found(Found {
                shared: state.shared,
                stacks,
                parent: None,
                mover: usize::MAX,
                switches: 0,
            }) {
                return Ok(trace);
            }
        }
        let mut expanded = 0_u64;
        while let Some((_, number)) = self.queue.pop() {
            if expanded.is_multiple_of(POLL) {
                self.budget.tick(&Progress { images: self.images, ..Progress::default() })?;
                if self.budget.memory_left().is_some_and(|left| left < self.reserve) {
                    return Err(StopReason::GaveUp("the states took too much memory".to_string()));
                }
            }
            expanded += 1;
            if let Some(most) = self.question.max_states.filter(|&most| self.states.len() >= most) {
                return Err(StopReason::Bound(format!("the first {most} states")));
            }
            if let Some(trace) = self.expand(number) {
                return Ok(trace);
            }
        }
        Err(self.give_up("no state is left that it could expand"))
    }

    fn expand(&mut self, number: u32) -> Option<Trace> {
        let state = &self.states[number as usize];
        let (shared, stacks, mover, switches) =
            (state.shared, state.stacks.clone(), state.mover, state.switches);
        let mut moved = false;
        for thread in 0..stacks.len() {
            let moves = self.threads.moves(thread, shared, stacks[thread].0).to_vec();
            moved |= !moves.is_empty();
            for to in moves {
                self.images += 1;
                let mut stacks = stacks.clone();
                stacks[thread] = StackId(to.local);
                let switches = switches + u32::from(mover != thread);
                let next = Found { shared: to.shared, stacks, parent: Some(number), mover: thread, switches };
                if let Some(trace) = self.found(next) {
                    return Some(trace);
                }
            }
        }
        let stuck = !moved && self.question.property.deadlock;
        (stuck && self.is_bad(shared, &stacks, &self.question.property)).then(|| self.trace(number))
    }

    /// Stores a state that is new; a trace if it is bad.
    fn found(&mut self, state: Found) -> Option<Trace> {
        if !self.seen.insert((state.shared, state.stacks.clone())) {
            return None;
        }
        let bad = self.is_bad(state.shared, &state.stacks, &self.visible);
        let encoded = self.system.encoded();
        let point = |(thread, &stack): (usize, &StackId)| {
            point_of(encoded, self.threads.stacks(thread).symbol(stack))
        };
        let points = state.stacks.iter().enumerate().map(point).collect();
        let known = self.points.entry(points).or_default();
        let number = self.states.len() as u32;
        self.queue.push((Reverse((*known, state.switches)), number));
        *known += 1;
        self.states.push(state);
        bad.then(|| self.trace(number))
    }

    fn is_bad(&self, shared: Shared, stacks: &[StackId], property: &Property) -> bool {
        let top = |(thread, &stack): (usize, &StackId)| self.threads.stacks(thread).symbol(stack);
        let tops: Vec<Symbol> = stacks.iter().enumerate().map(top).collect();
        property.violated_in_orbit(self.system, self.threads.kinds(), shared, &tops)
    }

    /// The run to a state.
    fn trace(&self, number: u32) -> Trace {
        let mut path = Vec::new();
        let mut at = Some(number);
        while let Some(number) = at {
            let found = &self.states[number as usize];
            let stack = |(thread, &stack): (usize, &StackId)| self.threads.stacks(thread).get(stack);
            path.push(State {
                shared: found.shared,
                stacks: found.stacks.iter().enumerate().map(stack).collect(),
            });
            at = found.parent;
        }
        path.reverse();
        trace::along(self.system, self.threads.kinds(), &self.question.property, &path)
    }

    fn give_up(&self, why: &str) -> StopReason {
        StopReason::GaveUp(self.system.incomplete().unwrap_or_else(|| why.to_string()))
    }
}

/// The point of control that a symbol stands for; what is no location is told apart from those that are.
fn point_of(encoded: Option<&Encoded>, symbol: Symbol) -> u32 {
    let Some(encoded) = encoded.filter(|_| symbol != EMPTY) else { return symbol.0 };
    match encoded.cell(symbol).point {
        Point::At(location) => location.index() as u32,
        _ => u32::MAX - symbol.0,
    }
}
