//! What a task knows of the others: a vector clock (which of their operations happened before), and for each atomic location
//! the oldest store that it may still read.
//!
//! Stores of a location are ordered by stamps (modification order), so that joining two views is taking the larger of each
//! number. Missing numbers are zero.

/// A point of the happens-before order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct View {
    pub clock: Vec<u32>,
    pub floors: Vec<u64>,
}

fn join<T: Copy + Ord + Default>(into: &mut Vec<T>, from: &[T]) {
    if into.len() < from.len() {
        into.resize(from.len(), T::default());
    }
    for (mine, theirs) in into.iter_mut().zip(from) {
        *mine = (*mine).max(*theirs);
    }
}

impl View {
    pub fn clear(&mut self) {
        self.clock.clear();
        self.floors.clear();
    }

    pub fn join(&mut self, other: &View) {
        join(&mut self.clock, &other.clock);
        join(&mut self.floors, &other.floors);
    }

    /// Whether operation `time` of a task happened before.
    pub fn knows(&self, task: usize, time: u32) -> bool {
        self.clock.get(task).is_some_and(|&seen| seen >= time)
    }

    pub fn time(&self, task: usize) -> u32 {
        self.clock.get(task).copied().unwrap_or(0)
    }

    /// The next operation of a task.
    pub fn tick(&mut self, task: usize) -> u32 {
        if self.clock.len() <= task {
            self.clock.resize(task + 1, 0);
        }
        self.clock[task] += 1;
        self.clock[task]
    }

    pub fn floor(&self, location: usize) -> u64 {
        self.floors.get(location).copied().unwrap_or(0)
    }

    pub fn raise(&mut self, location: usize, stamp: u64) {
        if self.floors.len() <= location {
            self.floors.resize(location + 1, 0);
        }
        self.floors[location] = self.floors[location].max(stamp);
    }
}
