//! oneshot: a receiver that was polled and is dropped while the sender sends. 0.1.11: use after free, RUSTSEC-2026-0005 or the one of 0.1.13. In 0.1.13, as in
//! 0.2.1, one is left (issue 87): the receiver waits for the sender, and takes the state that it has written itself for the sender's.
//! crate: oneshot
//! versions: 0.1.11 0.1.13
//! flags: --cfg oneshot_loom
//! features: loom
//! keep: loom
//! patch: loom

use allways_test::{Check, Report, thread};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

allways_test::checked_allocator!();

/// Prints a row; the bug must be found within so many schedules, or every schedule explored.
fn row(name: &str, most: Option<u64>, report: Report) {
    let version = std::env::var("PUBLISHED_VERSION").unwrap();
    let expected = most.map_or("every schedule".to_string(), |most| format!("a failure within {most}"));
    let found = match report.failure() {
        Some(failure) => format!("{} / {}: {}", failure.delays, report.schedules, failure.message),
        None if report.every_schedule() => format!("every schedule, {}", report.schedules),
        None => report.to_string(),
    };
    println!("published: {name} | {expected} | {}", found.lines().next().unwrap());
    match most {
        Some(most) => assert!(report.failure().is_some() && report.schedules <= most, "{version}: {report}"),
        None => assert!(report.every_schedule(), "{version}: {report}"),
    }
}

#[test]
fn polled_and_dropped() {
    let report = Check::new().every_schedule().explore(|| {
        let (sender, mut receiver) = oneshot::channel::<u32>();
        let other = thread::spawn(move || drop(sender.send(5)));
        let _ = Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop()));
        drop(receiver);
        other.join().unwrap();
    });
    let first = std::env::var("PUBLISHED_VERSION").unwrap() == "0.1.11";
    row("polled, dropped, sent", Some(if first { 7 } else { 135 }), report);
}
