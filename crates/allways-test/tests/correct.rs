//! Programs without a bug: every schedule is explored, and there are as many as shuttle's exhaustive search runs.

#[path = "../programs/correct/mod.rs"]
mod correct;
#[path = "../programs/figures.rs"]
mod figures;

use allways_test::Check;
use shuttle::scheduler::DfsScheduler;
use shuttle::{Config, Runner};

#[test]
fn every_schedule() {
    let mut explored = Vec::new();
    for (name, test) in correct::PROGRAMS {
        let report = Check::new().every_schedule().run(test);
        let exhaustive = Runner::new(DfsScheduler::new(None, false), Config::new()).run(test);
        assert_eq!(report.schedules, exhaustive as u64, "{name}");
        let most_delays = report.by_delays.len() - 1;
        explored.push([name.to_string(), report.schedules.to_string(), most_delays.to_string()]);
    }
    // What the table of the documentation says.
    let table = figures::rows("| program | schedules | most delays |");
    let table: Vec<_> =
        table.into_iter().map(|row| [row[0].clone(), row[1].clone(), row[2].clone()]).collect();
    assert_eq!(explored, table);
}
