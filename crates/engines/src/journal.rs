//! Which engine ran when, for how long, and what came of it: kept for the report, and told to whoever listens by `tracing`.

use crate::engine::{Info, Outcome};
use crate::forms::Forms;
use allways_evidence::Verdict;
use allways_model::task::Instance;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// One run of an engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EngineRun {
    /// The engine.
    pub engine: &'static str,
    /// The threads that it was asked about.
    pub threads: String,
    /// When it started, from the start of the check.
    pub started: Duration,
    /// How long it took.
    pub took: Duration,
    /// The claim, or why it has none.
    pub outcome: String,
    /// How many states it stored, if that is known.
    pub states: Option<usize>,
}

/// The runs of a check, in the order in which they ended.
#[derive(Debug)]
pub struct Journal {
    started: Instant,
    runs: Mutex<Vec<EngineRun>>,
}

impl Default for Journal {
    fn default() -> Journal {
        Journal { started: Instant::now(), runs: Mutex::default() }
    }
}

impl Journal {
    /// The runs that have ended.
    pub fn runs(&self) -> Vec<EngineRun> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Runs an engine and notes it.
    pub fn noting(engine: &Info, forms: &Forms, run: impl FnOnce() -> Outcome) -> Outcome {
        let journal = forms.journal();
        let threads = match (forms.is_open(), forms.instance()) {
            (false, _) => String::new(),
            (true, Instance::Any) => "any number of threads".to_string(),
            (true, Instance::Few(1)) => "1 thread".to_string(),
            (true, Instance::Few(number)) => format!("{number} threads"),
            (true, Instance::Exactly(counts)) => format!("--threads {counts}"),
        };
        tracing::debug!(engine = engine.name, threads, "engine started");
        let (started, clock) = (journal.started.elapsed(), Instant::now());
        let outcome = run();
        let took = clock.elapsed();
        let said = match &outcome.verdict {
            Verdict::Safe(_) if !forms.has_property() => "bounded from above".to_string(),
            Verdict::Safe(_) => "safe".to_string(),
            Verdict::Unsafe(_) => "unsafe".to_string(),
            Verdict::Unknown(reason) => reason.to_string(),
        };
        tracing::info!(engine = engine.name, threads, ?took, outcome = said, "engine ended");
        let states = outcome.figures.concrete_states;
        let run = EngineRun { engine: engine.name, threads, started, took, outcome: said, states };
        journal.runs.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        outcome
    }
}
