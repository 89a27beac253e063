//! What the report claims, and what it does not.

use allways_test::{Check, FailureKind, Outcome, StopReason, check, explore};
use shuttle::scheduler::DfsScheduler;
use shuttle::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use shuttle::sync::{Arc, Mutex};
use shuttle::{Config, MaxSteps, Runner, future, rand, thread};
use std::collections::BTreeSet;
use std::panic::catch_unwind;
use std::time::Duration;

/// A race whose results differ: three operations of two threads on one variable.
fn race(results: &std::sync::Mutex<BTreeSet<usize>>) {
    let value = Arc::new(AtomicUsize::new(1));
    let there = Arc::clone(&value);
    let other = thread::spawn(move || {
        there.fetch_add(3, SeqCst);
        there.store(there.load(SeqCst) * 5, SeqCst);
    });
    value.store(value.load(SeqCst) * 2, SeqCst);
    value.fetch_add(7, SeqCst);
    other.join().unwrap();
    results.lock().unwrap().insert(value.load(SeqCst));
}

#[test]
fn every_schedule_means_every_result_of_exhaustive_search() {
    let ours = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let there = Arc::clone(&ours);
    let report = Check::new().every_schedule().run(move || race(&there));
    assert!(report.every_schedule());

    let theirs = Arc::new(std::sync::Mutex::new(BTreeSet::new()));
    let there = Arc::clone(&theirs);
    let schedules = Runner::new(DfsScheduler::new(None, false), Config::new()).run(move || race(&there));
    assert_eq!(report.schedules, schedules as u64);
    assert_eq!(*ours.lock().unwrap(), *theirs.lock().unwrap());
    assert!(ours.lock().unwrap().len() > 8);
}

#[test]
fn limits_have_names() {
    let test = || race(&std::sync::Mutex::default());
    let stopped = |check: Check| match check.explore(test).outcome {
        Outcome::Stopped(reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(stopped(Check::new().delays(1)), StopReason::Delays(1));
    assert_eq!(stopped(Check::new().schedules(7)), StopReason::Schedules(7));
    assert_eq!(stopped(Check::new().time(Duration::ZERO)), StopReason::Time(Duration::ZERO));
    // As many schedules as there are: the limit does not matter.
    let all = explore(test);
    assert!(all.every_schedule() && Check::new().schedules(all.schedules).explore(test).every_schedule());
    let bound = all.by_delays.len() - 1;
    assert!(Check::new().delays(bound).explore(test).every_schedule());
    assert_eq!(stopped(Check::new().delays(bound - 1)), StopReason::Delays(bound - 1));
}

#[test]
fn asking_for_every_schedule_fails_without_it() {
    let message = catch_unwind(|| {
        Check::new().every_schedule().delays(1).run(|| race(&std::sync::Mutex::default()));
    })
    .unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("not every schedule was explored"));
}

#[test]
fn random_values_are_not_every_schedule() {
    let report = explore(|| {
        use rand::Rng;
        let other = thread::spawn(|| {});
        assert!(rand::thread_rng().r#gen::<u64>() != 1);
        other.join().unwrap();
    });
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::RandomValues)), "{report}");
}

#[test]
fn spin_loops_end() {
    // Without a hint to the scheduler: the quantum takes the turn away.
    let report = Check::new().delays(2).quantum(10).explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&flag);
        let other = thread::spawn(move || there.store(true, SeqCst));
        while !flag.load(SeqCst) {}
        other.join().unwrap();
    });
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::Delays(2))), "{report}");
    assert_eq!(report.unfinished, 0);
    assert!(report.longest < 100, "{report}");

    // With a hint there is no need to wait for the quantum.
    let report = Check::new().delays(2).explore(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&flag);
        let other = thread::spawn(move || there.store(true, SeqCst));
        while !flag.load(SeqCst) {
            shuttle::hint::spin_loop();
        }
        other.join().unwrap();
    });
    assert!(report.failure().is_none() && report.longest < 20, "{report}");
}

/// A lock that spins, taken by so many threads.
fn spinning(threads: usize) {
    let lock = Arc::new((AtomicBool::new(false), AtomicUsize::new(0)));
    let takers: Vec<_> = (0..threads)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                while lock.0.swap(true, SeqCst) {
                    thread::yield_now();
                }
                assert_eq!(lock.1.fetch_add(1, SeqCst), 0);
                lock.1.fetch_sub(1, SeqCst);
                lock.0.store(false, SeqCst);
            })
        })
        .collect();
    takers.into_iter().for_each(|taker| taker.join().unwrap());
}

#[test]
fn loops_that_wait_have_a_last_schedule() {
    let report = Check::new().every_schedule().run(|| spinning(2));
    assert!(report.every_schedule(), "{report}");
}

