//! `Once`, `Mutex` and `RwLock` of spin. 0.9.7: RUSTSEC-2023-0031, an initialisation that fails leads others to what cannot be.
//! crate: spin
//! versions: 0.9.7 0.9.8
//! flags: -C debug-assertions
//! replace: `use core::sync::atomic;` by `extern crate allways_test; use allways_test::sync::atomic;`
//! replace: `core::sync::atomic::spin_loop_hint|core::hint::spin_loop` by `::allways_test::hint::spin_loop`
//! loom replace: `pub const fn (new|initialized)\b` by `pub fn \1`
//! loom replace: `(?s)pub const INIT: Self = (Self \{.*?\});` by `fn init() -> Self { \1 }`
//! loom replace: `Self::INIT` by `Self::init()`
//! loom replace: `feature = "lock_api"` by `any()`
//! loom replace: `self\.0\.get_mut\(\) as \*mut u8` by `self.0.with_mut(|value| value as *mut u8)`

mod harness;
use harness::{Expected, Options, run, thread, version};
use std::sync::Arc;

#[test]
fn once_with_a_failing_initialisation() {
    let expected = if version() == "0.9.8" { Expected::EverySchedule } else { Expected::Failure(2) };
    run("Once, one initialisation fails", expected, Options::default(), || {
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
}

#[test]
fn once() {
    run("Once, two initialise", Expected::EverySchedule, Options::default(), || {
        let once = Arc::new(spin::Once::<usize>::new());
        let there = once.clone();
        let other = thread::spawn(move || *there.call_once(|| 4));
        let here = *once.call_once(|| 5);
        assert_eq!(other.join().unwrap(), here);
    });
}

#[test]
fn mutex() {
    run("Mutex, two lock", Expected::EverySchedule, Options::default(), || {
        let lock = Arc::new(spin::Mutex::new(0));
        let there = lock.clone();
        let other = thread::spawn(move || *there.lock() += 1);
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 2);
    });
}

#[test]
fn rwlock() {
    run("RwLock, one writes, one reads", Expected::EverySchedule, Options::default(), || {
        let lock = Arc::new(spin::RwLock::new(0));
        let there = lock.clone();
        let other = thread::spawn(move || *there.write() += 1);
        let seen = *lock.read();
        other.join().unwrap();
        assert!(seen <= 1 && *lock.read() == 1);
    });
}
