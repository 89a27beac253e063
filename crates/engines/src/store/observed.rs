//! What is seen of the states of a space: the shared state and the marked top of each stack.
//!
//! These are the *abstract states* of the methods that explore: α(s) of DrUBA, section 3, where α keeps the top of each
//! stack and whether anything lies below it. What is *visible* is less: the tops alone.

use super::stacks::StackId;
use super::states::{StateId, States};
use super::threads::Threads;
use crate::engine::VisibleStates;
use allways_model::pushdown::{Shared, Visible};
use allways_model::symmetry::Kinds;

/// The abstract states of a space; see the module.
pub struct Observed {
    /// Rows of the shared state and the number of each thread's marked top.
    rows: States,
    visible: States,
    kinds: Kinds,
    /// States of the space from this number on have not been looked at.
    next: StateId,
    row: Vec<u32>,
}

impl Observed {
    /// Nothing yet, of a space whose threads are of these kinds.
    pub fn new(kinds: &Kinds) -> Observed {
        let columns = 1 + kinds.threads();
        Observed {
            rows: States::new(columns),
            visible: States::new(columns),
            kinds: kinds.clone(),
            next: 0,
            row: Vec::new(),
        }
    }

    /// Looks at the states that were gained since the last look.
    pub fn update(&mut self, threads: &Threads, states: &States) {
        let mut row = std::mem::take(&mut self.row);
        for id in self.next..states.len() as StateId {
            row.clear();
            row.extend(states.row(id));
            for (thread, local) in row[1..].iter_mut().enumerate() {
                *local = threads.stacks(thread).top(StackId(*local)).0;
            }
            self.kinds.sort(&mut row[1..]);
            if self.rows.insert(&row).1 {
                for (thread, local) in row[1..].iter_mut().enumerate() {
                    *local = threads.stacks(thread).tops()[*local as usize].0.0;
                }
                self.kinds.sort(&mut row[1..]);
                self.visible.insert(&row);
            }
        }
        self.row = row;
        self.next = states.len() as StateId;
    }

    /// The abstract states: rows of the shared state and the number of each thread's marked top.
    pub fn rows(&self) -> &States {
        &self.rows
    }

    /// How many visible states there are, orbits counted once.
    pub fn visible_len(&self) -> usize {
        self.visible.len()
    }

    /// The visible states: rows of the shared state and a symbol per thread, sorted within kinds.
    pub fn visible_states(&self) -> &States {
        &self.visible
    }

    /// The visible states, for a report.
    pub fn visible(&self) -> VisibleStates {
        let mut visible = VisibleStates::new(self.kinds.clone());
        (0..self.visible.len() as StateId).for_each(|id| visible.push(self.visible.row(id)));
        visible
    }

    /// What is visible of an abstract state.
    pub fn visible_at(&self, threads: &Threads, id: StateId) -> Visible {
        let mut row = self.rows.row(id);
        let shared = Shared(row.next().unwrap_or_default());
        let tops = row.enumerate().map(|(thread, top)| threads.stacks(thread).tops()[top as usize].0);
        Visible { shared, tops: tops.collect() }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + self.visible.bytes()
    }
}