#[test]
fn a_livelock_is_found_although_every_schedule_is_fair() {
    // Each lowers its flag when it sees the other's, and tries again: with turns taken in step they never get through.
    let report = Check::new().steps(400).explore(|| {
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let polite = |me: usize| {
            let flags = Arc::clone(&flags);
            move || loop {
                flags[me].store(true, SeqCst);
                thread::yield_now();
                if !flags[1 - me].load(SeqCst) {
                    return;
                }
                flags[me].store(false, SeqCst);
                thread::yield_now();
            }
        };
        let others = [thread::spawn(polite(0)), thread::spawn(polite(1))];
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert_eq!(report.failure().unwrap().kind, FailureKind::Unfinished, "{report}");
}

#[test]
fn tasks_that_never_meet_are_not_every_schedule() {
    let never = |test: fn()| match explore(test).outcome {
        Outcome::Stopped(StopReason::NeverMet(places)) => places,
        other => panic!("{other:?}"),
    };
    assert!(never(|| {}).is_empty());
    // The types of `std` are not scheduled, however many threads there are.
    let places = never(|| {
        let count = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let others: Vec<_> = (0..3)
            .map(|_| {
                let count = Arc::clone(&count);
                thread::spawn(move || count.fetch_add(1, SeqCst))
            })
            .collect();
        others.into_iter().for_each(|other| assert!(other.join().is_ok()));
    });
    assert!(places.iter().all(|place| place.starts_with("main at ") && place.contains("behaviour.rs:")));
    // One task alone meets nobody.
    never(|| drop(Mutex::new(()).lock().unwrap()));
    let message = catch_unwind(|| Check::new().every_schedule().run(|| {})).unwrap_err();
    assert!(message.downcast_ref::<String>().unwrap().contains("no two tasks ever met"));
}

/// Run in processes of their own by the test below.
#[test]
#[ignore = "run by a_crash_leaves_its_schedule_behind, in a process of its own"]
fn crashes() {
    let how = std::env::var("ALLWAYS_CRASH").unwrap();
    check(move || {
        let flag = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&flag);
        let other = thread::spawn(move || there.store(true, SeqCst));
        if flag.load(SeqCst) {
            match how.as_str() {
                "abort" => std::process::abort(),
                _ => drop(deep(1)),
            }
        }
        other.join().unwrap();
    });
}

/// Uses up the stack.
fn deep(depth: usize) -> usize {
    let room = std::hint::black_box([depth; 1000]);
    if depth == 0 { 0 } else { deep(depth + 1) + room[depth % 1000] }
}

#[test]
#[cfg(unix)]
fn a_crash_leaves_its_schedule_behind() {
    for (how, signal) in [("abort", "SIGABRT"), ("stack", "SIGSEGV")] {
        let output = |schedule: Option<&str>| {
            let mut command = std::process::Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "crashes", "--ignored", "--nocapture"]).env("ALLWAYS_CRASH", how);
            schedule.map(|schedule| command.env("ALLWAYS_TEST_REPLAY", schedule));
            let output = command.output().unwrap();
            assert!(!output.status.success());
            String::from_utf8_lossy(&output.stderr).into_owned()
        };
        let text = output(None);
        assert!(text.contains(&format!("allways-test: {signal} during a schedule")), "{text}");
        let schedule = text.split("ALLWAYS_TEST_REPLAY=").nth(1).unwrap().lines().next().unwrap();
        assert!(output(Some(schedule)).contains(&format!("ALLWAYS_TEST_REPLAY={schedule}\n")), "{text}");
    }
}

/// Two threads that step back for each other, again and again.
fn polite() {
    let locks = Arc::new((Mutex::new(()), Mutex::new(())));
    let there = Arc::clone(&locks);
    let other = thread::spawn(move || {
        loop {
            let _first = there.1.lock().unwrap();
            if there.0.try_lock().is_ok() {
                return;
            }
            thread::yield_now();
        }
    });
    let flag = AtomicBool::new(true);
    let _first = locks.0.lock().unwrap();
    while flag.load(SeqCst) {
        thread::yield_now();
    }
    other.join().unwrap();
}

#[test]
fn a_test_that_does_not_end_is_a_failure() {
    let report = Check::new().steps(500).explore(polite);
    let failure = report.failure().unwrap();
    assert_eq!((failure.kind, failure.delays), (FailureKind::Unfinished, 0));
    assert!(failure.reproduced && failure.message.contains("500 steps"), "{report}");

    let report = Check::new().steps(500).schedules(20).may_go_on().explore(polite);
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::Schedules(20))), "{report}");
    assert_eq!(report.unfinished, 20);
}

