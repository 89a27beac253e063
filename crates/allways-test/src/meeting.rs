//! Whether tasks have met: two of them have used the same object, or have each reached an operation at which another one could
//! have gone on.
//!
//! A test whose tasks never meet has one schedule, or as many as there are ways to start its tasks; it may well be that its
//! types are those of `std`, which nobody schedules. To start a task is a point as well, but no meeting. Shuttle does not
//! say what a point is for; but if a task appears during a step, that step began with the start of a task.
//!
//! Invariant: `reached[t]` is set while task t stands at a point: whether another one could have gone on there.

#[derive(Clone, Debug, Default)]
pub(crate) struct Meeting {
    // All executions.
    first: Option<usize>,
    met: bool,
    // The current execution.
    reached: Vec<Option<bool>>,
    tasks: usize,
    stepped: Option<usize>,
}

impl Meeting {
    /// Whether two tasks have met in any execution so far.
    pub fn met(&self) -> bool {
        self.met
    }

    /// Two tasks have used the same object.
    pub fn shared(&mut self) {
        self.met = true;
    }

    /// Takes part in what others have seen.
    pub fn join(&mut self, other: &Meeting) {
        self.met |= other.met;
        self.met |= matches!((self.first, other.first), (Some(one), Some(other)) if one != other);
        self.first = self.first.or(other.first);
    }

    pub fn new_execution(&mut self) {
        self.reached.clear();
        self.tasks = 0;
        self.stepped = None;
    }

    /// A scheduling point: there are so many tasks, `current` has reached it, several could go on, and `chosen` does.
    pub fn point(&mut self, tasks: usize, current: Option<usize>, several: bool, chosen: usize) {
        let started = tasks > self.tasks;
        self.tasks = self.tasks.max(tasks).max(chosen + 1);
        self.reached.resize(self.tasks.max(current.map_or(0, |task| task + 1)), None);
        if let Some(task) = self.stepped
            && self.reached[task].take() == Some(true)
            && !started
        {
            self.met |= self.first.is_some_and(|first| first != task);
            self.first.get_or_insert(task);
        }
        if let Some(task) = current {
            self.reached[task] = Some(several);
        }
        self.stepped = Some(chosen);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_are_no_meetings() {
        let mut meeting = Meeting::default();
        meeting.point(1, None, false, 0);
        meeting.point(1, Some(0), false, 0); // starts 1
        meeting.point(2, Some(0), true, 0); // starts 2
        meeting.point(3, Some(0), true, 0); // waits for both
        meeting.point(3, Some(0), true, 1);
        meeting.point(3, Some(1), true, 2);
        assert!(!meeting.met());
        meeting.point(3, Some(2), true, 1);
        meeting.point(3, Some(1), true, 2);
        assert!(meeting.met());
    }
}
