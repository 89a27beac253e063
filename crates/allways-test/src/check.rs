//! What users call: the builder `Check`, and its limits from the environment.

use crate::driver;
use crate::quiet;
use crate::replay::Recipe;
use crate::report::{Outcome, Report, StopReason};
use crate::session::Session;
use crate::settings::Settings;
use shuttle::scheduler::Scheduler;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// A check with its limits. `Check::new()` has those of the environment, or the defaults:
///
/// | method | variable | default |
/// |---|---|---|
/// | [`delays`](Check::delays) | `ALLWAYS_TEST_DELAYS` | none |
/// | [`schedules`](Check::schedules) | `ALLWAYS_TEST_SCHEDULES` | 10000 |
/// | [`steps`](Check::steps) | `ALLWAYS_TEST_STEPS` | 20000 |
/// | [`time`](Check::time) | `ALLWAYS_TEST_TIME`, as `90s`, `500ms` or `5m` | none |
/// | [`cores`](Check::cores) | `ALLWAYS_TEST_CORES` | 1 |
/// | [`resume`](Check::resume) | `ALLWAYS_TEST_RESUME`, a file | none |
/// | [`page`](Check::page) | `ALLWAYS_TEST_PAGE`, a folder | none |
/// | | `ALLWAYS_TEST_SUITE_TIME`, for all checks of a process together | none |
///
/// A limit that the test sets itself wins over the environment. `none` in a variable removes a limit (not that of steps).
///
/// ```
/// use allways_test::Check;
/// use shuttle::{sync::{Arc, Mutex}, thread};
///
/// let report = Check::new().delays(2).schedules(500).run(|| {
///     let total = Arc::new(Mutex::new(0));
///     let other = Arc::clone(&total);
///     let adder = thread::spawn(move || *other.lock().unwrap() += 1);
///     *total.lock().unwrap() += 1;
///     adder.join().unwrap();
///     assert_eq!(*total.lock().unwrap(), 2);
/// });
/// assert!(report.schedules > 1);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a check does nothing until it is run"]
pub struct Check {
    settings: Settings,
    all: bool,
}

impl Default for Check {
    fn default() -> Check {
        Check::new()
    }
}

impl Check {
    /// A check with the limits of the environment, or the defaults.
    ///
    /// # Panics
    /// If a variable of the environment cannot be read.
    pub fn new() -> Check {
        let number = |text: &str| text.parse::<u64>().ok();
        Check {
            settings: Settings {
                delays: variable("DELAYS", number, None).map(|delays| delays as usize),
                schedules: variable("SCHEDULES", number, Some(10_000)),
                time: variable("TIME", duration, None),
                steps: variable("STEPS", number, Some(20_000))
                    .unwrap_or_else(|| panic!("allways-test: ALLWAYS_TEST_STEPS must be a number"))
                    as usize,
                quantum: 128,
                spurious: true,
                must_end: true,
                stack: 0xf000,
                reduce: true,
                weak: false,
                cells: false,
                random: 0,
                cores: variable("CORES", number, Some(1)).unwrap_or(1).max(1) as usize,
                resume: std::env::var_os("ALLWAYS_TEST_RESUME").map(Into::into),
                page: std::env::var_os("ALLWAYS_TEST_PAGE").map(Into::into),
            },
            all: false,
        }
    }

    /// Tries schedules with at most so many delays.
    pub fn delays(mut self, delays: usize) -> Check {
        self.settings.delays = Some(delays);
        self
    }

    /// Tries at most so many schedules.
    pub fn schedules(mut self, schedules: u64) -> Check {
        self.settings.schedules = Some(schedules);
        self
    }

    /// A schedule that has not ended after so many steps is a failure, see also
    /// [`may_go_on`](Check::may_go_on). A step is what happens between two scheduling points.
    pub fn steps(mut self, steps: usize) -> Check {
        self.settings.steps = steps;
        self
    }

    /// Starts no further schedule after this time.
    pub fn time(mut self, time: Duration) -> Check {
        self.settings.time = Some(time);
        self
    }

    /// Removes all limits but that of steps, and fails unless [every schedule](Outcome::EverySchedule) was explored.
    /// Limits can be set again afterwards.
    pub fn every_schedule(mut self) -> Check {
        self.settings.delays = None;
        self.settings.schedules = None;
        self.settings.time = None;
        self.all = true;
        self
    }