#[test]
fn cut_off_schedules_are_not_every_schedule() {
    let report = Check::new().steps(6).may_go_on().explore(|| race(&std::sync::Mutex::default()));
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::Unfinished(_))), "{report}");
}

#[test]
fn spurious_wake_ups_come_with_delays_only() {
    fn park_once() {
        let flag = Arc::new(AtomicBool::new(false));
        let there = Arc::clone(&flag);
        let sleeper = thread::spawn(move || {
            thread::park();
            assert!(there.load(SeqCst), "woken without a reason");
        });
        flag.store(true, SeqCst);
        sleeper.thread().unpark();
        sleeper.join().unwrap();
    }
    let report = explore(park_once);
    let failure = report.failure().unwrap();
    assert!(failure.delays > 1, "{report}");
    assert!(failure.picture.contains("wakes up spuriously"), "{report}");

    let report = Check::new().no_spurious_wake_ups().explore(park_once);
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::SpuriousWakeUps)), "{report}");
    // Where nothing parks, nothing was left out.
    let report = Check::new().no_spurious_wake_ups().explore(|| race(&std::sync::Mutex::default()));
    assert!(report.every_schedule());
}

#[test]
fn a_program_that_changes_is_noticed() {
    // Another thread each second time.
    let runs = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let here = Arc::clone(&runs);
    let report = explore(move || {
        let threads = 1 + here.fetch_add(1, SeqCst) % 2;
        let threads: Vec<_> = (0..threads).map(|_| thread::spawn(|| {})).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
    assert!(matches!(report.outcome, Outcome::Diverged { .. }), "{report}");

    // One schedule only, but not the same each time.
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let report = explore(move || {
        for _ in 0..runs.fetch_add(1, SeqCst) {
            thread::yield_now();
        }
    });
    assert!(matches!(report.outcome, Outcome::Diverged { .. }), "{report}");

    // The order of a hash map with its own random keys.
    let report = explore(|| {
        let locks: std::collections::HashMap<usize, Arc<Mutex<()>>> =
            (0..6).map(|key| (key, Arc::new(Mutex::new(())))).collect();
        let shared = Arc::clone(&locks[&3]);
        let other = thread::spawn(move || {
            let _guard = shared.lock().unwrap();
            thread::yield_now();
        });
        for lock in locks.values() {
            drop(lock.lock().unwrap());
        }
        other.join().unwrap();
    });
    assert!(matches!(report.outcome, Outcome::Diverged { .. }), "{report}");
}

#[test]
fn a_failure_that_does_not_come_back_says_so() {
    let first = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let report = explore(move || {
        let other = thread::spawn(|| {});
        assert!(!first.swap(false, SeqCst), "only once");
        other.join().unwrap();
    });
    let failure = report.failure().unwrap();
    assert!(!failure.reproduced && !failure.minimal);
    assert!(report.to_string().contains("has also been run without this failure"), "{report}");
}

#[test]
fn a_message_that_differs_each_time_is_the_same_failure() {
    let runs = std::sync::atomic::AtomicUsize::new(0);
    let report = explore(move || {
        let _other = thread::spawn(|| {});
        panic!("in run {}", runs.fetch_add(1, SeqCst));
    });
    let failure = report.failure().unwrap();
    assert!(failure.reproduced && failure.message.starts_with("in run 0"), "{report}");
}

#[test]
fn replays_that_do_not_fit_are_refused() {
    let refused = |schedule: &'static str| {
        let payload = catch_unwind(|| allways_test::replay(schedule, || race(&std::sync::Mutex::default())));
        payload.unwrap_err().downcast_ref::<String>().unwrap().clone()
    };
    assert!(refused("hello").contains("not a schedule"));
    assert!(refused("v1:1000:q128").contains("does not fit the program"));
    allways_test::replay("v1:2.1:q128", || race(&std::sync::Mutex::default()));
}

#[test]
fn futures_are_tasks_like_threads() {
    let report = explore(|| {
        let shared = Arc::new(Mutex::new(0));
        let there = Arc::clone(&shared);
        let task = future::spawn(async move {
            *there.lock().unwrap() += 1;
            future::yield_now().await;
            *there.lock().unwrap() += 1;
        });
        future::block_on(async move {
            assert!(*shared.lock().unwrap() <= 2);
            task.await.unwrap();
            assert_eq!(*shared.lock().unwrap(), 2);
        });
    });
    assert!(report.every_schedule(), "{report}");
}

#[test]
fn a_panic_that_was_caught_is_not_the_failure() {
    /// Switches while the stack unwinds.
    struct Signal(Arc<AtomicUsize>);
    impl Drop for Signal {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let report = explore(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let there = Arc::clone(&drops);
        let other = thread::spawn(move || {
            there.fetch_add(1, SeqCst);
        });
        let here = Arc::clone(&drops);
        let caught = catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _signal = Signal(here);
            panic!("this one is expected");
        }));
        assert!(caught.is_err());
        let seen = drops.load(SeqCst);
        other.join().unwrap();
        assert_eq!(seen, 1, "this one is not");
    });
    let failure = report.failure().unwrap();
    assert!(failure.message.contains("this one is not") && failure.minimal, "{report}");
    assert!(failure.picture.contains("drops.load(SeqCst)"), "{report}");
}

