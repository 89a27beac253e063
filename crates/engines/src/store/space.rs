//! A growing set of reachable states, and what is visible of them.
//!
//! Each state is a row of a [`States`]: the shared state and the number of each thread's stack. Explorers say which thread
//! moves from which states; the space adds the successors, remembers for each new state where it was found from, and
//! keeps the set of *abstract* states: the shared state and the marked top of each stack. A state is bad if its visible
//! part is; the first bad one stops the exploration.

use super::stacks::TopId;
use super::states::{StateId, States};
use super::threads::Threads;
use crate::engine::{Progress, Watch};
use allways_evidence::{Step, StopReason, Trace};
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State, Symbol, Visible};

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

/// What a thread that cannot move contributes to an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disabled {
    /// The state itself: its slot passes (DrUBA, section 2.1: the transition relation is total).
    Stutters,
    /// Nothing.
    Blocks,
}

/// States whose images are computed together: enough to overlap cache misses, few enough to stay in the cache.
const BATCH: usize = 256;

/// The states reached so far; see the module.
pub struct Space<'a> {
    /// The stacks and moves of the threads.
    pub threads: Threads<'a>,
    states: States,
    /// For each state the one it was found from; itself for an initial one.
    parents: Vec<StateId>,
    observed: States,
    visible: States,
    property: &'a Property,
    bad: Option<StateId>,
    images: u64,
    watch: &'a Watch<'a>,
    keys: Vec<u64>,
    sources: Vec<StateId>,
    found: Vec<StateId>,
    row: Vec<u32>,
}

