//! What the programs of this folder have in common: the script adds it to each package as `tests/harness.rs`.
//!
//! A program calls `run` with a name, what is expected, and a test. Printed is a row: the search by delays, and for a bug beside it
//! shuttle's random scheduler, PCT with three depths, and exhaustive search, over the same types. A failure may leave statics of the
//! crate in any state, so each of these searches has a process of its own.

use allways_test::Check;
use allways_test::shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
pub use allways_test::{sync, thread};
use std::time::Duration;

allways_test::checked_allocator!();

const SEEDS: u64 = 10;
/// For each seed.
const RANDOM: usize = 10_000;
const EXHAUSTIVE: usize = 1_000_000;

/// What a test is about.
#[derive(Clone, Copy)]
pub enum Expected {
    /// A failure, after at most so many schedules.
    Failure(u64),
    /// Every schedule explored.
    EverySchedule,
    /// No failure within so many schedules, of which there are more.
    NoFailure(u64),
}

/// In which way it is searched.
#[derive(Clone, Copy, Default)]
pub struct Options {
    pub weak_memory: bool,
    /// The code shares more than the types of this crate know of.
    pub no_reduction: bool,
    pub no_spurious_wake_ups: bool,
    pub switch_at_cells: bool,
}

/// The version of the crate.
pub fn version() -> String {
    std::env::var("PUBLISHED_VERSION").unwrap()
}

fn seconds() -> u64 {
    std::env::var("PUBLISHED_SECONDS").map_or(20, |text| text.parse().unwrap())
}

pub fn run(name: &str, expected: Expected, options: Options, test: fn()) {
    if std::env::var("PUBLISHED_TEST").is_ok_and(|other| other != name) {
        return;
    }
    let mut check = Check::new().every_schedule();
    if options.weak_memory {
        check = check.weak_memory();
    }
    if options.no_reduction {
        check = check.no_reduction();
    }
    if options.no_spurious_wake_ups {
        check = check.no_spurious_wake_ups();
    }
    if options.switch_at_cells {
        check = check.switch_at_cells();
    }
    let (what, limit) = match expected {
        Expected::Failure(within) => (format!("a failure within {within}"), 1_000_000),
        Expected::EverySchedule => ("every schedule".to_string(), 1_000_000),
        Expected::NoFailure(within) => ("no failure".to_string(), within),
    };
    if let Ok(search) = std::env::var("PUBLISHED_SEARCH") {
        let found = with(&check, &search, test);
        return println!("searched: {}", found.map_or("no".to_string(), |schedules| schedules.to_string()));
    }
    let report = check.clone().schedules(limit).explore(test);
    let found = match report.failure() {
        Some(failure) => format!("{} / {}: {}", failure.delays, report.schedules, failure.message),
        None if report.every_schedule() => format!("every schedule, {}", report.schedules),
        None => report.to_string(),
    };
    let others = match expected {
        Expected::Failure(_) => others(name),
        _ => "| |".to_string(),
    };
    println!("published: {name} | {what} | {} | {others}", found.lines().next().unwrap());
    match expected {
        Expected::Failure(within) => {
            assert!(report.failure().is_some() && report.schedules <= within, "{}: {report}", version())
        }
        Expected::EverySchedule => assert!(report.every_schedule(), "{}: {report}", version()),
        Expected::NoFailure(_) => assert!(report.failure().is_none(), "{}: {report}", version()),
    }
}

/// Schedules until the failure, with one of shuttle's schedulers: its name, a seed, and the depth of PCT.
fn with(check: &Check, search: &str, test: fn()) -> Option<u64> {
    let words: Vec<&str> = search.split(' ').collect();
    let number = |index: usize| words[index].parse::<usize>().unwrap();
    let time = Duration::from_secs(seconds());
    let seeded = check.clone().time(time / SEEDS as u32);
    let report = match words[0] {
        "random" => seeded.explore_with(RandomScheduler::new_from_seed(number(1) as u64, RANDOM), test),
        "pct" => seeded.explore_with(PctScheduler::new_from_seed(number(1) as u64, number(2), RANDOM), test),
        _ => check.clone().time(time).explore_with(DfsScheduler::new(Some(EXHAUSTIVE), true), test),
    };
    report.failure().map(|_| report.schedules)
}

/// The same in a process of its own.
fn apart(name: &str, search: &str) -> Option<u64> {
    let mut process = std::process::Command::new(std::env::current_exe().unwrap());
    process.args(["--nocapture", "--test-threads=1"]);
    let output = process.env("PUBLISHED_TEST", name).env("PUBLISHED_SEARCH", search).output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = output.lines().find_map(|line| Some(line.split_once("searched: ")?.1.to_string()));
    let found = found.unwrap_or_else(|| panic!("{name}, {search}: {output}"));
    found.parse().ok()
}

fn others(name: &str) -> String {
    let random = median(|seed| apart(name, &format!("random {seed}")));
    let pct = [2, 3, 5].map(|depth| median(|seed| apart(name, &format!("pct {seed} {depth}"))));
    let exhaustive = apart(name, "exhaustive").map_or("no".to_string(), |schedules| schedules.to_string());
    format!("{random} | {} | {exhaustive}", pct.join("/"))
}

/// The median of ten seeds, if all of them find it.
fn median(search: impl Fn(u64) -> Option<u64>) -> String {
    let mut found: Vec<u64> = (0..SEEDS).filter_map(search).collect();
    found.sort_unstable();
    match found.len() as u64 {
        0 => "no".to_string(),
        SEEDS => found[found.len() / 2].to_string(),
        some => format!("{some} of {SEEDS} seeds"),
    }
}