#[test]
fn a_picture_of_many_tasks_is_narrow() {
    let report = Check::new().explore(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let adders: Vec<_> = (0..11)
            .map(|_| {
                let counter = Arc::clone(&counter);
                thread::spawn(move || counter.store(counter.load(SeqCst) + 1, SeqCst))
            })
            .collect();
        adders.into_iter().for_each(|adder| adder.join().unwrap());
        assert_eq!(counter.load(SeqCst), 11);
    });
    let picture = &report.failure().unwrap().picture;
    assert!(picture.contains("  step   0 1 2 3 4 5 6 7 8 9 0 1\n"), "{picture}");
    assert!(picture.contains(" . . . . . . . . . . . *  task-11: starts\n"), "{picture}");
    assert!(picture.lines().all(|line| line.chars().count() <= 130), "{picture}");
}

#[test]
fn without_spurious_wake_ups_nothing_is_said_about_fewer_delays() {
    let report = Check::new().no_spurious_wake_ups().explore(|| {
        let counter = Arc::new(AtomicUsize::new(0));
        let there = Arc::clone(&counter);
        let sleeper = thread::spawn(move || {
            let seen = there.load(SeqCst);
            thread::park();
            there.store(seen + 1, SeqCst);
        });
        let seen = counter.load(SeqCst);
        sleeper.thread().unpark();
        counter.store(seen + 1, SeqCst);
        sleeper.join().unwrap();
        assert_eq!(counter.load(SeqCst), 2);
    });
    let failure = report.failure().unwrap();
    assert!(failure.reproduced && report.spurious_left_out && !failure.minimal, "{report}");
}

/// Run in a process of its own by the test below.
#[test]
#[ignore = "run by limits_come_from_the_environment, in a process of its own"]
fn prints_its_report() {
    check(|| race(&std::sync::Mutex::default()));
}

#[test]
fn limits_come_from_the_environment() {
    let output = |variables: &[(&str, &str)]| {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "prints_its_report", "--ignored", "--nocapture"]);
        for name in ["DELAYS", "SCHEDULES", "STEPS", "TIME", "REPLAY"] {
            command.env_remove(format!("ALLWAYS_TEST_{name}"));
        }
        let output = command.envs(variables.iter().copied()).output().unwrap();
        (
            output.status.success(),
            String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
        )
    };
    let expect = |variable: &str, value: &str, success: bool, text: &str| {
        let (succeeded, output) = output(&[(variable, value)]);
        assert!(succeeded == success && output.contains(text), "{variable}={value}: {output}");
    };
    expect("ALLWAYS_TEST_DELAYS", "none", true, "every fair schedule explored");
    expect("ALLWAYS_TEST_DELAYS", "2", true, "no failure with at most 2 delays");
    expect("ALLWAYS_TEST_SCHEDULES", "3", true, "no failure within the limit of 3 schedules");
    expect("ALLWAYS_TEST_TIME", "0s", true, "no failure within 0ns");
    expect("ALLWAYS_TEST_STEPS", "5", false, "the test has not ended after 5 steps");
    expect("ALLWAYS_TEST_REPLAY", "v1:2.1:q128", true, "the schedule ran without a failure");
    expect("ALLWAYS_TEST_STEPS", "none", false, "ALLWAYS_TEST_STEPS must be a number");
    expect("ALLWAYS_TEST_TIME", "soon", false, "ALLWAYS_TEST_TIME=\"soon\" cannot be read");
}

#[test]
fn explorations_are_the_same_each_time() {
    let numbers = || {
        let report = Check::new().schedules(300).explore(|| race(&std::sync::Mutex::default()));
        (report.by_delays, report.steps, report.longest, report.tasks)
    };
    assert_eq!(numbers(), numbers());
}

#[test]
fn shuttle_still_works_beside() {
    let mut config = Config::new();
    config.max_steps = MaxSteps::ContinueAfter(100);
    check(|| race(&std::sync::Mutex::default()));
    Runner::new(DfsScheduler::new(Some(10), false), config).run(|| race(&std::sync::Mutex::default()));
    let payload = catch_unwind(|| shuttle::check_dfs(|| panic!("theirs"), None)).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"theirs"));
}
