//! The deterministic scheduler: round robin in the order of creation (DBS, section 3.1, Scheduler 3).
//!
//! The task that runs goes on until it ends, blocks, or is delayed; then comes the next one, cyclically. Two things are
//! added, which the paper leaves to the program. A task that yields, or that has used up its quantum of steps, goes to
//! the end of the line, so that loops that wait for others end. And tasks that could only be woken spuriously stand
//! behind all others: the scheduler by itself never wakes one, but delays can.
//!
//! Invariant: the line holds each candidate exactly once, so that with j delays exactly the j-th is reached
//! (delay-accessible), and none is lost (lossless); both together give limit soundness (Lemma 1).

/// A task that may be given the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The number of the task, in order of creation.
    pub task: usize,
    /// False if the task is blocked and could only be woken spuriously.
    pub runnable: bool,
}

/// What the line looks like from outside.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Line {
    pub length: usize,
    /// The task with which it begins.
    pub first: usize,
    /// The sum of fingerprints of the candidates. It does not depend on their order, which follows from who is the first.
    pub sum: u64,
}

impl Line {
    /// One more stands in it, at the end as far as `first` is concerned.
    #[inline]
    pub fn add(&mut self, candidate: Candidate) {
        if self.length == 0 {
            self.first = candidate.task;
        }
        self.length += 1;
        let number = candidate.task as u64 * 2 + u64::from(candidate.runnable) + 1;
        let product = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.sum = self.sum.wrapping_add(product ^ (product >> 32));
    }
}

impl FromIterator<Candidate> for Line {
    fn from_iter<I: IntoIterator<Item = Candidate>>(candidates: I) -> Line {
        let mut line = Line::default();
        candidates.into_iter().for_each(|candidate| line.add(candidate));
        line
    }
}

/// The number of the task with which the line begins, going round: the current task itself, or the one after it.
pub(crate) fn first_in_line(current: Option<usize>, to_the_end: bool) -> usize {
    current.map_or(0, |task| if to_the_end { task + 1 } else { task })
}

/// Those who could only be woken spuriously go behind all others, and keep their order.
pub(crate) fn runnable_first(line: &mut [Candidate]) {
    line.sort_by_key(|candidate| !candidate.runnable);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(tasks: &[usize], current: Option<usize>, to_the_end: bool) -> Vec<usize> {
        let first = first_in_line(current, to_the_end);
        let split = tasks.partition_point(|&task| task < first);
        [&tasks[split..], &tasks[..split]].concat()
    }

    #[test]
    fn the_current_task_goes_on() {
        assert_eq!(line(&[0, 1, 2, 3], Some(2), false), [2, 3, 0, 1]);
        assert_eq!(line(&[0, 1, 2, 3], None, false), [0, 1, 2, 3]);
    }

    #[test]
    fn after_the_end_or_a_block_comes_the_next() {
        assert_eq!(line(&[0, 1, 3], Some(2), false), [3, 0, 1]);
        assert_eq!(line(&[0, 1], Some(2), false), [0, 1]);
    }

    #[test]
    fn who_yields_goes_to_the_end() {
        assert_eq!(line(&[0, 1, 2], Some(1), true), [2, 0, 1]);
        assert_eq!(line(&[0, 1, 2], Some(2), true), [0, 1, 2]);
        assert_eq!(line(&[1], Some(1), true), [1]);
    }

    #[test]
    fn spurious_wake_ups_come_last() {
        let mut line =
            [(2, true), (1, false), (0, true)].map(|(task, runnable)| Candidate { task, runnable });
        runnable_first(&mut line);
        assert_eq!(line.map(|candidate| candidate.task), [2, 0, 1]);
    }
}
