//! event-listener. 5.3.0: issue 138, a notification is lost because a fence is missing; needs weak memory.
//! crate: event-listener
//! versions: 5.3.0 5.3.1
//! flags: --cfg loom
//! features: loom,std
//! keep: loom
//! patch: loom

use allways_test::sync::Arc;
use allways_test::sync::atomic::{AtomicBool, Ordering};
use allways_test::{Check, Report, thread};
use event_listener::{Event, Listener};

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
fn a_notification_is_not_lost() {
    let report = Check::new().every_schedule().weak_memory().no_spurious_wake_ups().schedules(400_000).explore(|| {
        let shared = Arc::new((AtomicBool::new(false), Event::new()));
        let there = Arc::clone(&shared);
        let other = thread::spawn(move || {
            there.0.store(true, Ordering::Release);
            there.1.notify(1);
        });
        while !shared.0.load(Ordering::Acquire) {
            event_listener::listener!(shared.1 => listener);
            if shared.0.load(Ordering::Acquire) {
                break;
            }
            listener.wait();
        }
        other.join().unwrap();
    });
    let fixed = std::env::var("PUBLISHED_VERSION").unwrap() == "5.3.1";
    row("a flag and a notification, weak memory", if fixed { None } else { Some(100_000) }, report);
}
