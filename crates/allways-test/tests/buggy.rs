//! Every program with a bug: found, with the fewest delays, explained, and reproduced.

#[path = "../programs/figures.rs"]
mod figures;
#[path = "../programs/portable/mod.rs"]
mod portable;
#[path = "../programs/shuttle_only/mod.rs"]
mod shuttle_only;

use allways_test::{Check, FailureKind, Outcome, StopReason};
use shuttle as rt;
use std::panic::catch_unwind;

#[test]
fn found_with_the_fewest_delays_and_reproduced() {
    let programs: Vec<_> = portable::PROGRAMS.into_iter().chain(shuttle_only::PROGRAMS).collect();
    let mut found = Vec::new();
    for &(name, test) in &programs {
        let report = Check::new().explore(test);
        let failure = report.failure().unwrap_or_else(|| panic!("{name}: {report}"));
        assert!(failure.minimal && failure.reproduced, "{name}: {report}");
        assert_eq!(failure.placed.len(), failure.delays, "{name}: {report}");
        found.push([name.to_string(), failure.delays.to_string(), report.schedules.to_string()]);

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
    // What the table of the documentation says.
    let table = figures::rows("| program | delays | schedules |");
    let table: Vec<_> =
        table.into_iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]).collect();
    assert_eq!(found, table);
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
  run it again with: ALLWAYS_TEST_REPLAY=v1:1:q128, or allways_test::replay(\"v1:1:q128\", || …)

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
