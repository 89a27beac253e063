//! `model` and `Builder`: what loom's limits are here.

use allways_test::{Check, Outcome, StopReason};
use std::path::PathBuf;
use std::time::Duration;

/// A model with limits.
#[derive(Debug)]
#[non_exhaustive]
pub struct Builder {
    /// No limit here.
    pub max_threads: usize,
    /// The most scheduling points of an execution: [`Check::steps`].
    pub max_branches: usize,
    /// The most executions: [`Check::schedules`].
    pub max_permutations: Option<usize>,
    /// The time: [`Check::time`].
    pub max_duration: Option<Duration>,
    /// The most delays: [`Check::delays`].
    pub preemption_bound: Option<usize>,
    /// Not used: a failure prints its schedule.
    pub checkpoint_file: Option<PathBuf>,
    /// Not used.
    pub checkpoint_interval: usize,
    /// Not used: places are always known.
    pub location: bool,
    /// Not used.
    pub log: bool,
    /// Not used.
    pub expect_explicit_explore: bool,
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

impl Default for Builder {
    fn default() -> Builder {
        Builder::new()
    }
}

impl Builder {
    /// The limits of the environment, as loom reads them.
    pub fn new() -> Builder {
        Builder {
            max_threads: crate::MAX_THREADS,
            max_branches: variable("LOOM_MAX_BRANCHES").unwrap_or(20_000),
            max_permutations: variable("LOOM_MAX_PERMUTATIONS"),
            max_duration: variable("LOOM_MAX_DURATION").map(Duration::from_secs),
            preemption_bound: variable("LOOM_MAX_PREEMPTIONS"),
            checkpoint_file: None,
            checkpoint_interval: 0,
            location: true,
            log: false,
            expect_explicit_explore: false,
        }
    }

    /// Not used: a failure prints its schedule.
    pub fn checkpoint_file(&mut self, file: &str) -> &mut Builder {
        self.checkpoint_file = Some(file.into());
        self
    }

    /// Runs the function under every schedule.
    ///
    /// # Panics
    /// If a schedule fails.
    #[track_caller]
    pub fn check<F>(&self, f: F)
    where
        F: Fn() + Sync + Send + 'static,
    {
        let mut check = Check::new().every_schedule().weak_memory().no_spurious_wake_ups();
        check = check.steps(self.max_branches.max(20_000));
        if let Some(schedules) = self.max_permutations {
            check = check.schedules(schedules as u64);
        }
        if let Some(time) = self.max_duration {
            check = check.time(time);
        }
        if let Some(delays) = self.preemption_bound {
            check = check.delays(delays);
        }
        if let Ok(schedule) = std::env::var("ALLWAYS_TEST_REPLAY") {
            check.replay(&schedule, f);
            return;
        }
        let report = check.explore(f);
        match &report.outcome {
            Outcome::Failed(_) | Outcome::Diverged { .. } => panic!("loom, by allways-test: {report}"),
            Outcome::Stopped(StopReason::NeverMet(_)) | Outcome::EverySchedule => {
                println!("loom, by allways-test: complete: {report}")
            }
            Outcome::Stopped(StopReason::SpuriousWakeUps) => {
                println!("loom, by allways-test: complete: {report}")
            }
            _ => println!("loom, by allways-test: {report}"),
        }
    }
}

/// Runs the function under every schedule.
///
/// # Panics
/// If a schedule fails.
#[track_caller]
pub fn model<F>(f: F)
where
    F: Fn() + Sync + Send + 'static,
{
    Builder::new().check(f);
}

/// Nothing is left out here.
pub fn explore() {}

/// Nothing is left out here.
pub fn stop_exploring() {}

/// Nothing is left out here.
pub fn skip_branch() {}
