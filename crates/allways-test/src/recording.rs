//! What happened in one execution, step by step, for people.
//!
//! Shuttle asks the scheduler on the stack of the task that has reached a scheduling point, before the operation takes
//! place. So a backtrace taken there says what the task is about to do; the task does it when it is scheduled next, maybe
//! much later. Backtraces are costly, hence only taken when a failing schedule is run once more.

use crate::location::Location;
use crate::round_robin::Candidate;
use shuttle::scheduler::Task;
use std::backtrace::Backtrace;

/// After so many points no more places are looked up: each costs the resolution of a backtrace.
const PLACES: usize = 3000;

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
}

/// Notes taken during an execution.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    points: Vec<Point>,
    names: Vec<String>,
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
    /// After the last step: the other tasks that have not ended, as far as known, and what they are about to do.
    pub others: Vec<(usize, Location)>,
}

impl Recording {
    pub fn point(&mut self, tasks: &[&Task], current: Option<usize>, line: &[Candidate], position: usize) {
        for task in tasks {
            let id = usize::from(task.id());
            while self.names.len() <= id {
                self.names.push(format!("task-{}", self.names.len()));
            }
            if let Some(name) = task.name() {
                self.names[id] = if name == "main-thread" { "main".to_string() } else { name };
            }
        }
        let unwinding = std::thread::panicking();
        self.points.push(Point {
            current,
            chosen: line[position].task,
            delayed: line[..position].iter().map(|candidate| candidate.task).collect(),
            spurious: !line[position].runnable,
            unwinding,
            backtrace: (!unwinding && self.points.len() < PLACES).then(Backtrace::force_capture),
        });
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
        self.points.iter().find(|point| point.unwinding)?.current
    }

    /// The steps up to the failure, with their places resolved.
    pub fn steps(&self) -> Vec<Step> {
        let mut pending: Vec<Option<Location>> = vec![None; self.names.len()];
        let mut begun = vec![false; self.names.len()];
        let mut steps = Vec::new();
        for point in self.points.iter().take_while(|point| !point.unwinding) {
            if let Some(current) = point.current {
                pending[current] = point.backtrace.as_ref().and_then(Location::of_user_code);
            }
            steps.push(Step {
                task: point.chosen,
                place: pending[point.chosen].clone(),
                first: !std::mem::replace(&mut begun[point.chosen], true),
                delayed: point.delayed.iter().map(|&task| (task, pending[task].clone())).collect(),
                spurious: point.spurious,
                others: Vec::new(),
            });
        }
        if let Some(last) = steps.last_mut() {
            let others = pending.into_iter().enumerate().filter(|(task, _)| *task != last.task);
            last.others = others.filter_map(|(task, place)| Some((task, place?))).collect();
        }
        steps
    }

    /// What the tasks wait for at the end of a deadlock. The last to run has blocked in its last step; nobody was
    /// scheduled after it, so that this step is all that is known.
    pub fn waiting(&self, steps: &[Step]) -> Option<String> {
        let last = steps.last()?;
        let mut waiting = last.others.clone();
        waiting.push((last.task, last.place.clone()?));
        waiting.sort_by_key(|(task, _)| *task);
        let waiting: Vec<String> =
            waiting.iter().map(|(task, place)| format!("{} waits at {place}", self.name(*task))).collect();
        Some(waiting.join(", "))
    }
}
