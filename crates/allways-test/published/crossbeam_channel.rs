//! crossbeam-channel. 0.5.14: RUSTSEC-2025-0024, a block of messages is freed twice.
//! crate: crossbeam-channel
//! versions: 0.5.14 0.5.15
//! replace: `(std|core)::sync::atomic` by `allways_test::sync::atomic`
//! replace: `std::sync::Mutex` by `allways_test::sync::Mutex`
//! replace: `std::thread(?!_)` by `allways_test::thread`
//! replace: `(std::)?thread_local!` by `allways_test::shuttle::thread_local!`
//! replace: `backoff\.(spin|snooze)\(\)` by `allways_test::thread::yield_now()`

use allways_test::{Check, Report, thread};

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
fn sent_while_the_receiver_is_dropped() {
    let fixed = std::env::var("PUBLISHED_VERSION").unwrap() == "0.5.15";
    let report = Check::new().every_schedule().schedules(100_000).explore(|| {
        let (sender, receiver) = crossbeam_channel::unbounded::<Box<u32>>();
        let another = sender.clone();
        let others = [sender, another].map(|sender| thread::spawn(move || drop(sender.send(Box::new(1)))));
        drop(receiver);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    if fixed {
        // Three threads have more than 100000 schedules; none of those that were run fails.
        assert!(report.failure().is_none(), "{report}");
        println!("published: two send, the receiver is dropped | no failure | {}", report.schedules);
    } else {
        row("two send, the receiver is dropped", Some(41), report);
    }
}
