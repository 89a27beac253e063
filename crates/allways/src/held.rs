//! Who waits for whom in a deadlock: which lock a thread is in front of, which thread has it, and the cycle that they form.
//!
//! A lock is a shared slot that the steps of a blocked thread read. Who has it is the thread that has changed it last, in a step
//! that takes a lock: the value alone does not tell, since a plain mutex of C does not know its owner. The names of functions
//! that take locks say which steps do that in C; in the `.aw` language, the operation does.

use allways_evidence::Run;
use allways_model::program::expression::{Choices, Scope};
use allways_model::program::semantics::{State, Thread};
use allways_model::program::{Expr, LocationId, LockPlace, Op, Program, Slot, Span};

/// How the functions are called that take locks.
const TAKING: [&str; 12] = [
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
];

/// A thread of the pushdown system that waits for a lock which another one has, or itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// Who waits.
    pub thread: usize,
    /// For what.
    pub lock: Slot,
    /// Who has it.
    pub holder: usize,
    /// Where it was taken.
    pub taken: Span,
}

/// What is needed to look at the end of a run.
pub struct Ended<'a> {
    pub program: &'a Program,
    pub source: &'a [u8],
    pub run: &'a Run,
}

impl Ended<'_> {
    /// The threads that wait for locks.
    pub fn waiting(&self) -> Vec<Waiting> {
        let last = self.run.steps.last();
        let (state, slots) =
            last.map_or((&self.run.initial, &self.run.slots), |step| (&step.state, &step.slots));
        let mut found = Vec::new();
        for (slot, thread) in slots.iter().enumerate() {
            let Some(thread) = thread.map(|thread| &state.threads[thread]) else { continue };
            let Some(top) = thread.top().filter(|_| !thread.ended(self.program)) else { continue };
            let mut wanted = Vec::new();
            self.wanted(state, thread, top.location, 4, &mut wanted);
            let held = wanted.into_iter().find_map(|lock| {
                let (holder, taken) = self.holder(lock)?;
                Some(Waiting { thread: slot, lock, holder, taken })
            });
            found.extend(held);
        }
        found
    }

    /// The slots that the next steps of a thread read, if these take a lock. Sections are looked into, so far.
    fn wanted(&self, state: &State, thread: &Thread, at: LocationId, depth: usize, found: &mut Vec<Slot>) {
        for edge in &self.program.locations[at].edges {
            match &edge.op {
                Op::AtomicBegin | Op::Skip if depth > 0 => {
                    self.wanted(state, thread, edge.to, depth - 1, found)
                }
                Op::Acquire(lock) => found.extend(self.lock(state, thread, lock)),
                op if self.takes(edge.span) => {
                    for expr in op.expressions() {
                        expr.visit(&mut |part| {
                            found.extend(match part {
                                Expr::Shared(slot) => Some(*slot),
                                Expr::SharedElement(slot, length, index, _) => {
                                    element(state, thread, *slot, *length, index)
                                }
                                _ => None,
                            });
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn lock(&self, state: &State, thread: &Thread, lock: &LockPlace) -> Option<Slot> {
        match &lock.element {
            None => Some(lock.slot),
            Some((length, index)) => element(state, thread, lock.slot, *length, index),
        }
    }

    /// Whether a call of a function that takes locks is here.
    pub fn takes(&self, span: Span) -> bool {
        let text = self.source.get(span.start as usize..).unwrap_or_default();
        TAKING.iter().any(|name| text.starts_with(name.as_bytes()))
    }

    /// The thread that has a lock, and where it took it: by the last step that changed the slot.
    fn holder(&self, lock: Slot) -> Option<(usize, Span)> {
        let mut before = &self.run.initial;
        let mut last = None;
        for step in &self.run.steps {
            if step.state.shared[lock] != before.shared[lock] {
                last = Some(step);
            }
            before = &step.state;
        }
        let step = last?;
        let edge = &self.program.locations[step.location].edges[step.edge];
        let acquires = matches!(edge.op, Op::Acquire(_)) || self.takes(edge.span);
        acquires.then_some((step.thread, edge.span))
    }
}

fn element(state: &State, thread: &Thread, slot: Slot, length: usize, index: &Expr) -> Option<Slot> {
    let locals = thread.top().map_or(&[][..], |top| &top.locals);
    let scope = Scope { shared: &state.shared, locals, this: thread.this, next: None, control: &[] };
    let value = index.value(&scope, &mut Choices::default()).ok()?;
    usize::try_from(value).ok().filter(|&value| value < length).map(|value| slot + value)
}

/// Threads that wait for each other in a circle, if there are some: each for the lock of the next.
pub fn cycle(waiting: &[Waiting]) -> Option<Vec<Waiting>> {
    let next = |thread: usize| waiting.iter().find(|one| one.thread == thread).copied();
    waiting.iter().find_map(|first| {
        let mut path = vec![*first];
        while let Some(one) = next(path[path.len() - 1].holder) {
            if one.thread == first.thread {
                return Some(path);
            }
            if path.contains(&one) {
                return None;
            }
            path.push(one);
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(thread: usize, holder: usize) -> Waiting {
        Waiting { thread, lock: thread, holder, taken: Span::default() }
    }

    #[test]
    fn cycles_are_found_behind_those_who_only_wait() {
        let threads =
            |cycle: Option<Vec<Waiting>>| cycle.map(|one| one.iter().map(|it| it.thread).collect::<Vec<_>>());
        assert_eq!(threads(cycle(&[waits(0, 1), waits(1, 2), waits(2, 1)])), Some(vec![1, 2]));
        assert_eq!(threads(cycle(&[waits(0, 1), waits(1, 2)])), None);
        assert_eq!(threads(cycle(&[waits(0, 2), waits(1, 0), waits(2, 1)])), Some(vec![0, 2, 1]));
        assert_eq!(cycle(&[]), None);
    }
}
