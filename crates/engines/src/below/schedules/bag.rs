//! The bag (DBS, Scheduler 1): any pending task may be next. This is what an asynchronous program means if nothing is said
//! about its scheduler.
//!
//! Lossless, and not deterministic. Postponing a task puts it back: there is nothing to gain from it.
//!
//! Invariant: an object is sorted, so that equal multisets are equal objects.

use super::{Given, Scheduler};
use std::fmt::Debug;
use std::hash::Hash;

/// The bag scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bag;

impl<T: Clone + Ord + Hash + Debug> Scheduler<T> for Bag {
    type Object = Vec<T>;

    fn empty(&self) -> Vec<T> {
        Vec::new()
    }

    fn give(&self, object: &mut Vec<T>, task: T, _: Given) {
        let at = object.partition_point(|other| *other <= task);
        object.insert(at, task);
    }

    fn take(&self, object: &Vec<T>, _: &dyn Fn(&T) -> bool) -> Vec<(Vec<T>, T)> {
        let differs = |&index: &usize| index == 0 || object[index - 1] != object[index];
        let without = |index| {
            let mut left = object.clone();
            let task = left.remove(index);
            (left, task)
        };
        (0..object.len()).filter(differs).map(without).collect()
    }

    fn delay(&self, object: &mut Vec<T>, task: T) {
        self.give(object, task, Given::Yielded);
    }

    fn held<'a>(&self, object: &'a Vec<T>) -> Vec<&'a T> {
        object.iter().collect()
    }
}
