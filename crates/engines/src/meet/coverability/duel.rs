//! Forward against backward, on two cores; the first that decides stops the other.
//!
//! Backward decides everything in principle, and is slow where much of what is bad cannot occur. Forward finds bugs with short
//! runs; where no rule moves tokens, Karp and Miller's tree takes over after a while, which decides as well.

use super::{Method, Report, backward, forward, karp_miller};
use crate::engine::Watch;
use allways_evidence::StopReason;
use allways_evidence::counters::Verdict;
use allways_model::counters::Counters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// So many steps are explored before the tree takes over.
const HEAD_START: u64 = 1 << 17;

/// Decides, or says why neither side could.
pub fn decide(system: &Counters, watch: &Watch) -> Report {
    let over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for side in [backward::decide, ahead] {
            let (sender, over) = (sender.clone(), &over);
            scope.spawn(move || {
                let report = side(system, &Watch { over: Some(over), ..*watch });
                // The receiver is gone only if the duel is over.
                let _ = sender.send(report);
            });
        }
        drop(sender);
        let mut best: Option<Report> = None;
        for report in receiver {
            if !matches!(report.verdict, Verdict::Unknown(_)) {
                over.store(true, Ordering::Relaxed);
                return report;
            }
            // What backward says is more telling than what forward says, unless it is only that it was stopped.
            let stopped = matches!(report.verdict, Verdict::Unknown(StopReason::Interrupted));
            if best.is_none() || report.method == Method::Backward && !stopped {
                best = Some(report);
            }
        }
        best.expect("both sides report")
    })
}

fn ahead(system: &Counters, watch: &Watch) -> Report {
    if !system.is_plain() {
        return forward::decide(system, watch);
    }
    let report = forward::decide_within(system, HEAD_START, watch);
    match report.verdict {
        Verdict::Unknown(StopReason::Bound(_)) => karp_miller::decide(system, watch),
        _ => report,
    }
}
