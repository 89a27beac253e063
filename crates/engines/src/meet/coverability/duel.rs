//! Forward against backward; the first that decides stops the others.
//!
//! Backward decides everything in principle, and is slow where much of what is bad cannot occur. It starts alone, since most
//! systems take it a moment. Then forward looks for bugs; after a while Karp and Miller's tree takes over, which
//! decides as well, unless a rule that moves tokens can fire. Beside both, a search with a distance looks for bugs that take
//! many steps. Backward tells the others on a [`Board`] what leads to a target: they may meet in the middle. What goes forward
//! stores a limited number of configurations: it must not starve the other side.

use super::board::Board;
use super::forward::{Effort, decide_within};
use super::{backward, directed, karp_miller};
use crate::budget::Budget;
use crate::engine::Outcome;
use crate::race::{Lane, race};
use allways_evidence::{StopReason, Verdict};
use allways_model::counters::Counters;
use std::time::Duration;

/// For so long backward is alone.
const HEAD_START: Duration = Duration::from_millis(10);

/// So much is explored before the tree takes over…
const BEFORE_THE_TREE: Effort = Effort { images: 1 << 15, stored: 1 << 20 };

/// …and so much if there is none.
const WITHOUT_A_TREE: Effort = Effort { images: u64::MAX, stored: 1 << 20 };

/// The search with a distance stores so many configurations, and starts later: its linear programs take a moment.
const DIRECTED_STORED: usize = 1 << 22;
const DIRECTED_HEAD_START: Duration = Duration::from_millis(30);

/// Decides, or says why neither side could. Of two that gave up, what backward says is more telling.
pub fn decide(system: &Counters, budget: &Budget) -> Outcome {
    let board = Board::new(system);
    let before_cuts = backward::before_cuts(system);
    let back = |budget: &Budget| backward::decide_telling(system, board.as_ref(), before_cuts, budget);
    let ahead = |budget: &Budget| ahead(system, board.as_ref(), budget);
    let near = |budget: &Budget| directed::decide_within(system, DIRECTED_STORED, board.as_ref(), budget);
    let lanes = [
        Lane::new(&back),
        Lane { after: HEAD_START, ..Lane::new(&ahead) },
        Lane { after: DIRECTED_HEAD_START, ..Lane::new(&near) },
    ];
    race(&lanes, Outcome::settled, None, budget).best()
}

fn ahead(system: &Counters, board: Option<&Board>, budget: &Budget) -> Outcome {
    let report = decide_within(system, BEFORE_THE_TREE, board, budget);
    let Verdict::Unknown(StopReason::Bound(_)) = report.verdict else { return report };
    let report = karp_miller::decide(system, budget);
    match report.verdict {
        Verdict::Unknown(StopReason::GaveUp(_)) => decide_within(system, WITHOUT_A_TREE, board, budget),
        _ => report,
    }
}
