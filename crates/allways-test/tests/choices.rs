//! What is left to chance is a choice: timeouts of futures, the order of `select`, the schedules of other schedulers; and the page of a
//! failure, and the time that all checks of a process have together.

use allways_test::future::{self, Either};
use allways_test::shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler};
use allways_test::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use allways_test::sync::{Arc, Mutex};
use allways_test::{Check, Report, choose, thread};
use std::collections::BTreeSet;
use std::fmt::Debug;
use std::task::{Poll, Waker};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(3600);

/// All that comes out of a test, with any schedule; with and without reduction it is the same.
fn outcomes<T: Clone + Debug + Ord + Send + 'static>(test: fn() -> T) -> BTreeSet<T> {
    let all = |check: Check| {
        let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let there = seen.clone();
        let report = check.every_schedule().explore(move || {
            let outcome = test();
            there.lock().unwrap().insert(outcome);
        });
        assert!(report.failure().is_none(), "{report}");
        seen.lock().unwrap().clone()
    };
    let reduced = all(Check::new());
    assert_eq!(all(Check::new().no_reduction()), reduced);
    reduced
}

/// A value that another thread provides.
#[derive(Default)]
struct Slot(Mutex<(Option<u32>, Option<Waker>)>);

impl Slot {
    fn put(&self, value: u32) {
        let waker = {
            let mut slot = self.0.lock().unwrap();
            slot.0 = Some(value);
            slot.1.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    async fn take(&self) -> u32 {
        std::future::poll_fn(|context| {
            let mut slot = self.0.lock().unwrap();
            slot.1 = Some(context.waker().clone());
            slot.0.take().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

#[test]
fn a_timeout_may_come_before_the_value() {
    let seen = outcomes(|| {
        let slot = std::sync::Arc::new(Slot::default());
        let there = slot.clone();
        let other = thread::spawn(move || there.put(7));
        let result = future::block_on(future::timeout(LONG, slot.take())).ok();
        other.join().unwrap();
        result
    });
    assert_eq!(seen, BTreeSet::from([None, Some(7)]));
}

#[test]
fn a_timeout_comes_if_nothing_else_does() {
    let seen = outcomes(|| {
        let slot = Slot::default();
        future::block_on(future::timeout(LONG, slot.take())).is_err()
    });
    assert_eq!(seen, BTreeSet::from([true]));
}

#[test]
fn any_of_several_timers_runs_out_first() {
    let seen = outcomes(|| {
        let first = future::select(future::sleep(LONG), future::sleep(LONG));
        matches!(future::block_on(first), Either::Left(()))
    });
    assert_eq!(seen, BTreeSet::from([true, false]));
}

#[test]
fn any_of_two_that_are_ready_is_selected() {
    let seen = outcomes(|| {
        let both = future::select(std::future::ready(1), std::future::ready(2));
        match future::block_on(both) {
            Either::Left(value) | Either::Right(value) => value,
        }
    });
    assert_eq!(seen, BTreeSet::from([1, 2]));
}

#[test]
fn all_alternatives_are_tried() {
    assert_eq!(outcomes(|| (choose(3), choose(1), choose(2))).len(), 6);
    assert_eq!(choose(3), 0);
}

/// Two threads may add at the same time.
fn lost_update() {
    let total = Arc::new(AtomicUsize::new(0));
    let there = Arc::clone(&total);
    let add = |total: &AtomicUsize| {
        let seen = total.load(SeqCst);
        total.store(seen + 1, SeqCst);
    };
    let other = thread::spawn(move || add(&there));
    add(&total);
    other.join().unwrap();
    assert_eq!(total.load(SeqCst), 2, "<lost> & gone");
}

fn found(report: &Report) {
    let failure = report.failure().unwrap_or_else(|| panic!("{report}"));
    assert!(failure.reproduced && !failure.picture.is_empty(), "{report}");
    // The schedule is one of delays: it fails again.
    let schedule = failure.replay.clone();
    let again = std::panic::catch_unwind(|| Check::new().replay(&schedule, lost_update));
    let message = again.unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("<lost>"));
}

#[test]
fn schedulers_of_shuttle_choose() {
    found(&Check::new().explore_with(RandomScheduler::new_from_seed(3, 1000), lost_update));
    found(&Check::new().explore_with(PctScheduler::new_from_seed(3, 3, 1000), lost_update));
    found(&Check::new().explore_with(DfsScheduler::new(None, false), lost_update));
}

#[test]
fn schedulers_of_shuttle_choose_in_weak_memory() {
    let stores = || {
        let both = Arc::new([AtomicUsize::new(0), AtomicUsize::new(0)]);
        let there = Arc::clone(&both);
        let step = |both: &[AtomicUsize; 2], mine: usize| {
            both[mine].store(1, std::sync::atomic::Ordering::Relaxed);
            both[1 - mine].load(std::sync::atomic::Ordering::Relaxed)
        };
        let other = thread::spawn(move || step(&there, 1));
        let here = step(&both, 0);
        assert!(here + other.join().unwrap() > 0, "both came too late");
    };
    let random = || RandomScheduler::new_from_seed(5, 500);
    assert!(Check::new().explore_with(random(), stores).failure().is_none());
    let report = Check::new().weak_memory().explore_with(random(), stores);
    assert!(report.failure().is_some_and(|failure| failure.reproduced), "{report}");
}

#[test]
fn a_failure_is_a_page() {
    let folder = std::env::temp_dir().join(format!("allways-test-page-{}", std::process::id()));
    let report = Check::new().page(&folder).explore(lost_update);
    let failure = report.failure().unwrap();
    let file = failure.page.clone().unwrap();
    assert!(report.to_string().contains(&file.display().to_string()), "{report}");
    let page = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(page.contains("&lt;lost&gt; &amp; gone") && !page.contains("<lost>"), "{page}");
    assert_eq!(page.matches("<tr class=\"switch delay\">").count(), failure.delays, "{page}");
    // A column for each task and one for the steps, in every row.
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("<tr class")).collect();
    assert!(rows.len() > 5 && rows.iter().all(|row| row.matches("</td>").count() == 3), "{page}");
    assert!(page.contains("let seen = total.load(SeqCst);") && page.contains(&failure.replay), "{page}");
}

#[test]
#[ignore = "run by the next one"]
fn within_the_time_of_the_suite() {
    println!("{}", Check::new().every_schedule().explore(|| assert!(choose(1000) < 1000)));
}

#[test]
fn all_checks_share_the_time_of_the_suite() {
    for (time, expected) in [("0s", "no failure within 0ns"), ("1000m", "1000 schedules")] {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "within_the_time_of_the_suite", "--ignored", "--nocapture"])
            .env("ALLWAYS_TEST_SUITE_TIME", time)
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.contains(expected), "{output}");
    }
}

#[test]
fn random_values_are_choices() {
    use allways_test::shuttle::rand::{Rng, RngCore, thread_rng};
    // In the ways of `gen_range`, and of `select!` in shuttle-tokio.
    let draws: [(usize, fn() -> usize); 3] = [
        (3, || thread_rng().gen_range(0..3)),
        (3, || thread_rng().gen_range(0..3u32) as usize),
        (6, || (thread_rng().next_u32() % 3) as usize),
    ];
    for (values, draw) in draws {
        let seen = std::sync::Arc::new(std::sync::Mutex::new(BTreeSet::new()));
        let there = seen.clone();
        let report = Check::new().every_schedule().random_choices(values).run(move || {
            let lock = Arc::new(Mutex::new(0));
            let other = Arc::clone(&lock);
            let other = thread::spawn(move || *other.lock().unwrap() += 1);
            let drawn = draw();
            there.lock().unwrap().insert((*lock.lock().unwrap(), drawn));
            other.join().unwrap();
        });
        assert!(report.every_schedule() && report.random_choices == values, "{report}");
        let all: BTreeSet<_> = (0..2).flat_map(|count| (0..3).map(move |drawn| (count, drawn))).collect();
        assert_eq!(*seen.lock().unwrap(), all);
    }
    let report = Check::new().random_choices(3).explore(|| {
        thread::spawn(|| {}).join().unwrap();
        assert_ne!(thread_rng().gen_range(0..3), 2);
    });
    let failure = report.failure().unwrap();
    assert!(failure.reproduced && failure.replay.ends_with(":n3"), "{report}");
}
