//! What is used where no engine is named: the sandwich, and others beside it if that takes long.
//!
//! The sandwich decides most systems in milliseconds, so it starts alone. After a moment the others follow on the second
//! core, one after another: thread-modular methods, which prove what they prove whatever the number of threads; a free
//! search, which decides finite systems and finds shallow bugs; AI, whose schedules differ
//! from those of the search; and CUBA with automata, for contexts that reach infinitely many states. The first that decides
//! stops the rest.
//!
//! Of any number of threads only the thread-modular methods know something, so there they are alone.

use super::ai::Ai;
use super::cuba::CubaSymbolic;
use super::race::race;
use super::sandwich::Sandwich;
use crate::above::thread_modular::both::Both;
use crate::above::thread_modular::flanagan_qadeer::Modular;
use crate::above::thread_modular::quadratic::Quadratic;
use crate::below::free::Free;
use crate::engine::{Engine, Question, Report, Watch};
use allways_evidence::{StopReason, Verdict};
use allways_model::pushdown::Pushdown;
use std::time::{Duration, Instant};

/// The engine; see the module.
pub struct Portfolio;

/// For so long the sandwich is alone.
const HEAD_START: Duration = Duration::from_millis(50);

impl Engine for Portfolio {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn summary(&self) -> &'static str {
        "the sandwich; if that takes long, others beside it; the answer names the one that gave it"
    }

    fn run(&self, system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
        if !(0..system.threads()).any(|thread| system.many(thread)) {
            return race(&[&Sandwich, &Others], system, question, watch);
        }
        let report = run(&Modular, None, system, question, watch);
        MODULAR[1..].iter().fold(report, |report, engine| {
            let go_on = !decided(&report) && watch.room_for(0).is_ok();
            if go_on { run(*engine, None, system, question, watch) } else { report }
        })
    }
}

/// Thread-modular methods, the cheap ones first.
const MODULAR: [&dyn Engine; 3] = [&Modular, &Quadratic, &Both];

/// Runs an engine, perhaps for a while only, and says that it was this one.
fn run(
    engine: &dyn Engine,
    share: Option<Duration>,
    system: &dyn Pushdown,
    question: &Question,
    watch: &Watch,
) -> Report {
    let turn = share.map(|share| Instant::now() + share);
    let deadline = watch.deadline.into_iter().chain(turn).min();
    let report = engine.run(system, question, &Watch { deadline, ..*watch });
    Report { engine: report.engine.or(Some(engine.name())), ..report }
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
        let mut engines: Vec<&dyn Engine> = vec![&Free, &Ai, &CubaSymbolic];
        if !question.property.is_empty() && !question.bounded() {
            engines.splice(0..0, MODULAR);
        }
        let mut share = Duration::from_secs(1);
        loop {
            let mut unfinished: Vec<&dyn Engine> = Vec::new();
            let mut last = None;
            for &engine in &engines {
                let report = run(engine, Some(share), system, question, watch);
                if decided(&report) || watch.room_for(0).is_err() {
                    return report;
                }
                if report.verdict == Verdict::Unknown(StopReason::Time) {
                    unfinished.push(engine);
                }
                last = Some(report);
            }
            match last {
                Some(report) if unfinished.is_empty() => return report,
                // What has given up once will do so again.
                _ => engines = unfinished,
            }
            share *= 4;
        }
    }
}

fn decided(report: &Report) -> bool {
    !matches!(report.verdict, Verdict::Unknown(_))
}
