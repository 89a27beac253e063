//! What a search may use: time, memory, and the caller's patience.
//!
//! Whoever starts a run makes the root [`Budget`]; whoever divides the work makes children of it, by [`Budget::child`] or
//! [`Budget::within`]. A child has its parent's limits and perhaps a nearer deadline, and can be cancelled alone.
//!
//! Invariant: a child's deadline is no later than its parent's, and whatever stops the parent stops the child.

use allways_evidence::StopReason;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How far an engine has come; shown on a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The engine; empty if it has no name. The [`Budget`] knows it.
    pub engine: &'static str,
    /// States stored.
    pub states: usize,
    /// Images computed.
    pub images: u64,
    /// The round bound being explored.
    pub rounds: Option<u32>,
    /// The delay bound being explored.
    pub delays: Option<u32>,
    /// How the work is spread over workers.
    pub spread: Option<Spread>,
}

/// How the work is spread over workers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// How many steps the states that are explored are away from the initial ones.
    pub level: u64,
    /// Bytes that a worker holds, on average.
    pub bytes_per_worker: u64,
    /// Bytes that all workers have on disk.
    pub disk_bytes: u64,
    /// How many times the average the most loaded worker has.
    pub skew: f64,
}

/// Limits on a run, and who watches it. Engines only see this; who sets it is the caller's affair.
pub struct Budget<'a> {
    deadline: Option<Instant>,
    memory: Option<usize>,
    memory_used: &'a (dyn Fn() -> usize + Sync),
    progress: &'a (dyn Fn(&Progress) + Sync),
    /// Which engine looks at it.
    engine: &'static str,
    /// Set from outside, such as by Ctrl-C.
    interrupt: Option<&'a AtomicBool>,
    cancelled: AtomicBool,
    /// Called whenever somebody looks at this budget, or at a child of it.
    poll: Option<&'a (dyn Fn() + Sync)>,
    parent: Option<&'a Budget<'a>>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Budget::unlimited()
    }
}