impl<'a> Space<'a> {
    /// The space that holds the initial states.
    pub fn new(
        system: &'a dyn Pushdown,
        property: &'a Property,
        max_depth: Option<usize>,
        watch: &'a Watch<'a>,
    ) -> Space<'a> {
        let columns = 1 + system.threads();
        let mut space = Space {
            threads: Threads::new(system, max_depth),
            states: States::new(columns),
            parents: Vec::new(),
            observed: States::new(columns),
            visible: States::new(columns),
            property,
            bad: None,
            images: 0,
            watch,
            keys: Vec::new(),
            sources: Vec::new(),
            found: Vec::new(),
            row: Vec::new(),
        };
        for state in system.initial() {
            let mut row = vec![state.shared];
            for (thread, stack) in state.stacks.iter().enumerate() {
                row.push(space.threads.stacks_mut(thread).intern(stack));
            }
            let (id, new) = space.states.insert(&row);
            if new {
                space.admit(id, id);
            }
        }
        space
    }

    /// Stops an exploration that has reached a bad state.
    pub fn alarm(&self) -> Result<(), Halt> {
        self.bad.map_or(Ok(()), |state| Err(Halt::Bad(state)))
    }

    /// How many states were reached.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether no state was reached; never, since there is an initial one.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The abstract states reached: rows of the shared state and the [`TopId`] of each thread.
    pub fn observed(&self) -> &States {
        &self.observed
    }

    /// How many visible states were reached.
    pub fn visible_len(&self) -> usize {
        self.visible.len()
    }

    /// How often the successors of a state were computed.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.states.bytes()
            + self.observed.bytes()
            + self.visible.bytes()
            + self.parents.capacity() * size_of::<StateId>()
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
        for batch in from.chunks(BATCH) {
            self.batch(thread, batch, disabled, targets)?;
            // An image takes well under a microsecond: this is about every millisecond.
            if self.images % 4096 < batch.len() as u64 {
                self.watch.check(&Progress { states: self.states.len(), images: self.images, ..progress })?;
            }
        }
        Ok(())
    }

    fn batch(
        &mut self,
        thread: usize,
        from: &[StateId],
        disabled: Disabled,
        targets: &mut Vec<StateId>,
    ) -> Result<(), Halt> {
        self.keys.clear();
        self.sources.clear();
        let before = targets.len();
        let mut index = 0;
        while let Some(&id) = from.get(index) {
            let (shared, stack) = (self.states.column(id, 0), self.states.column(id, 1 + thread));
            let moves = self.threads.moves(thread, shared, stack);
            if moves.is_empty() && disabled == Disabled::Stutters {
                targets.push(id);
            }
            let unfit = moves.iter().find_map(|to| {
                [(0, to.shared), (1 + thread, to.stack)]
                    .into_iter()
                    .find(|&(column, value)| !self.states.fits(column, value))
            });
            if let Some((column, value)) = unfit {
                // Packing anew voids the keys collected so far: start this batch again.
                self.states.widen(column, value);
                self.keys.clear();
                self.sources.clear();
                targets.truncate(before);
                index = 0;
                continue;
            }
            for to in moves {
                let start = self.keys.len();
                self.keys.extend_from_slice(self.states.key(id));
                let key = &mut self.keys[start..];
                self.states.set_column(key, 0, to.shared);
                self.states.set_column(key, 1 + thread, to.stack);
                self.sources.push(id);
            }
            index += 1;
        }
        self.images += from.len() as u64;
        let old = self.states.len();
        self.found.clear();
        self.states.insert_batch(&self.keys, &mut self.found);
        targets.extend_from_slice(&self.found);
        if self.states.len() > old {
            for index in 0..self.found.len() {
                // New states are numbered in the order of the batch.
                if self.found[index] as usize == self.parents.len() {
                    self.admit(self.found[index], self.sources[index]);
                }
            }
            self.alarm()?;
        }
        Ok(())
    }

    /// Books a new state: its origin, and what is seen of it.
    fn admit(&mut self, id: StateId, parent: StateId) {
        self.parents.push(parent);
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend(self.states.row(id));
        for (thread, stack) in row[1..].iter_mut().enumerate() {
            *stack = self.threads.stacks(thread).top(*stack);
        }
        let (observation, new) = self.observed.insert(&row);
        self.row = row;
        if new {
            let seen = self.visible_at(observation);
            let mut symbols = vec![seen.shared];
            symbols.extend(&seen.tops);
            self.visible.insert(&symbols);
            if self.bad.is_none() && self.property.violated_by(&seen) {
                self.bad = Some(id);
            }
        }
    }

    /// What is visible of an abstract state.
    pub fn visible_at(&self, observation: StateId) -> Visible {
        let mut row = self.observed.row(observation);
        let shared = row.next().unwrap_or_default();
        let symbol =
            |(thread, top): (usize, TopId)| -> Symbol { self.threads.stacks(thread).tops()[top as usize].0 };
        Visible { shared, tops: row.enumerate().map(symbol).collect() }
    }

    /// The visible states reached, sorted.
    pub fn visible(&self) -> Vec<Visible> {
        let mut visible: Vec<Visible> = (0..self.visible.len() as StateId)
            .map(|id| {
                let mut row = self.visible.row(id);
                Visible { shared: row.next().unwrap_or_default(), tops: row.collect() }
            })
            .collect();
        visible.sort_unstable();
        visible
    }

    /// A state in full.
    pub fn state(&self, id: StateId) -> State {
        let mut row = self.states.row(id);
        let shared = row.next().unwrap_or_default();
        let stacks = row.enumerate().map(|(thread, stack)| self.threads.stacks(thread).get(stack));
        State { shared, stacks: stacks.collect() }
    }

    /// A row of stack numbers after the shared state.
    pub fn row(&self, id: StateId) -> impl ExactSizeIterator<Item = u32> {
        self.states.row(id)
    }

    /// A run that ends in this state.
    pub fn trace(&self, id: StateId) -> Trace {
        let mut path = vec![id];
        let mut at = id;
        while self.parents[at as usize] != at {
            at = self.parents[at as usize];
            path.push(at);
        }
        let system = self.threads.system();
        let initial = self.state(at);
        let mut from = initial.clone();
        let mut steps = Vec::new();
        for &id in path.iter().rev().skip(1) {
            let to = self.state(id);
            let moves = (0..system.threads())
                .flat_map(|thread| from.enabled(system, thread).into_iter().map(move |rule| (thread, rule)));
            let (thread, rule) = moves
                .into_iter()
                .find(|(thread, rule)| from.step(*thread, rule) == to)
                .expect("a state is found from its parent by a step");
            steps.push(Step { thread, line: rule.line, state: to.clone() });
            from = to;
        }
        Trace { initial, steps }
    }
}
