//! Forward against backward, on two cores; the first that decides stops the other.
//!
//! Backward decides everything in principle, and is slow where much of what is bad cannot occur. It starts alone, since most
//! systems take it a moment. Then forward looks for bugs; after a while Karp and Miller's tree takes over, which
//! decides as well, unless a rule that moves tokens can fire. Backward tells forward on a [`Board`] what leads to a target: they
//! may meet in the middle. What forward stores is limited: it must not starve the other side.

use super::board::Board;
use super::forward::{Effort, decide_within};
use super::{Method, Report, backward, karp_miller};
use crate::engine::Watch;
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::Counters;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// For so long backward is alone.
const HEAD_START: Duration = Duration::from_millis(10);

/// So often the caller is asked whether it is over.
const LOOK: Duration = Duration::from_millis(2);

/// So much is explored before the tree takes over…
const BEFORE_THE_TREE: Effort = Effort { images: 1 << 15, stored: 1 << 20 };

/// …and so much if there is none.
const WITHOUT_A_TREE: Effort = Effort { images: u64::MAX, stored: 1 << 20 };

/// Decides, or says why neither side could.
pub fn decide(system: &Counters, watch: &Watch) -> Report {
    let over = AtomicBool::new(false);
    let board = Board::new(system);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let start = |side: fn(&Counters, Option<&Board>, &Watch) -> Report| {
            let (sender, over, board) = (sender.clone(), &over, board.as_ref());
            scope.spawn(move || {
                let report = side(system, board, &Watch { over: Some(over), ..*watch });
                // The receiver is gone only if the duel is over.
                let _ = sender.send(report);
            });
        };
        start(backward::decide_telling);
        let mut first = receiver.recv_timeout(HEAD_START).ok();
        if let Some(report) = first.take_if(|report| decided(report)) {
            return report;
        }
        start(ahead);
        // So that a side which ends without a word, by a panic, is noticed.
        drop(sender);
        let next = || loop {
            match receiver.recv_timeout(LOOK) {
                Ok(report) => return report,
                Err(RecvTimeoutError::Disconnected) => panic!("both sides report"),
                // Whoever called may have been told elsewhere that it is over; the sides only look at this duel.
                Err(RecvTimeoutError::Timeout) => {
                    if watch.over.is_some_and(|outer| outer.load(Ordering::Relaxed)) {
                        over.store(true, Ordering::Relaxed);
                    }
                }
            }
        };
        let second = next();
        if decided(&second) {
            over.store(true, Ordering::Relaxed);
            return second;
        }
        let last = first.unwrap_or_else(next);
        // Of two that gave up, what backward says is more telling.
        if decided(&last) || last.method == Method::Backward { last } else { second }
    })
}

fn decided(report: &Report) -> bool {
    !matches!(report.verdict, Verdict::Unknown(_))
}

fn ahead(system: &Counters, board: Option<&Board>, watch: &Watch) -> Report {
    let report = decide_within(system, BEFORE_THE_TREE, board, watch);
    let Verdict::Unknown(StopReason::Bound(_)) = report.verdict else { return report };
    let report = karp_miller::decide(system, watch);
    match report.verdict {
        Verdict::Unknown(StopReason::GaveUp(_)) => decide_within(system, WITHOUT_A_TREE, board, watch),
        _ => report,
    }
}
