//! What was explored, what was found, and what that does not say.
//!
//! `EverySchedule` is a claim and must be true: the tree is exhausted, no execution was cut off, no random value was
//! drawn, and no wake-up was left out. Every other way of stopping has a name.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// What the model leaves out, whatever was explored.
pub const ASSUMPTIONS: &str =
    "memory is sequentially consistent, threads switch at operations of scheduled types only";

/// The same, with weak memory.
pub const WEAK_ASSUMPTIONS: &str =
    "memory is that of C11 without load buffering, threads switch at operations of scheduled types only";

/// The result of an exploration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// How it ended.
    pub outcome: Outcome,
    /// How many schedules were run, the failing one included.
    pub schedules: u64,
    /// How many schedules with 0, 1, 2, … delays were run to their end.
    pub by_delays: Vec<u64>,
    /// How many scheduling points there were in all schedules together.
    pub steps: u64,
    /// The scheduling points of the longest schedule.
    pub longest: usize,
    /// The most tasks in one schedule, the main one included.
    pub tasks: usize,
    /// How many schedules were cut off at the limit of steps.
    pub unfinished: u64,
    /// Whether the test drew random values.
    pub random_values: bool,
    /// How many they were chosen from; with 0 they were the same in all schedules.
    pub random_choices: usize,
    /// Whether a thread could have woken up spuriously, and was not, because the test asked for that.
    pub spurious_left_out: bool,
    /// How many of the schedules turned out to be the same as others, up to the order of independent operations, and were not
    /// explored further.
    pub redundant: u64,
    /// Whether schedules that differ in the order of independent operations only were left out.
    pub reduced: bool,
    /// Whether loads could read older stores, as far as their orderings allow it.
    pub weak_memory: bool,
    /// How long the exploration took.
    pub time: Duration,
}

/// How an exploration ended.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// Every fair schedule has been run, with any number of delays, and none fails. A schedule is fair unless a task that
    /// has yielded twice goes on although nobody else has stepped in between, and somebody could.
    EverySchedule,
    /// None of the schedules that were run fails, but there are others.
    Stopped(StopReason),
    /// A schedule fails.
    Failed(Box<Failure>),
    /// The program depends on something else than the schedule, so that the schedules cannot be enumerated.
    Diverged {
        /// The schedule that went another way than before.
        replay: String,
    },
}

/// Why an exploration without a failure says nothing about some schedules.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// All schedules with so many delays were run; there are some with more.
    Delays(usize),
    /// So many schedules were run.
    Schedules(u64),
    /// The time was up.
    Time(Duration),
    /// Nothing else is left, but so many schedules were cut off at the limit of steps.
    Unfinished(u64),
    /// Every schedule was run, but for one sequence of random values only.
    RandomValues,
    /// Every schedule was run, except for those in which a task wakes up spuriously.
    SpuriousWakeUps,
    /// Every schedule was run, but in none of them did two tasks meet at operations that are scheduled: there was nothing to
    /// explore. The places are those at which tasks reached such operations, if any.
    NeverMet(Vec<String>),
    /// A single schedule was run, because it was asked for.
    Replay,
}

/// A schedule that fails.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// In which way.
    pub kind: FailureKind,
    /// The message of the panic.
    pub message: String,
    /// Where the panic came from, as `file:line:column`.
    pub place: Option<String>,
    /// The task that failed.
    pub task: Option<String>,
    /// How many delays the schedule has.
    pub delays: usize,
    /// Where they fall; nothing if the schedule could not be reproduced.
    pub placed: Vec<Delay>,
    /// Whether every schedule with fewer delays was run before, to its end, and did not fail.
    pub minimal: bool,
    /// Whether the schedule failed in the same way each time it was run.
    pub reproduced: bool,
    /// What [`replay`](crate::replay()) accepts.
    pub replay: String,
    /// The interleaving, a column for each task.
    pub picture: String,
    /// The same as an HTML page, if [`Check::page`](crate::Check::page) asks for one.
    pub page: Option<PathBuf>,
}

/// In which way a schedule fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FailureKind {
    /// A task panics: an assertion, usually.
    Panic,
    /// Tasks are left that wait for each other.
    Deadlock,
    /// The execution does not end within the limit of steps, although no task is held back for good.
    Unfinished,
}

/// A delay: the task whose turn it was is held back, and the next one goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Delay {
    /// The step, counted from 1.
    pub step: usize,
    /// The task that is held back.
    pub task: String,
    /// What it was about to do, as `file:line`, if that is known.
    pub place: Option<String>,
    /// The task that goes on instead.
    pub instead: String,
}

impl Report {
    /// Whether every schedule was run, and none fails.
    pub fn every_schedule(&self) -> bool {
        matches!(self.outcome, Outcome::EverySchedule)
    }

