//! Published crates, their source unchanged, under every schedule with so many delays.
#![cfg(all(loom, crossbeam_loom))]

use allways_test::{Check, Outcome, Report, StopReason};
use allways_test::{sync::Arc, thread};

/// Explores a test, which must not fail, and says what was explored.
fn explore(name: &str, check: Check, test: fn()) -> Report {
    let report = check.schedules(300_000).explore(test);
    println!("{name}: {report}");
    assert!(
        matches!(report.outcome, Outcome::EverySchedule | Outcome::Stopped(StopReason::Delays(_))),
        "{report}"
    );
    report
}

#[test]
fn parking() {
    let report = explore("parking, two unpark a third", Check::new(), || {
        let (parker, unparker) = parking::pair();
        let unpark = |unparker: parking::Unparker| thread::spawn(move || unparker.unpark());
        let others = [unpark(unparker.clone()), unpark(unparker)];
        parker.park();
        others.into_iter().for_each(|other| assert!(other.join().is_ok()));
    });
    assert!(report.every_schedule());
}

#[test]
fn crossbeam_parker() {
    let report = explore("crossbeam-utils, two unpark a third", Check::new(), || {
        let parker = crossbeam_utils::sync::Parker::new();
        let unpark = || {
            let unparker = parker.unparker().clone();
            thread::spawn(move || unparker.unpark())
        };
        let others = [unpark(), unpark()];
        parker.park();
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    assert!(report.every_schedule());
}

/// All that was put in comes out, once, whatever the capacity.
fn hand_over(queue: concurrent_queue::ConcurrentQueue<u32>) {
    let queue = Arc::new(queue);
    let producers: Vec<_> = (1..=2)
        .map(|value| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(value).is_ok())
        })
        .collect();
    let first = queue.pop().ok();
    let pushed: u32 =
        producers.into_iter().zip(1..).map(|(one, value)| u32::from(one.join().unwrap()) * value).sum();
    let rest: u32 = std::iter::from_fn(|| queue.pop().ok()).sum();
    assert_eq!(first.unwrap_or(0) + rest, pushed);
}

#[test]
fn concurrent_queue_single() {
    explore("concurrent-queue, one place", Check::new().delays(9), || {
        hand_over(concurrent_queue::ConcurrentQueue::bounded(1))
    });
}

#[test]
fn concurrent_queue_bounded() {
    explore("concurrent-queue, two places", Check::new().delays(5), || {
        hand_over(concurrent_queue::ConcurrentQueue::bounded(2))
    });
}

#[test]
fn concurrent_queue_unbounded() {
    explore("concurrent-queue, unbounded", Check::new().delays(5), || {
        hand_over(concurrent_queue::ConcurrentQueue::unbounded())
    });
}