impl<'a> Budget<'a> {
    /// No limits, no watcher.
    pub fn unlimited() -> Budget<'a> {
        Budget {
            deadline: None,
            memory: None,
            memory_used: &|| 0,
            progress: &|_| (),
            engine: "",
            interrupt: None,
            cancelled: AtomicBool::new(false),
            poll: None,
            parent: None,
        }
    }

    /// No limit but time: so long from now on.
    pub fn of_time(limit: Duration) -> Budget<'a> {
        Budget::unlimited().until(Instant::now().checked_add(limit))
    }

    /// Stop so long after some time, if a limit is given. A time too far away to be represented is no limit.
    pub fn lasting(self, since: Instant, limit: Option<Duration>) -> Budget<'a> {
        self.until(limit.and_then(|limit| since.checked_add(limit)))
    }

    /// Stop at this time.
    pub fn until(self, deadline: Option<Instant>) -> Budget<'a> {
        Budget { deadline, ..self }
    }

    /// Stop when more bytes are in use than this; `used` says how many the process uses now.
    pub fn with_memory(self, limit: Option<usize>, used: &'a (dyn Fn() -> usize + Sync)) -> Budget<'a> {
        Budget { memory: limit, memory_used: used, ..self }
    }

    /// Tell this, now and then, how far the engine has come.
    pub fn watched_by(self, progress: &'a (dyn Fn(&Progress) + Sync)) -> Budget<'a> {
        Budget { progress, ..self }
    }

    /// Stop when this becomes true.
    pub fn interrupted_by(self, interrupt: &'a AtomicBool) -> Budget<'a> {
        Budget { interrupt: Some(interrupt), ..self }
    }

    /// Call this whenever somebody looks at the budget, or at a child of it.
    pub fn polling(self, poll: &'a (dyn Fn() + Sync)) -> Budget<'a> {
        Budget { poll: Some(poll), ..self }
    }

    /// The same limits, to be cancelled apart.
    pub fn child(&'a self) -> Budget<'a> {
        Budget {
            deadline: self.deadline,
            memory: self.memory,
            memory_used: self.memory_used,
            progress: self.progress,
            engine: self.engine,
            interrupt: None,
            cancelled: AtomicBool::new(false),
            poll: None,
            parent: Some(self),
        }
    }

    /// The same limits, for this engine.
    pub fn of_engine(&'a self, engine: &'static str) -> Budget<'a> {
        Budget { engine, ..self.child() }
    }

    /// The same limits, and at most so long from now on.
    pub fn within(&'a self, share: Duration) -> Budget<'a> {
        let turn = Instant::now().checked_add(share);
        let deadline = self.deadline.into_iter().chain(turn).min();
        self.child().until(deadline)
    }

    /// The same limits, but half of the memory that is left now is for others.
    pub fn sparing(&'a self) -> Budget<'a> {
        let memory = self.memory_left().zip(self.memory).map(|(left, limit)| limit - left / 2);
        Budget { memory, ..self.child() }
    }

    /// Stops whatever runs on this budget, and on its children.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether to stop now. Cheap, but not free: a few hundred times a second is right.
    pub fn check(&self) -> Result<(), StopReason> {
        self.room_for(0)
    }

    /// The same, and says how far the engine has come.
    pub fn tick(&self, progress: &Progress) -> Result<(), StopReason> {
        (self.progress)(&Progress { engine: self.engine, ..*progress });
        self.check()
    }

    /// Whether to stop, were this many bytes to be allocated now. To be asked before a large allocation.
    pub fn room_for(&self, bytes: usize) -> Result<(), StopReason> {
        if self.is_cancelled() {
            return Err(StopReason::Interrupted);
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(StopReason::Time);
        }
        if self.memory.is_some_and(|limit| (self.memory_used)().saturating_add(bytes) > limit) {
            return Err(StopReason::Memory);
        }
        Ok(())
    }

    fn is_cancelled(&self) -> bool {
        let set = |flag: &AtomicBool| flag.load(Ordering::Relaxed);
        if let Some(poll) = self.poll {
            poll();
        }
        set(&self.cancelled)
            || self.interrupt.is_some_and(set)
            || self.parent.is_some_and(Budget::is_cancelled)
    }

    /// How much time is left, if that is limited.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }

    /// How many bytes are left, if that is limited.
    pub fn memory_left(&self) -> Option<usize> {
        self.memory.map(|limit| limit.saturating_sub((self.memory_used)()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stops_the_parent_stops_the_child_and_not_the_other_way_round() {
        let root = Budget::unlimited();
        let (one, two) = (root.child(), root.within(Duration::from_secs(3600)));
        one.cancel();
        assert_eq!(one.child().check(), Err(StopReason::Interrupted));
        assert_eq!((root.check(), two.check()), (Ok(()), Ok(())));
        root.cancel();
        assert_eq!(two.check(), Err(StopReason::Interrupted));
    }

    #[test]
    fn a_child_has_no_later_deadline_than_its_parent() {
        let root = Budget::of_time(Duration::ZERO);
        assert_eq!(root.within(Duration::from_secs(3600)).check(), Err(StopReason::Time));
        let root = Budget::of_time(Duration::from_secs(3600));
        assert_eq!(root.within(Duration::ZERO).check(), Err(StopReason::Time));
        assert_eq!(root.check(), Ok(()));
    }

    #[test]
    fn memory_and_interruptions_reach_the_children() {
        let flag = AtomicBool::new(false);
        let root = Budget::unlimited().with_memory(Some(10), &|| 8).interrupted_by(&flag);
        assert_eq!(root.child().room_for(2), Ok(()));
        assert_eq!(root.child().room_for(3), Err(StopReason::Memory));
        flag.store(true, Ordering::Relaxed);
        assert_eq!(root.child().check(), Err(StopReason::Interrupted));
    }
}
