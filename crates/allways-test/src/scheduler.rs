//! The delay-bounding scheduler as shuttle sees it: round robin (`round_robin.rs`), along a path (`walk.rs`), the paths
//! from the tree (`tree.rs`).
//!
//! Invariant: a failing execution panics out of shuttle and takes the scheduler value with it, so all state lives in a
//! `Session` that the caller shares. A schedule enters the tree when its execution has ended and followed its path; one
//! that failed, that was cut off, or that diverged ends the search or is counted apart. Before the search says that
//! nothing is left, it runs the schedule without delays again and compares: whatever the program has kept from one
//! execution to the next would show.

use crate::crash;
use crate::fairness::Alone;
use crate::meeting::Meeting;
use crate::recording::Recording;
use crate::replay::Recipe;
use crate::round_robin::{Candidate, line_up};
use crate::tree::{Next, Path, Tree};
use crate::walk::Walk;
use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Random values that a program draws are the same in every execution.
const SEED: u64 = 0x616c_6c77_6179_7321;

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
    /// An execution did not follow the recorded tree.
    Diverged,
    /// The one schedule that was asked for has run.
    Replayed,
}

/// Where schedules come from.
#[derive(Debug)]
enum Source {
    Tree(Tree),
    Single(Option<Path>),
}

/// What the executions share, and the caller looks at afterwards.
#[derive(Debug)]
pub(crate) struct Session {
    settings: Settings,
    source: Source,
    started: Instant,
    /// What the schedule without delays looked like.
    first: Option<(u64, u32)>,
    /// The end that will be announced once the schedule without delays has been the same again.
    confirming: Option<End>,
    pub end: Option<End>,
    pub tally: Tally,
    pub recording: Option<Recording>,
    // The current execution.
    pub walk: Walk,
    executing: bool,
    steps: usize,
    cut: bool,
    current: Option<usize>,
    in_a_row: usize,
    alone: Alone,
    random: u64,
    line: Vec<Candidate>,
    pub meeting: Meeting,
}

/// Counts over all executions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub executions: u64,
    pub steps: u64,
    pub longest: usize,
    pub tasks: usize,
    pub unfinished: u64,
    pub random_values: bool,
    pub spurious_wake_ups: bool,
}

impl Session {
    pub fn search(settings: Settings) -> Session {
        let tree = Tree::new(settings.delays);
        Session::new(settings, Source::Tree(tree), None)
    }

    /// Runs a single schedule, and takes notes.
    pub fn replay(settings: Settings, path: Path) -> Session {
        Session::new(settings, Source::Single(Some(path)), Some(Recording::default()))
    }

    fn new(settings: Settings, source: Source, recording: Option<Recording>) -> Session {
        Session {
            settings,
            source,
            started: Instant::now(),
            first: None,
            confirming: None,
            end: None,
            tally: Tally::default(),
            recording,
            walk: Walk::default(),
            executing: false,
            steps: 0,
            cut: false,
            current: None,
            in_a_row: 0,
            alone: Alone::default(),
            random: SEED,
            line: Vec::new(),
            meeting: Meeting::default(),
        }
    }

