//! heapless 0.9.3, `mpmc::Queue`: issue 583, a queue that is not empty says that it is.
//! crate: heapless
//! versions: 0.9.3
//! replace: `core::sync::atomic|portable_atomic` by `allways_test::sync::atomic`
//! replace: `#!\[no_std\]` by ``

use allways_test::{Check, Report, thread};
use std::sync::Arc;

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
fn who_has_put_something_in_gets_something_out() {
    let report = Check::new().every_schedule().explore(|| {
        let queue = Arc::new(heapless::mpmc::Queue::<u8, 4>::new());
        let there = queue.clone();
        let other = thread::spawn(move || there.enqueue(1).is_ok() && there.dequeue().is_some());
        let here = queue.enqueue(2).is_ok() && queue.dequeue().is_some();
        assert!(other.join().unwrap() && here, "the queue says that it is empty");
    });
    row("two put in and take out", Some(11), report);
}