    /// The failing schedule, if one was found.
    pub fn failure(&self) -> Option<&Failure> {
        match &self.outcome {
            Outcome::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Delays(delays) => {
                write!(
                    f,
                    "no failure with at most {}; schedules with more were not run",
                    count(*delays as u64, "delay")
                )
            }
            StopReason::Schedules(limit) => {
                write!(f, "no failure within the limit of {}; others were not run", count(*limit, "schedule"))
            }
            StopReason::Time(limit) => write!(f, "no failure within {limit:?}; other schedules were not run"),
            StopReason::Unfinished(schedules) => {
                write!(
                    f,
                    "no failure, but {} did not end within the limit of steps",
                    count(*schedules, "schedule")
                )
            }
            StopReason::RandomValues => {
                write!(f, "every schedule explored for one sequence of random values; others were not drawn")
            }
            StopReason::SpuriousWakeUps => {
                write!(
                    f,
                    "every schedule explored except for those with spurious wake-ups, which were left out"
                )
            }
            StopReason::NeverMet(places) => {
                write!(
                    f,
                    "warning: no two tasks ever met at an operation that is scheduled, so nothing was explored; are the types \
                     of the code under test still those of `std`?"
                )?;
                match places.as_slice() {
                    [] => write!(f, "\n  no task switched anywhere"),
                    places => write!(f, "\n  switched: {}", places.join(", ")),
                }
            }
            StopReason::Replay => write!(f, "the schedule ran without a failure"),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match &self.outcome {
            Outcome::EverySchedule => write!(f, "every fair schedule explored, no failure")?,
            Outcome::Stopped(reason) => write!(f, "{reason}")?,
            Outcome::Failed(failure) => write!(f, "{failure}")?,
            Outcome::Diverged { replay } => write!(
                f,
                "the program does not follow its own schedule: it depends on something that is not under control (time, \
                 addresses, random keys of a HashMap, `std` threads or locks), so that its schedules cannot be \
                 enumerated; noticed in {replay}"
            )?,
        }
        write!(f, "\n  {}", count(self.schedules, "schedule"))?;
        let mut parts: Vec<String> = Vec::new();
        for (delays, schedules) in self.by_delays.iter().enumerate() {
            let word = if delays == 0 { " delays" } else { "" };
            parts.push(format!("{schedules} with {delays}{word}"));
        }
        if self.by_delays.iter().sum::<u64>() + self.unfinished < self.schedules {
            parts.extend(
                matches!(self.outcome, Outcome::Failed(_)).then(|| "then the one that fails".to_string()),
            );
        }
        if !parts.is_empty() {
            write!(f, " ({})", parts.join(", "))?;
        }
        write!(
            f,
            ", {}, {}, at most {}, {:.1?}",
            count(self.tasks as u64, "task"),
            count(self.steps, "step"),
            self.longest,
            self.time
        )?;
        if self.unfinished > 0 {
            write!(f, "\n  {} cut off at the limit of steps", count(self.unfinished, "schedule"))?;
        }
        if self.random_values {
            match self.random_choices {
                0 => write!(f, "\n  random values were drawn, the same in all schedules")?,
                values => write!(f, "\n  random values were drawn, each one of {values}")?,
            }
        }
        if self.spurious_left_out {
            write!(f, "\n  spurious wake-ups were left out")?;
        }
        if self.reduced {
            write!(f, "\n  orders of independent operations were left out ({} cut short)", self.redundant)?;
        }
        write!(f, "\n  assumed: {}", if self.weak_memory { WEAK_ASSUMPTIONS } else { ASSUMPTIONS })
    }
}

impl Failure {
    /// Everything but the interleaving.
    pub(crate) fn summary(&self) -> String {
        struct Summary<'a>(&'a Failure);
        impl fmt::Display for Summary<'_> {
            fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
                self.0.summarise(f)
            }
        }
        Summary(self).to_string()
    }

    fn summarise(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let task = self.task.as_ref().map(|task| format!("{task} ")).unwrap_or_default();
        let at = self.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        match self.kind {
            FailureKind::Panic => writeln!(f, "{task}panics{at}: {}", self.message)?,
            FailureKind::Deadlock | FailureKind::Unfinished => writeln!(f, "{}", self.message)?,
        }
        let fewest = match (self.minimal, self.delays) {
            (true, 1..) => ", and no schedule with fewer fails",
            _ => "",
        };
        write!(f, "  needs {}{fewest}", count(self.delays as u64, "delay"))?;
        for delay in &self.placed {
            let before = delay.place.as_ref().map(|place| format!(" before {place}")).unwrap_or_default();
            write!(
                f,
                "\n    step {}: {} is held back{before}, {} goes on",
                delay.step, delay.task, delay.instead
            )?;
        }
        if !self.reproduced {
            write!(
                f,
                "\n  the same schedule has also been run without this failure: the program depends on something that is \
                 not under control"
            )?;
        }
        write!(
            f,
            "\n  run it again with: ALLWAYS_TEST_REPLAY={}, or allways_test::replay({:?}, || …)",
            self.replay, self.replay
        )
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        self.summarise(f)?;
        if let Some(page) = &self.page {
            write!(f, "\n  as a page: {}", page.display())?;
        }
        if !self.picture.is_empty() {
            write!(f, "\n\n{}\n", self.picture)?;
        }
        Ok(())
    }
}
