//! Reverse depth first (DBS, section 5): as [depth first](super::depth_first), but of what a task posts the last comes first.
//! So a task that yields goes on before what it has posted.
//!
//! Deterministic, lossless and delay-accessible; not non-blocking.

use super::depth_first::Stacks;
use super::{Given, Scheduler};
use std::fmt::Debug;
use std::hash::Hash;

/// The reverse depth-first scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReverseDepthFirst;

impl<T: Clone + Eq + Hash + Debug> Scheduler<T> for ReverseDepthFirst {
    type Object = Stacks<T>;

    fn empty(&self) -> Stacks<T> {
        Stacks::empty()
    }

    fn give(&self, object: &mut Stacks<T>, task: T, _: Given) {
        // No handler stack in between, so the order is not reversed twice.
        object.round.push(task);
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
