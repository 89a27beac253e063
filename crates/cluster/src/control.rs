//! What the workers of one process and their supervisor tell each other: whether to stop and why, how far each has come, and
//! how much memory is left.
//!
//! Workers live in threads that timely starts and may outlive whoever asked, so they cannot look at a
//! [`Budget`](allways_engines::Budget) themselves: the supervisor does, and sets what they look at here.

use allways_evidence::StopReason;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Somebody said stop: the reason is in [`Control::reason`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped;

/// How far a worker, or all workers of another process, have come.
#[derive(Default, Debug)]
pub struct Progress {
    /// The level that is explored: how many steps its states are away from the initial ones.
    pub level: AtomicU64,
    /// States stored.
    pub states: AtomicU64,
    /// States expanded.
    pub images: AtomicU64,
    /// Bytes held.
    pub bytes: AtomicU64,
}

impl Progress {
    /// The numbers, in the order of the fields.
    pub fn get(&self) -> [u64; 4] {
        [&self.level, &self.states, &self.images, &self.bytes].map(|number| number.load(Ordering::Relaxed))
    }

    /// Sets all of them.
    pub fn set(&self, numbers: [u64; 4]) {
        let fields = [&self.level, &self.states, &self.images, &self.bytes];
        fields.into_iter().zip(numbers).for_each(|(field, number)| field.store(number, Ordering::Relaxed));
    }
}

/// Shared by the threads of one process; see the module.
pub struct Control {
    stopped: AtomicBool,
    reason: Mutex<Option<StopReason>>,
    memory_left: AtomicUsize,
    /// Of each worker of this process.
    pub workers: Vec<Progress>,
    /// Of each process, all its workers together; that of this one is not used.
    pub processes: Vec<Progress>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// For so many workers in each of so many processes.
    pub fn new(workers: usize, processes: usize) -> Control {
        Control {
            stopped: AtomicBool::new(false),
            reason: Mutex::new(None),
            memory_left: AtomicUsize::new(usize::MAX),
            workers: (0..workers).map(|_| Progress::default()).collect(),
            processes: (0..processes).map(|_| Progress::default()).collect(),
        }
    }

    /// Stops all workers of this process. The first reason counts: what follows from it may look like another.
    pub fn stop(&self, reason: StopReason) {
        lock(&self.reason).get_or_insert(reason);
        self.stopped.store(true, Ordering::Release);
    }

    /// Fails once somebody has said stop.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.stopped.load(Ordering::Acquire) { Err(Stopped) } else { Ok(()) }
    }

    /// Why the workers were stopped, if they were.
    pub fn reason(&self) -> Option<StopReason> {
        lock(&self.reason).clone()
    }

    /// Says how many bytes are left to this process.
    pub fn set_memory_left(&self, bytes: usize) {
        self.memory_left.store(bytes, Ordering::Relaxed);
    }

    /// Whether so many bytes could be allocated now; if not, stops.
    pub fn room_for(&self, bytes: usize) -> Result<(), Stopped> {
        self.check()?;
        if bytes > self.memory_left.load(Ordering::Relaxed) {
            self.stop(StopReason::Memory);
            return Err(Stopped);
        }
        Ok(())
    }

    /// The sum of what the workers of this process have done; of levels, the largest.
    pub fn here(&self) -> [u64; 4] {
        sum(self.workers.iter())
    }

    /// The same of all processes, of which this is one.
    pub fn everywhere(&self, process: usize) -> [u64; 4] {
        let others = self.processes.iter().enumerate().filter(|&(other, _)| other != process);
        sum(self.workers.iter().chain(others.map(|(_, progress)| progress)))
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Progress>) -> [u64; 4] {
    all.map(Progress::get).fold([0; 4], |[level, states, images, bytes], [other, more, and, also]| {
        [level.max(other), states + more, images + and, bytes + also]
    })
}
