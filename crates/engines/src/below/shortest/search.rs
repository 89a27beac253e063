//! The search of all runs, in the order of their cost; the module [`shortest`](super) says why it is right.
//!
//! Arrivals with the same number of contexts and of steps are a *level*. What can be reached from a level is looked up in
//! batches, so that cache misses overlap, and then arrived at one by one.

use super::Cost;
use crate::budget::{Budget, Progress};
use crate::store::states::make_room;
use crate::store::{Expander, Graph, Move, StackId, StateId, States, Threads, trace};
use allways_evidence::{StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;
use std::ops::Range;

/// Moves between two looks at the limits.
const WORK: usize = 4096;

pub type ArrivalId = u32;

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

/// The state was not arrived at yet.
const NEVER: ArrivalId = ArrivalId::MAX;

/// A state to go to in place of a bad one.
pub struct Goal {
    pub state: StateId,
    /// The thread that moves next from there. To come there by another one is worth a context less.
    pub next: u32,
    /// What is known to be enough, the context of `next` included.
    pub contexts: u32,
    pub steps: u32,
}

/// Where a batch of arrivals leads to.
#[derive(Default)]
struct Batch {
    keys: Vec<u64>,
    /// From which arrival, and by which thread.
    origins: Vec<(ArrivalId, u32)>,
    states: Vec<StateId>,
}

/// The search among runs of so many steps at most.
pub struct Search<'a> {
    property: &'a Property,
    /// Where to go, if not to a bad state.
    pub goal: Option<Goal>,
    pub threads: Threads<'a>,
    states: States,
    arrivals: Vec<Arrival>,
    /// For each state the last arrival at it.
    latest: Vec<ArrivalId>,
    max_steps: usize,
    max_arrivals: usize,
    /// Whether a run was left out because it has too many steps.
    pub cut: bool,
    /// Whether some state was only passed.
    pub passed: bool,
    budget: &'a Budget<'a>,
    work: usize,
    batch: Batch,
    row: Vec<u32>,
    tops: Vec<Symbol>,
}

