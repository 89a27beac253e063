//! What a search is told, why it ends, and what it counts.

use std::path::PathBuf;
use std::time::Duration;

/// What the search is told.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub delays: Option<usize>,
    pub schedules: Option<u64>,
    pub time: Option<Duration>,
    pub steps: usize,
    pub quantum: usize,
    pub spurious: bool,
    pub must_end: bool,
    pub stack: usize,
    /// Whether orders of independent operations are left out.
    pub reduce: bool,
    /// Whether memory is weak.
    pub weak: bool,
    /// Whether tasks switch at accesses of cells.
    pub cells: bool,
    /// Random values are one of so many; with 0 they are the same in all schedules.
    pub random: usize,
    /// How many schedules run at the same time.
    pub cores: usize,
    /// Where a search that was stopped goes on another time.
    pub resume: Option<PathBuf>,
    /// Where pages of failures go.
    pub page: Option<PathBuf>,
}

/// Why no further execution was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exhausted,
    Delays,
    Schedules,
    Time,
    /// An execution did not end within the limit of steps.
    Unfinished,
    /// Tasks are left that wait for each other.
    Deadlock,
    /// The allocator has found an error when the execution had ended.
    Memory,
    /// An execution did not follow the recorded tree.
    Diverged,
    /// The one schedule that was asked for has run.
    Replayed,
    /// The schedules that were handed out have run.
    Dealt,
    /// Not every operation says what it touches, although orders were left out.
    Foreign,
}

/// Counts over executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub executions: u64,
    pub steps: u64,
    pub longest: usize,
    pub tasks: usize,
    pub unfinished: u64,
    pub random_values: bool,
    pub spurious_wake_ups: bool,
    /// Executions that turned out to be the same as others.
    pub redundant: u64,
    /// Whether an order was left out.
    pub reduced: bool,
}

impl Tally {
    /// Adds what others have counted.
    pub fn add(&mut self, other: &Tally) {
        self.executions += other.executions;
        self.steps += other.steps;
        self.longest = self.longest.max(other.longest);
        self.tasks = self.tasks.max(other.tasks);
        self.unfinished += other.unfinished;
        self.random_values |= other.random_values;
        self.spurious_wake_ups |= other.spurious_wake_ups;
        self.redundant += other.redundant;
        self.reduced |= other.reduced;
    }
}
