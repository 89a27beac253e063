//! A growing set of reachable states.
//!
//! Each state is a row: the shared state and the number of each thread's stack. Explorers say which thread moves from which
//! states; the space adds the successors and remembers for each new state where it was found from. A state is bad if its
//! visible part is; the first bad one stops the exploration.

use super::expand::{Disabled, Expander};
use super::observed::Observed;
use super::stacks::StackId;
use super::states::{StateId, States, make_room};
use super::threads::Threads;
use super::trace;
use crate::budget::{Budget, Progress};
use crate::engine::{Question, VisibleStates};
use allways_evidence::{StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Shared, State, Symbol};
use allways_model::symmetry::Kinds;

/// Why an exploration stopped before its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Halt {
    /// A bad state was reached.
    Bad(StateId),
    /// A limit was reached, or the user interrupted.
    Stop(StopReason),
}

impl From<StopReason> for Halt {
    fn from(reason: StopReason) -> Halt {
        Halt::Stop(reason)
    }
}

/// The states reached so far; see the module.
pub struct Space<'a> {
    /// The stacks and moves of the threads.
    pub threads: Threads<'a>,
    states: States,
    origins: Origins<'a>,
    expander: Expander,
    observed: Option<Observed>,
    max_states: usize,
    images: u64,
    budget: &'a Budget<'a>,
}

/// As many as numbers of 32 bits can name, with some to spare.
const MAX_STATES: usize = 4_000_000_000;

/// Where states were found from, and whether one of them is bad.
struct Origins<'a> {
    /// For each state the one it was found from; itself for an initial one.
    parents: Vec<StateId>,
    property: &'a Property,
    bad: Option<StateId>,
    tops: Vec<Symbol>,
}

impl Origins<'_> {
    fn admit(&mut self, threads: &Threads, states: &States, id: StateId, parent: StateId) {
        make_room(&mut self.parents, 1);
        self.parents.push(parent);
        if !self.property.is_empty() && self.bad.is_none() {
            let mut row = states.row(id);
            let shared = Shared(row.next().unwrap_or_default());
            self.tops.clear();
            self.tops
                .extend(row.enumerate().map(|(thread, stack)| threads.stacks(thread).symbol(StackId(stack))));
            if self.property.violated_in_orbit(threads.system(), threads.kinds(), shared, &self.tops) {
                self.bad = Some(id);
            }
        }
    }
}

