//! `Once`, `Mutex` and `RwLock` of spin. 0.9.7: RUSTSEC-2023-0031, an initialisation that fails leads others to what cannot be.
//! crate: spin
//! versions: 0.9.7 0.9.8
//! flags: -C debug-assertions
//! replace: `use core::sync::atomic;` by `extern crate allways_test; use allways_test::sync::atomic;`
//! replace: `core::sync::atomic::spin_loop_hint|core::hint::spin_loop` by `::allways_test::hint::spin_loop`

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

fn fixed() -> bool {
    std::env::var("PUBLISHED_VERSION").unwrap() == "0.9.8"
}

#[test]
fn once_with_a_failing_initialisation() {
    let report = Check::new().every_schedule().explore(|| {
        let once = Arc::new(spin::Once::<usize>::new());
        let there = once.clone();
        let other = thread::spawn(move || *there.call_once(|| 5));
        // It takes its time, and fails.
        let failed = once.try_call_once(|| {
            thread::yield_now();
            Err::<usize, ()>(())
        });
        assert!(failed.is_err() || failed == Ok(&5));
        assert_eq!(other.join().unwrap(), 5);
    });
    row("Once, one initialisation fails", if fixed() { None } else { Some(2) }, report);
}

#[test]
fn once() {
    let report = Check::new().every_schedule().explore(|| {
        let once = Arc::new(spin::Once::<usize>::new());
        let there = once.clone();
        let other = thread::spawn(move || *there.call_once(|| 4));
        let here = *once.call_once(|| 5);
        assert_eq!(other.join().unwrap(), here);
    });
    row("Once, two initialise", None, report);
}

#[test]
fn mutex() {
    let report = Check::new().every_schedule().explore(|| {
        let lock = Arc::new(spin::Mutex::new(0));
        let there = lock.clone();
        let other = thread::spawn(move || *there.lock() += 1);
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
    row("Mutex, two lock", None, report);
}

#[test]
fn rwlock() {
    let report = Check::new().every_schedule().explore(|| {
        let lock = Arc::new(spin::RwLock::new(0));
        let there = lock.clone();
        let other = thread::spawn(move || *there.write() += 1);
        let seen = *lock.read();
        other.join().unwrap();
        assert!(seen <= 1 && *lock.read() == 1);
    });
    row("RwLock, one writes, one reads", None, report);
}
