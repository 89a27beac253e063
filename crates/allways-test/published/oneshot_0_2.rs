//! oneshot 0.2.1, issue 87, use after free: an asynchronous receiver that was polled and is dropped while the other side goes on.
//! crate: oneshot
//! versions: 0.2.1
//! flags: --cfg oneshot_loom
//! features: loom,async,std
//! keep: loom
//! patch: loom

use allways_test::{Check, thread};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};

allways_test::checked_allocator!();

/// Polls so often and drops, while the other side sends or goes away.
fn polled(times: usize, send: bool) {
    let (sender, mut receiver) = oneshot::async_channel::<Box<u32>>();
    let other = thread::spawn(move || {
        if send {
            drop(sender.send(Box::new(5)));
        }
    });
    for _ in 0..times {
        if Pin::new(&mut receiver).poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            break;
        }
    }
    drop(receiver);
    other.join().unwrap();
}

#[test]
fn polled_and_dropped() {
    let mut found = Vec::new();
    for (times, send) in [(1, true), (2, true), (1, false), (2, false), (3, true)] {
        let report = Check::new().every_schedule().explore(move || polled(times, send));
        let what = format!("polled {times} times, then {}", if send { "sent" } else { "the sender dropped" });
        let result = match report.failure() {
            Some(failure) => format!("{} / {}: {}", failure.delays, report.schedules, failure.message),
            None => report.to_string(),
        };
        println!("published: {what} | a failure within 135 in one of these | {}", result.lines().next().unwrap());
        found.push(report.failure().is_some() && report.schedules <= 135);
    }
    assert!(found.contains(&true));
}
