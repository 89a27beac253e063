//! The table of docs/testing-rust.md: schedules and time to the bug, for each program and each way to search.
//!
//! `cargo run --release -p allways-test --example table 2> /dev/null`; with `RUSTFLAGS="--cfg allways_loom"` also for
//! loom. Random searches are run with ten seeds, others three times.

#[path = "../programs/correct/mod.rs"]
mod correct;
#[path = "../programs/shuttle_only/mod.rs"]
mod shuttle_only;

#[path = "../programs"]
mod on_shuttle {
    use shuttle as rt;
    #[path = "portable/mod.rs"]
    pub mod portable;
}

#[cfg(allways_loom)]
#[path = "../programs"]
mod on_loom {
    use loom as rt;
    #[path = "portable/mod.rs"]
    pub mod portable;
}

use allways_test::Check;
use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

const SEEDS: u64 = 10;
/// For random search and PCT, for each seed.
const RANDOM_LIMIT: usize = 10_000;
/// For exhaustive search, and for loom.
const EXHAUSTIVE_LIMIT: usize = 100_000;
/// The depth of PCT, one more than the number of changes of priority, unless the first argument says otherwise.
const PCT_DEPTH: usize = 3;

/// Schedules and time to the failure; none if there was no failure within the limit.
type Found = Option<(u64, Duration)>;

/// Runs and counts executions until one fails.
fn until_failure(search: impl FnOnce(Arc<AtomicU64>)) -> Found {
    let executions = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let there = Arc::clone(&executions);
    let failed = catch_unwind(AssertUnwindSafe(|| search(there))).is_err();
    failed.then(|| (executions.load(Relaxed), started.elapsed()))
}

fn with_shuttle(scheduler: impl Scheduler + 'static, test: fn()) -> Found {
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    // A loop that waits is not a bug because a scheduler lets it wait for long.
    config.max_steps = MaxSteps::ContinueAfter(2000);
    until_failure(move |executions| {
        Runner::new(scheduler, config).run(move || {
            executions.fetch_add(1, Relaxed);
            test();
        });
    })
}

/// The median of ten seeds, and how many of them found the bug if not all did.
fn seeds(search: impl Fn(u64) -> Found) -> String {
    let mut found: Vec<_> = (0..SEEDS).filter_map(search).collect();
    found.sort_unstable();
    let Some(&(schedules, time)) = found.get(found.len() / 2) else {
        return "not found | ".to_string();
    };
    let share =
        if found.len() == SEEDS as usize { String::new() } else { format!(" ({} of {SEEDS})", found.len()) };
    format!("{schedules}{share} | {}", short(time))
}

/// The best time of three; the schedules are the same each time.
fn best(search: impl Fn() -> Found) -> Found {
    let first = search()?;
    Some([search(), search()].into_iter().flatten().fold(first, Ord::min))
}

fn once(found: Found) -> String {
    found.map_or("not found | ".to_string(), |(schedules, time)| format!("{schedules} | {}", short(time)))
}

fn short(time: Duration) -> String {
    let micros = time.as_micros();
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..1_000_000 => format!("{:.1} ms", micros as f64 / 1e3),
        _ => format!("{:.1} s", micros as f64 / 1e6),
    }
}

fn main() {
    #[cfg(allways_loom)]
    if let [_, "loom", index] =
        &*std::env::args().collect::<Vec<_>>().iter().map(String::as_str).collect::<Vec<_>>()
    {
        return one_with_loom(index.parse().expect("a number"));
    }
    let depth = std::env::args().nth(1).map_or(PCT_DEPTH, |depth| depth.parse().expect("a number"));
    std::panic::set_hook(Box::new(|_| {}));
    // The first exploration of a process pays for what the others share.
    Check::new().explore(|| {});
    println!(
        "| program | delays | schedules | time | random | time | PCT | time | exhaustive | time | loom | time |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    let portable = on_shuttle::portable::PROGRAMS.into_iter().enumerate();
    let others = shuttle_only::PROGRAMS.into_iter().map(|program| (usize::MAX, program));
    for (index, (name, test)) in portable.chain(others) {
        let explore = || Check::new().schedules(RANDOM_LIMIT as u64).steps(2000).may_go_on().explore(test);
        let delays = explore().failure().map_or("–".to_string(), |failure| failure.delays.to_string());
        let ours = once(best(|| {
            let report = explore();
            report.failure().map(|_| (report.schedules, report.time))
        }));
        let random = seeds(|seed| with_shuttle(RandomScheduler::new_from_seed(seed, RANDOM_LIMIT), test));
        let pct = seeds(|seed| with_shuttle(PctScheduler::new_from_seed(seed, depth, RANDOM_LIMIT), test));
        let exhaustive = once(best(|| with_shuttle(DfsScheduler::new(Some(EXHAUSTIVE_LIMIT), false), test)));
        println!("| {name} | {delays} | {ours} | {random} | {pct} | {exhaustive} | {} |", loom_column(index));
    }
    println!("\n| program | schedules | most delays | time |\n|---|---:|---:|---:|");
    for (name, test) in correct::PROGRAMS {
        let report = Check::new().every_schedule().explore(test);
        assert!(report.every_schedule(), "{name}: {report}");
        println!(
            "| {name} | {} | {} | {} |",
            report.schedules,
            report.by_delays.len() - 1,
            short(report.time)
        );
    }
}

/// Loom may panic while it unwinds, so each program gets a process of its own, which ends with the first panic.
#[cfg(allways_loom)]
fn loom_column(index: usize) -> String {
    if index == usize::MAX {
        return "– | ".to_string();
    }
    let program = std::env::current_exe().expect("this program");
    let output =
        std::process::Command::new(program).args(["loom", &index.to_string()]).output().expect("it runs");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut numbers = output.split_whitespace().map(|word| word.parse().expect("a number"));
    once(
        numbers
            .next()
            .zip(numbers.next())
            .map(|(schedules, micros)| (schedules, Duration::from_micros(micros))),
    )
}

#[cfg(not(allways_loom))]
fn loom_column(_index: usize) -> String {
    "– | ".to_string()
}

/// The process for one program: prints schedules and microseconds, or nothing.
#[cfg(allways_loom)]
fn one_with_loom(index: usize) {
    let executions = Arc::new(AtomicU64::new(0));
    let started = Instant::now();
    let there = Arc::clone(&executions);
    std::panic::set_hook(Box::new(move |info| {
        // Whether it is the bug, or something that loom does not support.
        eprintln!("{}: {info}", on_loom::portable::PROGRAMS[index].0);
        println!("{} {}", there.load(Relaxed), started.elapsed().as_micros());
        std::process::exit(0);
    }));
    let mut builder = loom::model::Builder::new();
    builder.max_permutations = Some(EXHAUSTIVE_LIMIT);
    builder.max_duration = Some(Duration::from_secs(20));
    builder.check(move || {
        executions.fetch_add(1, Relaxed);
        on_loom::portable::PROGRAMS[index].1();
    });
}
