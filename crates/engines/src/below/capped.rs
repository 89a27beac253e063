//! A search that keeps few states for each visible state.
//!
//! To witness a visible state one state is enough, and often one state for each is enough to go on from. So a state is
//! expanded only if fewer than `cap` others with the same visible state were; the rest wait in reserve until the cap is
//! raised. Breadth first, so that traces are short and stacks shallow. Everything seen is reachable; only when nothing
//! waits is it all there is.

use crate::budget::{Budget, Progress};
use crate::engine::{Question, VisibleStates};
use crate::store::{Disabled, Expander, Halt, Space, StackId, StateId, States};
use allways_model::pushdown::Pushdown;
use allways_model::symmetry::Kinds;

/// The search; see the module.
pub struct Capped<'a> {
    space: Space<'a>,
    cap: u32,
    /// The visible states seen: rows of the shared state and symbols, sorted within kinds.
    visible: States,
    /// For each visible state, how many states with it were or will be expanded.
    kept: Vec<u32>,
    queue: Vec<StateId>,
    /// The queue starts here.
    head: usize,
    reserve: Vec<StateId>,
    /// States from this number on have not been looked at.
    next: StateId,
}

impl<'a> Capped<'a> {
    /// A search from the initial states, with a cap of one.
    pub fn new(
        system: &'a dyn Pushdown,
        kinds: Kinds,
        question: &'a Question,
        budget: &'a Budget<'a>,
    ) -> Capped<'a> {
        let mut search = Capped {
            space: Space::unobserved(system, kinds, question, budget),
            cap: 1,
            visible: States::new(1 + system.threads()),
            kept: Vec::new(),
            queue: Vec::new(),
            head: 0,
            reserve: Vec::new(),
            next: 0,
        };
        search.look();
        search
    }

    /// The states seen.
    pub fn space(&self) -> &Space<'a> {
        &self.space
    }

    /// The visible states seen: rows of the shared state and symbols, sorted within kinds.
    pub fn visible(&self) -> &States {
        &self.visible
    }

    /// Adds a visible state that is known to be reachable from elsewhere.
    pub fn learn(&mut self, row: &[u32]) {
        if self.visible.insert(row).1 {
            self.kept.push(0);
        }
    }

    /// The visible states seen, for a report.
    pub fn report(&self) -> VisibleStates {
        let mut visible = VisibleStates::new(self.space.threads.kinds().clone());
        (0..self.visible.len() as StateId).for_each(|id| visible.push(self.visible.row(id)));
        visible
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let ids = self.queue.capacity() + self.reserve.capacity() + self.kept.capacity();
        self.space.bytes() + self.visible.bytes() + ids * size_of::<StateId>()
    }

    /// Explores until `goal` visible states are seen or nothing waits below the cap.
    pub fn run(&mut self, goal: usize) -> Result<(), Halt> {
        self.space.alarm()?;
        let mut targets = Vec::new();
        while self.visible.len() < goal && self.head < self.queue.len() {
            let end = self.queue.len().min(self.head + Expander::BATCH);
            for thread in 0..self.space.threads.count() {
                targets.clear();
                let batch = &self.queue[self.head..end];
                self.space.image(thread, batch, Disabled::Blocks, Progress::default(), &mut targets)?;
            }
            self.head = end;
            self.look();
        }
        Ok(())
    }

    /// Whether all states were expanded: then those seen are all there are.
    pub fn exhausted(&self) -> bool {
        self.head == self.queue.len() && self.reserve.is_empty()
    }

    /// Raises the cap fourfold.
    pub fn raise(&mut self) {
        self.cap = self.cap.saturating_mul(4);
        for state in std::mem::take(&mut self.reserve) {
            self.sort(state);
        }
    }

    /// Looks at the states that the space has gained.
    fn look(&mut self) {
        for state in self.next..self.space.len() as StateId {
            self.sort(state);
        }
        self.next = self.space.len() as StateId;
    }

    /// Queues a state, or puts it into the reserve.
    fn sort(&mut self, state: StateId) {
        let mut row: Vec<u32> = self.space.row(state).collect();
        for (thread, local) in row[1..].iter_mut().enumerate() {
            *local = self.space.threads.stacks(thread).symbol(StackId(*local)).0;
        }
        self.space.threads.kinds().sort(&mut row[1..]);
        let (visible, new) = self.visible.insert(&row);
        if new {
            self.kept.push(0);
        }
        let kept = &mut self.kept[visible as usize];
        if *kept < self.cap {
            *kept += 1;
            self.queue.push(state);
        } else {
            self.reserve.push(state);
        }
    }
}
