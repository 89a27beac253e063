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

/// `cargo test --release --test search -- --ignored --nocapture speed`: schedules a second on one core and on two, the best of several
/// turns, each of both. Other programs slow two cores down more than one.
#[test]
#[ignore = "measures"]
fn speed() {
    let mut best = [0f64; 2];
    for turn in 1..=9 {
        for cores in [1, 2] {
            let check = Check::new().every_schedule().no_reduction().schedules(60_000).cores(cores);
            let report = check.explore(|| racy(0));
            let rate = report.schedules as f64 / report.time.as_secs_f64();
            best[cores - 1] = best[cores - 1].max(rate);
        }
        println!(
            "turn {turn}: {:.0} and {:.0} schedules a second, {:.2}",
            best[0],
            best[1],
            best[1] / best[0]
        );
    }
}

/// Nanoseconds that this thread has spent on a processor; other programs do not count.
#[cfg(target_os = "linux")]
fn on_processor() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split_whitespace().next().unwrap().parse().unwrap()
}

/// Threads lock a mutex several times each, with the types of a module.
macro_rules! locks {
    ($types:ident, $threads:expr, $times:expr) => {
        || {
            let lock = std::sync::Arc::new($types::sync::Mutex::new(0));
            let threads: Vec<_> = (0..$threads)
                .map(|_| {
                    let lock = lock.clone();
                    $types::thread::spawn(move || (0..$times).for_each(|_| *lock.lock().unwrap() += 1))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        }
    };
}

/// The price of a scheduling point in nanoseconds on a processor, here and with shuttle's schedulers, the best of several turns:
/// `cargo test --release --test search -- --ignored --nocapture price`.
#[test]
#[ignore = "measures"]
#[cfg(target_os = "linux")]
fn price_of_a_point() {
    use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler, Task, TaskId};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    /// Counts scheduling points as they are counted here: how often the scheduler is asked.
    static POINTS: AtomicU64 = AtomicU64::new(0);
    struct Counted<S>(S);
    impl<S: Scheduler> Scheduler for Counted<S> {
        fn new_execution(&mut self) -> Option<shuttle::scheduler::Schedule> {
            self.0.new_execution()
        }

        fn next_task(&mut self, tasks: &[&Task], current: Option<TaskId>, yielding: bool) -> Option<TaskId> {
            POINTS.store(POINTS.load(Relaxed) + 1, Relaxed);
            self.0.next_task(tasks, current, yielding)
        }

        fn next_u64(&mut self) -> u64 {
            self.0.next_u64()
        }
    }
    fn here(runs: usize, test: fn()) -> u64 {
        let before = on_processor();
        let report = Check::new().no_reduction().schedules(runs as u64).explore(test);
        (on_processor() - before) / report.steps
    }
    fn there(scheduler: impl Scheduler + 'static, test: fn()) -> u64 {
        POINTS.store(0, Relaxed);
        let before = on_processor();
        shuttle::Runner::new(Counted(scheduler), shuttle::Config::new()).run(test);
        (on_processor() - before) / POINTS.load(Relaxed)
    }
    let small = (10_000, locks!(shuttle, 4, 5) as fn(), locks!(allways_test, 4, 5) as fn());
    let large = (200, locks!(shuttle, 16, 50) as fn(), locks!(allways_test, 16, 50) as fn());
    for (name, (runs, shuttles, ours)) in [("4 threads x 5 locks", small), ("16 threads x 50 locks", large)] {
        let mut best = [u64::MAX; 5];
        for _ in 0..7 {
            let turn = [
                here(runs, shuttles),
                here(runs, ours),
                there(RandomScheduler::new_from_seed(1, runs), shuttles),
                there(PctScheduler::new_from_seed(1, 3, runs), shuttles),
                there(DfsScheduler::new(Some(runs), false), shuttles),
            ];
            best = std::array::from_fn(|i| best[i].min(turn[i]));
        }
        let [here, ours, random, pct, dfs] = best;
        println!(
            "{name}: here {here} ns with shuttle's types, {ours} with those of this crate; random {random}, PCT {pct}, \
             exhaustive {dfs}; {:.2} and {:.2} of random",
            here as f64 / random as f64,
            ours as f64 / random as f64
        );
    }
}