    /// Schedules are cut off at the limit of steps, and counted, instead of failing. For programs that need not end.
    pub fn may_go_on(mut self) -> Check {
        self.settings.must_end = false;
        self
    }

    /// After so many steps in a row a task goes to the end of the line, without a delay, so that loops that wait for
    /// another task without saying so (with `yield_now` or `spin_loop`) end. 128 if not set.
    ///
    /// # Panics
    /// If the quantum is 0.
    pub fn quantum(mut self, steps: usize) -> Check {
        assert!(steps > 0, "a quantum has at least one step");
        self.settings.quantum = steps;
        self
    }

    /// Leaves out schedules in which a thread wakes up from `park` without a reason. These have no end in a loop around
    /// `park`; without them such a program may be explored exhaustively, and the report says what was left out.
    pub fn no_spurious_wake_ups(mut self) -> Check {
        self.settings.spurious = false;
        self
    }

    /// Explores the orders of independent operations as well. Without this, schedules that differ in nothing else are left out
    /// if all types are those of this crate; then a failure may have fewer delays in a schedule that was left out.
    pub fn no_reduction(mut self) -> Check {
        self.settings.reduce = false;
        self
    }

    /// Random values of shuttle (`shuttle::rand`) are a choice among so many, each but the first at the price of a delay. The
    /// remainder by n takes all its values if n divides `values`: with 12, what `select!` of `shuttle-tokio` draws for 2, 3, 4, 6
    /// or 12 branches. For `gen_range` the number must be that of the range, since values that fit it badly are drawn again.
    /// Without this, random values are the same in all schedules, and the outcome says so.
    pub fn random_choices(mut self, values: usize) -> Check {
        self.settings.random = values;
        self
    }

    /// Accesses of a [`cell::UnsafeCell`](crate::cell::UnsafeCell) are places to switch as well, which takes more schedules. Data
    /// races are found without; this is for memory that is freed between an operation of one task and its access to a cell,
    /// see [`checked_allocator`](crate::checked_allocator).
    pub fn switch_at_cells(mut self) -> Check {
        self.settings.cells = true;
        self
    }

    /// Loads of this crate's atomics may read older stores, as far as their orderings and fences allow it in C11 (RC11, without load
    /// buffering). Reading an older store costs delays.
    pub fn weak_memory(mut self) -> Check {
        self.settings.weak = true;
        self
    }

    /// Runs so many schedules at the same time, on threads of their own; what comes out is the same as on one. What tests share
    /// outside of the closure, such as statics, they then share between these threads.
    pub fn cores(mut self, cores: usize) -> Check {
        self.settings.cores = cores.max(1);
        self
    }

    /// If a limit of time or schedules ends the search, writes to this file how far it has come; the next time it goes on
    /// from there. The file is for one test, and for the program as it is.
    pub fn resume(mut self, file: impl Into<std::path::PathBuf>) -> Check {
        self.settings.resume = Some(file.into());
        self
    }

    /// Writes the interleaving of a failure as an HTML page into this folder; the report says where.
    pub fn page(mut self, folder: impl Into<std::path::PathBuf>) -> Check {
        self.settings.page = Some(folder.into());
        self
    }

    /// The size of each task's stack in bytes; 61440 if not set.
    pub fn stack(mut self, bytes: usize) -> Check {
        self.settings.stack = bytes;
        self
    }

    /// Runs the test under all schedules with 0, then 1, then 2, … delays, until one fails or a limit is reached. With
    /// `ALLWAYS_TEST_REPLAY=SCHEDULE` in the environment, it [replays](Check::replay) that schedule instead.
    ///
    /// # Panics
    /// If a schedule fails, or the program depends on more than its schedule, or not every schedule was explored although
    /// [`every_schedule`](Check::every_schedule) asks for it. The message is the [`Report`].
    #[track_caller]
    pub fn run<F>(&self, test: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        if let Ok(schedule) = std::env::var("ALLWAYS_TEST_REPLAY") {
            return self.replay(&schedule, test);
        }
        let report = self.explore(test);
        match &report.outcome {
            Outcome::Failed(_) | Outcome::Diverged { .. } => quiet::fail(format!("allways-test: {report}")),
            Outcome::Stopped(_) if self.all => {
                quiet::fail(format!("allways-test: not every schedule was explored: {report}"))
            }
            Outcome::Stopped(StopReason::NeverMet(_)) => eprintln!("allways-test: {report}"),
            _ => println!("allways-test: {report}"),
        }
        report
    }

