//! What is used where no engine is named: the sandwich, and others beside it if that takes long.
//!
//! The sandwich decides most systems in milliseconds, so it starts alone. After a moment the others follow on the second
//! core, one after another: a free search, which decides finite systems and finds shallow bugs; AI, whose schedules differ
//! from those of the search; and CUBA with automata, for contexts that reach infinitely many states. The first that decides
//! stops the rest.

use super::ai::Ai;
use super::cuba::CubaSymbolic;
use super::race::race;
use super::sandwich::Sandwich;
use crate::below::free::Free;
use crate::engine::{Engine, Question, Report, Watch};
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Pushdown;
use std::time::{Duration, Instant};

/// The engine; see the module.
pub struct Portfolio;

/// For so long the sandwich is alone.
const HEAD_START: Duration = Duration::from_millis(300);

impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn summary(&self) -> &'static str {
        "the sandwich; if that takes long, others beside it; the answer names the one that gave it"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        race(&[&Sandwich, &Others], system, question, watch)
    }
}

/// The others, in turn, each for a while.
struct Others;

impl Engine for Others {
    fn name(&self) -> &'static str {
        "others"
    }

    fn summary(&self) -> &'static str {
        "what runs beside the sandwich"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        let start = Instant::now();
        while start.elapsed() < HEAD_START && watch.room_for(0).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut share = Duration::from_secs(1);
        loop {
            let mut unfinished = false;
            for engine in [&Free as &dyn Engine, &Ai, &CubaSymbolic] {
                let turn = Instant::now() + share;
                let deadline = watch.deadline.map_or(turn, |deadline| deadline.min(turn));
                let report = engine.run(system, question, &Watch { deadline: Some(deadline), ..*watch });
                unfinished |= report.verdict == Verdict::Unknown(StopReason::Time);
                let last = engine.name() == CubaSymbolic.name() && !unfinished;
                if last || decided(&report) || watch.room_for(0).is_err() {
                    return Report { engine: report.engine.or(Some(engine.name())), ..report };
                }
            }
            share *= 4;
        }
    }
}

fn decided(report: &Report) -> bool {
    !matches!(report.verdict, Verdict::Unknown(_))
}
