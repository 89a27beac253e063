//! What happened in one execution, step by step, for people.
//!
//! Shuttle asks the scheduler on the stack of the task that has reached a scheduling point, before the operation takes
//! place. So a backtrace taken there says what the task is about to do; the task does it when it is scheduled next, maybe
//! much later. Backtraces are costly, hence only taken when a failing schedule is run once more.

use crate::location::Location;
use crate::round_robin::Candidate;
use shuttle::scheduler::Task;
use std::backtrace::Backtrace;

/// Backtraces take memory, and to resolve them takes time. They are kept for so many points at the beginning and at the
/// end, for those with delays, and for the last of each task.
const BEGINNING: usize = 400;
const END: usize = 600;

/// A scheduling point, as it was met.
#[derive(Debug)]
struct Point {
    current: Option<usize>,
    chosen: usize,
    delayed: Vec<usize>,
    spurious: bool,
    /// The points after a panic are those of destructors.
    unwinding: bool,
    backtrace: Option<Backtrace>,
    /// What the step that followed saw.
    note: String,
}

/// Notes taken during an execution.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    points: Vec<Point>,
    names: Vec<String>,
    /// The last point at which each task was asked.
    last: Vec<usize>,
}

/// A step of the interleaving: a task does what stands at a place in the source.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub task: usize,
    pub place: Option<Location>,
    /// Whether this is the first step of the task.
    pub first: bool,
    /// The tasks that were delayed for this step, and what each was about to do.
    pub delayed: Vec<(usize, Option<Location>)>,
    pub spurious: bool,
    /// What it saw.
    pub note: String,
}

/// An execution up to its failure.
#[derive(Debug, Default)]
pub(crate) struct Story {
    pub steps: Vec<Step>,
    /// Where each task was in the end, if it had not ended and this is known.
    places: Vec<Option<Location>>,
}

impl Recording {
    /// A scheduling point: `current` has reached it, `chosen` goes on, and others were delayed for that.
    pub fn point(&mut self, tasks: &[&Task], current: Option<usize>, chosen: Candidate, delayed: Vec<usize>) {
        for task in tasks {
            let id = usize::from(task.id());
            while self.names.len() <= id {
                self.names.push(format!("task-{}", self.names.len()));
                self.last.push(0);
            }
            if let Some(name) = task.name() {
                self.names[id] = if name == "main-thread" { "main".to_string() } else { name };
            }
        }
        let unwinding = std::thread::panicking();
        let number = self.points.len();
        self.points.push(Point {
            current,
            chosen: chosen.task,
            delayed,
            spurious: !chosen.runnable,
            unwinding,
            backtrace: (!unwinding).then(Backtrace::force_capture),
            note: String::new(),
        });
        if let Some(current) = current {
            let before = std::mem::replace(&mut self.last[current], number);
            self.forget(before);
        }
        self.forget(number.saturating_sub(END));
    }

    /// The current step has seen something.
    pub fn note(&mut self, text: String) {
        if let Some(point) = self.points.last_mut() {
            let separator = if point.note.is_empty() { "" } else { ", " };
            point.note = format!("{}{separator}{text}", point.note);
        }
    }

    /// The current step took another alternative than the first.
    pub fn decided(&mut self, alternative: usize) {
        let plural = if alternative == 1 { "" } else { "s" };
        self.note(format!("at the price of {alternative} delay{plural}"));
    }

    /// Drops the backtrace of a point that need not be kept.
    fn forget(&mut self, number: usize) {
        let middle = number >= BEGINNING && number + END <= self.points.len();
        let point = &mut self.points[number];
        if middle && point.delayed.is_empty() && point.current.is_none_or(|task| self.last[task] != number) {
            point.backtrace = None;
        }
    }

    /// The name of a task, or `task-N`.
    pub fn name(&self, task: usize) -> String {
        self.names.get(task).cloned().unwrap_or_else(|| format!("task-{task}"))
    }

    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The task that was running when the first panic began, if another was scheduled during its unwinding.
    pub fn panicking(&self) -> Option<usize> {
        self.points.get(self.end())?.current
    }

    /// The number of points before the panic that ended the execution; panics that were caught came before.
    fn end(&self) -> usize {
        self.points.iter().rposition(|point| !point.unwinding).map_or(0, |last| last + 1)
    }

    /// The steps up to the failure, with their places resolved.
    pub fn story(&self) -> Story {
        let mut pending: Vec<Option<Location>> = vec![None; self.names.len()];
        let mut begun = vec![false; self.names.len()];
        let mut steps = Vec::new();
        for point in &self.points[..self.end()] {
            if let Some(current) = point.current {
                pending[current] = point.backtrace.as_ref().and_then(Location::of_user_code);
            }
            steps.push(Step {
                task: point.chosen,
                place: pending[point.chosen].clone(),
                first: !std::mem::replace(&mut begun[point.chosen], true),
                delayed: point.delayed.iter().map(|&task| (task, pending[task].clone())).collect(),
                spurious: point.spurious,
                note: point.note.clone(),
            });
        }
        // The last to run was not asked again where it was; it has not got further than its last step.
        if let Some(last) = steps.last() {
            pending[last.task] = last.place.clone();
        }
        Story { steps, places: pending }
    }

    /// What the tasks wait for in a deadlock that shuttle has reported.
    pub fn waiting(&self, story: &Story, message: &str) -> String {
        self.waiting_tasks(story, blocked(message))
    }

    /// Where tasks wait.
    pub fn waiting_tasks(&self, story: &Story, tasks: impl Iterator<Item = usize>) -> String {
        let waiting: Vec<String> = tasks
            .map(|task| {
                let place = story.places.get(task).and_then(Option::as_ref);
                format!(
                    "{} waits{}",
                    self.name(task),
                    place.map(|place| format!(" at {place}")).unwrap_or_default()
                )
            })
            .collect();
        waiting.join(", ")
    }
}

/// The tasks in shuttle's message `deadlock! blocked tasks: [NAME (task NAME(NUMBER)…), …]`.
fn blocked(message: &str) -> impl Iterator<Item = usize> {
    message
        .split("(task ")
        .skip(1)
        .filter_map(|task| task.split('(').skip(1).find_map(|part| part.split_once(')')?.0.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_in_a_message_of_shuttle() {
        let message = "deadlock! blocked tasks: [main-thread (task main-thread(0), pending future), \
                       <unknown> (task main-thread(12)), x (task TaskId(3), detached)]";
        assert_eq!(blocked(message).collect::<Vec<_>>(), [0, 12, 3]);
        assert_eq!(blocked("deadlock!").count(), 0);
    }
}