impl<'a> Search<'a> {
    pub fn new(system: &'a dyn Pushdown, property: &'a Property, budget: &'a Budget<'a>) -> Search<'a> {
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
            batch: Batch::default(),
            row: Vec::new(),
            tops: Vec::new(),
        }
    }

    /// Forgets all arrivals.
    pub fn reset(&mut self, max_steps: usize, max_arrivals: usize) {
        (self.max_steps, self.max_arrivals) = (max_steps, max_arrivals);
        (self.cut, self.passed, self.goal) = (false, false, None);
        self.states = States::new(1 + self.threads.count());
        self.arrivals.clear();
        self.latest.clear();
    }

    /// The number of a state.
    pub fn intern(&mut self, state: &State) -> StateId {
        self.row.clear();
        self.row.push(state.shared.0);
        for (thread, stack) in state.stacks.iter().enumerate() {
            self.row.push(self.threads.stacks_mut(thread).intern(stack).0);
        }
        self.states.insert(&self.row).0
    }

    /// The best arrival at a bad state, or at the goal: from the initial states, or from a state in the midst of a context of
    /// some thread, which counts as one. Only those are looked for that cost less than the bound, which may become less
    /// meanwhile.
    pub fn run(
        &mut self,
        from: Option<(&State, u32)>,
        bound: &dyn Fn() -> Cost,
    ) -> Result<Option<ArrivalId>, StopReason> {
        self.look()?;
        let system = self.threads.system();
        let starts = match from {
            None => system.initial().into_iter().map(|state| (state, NOBODY, 0)).collect(),
            Some((state, thread)) => vec![(state.clone(), thread, 1)],
        };
        for (state, thread, context) in starts {
            let state = self.intern(&state);
            let id = self.arrivals.len() as ArrivalId;
            if self.arrive(state, (thread, thread), (context, 0), id) {
                return Ok(Some(id));
            }
        }
        let mut before = 0..self.arrivals.len();
        for context in 1.. {
            let mut first = self.arrivals.len();
            if context == 1 && from.is_some() {
                (before, first) = (0..0, 0);
            }
            let (mut switching, mut staying) = (before.start, first);
            loop {
                let (contexts, steps) = bound();
                if context > contexts {
                    return Ok(None);
                }
                let last = context == contexts;
                let max_steps = if last { steps.saturating_sub(1) } else { self.max_steps };
                let steps = |id: usize, end: usize| self.arrivals[id..end].first().map(|from| from.steps);
                let waiting = [steps(switching, before.end), steps(staying, self.arrivals.len())];
                let Some(level) = waiting.into_iter().flatten().min() else { break };
                if level as usize >= max_steps {
                    self.cut |= !last;
                    break;
                }
                let switchers = self.level(switching..before.end, level);
                let stayers = self.level(staying..self.arrivals.len(), level);
                (switching, staying) = (switchers.end, stayers.end);
                for (arrivals, switches) in [(switchers, true), (stayers, false)] {
                    let bad = self.expand_all(arrivals, switches, (context, level + 1))?;
                    if bad.is_some() {
                        return Ok(bad);
                    }
                }
            }
            before = first..self.arrivals.len();
        }
        Ok(None)
    }

    /// The first of these arrivals, which are sorted by steps, as long as they have so many.
    fn level(&self, arrivals: Range<usize>, steps: u32) -> Range<usize> {
        let count =
            self.arrivals[arrivals.clone()].iter().take_while(|arrival| arrival.steps == steps).count();
        arrivals.start..arrivals.start + count
    }

    /// Lets threads move from arrivals, others than moved last or the same; a bad state that is arrived at, if there is one.
    fn expand_all(
        &mut self,
        arrivals: Range<usize>,
        switches: bool,
        cost: (u32, u32),
    ) -> Result<Option<ArrivalId>, StopReason> {
        let mut start = arrivals.start;
        while start < arrivals.end {
            let end = arrivals.end.min(start + Expander::BATCH);
            let mut batch = std::mem::take(&mut self.batch);
            while let Err((column, value)) = self.collect(start..end, switches, &mut batch) {
                // Packing anew voids the keys collected so far.
                self.states.widen(column, value);
            }
            batch.states.clear();
            self.states.insert_batch(&batch.keys, &mut batch.states);
            for (&state, &(parent, thread)) in batch.states.iter().zip(&batch.origins) {
                if let Some(bad) = self.arrive_and_pass(state, (thread, thread), cost, parent)? {
                    return Ok(Some(bad));
                }
            }
            self.work += (end - start) + batch.keys.len();
            self.batch = batch;
            if self.work >= WORK {
                self.work = 0;
                self.look()?;
            }
            start = end;
        }
        Ok(None)
    }

    /// Packs what arrivals lead to; fails with a column and a value that is too large for it.
    fn collect(
        &mut self,
        arrivals: Range<usize>,
        switches: bool,
        batch: &mut Batch,
    ) -> Result<(), (usize, u32)> {
        batch.keys.clear();
        batch.origins.clear();
        let count = self.threads.count() as u32;
        for id in arrivals {
            let from = self.arrivals[id];
            let shared = Shared(self.states.column(from.state, 0));
            if self.threads.system().is_transient(shared) {
                // It was left as soon as it was reached.
                continue;
            }
            let movers = if switches { 0..count } else { from.thread..from.thread + 1 };
            for thread in movers.filter(|&thread| !switches || thread != from.thread) {
                let column = 1 + thread as usize;
                let local = self.states.column(from.state, column);
                for to in self.threads.moves(thread as usize, shared, local) {
                    for (column, value) in [(0, to.shared.0), (column, to.local)] {
                        if !self.states.fits(column, value) {
                            return Err((column, value));
                        }
                    }
                    self.states.successor_onto(from.state, to.shared.0, column, to.local, &mut batch.keys);
                    batch.origins.push((id as ArrivalId, thread));
                }
            }
        }
        Ok(())
    }

    /// Notes an arrival, and those that follow at once if the state is only passed; one at a bad state, if there is one.
    fn arrive_and_pass(
        &mut self,
        state: StateId,
        (thread, mover): (u32, u32),
        cost: (u32, u32),
        parent: ArrivalId,
    ) -> Result<Option<ArrivalId>, StopReason> {
        let id = self.arrivals.len() as ArrivalId;
        if self.arrive(state, (thread, mover), cost, parent) {
            return Ok(Some(id));
        }
        let arrived = id < self.arrivals.len() as ArrivalId;
        if arrived && self.threads.system().is_transient(Shared(self.states.column(state, 0))) {
            self.passed = true;
            for finisher in 0..self.threads.count() as u32 {
                let bad = self.expand(id, (thread, finisher), cost)?;
                if bad.is_some() {
                    return Ok(bad);
                }
            }
        }
        if self.arrivals.len() > self.max_arrivals {
            self.look()?;
        }
        Ok(None)
    }

    /// Lets a thread move from an arrival; a bad state that it arrives at, if there is one.
    fn expand(
        &mut self,
        parent: ArrivalId,
        (thread, mover): (u32, u32),
        cost: (u32, u32),
    ) -> Result<Option<ArrivalId>, StopReason> {
        let from = self.arrivals[parent as usize].state;
        let column = 1 + mover as usize;
        let (shared, stack) = (self.states.column(from, 0), self.states.column(from, column));
        let moves: Vec<Move> = self.threads.moves(mover as usize, Shared(shared), stack).to_vec();
        for to in moves {
            self.row.clear();
            self.row.extend(self.states.row(from));
            self.row[0] = to.shared.0;
            self.row[column] = to.local;
            let (state, _) = self.states.insert(&self.row);
            let bad = self.arrive_and_pass(state, (thread, mover), cost, parent)?;
            if bad.is_some() {
                return Ok(bad);
            }
        }
        Ok(None)
    }

    /// Notes an arrival, if it is of any use; whether its state is the goal, or new and bad.
    fn arrive(
        &mut self,
        state: StateId,
        (thread, finisher): (u32, u32),
        (contexts, steps): (u32, u32),
        parent: ArrivalId,
    ) -> bool {
        if self.latest.len() < self.states.len() {
            let more = self.states.len() - self.latest.len();
            make_room(&mut self.latest, more);
            self.latest.resize(self.states.len(), NEVER);
        }
        let id = self.arrivals.len() as ArrivalId;
        let mut arrival = Arrival { state, thread, finisher, contexts, steps, parent, earlier: id };
        let latest = self.latest[state as usize];
        let new = latest == NEVER;
        if !new {
            if self.useless(&arrival, latest) {
                return false;
            }
            arrival.earlier = latest;
        }
        self.latest[state as usize] = id;
        make_room(&mut self.arrivals, 1);
        self.arrivals.push(arrival);
        match &self.goal {
            None => new && self.bad(state),
            Some(goal) => {
                let contexts = contexts + u32::from(thread != goal.next);
                goal.state == state && (contexts, steps) < (goal.contexts, goal.steps)
            }
        }
    }

    /// Whether whatever can be done from this arrival can be done as well from one before it.
    fn useless(&self, arrival: &Arrival, mut at: ArrivalId) -> bool {
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

    fn bad(&mut self, state: StateId) -> bool {
        let mut row = self.states.row(state);
        let shared = Shared(row.next().unwrap_or_default());
        self.tops.clear();
        self.tops.extend(
            row.enumerate().map(|(thread, local)| self.threads.stacks(thread).symbol(StackId(local))),
        );
        self.property.violated_at(self.threads.system(), shared, &self.tops)
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
    pub fn trace(&self, mut id: ArrivalId) -> Trace {
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
