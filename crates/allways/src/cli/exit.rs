//! What the exit code means. Each code has one meaning, and a crash shares its code with no verdict.

use crate::report::Report;
use allways_evidence::StopReason;
use std::process::ExitCode;

/// How the program ends. In the order of urgency: of several files, the greatest outcome is reported.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Exit {
    /// 0: safe; for `reach`, all visible states are known, or all within the bounds asked for; for other commands, done.
    Success,
    /// 1: a program is otherwise than it states (`test`), or not formatted (`fmt --check`).
    Otherwise,
    /// 5: unknown. Time, memory, a bound, or the method gave up; the output says which.
    Unknown,
    /// 10: unsafe.
    Unsafe,
    /// 20: evidence that was given to `certify` or `replay` is rejected.
    Rejected,
    /// 130: interrupted; the output says what was known.
    Interrupted,
    /// 2: the arguments make no sense, or a file cannot be read, understood or written.
    BadInput,
    /// 70: a bug of ours; one is an engine whose evidence the checker rejects.
    Bug,
}

impl Exit {
    /// The code for the operating system.
    pub fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Otherwise => 1,
            Exit::Unknown => 5,
            Exit::Unsafe => 10,
            Exit::Rejected => 20,
            Exit::Interrupted => 130,
            Exit::BadInput => 2,
            Exit::Bug => 70,
        }
    }

    /// What a code of another process of this program means; one that it does not have is a bug.
    pub fn of_code(code: i32) -> Exit {
        use Exit::{BadInput, Bug, Interrupted, Otherwise, Rejected, Success, Unknown, Unsafe};
        let all = [Success, Otherwise, Unknown, Unsafe, Rejected, Interrupted, BadInput, Bug];
        all.into_iter().find(|exit| i32::from(exit.code()) == code).unwrap_or(Bug)
    }

    /// What a report says.
    pub fn of(report: &Report) -> Exit {
        match (report.verdict, &report.stopped) {
            ("safe", _) => Exit::Success,
            ("unsafe", _) => Exit::Unsafe,
            (_, Some(reason)) => Exit::stopped(reason),
            (_, None) => Exit::Unknown,
        }
    }

    /// How a run ends that stopped for this reason.
    pub fn stopped(reason: &StopReason) -> Exit {
        if *reason == StopReason::Interrupted { Exit::Interrupted } else { Exit::Unknown }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::Exit::*;

    #[test]
    fn the_worst_comes_last() {
        let order = [Success, Otherwise, Unknown, Unsafe, Rejected, Interrupted, BadInput, Bug];
        assert!(order.is_sorted());
        assert_eq!(order.map(super::Exit::code), [0, 1, 5, 10, 20, 130, 2, 70]);
    }
}
