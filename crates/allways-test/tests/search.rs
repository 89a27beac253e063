//! The search on several cores, and the search that goes on another time: the same report.

use allways_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use allways_test::sync::{Arc, Mutex};
use allways_test::{Check, Outcome, Report, StopReason, thread};

fn racy(bad: usize) {
    let value = Arc::new(AtomicUsize::new(1));
    let threads: Vec<_> = [2, 3, 5]
        .into_iter()
        .map(|factor| {
            let value = Arc::clone(&value);
            thread::spawn(move || {
                let seen = value.load(SeqCst);
                value.store(seen * factor + 1, SeqCst);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_ne!(value.load(SeqCst), bad);
}

fn with_shuttle() {
    let lock = shuttle::sync::Arc::new(shuttle::sync::Mutex::new(0));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let lock = lock.clone();
            shuttle::thread::spawn(move || *lock.lock().unwrap() += 1)
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

fn deadlock() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let there = Arc::clone(&locks);
    let other = thread::spawn(move || {
        let _first = there.0.lock().unwrap();
        let _second = there.1.lock().unwrap();
    });
    let first = locks.1.lock().unwrap();
    drop((locks.0.lock().unwrap(), first));
    other.join().unwrap();
}

/// What must not depend on the number of cores.
fn essence(report: &Report) -> String {
    let outcome = match report.failure() {
        Some(failure) => {
            format!("{} {} {} {}", failure.replay, failure.message, failure.minimal, failure.picture)
        }
        None => format!("{:?}", report.outcome),
    };
    format!(
        "{outcome} {} {:?} {} {} {}",
        report.schedules, report.by_delays, report.steps, report.longest, report.tasks
    )
}

#[test]
fn several_cores_find_the_same() {
    type Test = Box<dyn Fn() + Send + Sync>;
    type Make = fn() -> Test;
    let tests: Vec<(&str, Make)> = vec![
        ("no failure", || Box::new(|| racy(0))),
        ("a failure", || Box::new(|| racy(16))),
        ("another", || Box::new(|| racy(3))),
        ("a deadlock", || Box::new(deadlock)),
        ("types of shuttle", || Box::new(with_shuttle)),
    ];
    for (name, test) in tests {
        for reduced in [true, false] {
            let check = || {
                let check = Check::new().every_schedule();
                if reduced { check } else { check.no_reduction().delays(6) }
            };
            let one = check().explore(test());
            for cores in [2, 3] {
                let several = check().cores(cores).explore(test());
                assert_eq!(essence(&one), essence(&several), "{name}, {reduced}, {cores} cores");
            }
        }
    }
}

#[test]
fn a_search_goes_on_another_time() {
    let file = std::env::temp_dir().join(format!("allways-test-resume-{}", std::process::id()));
    let whole = Check::new().every_schedule().no_reduction().delays(5).explore(|| racy(0));
    let mut rounds = 0;
    let last = loop {
        let check =
            Check::new().every_schedule().no_reduction().delays(5).schedules(700).cores(2).resume(&file);
        let report = check.explore(|| racy(0));
        rounds += 1;
        match report.outcome {
            Outcome::Stopped(StopReason::Schedules(_)) if rounds < 100 => assert!(file.exists()),
            _ => break report,
        }
    };
    assert!(rounds > 2, "{rounds}");
    assert_eq!(last.by_delays, whole.by_delays, "{last}");
    assert_eq!(format!("{:?}", last.outcome), format!("{:?}", whole.outcome));
    assert!(!file.exists());
}

/// `cargo test --release --test search -- --ignored --nocapture`: schedules a second on one core and on two.
#[test]
#[ignore = "measures"]
fn speed() {
    for cores in [1, 2] {
        let report =
            Check::new().every_schedule().no_reduction().schedules(60_000).cores(cores).explore(|| racy(0));
        let rate = report.schedules as f64 / report.time.as_secs_f64();
        println!(
            "{cores} cores: {} schedules, {rate:.0} a second, {:.0} ns a step",
            report.schedules,
            report.time.as_nanos() as f64 / report.steps as f64
        );
    }
}

/// Nanoseconds that this thread has spent on a processor; other programs do not count.
#[cfg(target_os = "linux")]
fn on_processor() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// Four threads lock a mutex five times each, with the types of a module.
macro_rules! locks {
    ($types:ident) => {
        || {
            let lock = std::sync::Arc::new($types::sync::Mutex::new(0));
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    let lock = lock.clone();
                    $types::thread::spawn(move || (0..5).for_each(|_| *lock.lock().unwrap() += 1))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    };
}

/// The price of a scheduling point, here and with shuttle's random scheduler.
#[test]
#[ignore = "measures"]
#[cfg(target_os = "linux")]
fn price_of_a_point() {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    const RUNS: u64 = 20_000;
    for (name, test) in
        [("types of shuttle", locks!(shuttle) as fn()), ("types of this crate", locks!(allways_test) as fn())]
    {
        let before = on_processor();
        let report = Check::new().no_reduction().schedules(RUNS).explore(test);
        println!("here, {name}: {} ns", (on_processor() - before) / report.steps);
    }
    static POINTS: AtomicU64 = AtomicU64::new(0);
    let before = on_processor();
    let scheduler = shuttle::scheduler::RandomScheduler::new_from_seed(1, RUNS as usize);
    shuttle::Runner::new(scheduler, shuttle::Config::new()).run(|| {
        locks!(shuttle)();
        POINTS.fetch_add(shuttle::current::context_switches() as u64, Relaxed);
    });
    println!("shuttle, random: {} ns", (on_processor() - before) / POINTS.load(Relaxed));
}
