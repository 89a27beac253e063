//! Several engines at once: the first that decides stops the others.

use crate::engine::{Engine, Question, Report, Watch};
use allways_evidence::Verdict;
use allways_model::pushdown::Pushdown;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;

/// Runs the engines side by side, one thread each. Returns the first report that decides, else the one of the first engine.
/// The report names the engine it is from.
pub fn race(engines: &[&dyn Engine], system: &dyn Pushdown, question: &Question, watch: &Watch) -> Report {
    let over = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for (index, engine) in engines.iter().enumerate() {
            let (sender, over) = (sender.clone(), &over);
            scope.spawn(move || {
                let watch = Watch { over: Some(over), ..*watch };
                let report = engine.run(system, question, &watch);
                // The receiver is gone only if the race is over.
                let _ =
                    sender.send((index, Report { engine: report.engine.or(Some(engine.name())), ..report }));
            });
        }
        drop(sender);
        let mut best: Option<(usize, Report)> = None;
        for (index, report) in receiver {
            let decided = !matches!(report.verdict, Verdict::Unknown(_));
            if decided {
                over.store(true, Ordering::Relaxed);
                return report;
            }
            if best.as_ref().is_none_or(|(other, _)| index < *other) {
                best = Some((index, report));
            }
        }
        best.expect("every engine reports").1
    })
}
