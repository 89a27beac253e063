//! Depth first (DBS, Scheduler 4): all that a task posts runs before whatever was pending when it was dispatched, in the order
//! of posting; a task that yields goes on after what it has posted. Delayed tasks wait for the next round, which starts when
//! nothing else is left.
//!
//! Deterministic, lossless and delay-accessible; not non-blocking: a task that can only wait must be delayed.
//!
//! Invariant: in an object that has been asked for a task, the handler stack is empty.

use super::{Given, Scheduler};
use std::fmt::Debug;
use std::hash::Hash;

/// The depth-first scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DepthFirst;

/// The handler, round and delay stacks, each with its top last.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stacks<T> {
    pub(super) handler: Vec<T>,
    pub(super) round: Vec<T>,
    pub(super) delayed: Vec<T>,
}

impl<T> Stacks<T> {
    pub(super) fn empty() -> Stacks<T> {
        Stacks { handler: Vec::new(), round: Vec::new(), delayed: Vec::new() }
    }

    /// Takes from the round, or from the next one if it is over. To empty a stack into another reverses it: what was pushed
    /// first is popped first.
    pub(super) fn pop(&mut self) -> Option<T> {
        self.round.extend(self.handler.drain(..).rev());
        if self.round.is_empty() {
            self.round.extend(self.delayed.drain(..).rev());
        }
        self.round.pop()
    }

    pub(super) fn held(&self) -> Vec<&T> {
        self.handler.iter().chain(&self.round).chain(&self.delayed).collect()
    }
}

impl<T: Clone + Eq + Hash + Debug> Scheduler<T> for DepthFirst {
    type Object = Stacks<T>;

    fn empty(&self) -> Stacks<T> {
        Stacks::empty()
    }

    fn give(&self, object: &mut Stacks<T>, task: T, _: Given) {
        object.handler.push(task);
    }

    fn take(&self, object: &Stacks<T>, _: &dyn Fn(&T) -> bool) -> Vec<(Stacks<T>, T)> {
        let mut left = object.clone();
        left.pop().map(|task| (left, task)).into_iter().collect()
    }

    fn delay(&self, object: &mut Stacks<T>, task: T) {
        object.delayed.push(task);
    }

    fn held<'a>(&self, object: &'a Stacks<T>) -> Vec<&'a T> {
        object.held()
    }
}