    /// Like [`run`](Check::run), but never panics: everything is in the report.
    pub fn explore<F>(&self, test: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        let test = Arc::new(test);
        let settings = Settings { time: within_budget(self.settings.time), ..self.settings.clone() };
        driver::search(settings, &test)
    }

    /// Runs the schedules that a scheduler of shuttle chooses, random ones for example, as many as it chooses. Types of this crate
    /// work with it as with delays, and a failure is printed as a schedule with delays, although not with the fewest. Which of
    /// several stores a load reads in [weak memory](Check::weak_memory) is random then. Limits other than that of steps and of time
    /// are those of the scheduler.
    ///
    /// ```
    /// use allways_test::{Check, shuttle::scheduler::RandomScheduler, sync::{Arc, Mutex}, thread};
    ///
    /// let report = Check::new().explore_with(RandomScheduler::new_from_seed(1, 50), || {
    ///     let total = Arc::new(Mutex::new(0));
    ///     let other = Arc::clone(&total);
    ///     let adder = thread::spawn(move || *other.lock().unwrap() += 1);
    ///     *total.lock().unwrap() += 1;
    ///     adder.join().unwrap();
    /// });
    /// assert_eq!(report.schedules, 50);
    /// ```
    pub fn explore_with<S, F>(&self, scheduler: S, test: F) -> Report
    where
        S: Scheduler + 'static,
        F: Fn() + Send + Sync + 'static,
    {
        let settings = Settings { reduce: false, schedules: None, ..self.settings.clone() };
        driver::execute(Session::guided(settings), Some(Box::new(scheduler)), &Arc::new(test))
    }

    /// Runs one schedule, the one that a failure has printed.
    ///
    /// # Panics
    /// If the schedule fails, as it should; if the text is not a schedule; or if it does not fit the program.
    #[track_caller]
    pub fn replay<F>(&self, schedule: &str, test: F) -> Report
    where
        F: Fn() + Send + Sync + 'static,
    {
        let recipe =
            Recipe::parse(schedule).unwrap_or_else(|error| quiet::fail(format!("allways-test: {error}")));
        let settings = Settings {
            quantum: recipe.quantum,
            spurious: recipe.spurious,
            reduce: recipe.reduce,
            weak: recipe.weak,
            cells: recipe.cells,
            random: recipe.random,
            ..self.settings.clone()
        };
        let report =
            driver::execute(Session::replay(settings, recipe.path.into_owned()), None, &Arc::new(test));
        match &report.outcome {
            Outcome::Failed(_) => quiet::fail(format!("allways-test: {report}")),
            Outcome::Diverged { .. } => quiet::fail(format!(
                "allways-test: the schedule {schedule:?} does not fit the program; has it been changed?"
            )),
            _ => println!("allways-test: {report}"),
        }
        report
    }
}

/// What is left for a check of the time that all checks of the process have, if that is less than it may take itself.
fn within_budget(own: Option<Duration>) -> Option<Duration> {
    static STARTED: OnceLock<Instant> = OnceLock::new();
    let started = STARTED.get_or_init(Instant::now);
    let Some(budget) = variable("SUITE_TIME", duration, None) else { return own };
    let left = budget.saturating_sub(started.elapsed());
    Some(own.map_or(left, |own| own.min(left)))
}

/// A limit from the environment.
fn variable<T>(name: &str, read: impl Fn(&str) -> Option<T>, default: Option<T>) -> Option<T> {
    let name = format!("ALLWAYS_TEST_{name}");
    match std::env::var(&name) {
        Err(_) => default,
        Ok(text) if text.trim() == "none" => None,
        Ok(text) => match read(text.trim()) {
            Some(value) => Some(value),
            None => panic!("allways-test: {name}={text:?} cannot be read"),
        },
    }
}

/// `90s`, `500ms`, `5m`, or seconds without a unit.
fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        assert_eq!(duration("90s"), Some(Duration::from_secs(90)));
        assert_eq!(duration("90"), Some(Duration::from_secs(90)));
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        for text in ["", "s", "5h", "-1s", "1.5s"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
