//! Fair schedules: who has yielded twice while nobody else has stepped waits until somebody has.
//!
//! A task that yields says that it waits for others. Without them nothing changes, so after the second look a third one
//! tells nothing new; without this rule, a loop that waits has a schedule for each number of looks, and no last schedule.
//! If nobody else can step, the task goes on: then either it ends, or the test does not.
//!
//! Invariant: only the task that has stepped last can have stepped alone; every other one's count is zero.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Alone {
    task: Option<usize>,
    yields: usize,
}

/// So many yields without a step of somebody else.
const LOOKS: usize = 2;

impl Alone {
    /// The task that runs has yielded.
    pub fn has_yielded(&mut self) {
        self.yields += 1;
    }

    /// A task takes a step.
    pub fn steps(&mut self, task: usize) {
        if self.task != Some(task) {
            *self = Alone { task: Some(task), yields: 0 };
        }
    }

    /// The task that has to wait for somebody else's step, if anybody else can step.
    pub fn has_to_wait(&self) -> Option<usize> {
        self.task.filter(|_| self.yields >= LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_looks_are_enough() {
        let mut alone = Alone::default();
        alone.steps(1);
        alone.has_yielded();
        alone.steps(1);
        assert_eq!(alone.has_to_wait(), None);
        alone.has_yielded();
        assert_eq!(alone.has_to_wait(), Some(1));
        alone.steps(2);
        assert_eq!(alone.has_to_wait(), None);
        alone.steps(1);
        alone.has_yielded();
        assert_eq!(alone.has_to_wait(), None);
    }
}
