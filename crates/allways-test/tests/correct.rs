//! Programs without a bug: every schedule is explored, and there are as many as shuttle's exhaustive search runs.

#[path = "../programs/correct/mod.rs"]
mod correct;

use allways_test::Check;
use shuttle::scheduler::DfsScheduler;
use shuttle::{Config, Runner};

/// The number of schedules, and the most delays in one.
const EXPECTED: &[(&str, u64, usize)] = &[
    ("counter under a lock, two threads", 51, 6),
    ("counter under a lock, three threads", 12786, 18),
    ("two locks in one order", 12, 3),
    ("signal under a lock", 10, 4),
    ("initialisation, checked under the lock", 342, 7),
    ("channel, two senders", 120, 8),
    ("bounded buffer, two condition variables", 1034, 12),
    ("barrier with generations", 5620, 14),
    ("Treiber stack with a tag", 18317, 18),
    ("device stopped, count before the test", 2498, 12),
];

#[test]
fn every_schedule() {
    let mut explored = Vec::new();
    for (name, test) in correct::PROGRAMS {
        let report = Check::new().every_schedule().run(test);
        let exhaustive = Runner::new(DfsScheduler::new(None, false), Config::new()).run(test);
        assert_eq!(report.schedules, exhaustive as u64, "{name}");
        explored.push((name, report.schedules, report.by_delays.len() - 1));
    }
    assert_eq!(explored, EXPECTED);
}
