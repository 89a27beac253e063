//! The bounded bag (DBS, Scheduler 2): a bag that holds at most so many copies of each task, and drops any further ones.
//!
//! Lossy, so a bug that it does not find may be there all the same; in return, a program with finite data and without yields
//! has finitely many configurations, however much it posts.

use super::{Bag, Given, Scheduler};
use std::fmt::Debug;
use std::hash::Hash;

/// The bounded bag scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoundedBag {
    /// How many copies of a task are kept.
    pub bound: usize,
}

impl<T: Clone + Ord + Hash + Debug> Scheduler<T> for BoundedBag {
    type Object = Vec<T>;

    fn empty(&self) -> Vec<T> {
        Bag.empty()
    }

    fn give(&self, object: &mut Vec<T>, task: T, given: Given) {
        if object.iter().filter(|other| **other == task).count() < self.bound {
            Bag.give(object, task, given);
        }
    }

    fn take(&self, object: &Vec<T>, blocked: &dyn Fn(&T) -> bool) -> Vec<(Vec<T>, T)> {
        Bag.take(object, blocked)
    }

    fn delay(&self, object: &mut Vec<T>, task: T) {
        Bag.delay(object, task);
    }

    fn held<'a>(&self, object: &'a Vec<T>) -> Vec<&'a T> {
        object.iter().collect()
    }

    fn limit_sound(&self) -> bool {
        false
    }
}
