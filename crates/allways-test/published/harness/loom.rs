//! The same as `ours.rs`, with loom: the script adds it in its place for the column of loom. A process runs one test, and ends with
//! the first panic, since loom may panic while it unwinds.

pub use loom::{sync, thread};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

#[derive(Clone, Copy)]
#[allow(dead_code)]
pub enum Expected {
    Failure(u64),
    EverySchedule,
    NoFailure(u64),
}

#[derive(Clone, Copy, Default)]
#[allow(dead_code)]
pub struct Options {
    pub weak_memory: bool,
    pub no_reduction: bool,
    pub no_spurious_wake_ups: bool,
    pub switch_at_cells: bool,
}

pub fn version() -> String {
    std::env::var("PUBLISHED_VERSION").unwrap()
}

pub fn run(name: &str, _: Expected, _: Options, test: fn()) {
    let seconds = std::env::var("PUBLISHED_SECONDS").map_or(20, |text| text.parse().unwrap());
    println!("loom runs: {name}");
    let executions = Arc::new(AtomicU64::new(0));
    let (here, there) = (Arc::clone(&executions), Arc::clone(&executions));
    let label = name.to_string();
    std::panic::set_hook(Box::new(move |info| {
        let message = info.to_string();
        let count = there.load(Relaxed);
        let branches = message.contains("maximum number of branches");
        let reason = info.payload_as_str().unwrap_or("?").lines().next().unwrap_or("");
        let result =
            if branches { format!("too many branches, {count}") } else { format!("{count}: {reason}") };
        println!("loom: {label} | {result}");
        eprintln!("{message}");
        std::process::exit(0);
    }));
    let mut builder = loom::model::Builder::new();
    builder.max_duration = Some(Duration::from_secs(seconds));
    builder.max_branches = 20_000;
    let started = Instant::now();
    builder.check(move || {
        here.fetch_add(1, Relaxed);
        test();
    });
    let complete = started.elapsed() < Duration::from_secs(seconds);
    let count = executions.load(Relaxed);
    println!(
        "loom: {name} | {}",
        if complete { format!("complete at {count}") } else { format!("no, {count}") }
    );
}
