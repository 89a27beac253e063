//! Every program with a bug: found, with the fewest delays, explained, and reproduced.

#[path = "../programs/portable/mod.rs"]
mod portable;
#[path = "../programs/shuttle_only/mod.rs"]
mod shuttle_only;

use allways_test::{Check, FailureKind, Outcome, StopReason};
use shuttle as rt;
use std::panic::catch_unwind;

/// The delays that a bug needs, and the number of schedules until it is found.
const EXPECTED: &[(&str, usize, u64)] = &[
    ("lost update", 1, 5),
    ("lost updates, all but two", 4, 755),
    ("lock order, AB-BA", 1, 3),
    ("philosophers, three", 2, 69),
    ("condition variable, missed signal", 2, 5),
    ("condition variable, `if` for `while`", 2, 35),
    ("bounded buffer, one condition variable", 0, 1),
    ("check, then act", 1, 4),
    ("double-checked initialisation", 1, 6),
    ("publication before the data", 2, 5),
    ("spin lock, test then set", 2, 15),
    ("Peterson, flag raised too late", 2, 18),
    ("sequence lock, torn read", 1, 4),
    ("reference count, read then decrement", 1, 3),
    ("Treiber stack, ABA", 2, 13),
    ("work stealing, the last item", 2, 10),
    ("semaphore, a permit leaks", 1, 5),
    ("reader-writer lock, two upgrades", 1, 4),
    ("device stopped during a request", 2, 16),
    ("closed at the end of a long run", 1, 42),
    ("election, the last comes first", 3, 216),
    ("channel, shutdown race", 2, 19),
    ("barrier used again", 0, 1),
    ("future, cancelled half-way", 1, 2),
    ("future, waker registered too late", 1, 3),
    ("park, a token spent elsewhere", 2, 11),
];

#[test]
fn found_with_the_fewest_delays_and_reproduced() {
    let programs: Vec<_> = portable::PROGRAMS.into_iter().chain(shuttle_only::PROGRAMS).collect();
    let mut found = Vec::new();
    for &(name, test) in &programs {
        let report = Check::new().explore(test);
        let failure = report.failure().unwrap_or_else(|| panic!("{name}: {report}"));
        assert!(failure.minimal && failure.reproduced, "{name}: {report}");
        assert_eq!(failure.placed.len(), failure.delays, "{name}: {report}");
        found.push((name, failure.delays, report.schedules));

        // With fewer delays there is no failure, and the report says that there are other schedules.
        if let Some(fewer) = failure.delays.checked_sub(1) {
            let below = Check::new().delays(fewer).explore(test);
            assert!(
                matches!(below.outcome, Outcome::Stopped(StopReason::Delays(delays)) if delays == fewer),
                "{name}: {below}"
            );
            assert_eq!(below.by_delays[..], report.by_delays[..below.by_delays.len()], "{name}");
        }

        // The schedule that was printed fails again, in the same way.
        let replay = failure.replay.clone();
        let again = catch_unwind(move || Check::new().replay(&replay, test)).unwrap_err();
        let again = again.downcast_ref::<String>().unwrap();
        assert!(
            again.contains(&failure.message) && again.contains(&failure.picture),
            "{name}: {again}\n{report}"
        );
    }
    assert_eq!(found, EXPECTED);
}

#[test]
fn what_a_failure_prints() {
    let report = Check::new().explore(portable::lock_order::test);
    let failure = report.failure().unwrap();
    assert_eq!(failure.kind, FailureKind::Deadlock);
    let expected = "\
deadlock: main waits at programs/portable/lock_order.rs:17, task-1 waits at programs/portable/lock_order.rs:11
  needs 1 delay, and no schedule with fewer fails
    step 4: main is held back before programs/portable/lock_order.rs:17, task-1 goes on
  run it again with: allways_test::replay(\"v1:1:q128\", || …)

        programs/portable/lock_order.rs
  step  main                                          task-1
     1  starts
     2  9 let other = thread::spawn(move || {
     3  16 let mut from = accounts.1.lock().unwrap(…
 delay  held back before 17 let mut to = accounts.0…
        ------------------------------------------------------------------------------------------
     4                                                starts
     5                                                10 let mut from = there.0.lock().unwrap();
        ------------------------------------------------------------------------------------------
     6  17 let mut to = accounts.0.lock().unwrap();
";
    assert_eq!(failure.to_string(), expected);
}
