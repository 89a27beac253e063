//! Progress: what a program promises of its runs, not of its states.
//!
//! A run goes on for ever, or until no thread can take a step. It is *weakly fair* if every thread that can take a step from
//! some point on, in each state without an exception, does take one again and again. A thread may still choose as it likes:
//! fairness is among threads, not among the branches of one.
//!
//! * [`Eventually`]: in every weakly fair run each thread of a template comes to a label, once or again and again. A promise to one
//!   thread is a [`Goal`].
//! * A thread is *stuck* in a state if it has not come to its end and, whatever happens from there on, never takes a step and is
//!   never [woken](wakes). Fairness does not matter: nothing that the others could do would help.
//!
//! Both are about programs with a fixed number of threads; these are numbered as in [`State::initial`].

use super::semantics::{State, Thread};
use super::{LocationId, Op, Program, Span, TemplateId};

/// In every weakly fair run, each thread of a template comes to one of some locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Eventually {
    /// Whether it does so again and again, and not only once.
    pub again: bool,
    /// The threads.
    pub template: TemplateId,
    /// The name of the label.
    pub label: String,
    /// Where it stands; nowhere if control never gets there.
    pub locations: Vec<LocationId>,
    /// Where the property is stated.
    pub span: Span,
}

impl Eventually {
    /// Whether a thread is there.
    pub fn is_reached(&self, thread: &Thread) -> bool {
        thread.top().is_some_and(|top| self.locations.contains(&top.location))
    }
}

/// What one thread is promised.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Goal {
    /// The property, by its number in [`Program::progress`].
    pub property: usize,
    /// The thread.
    pub thread: usize,
}

impl Program {
    /// The promises to all threads, if there are so many of each template: property by property, thread by thread.
    pub fn goals(&self, counts: &[usize]) -> Vec<Goal> {
        let mut goals = Vec::new();
        for (property, eventually) in self.progress.iter().enumerate() {
            let template = eventually.template.index();
            let first: usize = counts[..template].iter().sum();
            goals.extend((first..first + counts[template]).map(|thread| Goal { property, thread }));
        }
        goals
    }
}

/// Whether a step of one thread, by an edge of its location, wakes another: it goes past its `wait`, or is moved in another way.
pub fn wakes(
    program: &Program,
    before: &State,
    (mover, edge): (usize, usize),
    after: &State,
    other: usize,
) -> bool {
    if mover == other {
        return false;
    }
    let place = |thread: usize, state: &State| {
        state.threads[thread].stack.iter().map(|frame| (frame.location, frame.calling)).collect::<Vec<_>>()
    };
    let waits_for = before.threads[other].top().and_then(|top| program.waits_for(top.location));
    let top = before.threads[mover].top();
    let op = top.and_then(|top| program.locations[top.location].edges.get(edge)).map(|edge| &edge.op);
    let broadcast = if let Some(Op::Broadcast(event)) = op { Some(*event) } else { None };
    let signal = if let Some(Op::Signal(event)) = op { Some(*event) } else { None };
    // Who waits once more at once is at the same place as before. If a signal moves nobody at all, it has woken one of those.
    place(other, before) != place(other, after)
        || waits_for.is_some() && waits_for == broadcast
        || waits_for.is_some() && waits_for == signal && {
            let top = before.threads[other].top().map(|top| top.location);
            let again = top.is_some_and(|top| program.locations[top].edges[0].to == top);
            let threads = 0..before.threads.len();
            let stays = |thread: usize| thread == mover || place(thread, before) == place(thread, after);
            again && threads.into_iter().all(stays)
        }
}
