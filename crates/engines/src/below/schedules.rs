//! Delay-bounded scheduling of asynchronous programs (DBS: "Delay-Bounded Scheduling", Emmi, Qadeer, Rakamarić, sections 2
//! to 4).
//!
//! A [`Scheduler`] decides which of the pending tasks runs next. A deterministic one allows a single schedule; a *delay*
//! makes it deviate: the task that it would run is postponed, and it must decide anew. All executions with at most K delays
//! are few, and, if the scheduler is lossless and delay-accessible, every execution is among them for some K (Lemma 1).
//!
//! * [`bag`], [`bounded_bag`], [`round_robin`], [`depth_first`], [`reverse_depth_first`]: the schedulers;
//! * [`asynchronous`]: configurations ⟨g, w, m⟩ and their steps;
//! * [`bounding`]: what is counted: delays; or, as a comparison, preemptions, contexts, dispatches;
//! * [`explore`](mod@explore): all configurations within a bound, each once;
//! * [`executions`](mod@executions): executions one by one, as a tool that tests would have to;
//! * [`engine`]: the engine `schedules`;
//! * [`trace`](mod@trace): from a violation that was found to a run of the program, and of its pushdown system.

pub mod asynchronous;
pub mod bag;
pub mod bounded_bag;
pub mod bounding;
pub mod depth_first;
pub mod engine;
pub mod executions;
pub mod explore;
pub mod reverse_depth_first;
pub mod round_robin;
pub mod trace;

#[cfg(test)]
mod tests;

pub use asynchronous::{Asynchronous, Configuration, Task};
pub use bag::Bag;
pub use bounded_bag::BoundedBag;
pub use bounding::{Bounding, Contexts, Delays, Depth, Preemptions};
pub use depth_first::DepthFirst;
pub use executions::{Executions, executions};
pub use explore::{Explored, explore};
pub use reverse_depth_first::ReverseDepthFirst;
pub use round_robin::RoundRobin;
pub use trace::trace;

use std::fmt::Debug;
use std::hash::Hash;

/// A delaying scheduler M = ⟨D, empty, give, take, delay⟩ of tasks (DBS, sections 2.1 and 3).
///
/// Every sequence of operations that it allows is one that [`Bag`] allows, too (Property 1): it may drop tasks, but it makes
/// none up.
pub trait Scheduler<T> {
    /// D: the scheduler objects.
    type Object: Clone + Eq + Hash + Debug;

    /// Without any task.
    fn empty(&self) -> Self::Object;

    /// Takes a task in: one that has been posted, or one that has yielded.
    fn give(&self, object: &mut Self::Object, task: T, given: Given);

    /// The tasks that can be scheduled next, each with the object that is then left. `blocked` says whether a task could only
    /// wait in the present global state.
    fn take(&self, object: &Self::Object, blocked: &dyn Fn(&T) -> bool) -> Vec<(Self::Object, T)>;

    /// Postpones a task that was just taken.
    fn delay(&self, object: &mut Self::Object, task: T);

    /// The tasks that are held, in any order.
    fn held<'a>(&self, object: &'a Self::Object) -> Vec<&'a T>;

    /// Whether it drops no task, and comes to every task by delays alone: then every execution of the program has a number of
    /// delays with which it is found (Lemma 1).
    fn limit_sound(&self) -> bool {
        true
    }
}

/// How a task comes to the scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    /// It is new.
    Posted,
    /// It has run, and has yielded.
    Yielded,
}
