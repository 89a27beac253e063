//! Algorithms of published crates: how much was explored without a failure, and that a flaw is found.
//!
//! `ALLWAYS_LONG=1` explores with more delays.

#[path = "../programs/published/mod.rs"]
mod published;

use allways_test::{Check, FailureKind, Outcome, StopReason};
use published::{array_queue, atomic_waker, once_cell, parker};

/// All schedules with so many delays; with more in long runs, and then as many as the documentation says.
fn no_failure(delays: usize, long: (usize, u64), test: impl Fn() + Send + Sync + 'static) {
    let is_long = std::env::var_os("ALLWAYS_LONG").is_some();
    let delays = if is_long { long.0 } else { delays };
    let report = Check::new().every_schedule().delays(delays).explore(test);
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::Delays(_))), "{report}");
    assert!(!is_long || report.schedules == long.1, "{report}");
}

#[test]
fn crossbeam_parker() {
    // Two threads give a token: every schedule. Two tokens, one after the other: one thread has to poll.
    let report = Check::new().every_schedule().run(|| parker::two_givers(parker::Flaw::None));
    assert_eq!(report.schedules, 2398);
    no_failure(6, (9, 128_366), || parker::two_tokens(parker::Flaw::None));
}

#[test]
fn crossbeam_parker_without_the_lock() {
    for test in [parker::two_givers, parker::two_tokens] {
        let report = Check::new().explore(move || test(parker::Flaw::NotifyWithoutLock));
        let failure = report.failure().unwrap();
        assert_eq!((failure.kind, failure.delays), (FailureKind::Deadlock, 1), "{report}");
    }
}

#[test]
fn futures_atomic_waker() {
    let report = Check::new().every_schedule().run(|| atomic_waker::events(1, atomic_waker::Flaw::None));
    assert_eq!(report.schedules, 110);
    // With two announcers a future that is polled while one of them is at it wakes itself again and again.
    no_failure(4, (5, 36_840), || atomic_waker::events(2, atomic_waker::Flaw::None));
}

#[test]
fn futures_atomic_waker_that_forgets() {
    let report = Check::new().explore(|| atomic_waker::events(2, atomic_waker::Flaw::ForgetWake));
    let failure = report.failure().unwrap();
    assert_eq!((failure.kind, failure.delays), (FailureKind::Deadlock, 2), "{report}");
    // One event alone cannot tell: whoever registers looks at it afterwards.
    assert!(
        Check::new().explore(|| atomic_waker::events(1, atomic_waker::Flaw::ForgetWake)).every_schedule()
    );
}

#[test]
fn crossbeam_array_queue() {
    no_failure(4, (5, 144_228), || array_queue::one_place(array_queue::Flaw::None));
    no_failure(4, (5, 41_326), || array_queue::in_order(array_queue::Flaw::None));
}

#[test]
fn crossbeam_array_queue_that_releases_too_early() {
    for (test, delays) in [(array_queue::one_place as fn(_), 2), (array_queue::in_order, 3)] {
        let report = Check::new().explore(move || test(array_queue::Flaw::ReleaseFirst));
        assert_eq!(report.failure().unwrap().delays, delays, "{report}");
    }
}

#[test]
fn once_cell_waiters() {
    // Without spurious wake-ups there is an end.
    let report =
        Check::new().every_schedule().no_spurious_wake_ups().explore(|| two_ask(once_cell::Flaw::None));
    assert!(matches!(report.outcome, Outcome::Stopped(StopReason::SpuriousWakeUps)), "{report}");
    assert_eq!(report.schedules, 18_204, "{report}");
    no_failure(5, (7, 142_118), || two_ask(once_cell::Flaw::None));
    no_failure(3, (5, 221_264), || once_cell::computed_once(3, once_cell::Flaw::None));
}

fn two_ask(flaw: once_cell::Flaw) {
    once_cell::computed_once(2, flaw);
}

#[test]
fn once_cell_that_signals_first() {
    let report = Check::new().explore(|| two_ask(once_cell::Flaw::SignalFirst));
    let failure = report.failure().unwrap();
    assert_eq!((failure.kind, failure.delays), (FailureKind::Panic, 2), "{report}");
    assert!(failure.picture.contains("wakes up spuriously"), "{report}");
    // It takes one more delay if threads wake up for a reason only.
    let report = Check::new().no_spurious_wake_ups().explore(|| two_ask(once_cell::Flaw::SignalFirst));
    assert_eq!(report.failure().unwrap().delays, 3, "{report}");
}