    /// How many schedules with 0, 1, 2, … delays have run to their end.
    pub fn schedules(&self) -> Vec<u64> {
        match &self.source {
            Source::Tree(tree) => tree.schedules(),
            Source::Single(_) => Vec::new(),
        }
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether there were spurious wake-ups that the settings have left out.
    pub fn spurious_left_out(&self) -> bool {
        self.tally.spurious_wake_ups && !self.settings.spurious
    }

    /// Whether this is a schedule that has been run before, without a failure.
    pub fn confirming(&self) -> bool {
        self.confirming.is_some()
    }

    /// The task that ran last.
    pub fn current(&self) -> Option<usize> {
        self.current
    }

    /// The execution has ended, well or not.
    pub fn close(&mut self) {
        self.executing = false;
        if self.confirming.is_some() {
            return;
        }
        self.tally.executions += 1;
        self.tally.steps += self.steps as u64;
        self.tally.longest = self.tally.longest.max(self.steps);
    }

    /// Ends the execution before, if any, and gives the path of the next, if any.
    fn advance(&mut self) -> Result<Path, End> {
        if self.executing {
            self.close();
            let changed = self.confirming.is_some() && self.first != Some(self.walk.fingerprint());
            if changed || !self.walk.followed() {
                return Err(End::Diverged);
            }
            if let Some(end) = self.confirming {
                return Err(end);
            }
            self.first.get_or_insert(self.walk.fingerprint());
            if self.cut {
                self.tally.unfinished += 1;
                if self.settings.must_end {
                    return Err(End::Unfinished);
                }
            }
            if let Source::Tree(tree) = &mut self.source {
                tree.record(self.walk.left_over());
            }
        }
        let path = match &mut self.source {
            Source::Single(path) => path.take().ok_or(End::Replayed)?,
            Source::Tree(tree) => match tree.next() {
                Next::Run(path) => path,
                end => {
                    self.confirming = Some(if end == Next::Exhausted { End::Exhausted } else { End::Delays });
                    return Ok(Path::new());
                }
            },
        };
        if self.settings.schedules.is_some_and(|limit| self.tally.executions >= limit) {
            return Err(End::Schedules);
        }
        // The first execution always takes place, so that there is something to report.
        if self.tally.executions > 0 && self.settings.time.is_some_and(|limit| self.started.elapsed() > limit)
        {
            return Err(End::Time);
        }
        Ok(path)
    }

    fn start(&mut self, path: Path) {
        self.walk = Walk::new(path, &self.walk);
        self.executing = true;
        self.steps = 0;
        self.cut = false;
        self.current = None;
        self.in_a_row = 0;
        self.alone = Alone::default();
        self.random = SEED;
        self.meeting.new_execution();
        crash::begins(&self.recipe());
    }

    /// What determines the current schedule.
    pub fn recipe(&self) -> Recipe {
        Recipe {
            path: self.walk.path().to_vec(),
            quantum: self.settings.quantum,
            spurious: self.settings.spurious,
        }
    }

    fn choose(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        if self.steps >= self.settings.steps {
            self.cut = true;
            return None;
        }
        self.steps += 1;
        let current = current.map(usize::from);
        if yielding {
            self.alone.has_yielded();
        }
        let to_the_end = yielding || self.in_a_row >= self.settings.quantum;
        self.line.clear();
        for task in tasks {
            let runnable = task.runnable();
            self.tally.spurious_wake_ups |= !runnable;
            if runnable || self.settings.spurious {
                self.line.push(Candidate { task: task.id().into(), runnable });
            }
        }
        if let Some(waits) = self.alone.has_to_wait()
            && self.line.iter().any(|candidate| candidate.runnable && candidate.task != waits)
        {
            self.line.retain(|candidate| candidate.task != waits);
        }
        line_up(&mut self.line, current, to_the_end);
        let position = self.walk.choose(&self.line, to_the_end);
        let chosen = self.line[position];
        self.in_a_row = match self.line.len() {
            1 => 0, // Alone, a task uses up nothing: there is nobody to wait for.
            _ if Some(chosen.task) == current && !to_the_end => self.in_a_row + 1,
            _ => 1,
        };
        if let Some(recording) = &mut self.recording {
            recording.point(tasks, current, &self.line, position);
        }
        self.alone.steps(chosen.task);
        let known = tasks.last().map_or(0, |task| usize::from(task.id()) + 1);
        let several = self.line.iter().filter(|candidate| candidate.runnable).count() > 1;
        self.meeting.point(known, current, several, chosen.task);
        self.current = Some(chosen.task);
        self.tally.tasks = self.tally.tasks.max(chosen.task + 1);
        Some(TaskId::from(chosen.task))
    }
}

/// Shuttle's scheduler: a handle to the session.
#[derive(Debug)]
pub(crate) struct DelayScheduler(pub Rc<RefCell<Session>>);

impl Scheduler for DelayScheduler {
    fn new_execution(&mut self) -> Option<Schedule> {
        let mut session = self.0.borrow_mut();
        match session.advance() {
            Ok(path) => {
                session.start(path);
                Some(Schedule::new(SEED))
            }
            Err(end) => {
                session.end = Some(end);
                None
            }
        }
    }

    fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
        self.0.borrow_mut().choose(tasks, current, yielding)
    }

    fn next_u64(&mut self) -> u64 {
        let mut session = self.0.borrow_mut();
        session.tally.random_values = true;
        session.walk.mix(0);
        // SplitMix64 (Steele, Lea, Flood, 2014).
        session.random = session.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = session.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests;
