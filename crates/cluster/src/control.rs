//! What the workers of one process and their supervisor tell each other: whether to stop and why, how far each has come, and
//! how much memory is left.
//!
//! Workers live in threads that timely starts and may outlive whoever asked, so they cannot look at a
//! [`Budget`](allways_engines::Budget) themselves: the supervisor does, and sets what they look at here.

use allways_evidence::StopReason;
use std::fmt::Display;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So many bytes may be on their way to a worker before others wait until it has taken some in.
const CROWDED: i64 = 4 << 20;

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
    /// Bytes held in memory.
    pub bytes: AtomicU64,
    /// Bytes on disk.
    pub disk: AtomicU64,
}

/// How many numbers these are.
pub const NUMBERS: usize = 5;

impl Progress {
    fn fields(&self) -> [&AtomicU64; NUMBERS] {
        [&self.level, &self.states, &self.images, &self.bytes, &self.disk]
    }

    /// The numbers, in the order of the fields.
    pub fn get(&self) -> [u64; NUMBERS] {
        self.fields().map(|number| number.load(Ordering::Relaxed))
    }

    /// Sets all of them.
    pub fn set(&self, numbers: [u64; NUMBERS]) {
        self.fields()
            .into_iter()
            .zip(numbers)
            .for_each(|(field, number)| field.store(number, Ordering::Relaxed));
    }
}

/// Shared by the threads of one process; see the module.
pub struct Control {
    stopped: AtomicBool,
    reason: Mutex<Option<StopReason>>,
    memory_left: AtomicUsize,
    /// The number of the first worker of this process, and of each, how many bytes are on their way to it from others.
    first: usize,
    sent: Vec<AtomicI64>,
    /// Of each worker of this process.
    pub workers: Vec<Progress>,
    /// Of each process, all its workers together; that of this one is not used.
    pub processes: Vec<Progress>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Control {
    /// For so many workers in each of so many processes, of which this is one.
    pub fn new(workers: usize, processes: usize, process: usize) -> Control {
        Control {
            stopped: AtomicBool::new(false),
            reason: Mutex::new(None),
            memory_left: AtomicUsize::new(usize::MAX),
            first: process * workers,
            sent: (0..workers).map(|_| AtomicI64::new(0)).collect(),
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

    /// Says how many bytes are left to each worker of this process.
    pub fn set_memory_left(&self, bytes: usize) {
        self.memory_left.store(bytes, Ordering::Relaxed);
    }

    /// Counts bytes that are sent from one worker to another, or, if negative, were taken in. Only what stays within this
    /// process is counted.
    pub fn on_the_way(&self, from: usize, to: usize, bytes: i64) {
        let here = |worker: usize| worker.checked_sub(self.first).and_then(|worker| self.sent.get(worker));
        if let (Some(_), Some(sent)) = (here(from), here(to)) {
            sent.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// Whether so much is on its way to a worker of this process that others should wait.
    pub fn is_crowded(&self, worker: usize) -> bool {
        let sent = worker.checked_sub(self.first).and_then(|worker| self.sent.get(worker));
        sent.is_some_and(|sent| sent.load(Ordering::Relaxed) > CROWDED)
    }

    /// Stops because something cannot be done.
    pub fn fail<T>(&self, what: &str, why: &dyn Display) -> Result<T, Stopped> {
        self.stop(StopReason::GaveUp(format!("{what}: {why}")));
        Err(Stopped)
    }

    /// How many bytes are left to each worker of this process.
    pub fn memory_left(&self) -> usize {
        self.memory_left.load(Ordering::Relaxed)
    }

    /// Whether so many bytes could be allocated now.
    pub fn has_room(&self, bytes: usize) -> bool {
        bytes <= self.memory_left()
    }

    /// Whether so many bytes could be allocated now; if not, stops.
    pub fn room_for(&self, bytes: usize) -> Result<(), Stopped> {
        self.check()?;
        if !self.has_room(bytes) {
            self.stop(StopReason::Memory);
            return Err(Stopped);
        }
        Ok(())
    }

    /// The sum of what the workers of this process have done; of levels, the largest.
    pub fn here(&self) -> [u64; NUMBERS] {
        sum(self.workers.iter())
    }

    /// The same of all processes, of which this is one.
    pub fn everywhere(&self, process: usize) -> [u64; NUMBERS] {
        let others = self.processes.iter().enumerate().filter(|&(other, _)| other != process);
        sum(self.workers.iter().chain(others.map(|(_, progress)| progress)))
    }
}

fn sum<'a>(all: impl Iterator<Item = &'a Progress>) -> [u64; NUMBERS] {
    all.map(Progress::get).fold([0; NUMBERS], |sum, more| {
        let mut both = std::array::from_fn(|number| sum[number] + more[number]);
        both[0] = sum[0].max(more[0]);
        both
    })
}