impl<'a> Space<'a> {
    /// The space that holds the initial states.
    ///
    /// With `kinds` that are not distinct, each state stands for its orbit.
    pub fn new(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        question: &'a Question,
        budget: &'a Budget<'a>,
    ) -> Space<'a> {
        let mut space = Space::unobserved(system, kinds, question, budget);
        let mut observed = Observed::new(space.threads.kinds());
        observed.update(&space.threads, &space.states);
        space.observed = Some(observed);
        space
    }

    /// The same, if nobody is going to ask what is seen of the states.
    pub fn unobserved(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        question: &'a Question,
        budget: &'a Budget<'a>,
    ) -> Space<'a> {
        let mut space = Space {
            expander: Expander::new(kinds.clone()),
            observed: None,
            threads: Threads::new(system, kinds),
            states: States::new(1 + system.threads()),
            origins: Origins {
                parents: Vec::new(),
                property: &question.property,
                bad: None,
                tops: Vec::new(),
            },
            max_states: question.max_states.unwrap_or(MAX_STATES).min(MAX_STATES),
            images: 0,
            budget,
        };
        for state in system.initial() {
            let mut row = vec![state.shared.0];
            for (thread, stack) in state.stacks.iter().enumerate() {
                row.push(space.threads.stacks_mut(thread).intern(stack).0);
            }
            space.threads.kinds().sort(&mut row[1..]);
            let (id, new) = space.states.insert(&row);
            if new {
                space.origins.admit(&space.threads, &space.states, id, id);
            }
        }
        space
    }

    /// What is seen of the states. Panics if the space is unobserved.
    pub fn observed(&self) -> &Observed {
        self.observed.as_ref().expect("the space is observed")
    }

    /// What is visible of the states, of an unobserved space.
    pub fn visible(&self) -> VisibleStates {
        let kinds = self.threads.kinds();
        if !(0..self.threads.count()).all(|thread| self.threads.stacks(thread).flat()) {
            let mut observed = Observed::new(kinds);
            observed.update(&self.threads, &self.states);
            return observed.visible();
        }
        // Nothing lies below what is seen, so what is seen is all there is.
        let mut visible = VisibleStates::new(kinds.clone());
        let mut row = Vec::new();
        for id in 0..self.states.len() as StateId {
            row.clear();
            row.extend(self.states.row(id));
            for (thread, local) in row[1..].iter_mut().enumerate() {
                *local = self.threads.stacks(thread).symbol(StackId(*local)).0;
            }
            kinds.sort(&mut row[1..]);
            visible.push(row.iter().copied());
        }
        visible
    }

    /// Stops an exploration that has reached a bad state.
    pub fn alarm(&self) -> Result<(), Halt> {
        self.origins.bad.map_or(Ok(()), |state| Err(Halt::Bad(state)))
    }

    /// How many states were reached.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no state was reached; never, since there is an initial one.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// How often the successors of a state were computed.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.states.bytes()
            + self.observed.as_ref().map_or(0, Observed::bytes)
            + self.origins.parents.capacity() * size_of::<StateId>()
            + self.threads.bytes()
    }

    /// Appends to `targets` the successors of `from` when `thread` moves.
    ///
    /// `progress` is what to tell the watcher, apart from the figures the space knows itself.
    pub fn image(
        &mut self,
        thread: usize,
        from: &[StateId],
        disabled: Disabled,
        progress: Progress,
        targets: &mut Vec<StateId>,
    ) -> Result<(), Halt> {
        for batch in from.chunks(Expander::BATCH) {
            let Space { threads, states, origins, expander, observed, .. } = self;
            expander.expand(threads, states, thread, batch, disabled, targets);
            for (id, parent) in expander.new_rows() {
                origins.admit(threads, states, id, parent);
            }
            if let Some(observed) = observed {
                observed.update(threads, states);
            }
            self.alarm()?;
            self.images += batch.len() as u64;
            // An image takes about a tenth of a microsecond: this is more than once in a millisecond.
            if self.images % 4096 < batch.len() as u64 {
                self.poll(progress)?;
            }
            self.check_room(8 * Expander::BATCH)?;
        }
        Ok(())
    }

    /// Whether there is room for so many more states.
    fn check_room(&self, states: usize) -> Result<(), Halt> {
        if self.states.len() > self.max_states {
            return Err(StopReason::Bound(format!("the first {} states", self.max_states)).into());
        }
        let bytes = self.states.growth(states).unwrap_or(0) + self.threads.growth(states);
        Ok(if bytes > 0 { self.budget.room_for(bytes) } else { Ok(()) }?)
    }

    /// Asks the watcher whether to go on, where there is work that is no image.
    pub fn poll(&self, progress: Progress) -> Result<(), Halt> {
        Ok(self.budget.tick(&Progress { states: self.states.len(), images: self.images, ..progress })?)
    }

    /// The rows, as a set.
    pub fn states(&self) -> &States {
        &self.states
    }

    /// A state as a row: the shared state and the number of each thread's stack.
    pub fn row(&self, id: StateId) -> impl ExactSizeIterator<Item = u32> {
        self.states.row(id)
    }

    /// A state in full.
    pub fn state(&self, id: StateId) -> State {
        let mut row = self.states.row(id);
        let shared = Shared(row.next().unwrap_or_default());
        let stacks = row.enumerate().map(|(thread, stack)| self.threads.stacks(thread).get(StackId(stack)));
        State { shared, stacks: stacks.collect() }
    }

    /// A run that ends in this state.
    pub fn trace(&self, id: StateId) -> Trace {
        let parents = &self.origins.parents;
        let mut path = vec![id];
        let mut at = id;
        while parents[at as usize] != at {
            at = parents[at as usize];
            path.push(at);
        }
        let path: Vec<State> = path.into_iter().rev().map(|id| self.state(id)).collect();
        trace::along(self.threads.system(), self.threads.kinds(), self.origins.property, &path)
    }
}
