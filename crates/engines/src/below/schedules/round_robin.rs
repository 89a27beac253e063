//! Round robin (DBS, Scheduler 3): tasks take turns in the order of their creation. The next one's turn comes when a task
//! ends, or yields and can only wait, or is delayed; a task that yields and could go on, goes on.
//!
//! Deterministic, lossless, delay-accessible (each delay goes one place further) and non-blocking.
//!
//! Invariant: the position is at most the number of tasks; one past the last stands for the first.

use super::{Given, Scheduler};
use std::fmt::Debug;
use std::hash::Hash;

/// The round-robin scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundRobin;

/// The tasks in the order of their creation, and whose turn it is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Circle<T> {
    tasks: Vec<T>,
    position: usize,
}

impl<T: Clone + Eq + Hash + Debug> Scheduler<T> for RoundRobin {
    type Object = Circle<T>;

    fn empty(&self) -> Circle<T> {
        Circle { tasks: Vec::new(), position: 0 }
    }

    fn give(&self, object: &mut Circle<T>, task: T, given: Given) {
        match given {
            Given::Posted => object.tasks.push(task),
            Given::Yielded => object.tasks.insert(object.position, task),
        }
    }

    fn take(&self, object: &Circle<T>, blocked: &dyn Fn(&T) -> bool) -> Vec<(Circle<T>, T)> {
        let count = object.tasks.len();
        let turns = (0..count).map(|turn| (object.position + turn) % count);
        let next = turns.into_iter().find(|&position| !blocked(&object.tasks[position]));
        let taken = next.map(|position| {
            let mut left = Circle { position, ..object.clone() };
            let task = left.tasks.remove(position);
            (left, task)
        });
        taken.into_iter().collect()
    }

    fn delay(&self, object: &mut Circle<T>, task: T) {
        object.tasks.insert(object.position, task);
        object.position = (object.position + 1) % object.tasks.len();
    }

    fn held<'a>(&self, object: &'a Circle<T>) -> Vec<&'a T> {
        object.tasks.iter().collect()
    }
}
