//! What a search is bounded by (DBS, sections 1.2 and 4): delays of a scheduler; or, as a comparison, the preemptions,
//! contexts or dispatches of executions in which any task may be next.
//!
//! * [`Delays`]: each delay counts;
//! * [`Preemptions`]: a dispatch counts if another task has just yielded and could have gone on;
//! * [`Contexts`]: a dispatch counts unless it is of the task that has just yielded;
//! * [`Depth`]: every dispatch counts.
//!
//! Two tasks with the same stack, locks included, are the same task: nothing that they do tells them apart.

use super::{Bag, Given, Scheduler, Task};
use std::fmt::Debug;
use std::hash::Hash;

/// A way to choose the next task, in which choices have costs.
pub trait Bounding {
    /// What is remembered of the tasks.
    type Object: Clone + Eq + Hash + Debug;

    /// Without any task.
    fn empty(&self) -> Self::Object;

    /// Takes a task in.
    fn give(&self, object: &mut Self::Object, task: Task, given: Given);

    /// What can be done while no task runs.
    fn choices(&self, object: &Self::Object, blocked: &dyn Fn(&Task) -> bool) -> Vec<Choice<Self::Object>>;

    /// The pending tasks, in any order.
    fn held<'a>(&self, object: &'a Self::Object) -> Vec<&'a Task>;

    /// Whether every execution of the program lies within some bound.
    fn limit_sound(&self) -> bool {
        true
    }
}

/// One of the things that can be done while no task runs.
#[derive(Clone, Debug)]
pub struct Choice<O> {
    /// The task that is dispatched; none if one is delayed.
    pub task: Option<Task>,
    /// What is left.
    pub object: O,
    /// What it costs: 0 or 1.
    pub cost: usize,
}

/// Bounded by the delays of a scheduler.
#[derive(Clone, Copy, Debug)]
pub struct Delays<S>(pub S);

impl<S: Scheduler<Task>> Bounding for Delays<S> {
    type Object = S::Object;

    fn empty(&self) -> S::Object {
        self.0.empty()
    }

    fn give(&self, object: &mut S::Object, task: Task, given: Given) {
        self.0.give(object, task, given);
    }

    fn choices(&self, object: &S::Object, blocked: &dyn Fn(&Task) -> bool) -> Vec<Choice<S::Object>> {
        let mut choices = Vec::new();
        for (left, task) in self.0.take(object, blocked) {
            let mut delayed = left.clone();
            self.0.delay(&mut delayed, task.clone());
            // DISPATCH is for tasks that are not blocked; DELAY is for all.
            if !blocked(&task) {
                choices.push(Choice { task: Some(task), object: left, cost: 0 });
            }
            // A delay that changes nothing only costs.
            if delayed != *object {
                choices.push(Choice { task: None, object: delayed, cost: 1 });
            }
        }
        choices
    }

    fn held<'a>(&self, object: &'a S::Object) -> Vec<&'a Task> {
        self.0.held(object)
    }

    fn limit_sound(&self) -> bool {
        self.0.limit_sound()
    }
}

/// A bag, and the task that has just yielded, if one has.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Labelled {
    bag: Vec<Task>,
    last: Option<Task>,
}

impl Labelled {
    fn give(&mut self, task: Task, given: Given) {
        if given == Given::Yielded {
            self.last = Some(task.clone());
        }
        Bag.give(&mut self.bag, task, given);
    }

    /// Each task that can be next, and what it costs.
    fn choices(
        &self,
        blocked: &dyn Fn(&Task) -> bool,
        cost: impl Fn(&Task, Option<&Task>) -> usize,
    ) -> Vec<Choice<Labelled>> {
        let free = Bag.take(&self.bag, blocked).into_iter().filter(|(_, task)| !blocked(task));
        let choice = |(bag, task): (Vec<Task>, Task)| {
            let cost = cost(&task, self.last.as_ref());
            Choice { task: Some(task), object: Labelled { bag, last: None }, cost }
        };
        let mut choices: Vec<_> = free.map(choice).collect();
        choices.sort_by_key(|choice| choice.cost);
        choices
    }
}

macro_rules! labelled {
    ($(#[$doc:meta])* $name:ident, |$task:ident, $last:ident, $blocked:ident| $cost:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Bounding for $name {
            type Object = Labelled;

            fn empty(&self) -> Labelled {
                Labelled { bag: Vec::new(), last: None }
            }

            fn give(&self, object: &mut Labelled, task: Task, given: Given) {
                object.give(task, given);
            }

            fn choices(&self, object: &Labelled, $blocked: &dyn Fn(&Task) -> bool) -> Vec<Choice<Labelled>> {
                object.choices($blocked, |$task, $last| usize::from($cost))
            }

            fn held<'a>(&self, object: &'a Labelled) -> Vec<&'a Task> {
                object.bag.iter().collect()
            }
        }
    };
}

labelled! {
    /// Bounded by preemptions.
    Preemptions, |task, last, blocked| last.is_some_and(|last| last != task && !blocked(last))
}

labelled! {
    /// Bounded by contexts.
    Contexts, |task, last, _blocked| last != Some(task)
}

labelled! {
    /// Bounded by dispatches.
    Depth, |_task, _last, _blocked| true
}
