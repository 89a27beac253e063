//! A report as it is looked at: every state of a run, the invariant behind a proof, and which engine ran when.
//!
//! A [`Report`] says what was found in a few lines; a [`Story`] is all that a page shows of it, as one serialisable value. It is made
//! when it is asked for, from the verdict and its evidence: most checks need none. States are told once, then by what changes:
//! a run of a thousand steps over a hundred variables stays small.

mod invariant;
mod states;

pub use invariant::Place;
pub use states::{FrameRow, StateRow, ThreadRow};

use crate::check::Checked;
use crate::report::Report;
use crate::words;
use allways_engines::engine::Cell;
use allways_evidence::{Counterexample, Verdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The longest program text that is shown whole, in bytes.
const LONGEST_SOURCE: usize = 1 << 20;

/// What a page shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// What was checked.
    pub file: String,
    /// `safe`, `unsafe` or `unknown`.
    pub verdict: &'static str,
    /// The verdict as a sentence.
    pub sentence: String,
    /// What stands in parentheses after it.
    pub details: Vec<String>,
    /// How long it took, in words.
    pub time: String,
    /// The version of the program that found it.
    pub version: &'static str,
    /// The text of what was checked.
    pub source: String,
    /// The run that goes wrong.
    pub run: Option<RunStory>,
    /// What was proved.
    pub proof: Option<ProofStory>,
    /// Which engines ran.
    pub engines: Vec<EngineRow>,
    /// How the bounds grew that the engine explored.
    pub walk: Vec<WalkRow>,
    /// States stored after so many seconds.
    pub growth: Vec<(f64, usize)>,
    /// Where thread-modular sets lose a proof.
    pub explanation: Option<String>,
    /// What else there is to know of what was read: what was assumed, and what is not followed.
    pub warnings: Vec<String>,
}

/// A run that goes wrong.
#[derive(Clone, Debug, Serialize)]
pub struct RunStory {
    /// The names of the threads.
    pub threads: Vec<String>,
    /// The state at the start.
    pub start: StateRow,
    /// The steps.
    pub steps: Vec<StepStory>,
    /// How it ends.
    pub end: String,
    /// The line of what went wrong, if it has one.
    pub line: Option<u32>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// A step, and what it changes of the state.
#[derive(Clone, Debug, Serialize)]
pub struct StepStory {
    /// Which thread moves; none in a counter system.
    pub thread: Option<usize>,
    /// Whether another thread moved before.
    pub switch: bool,
    /// The line, counted from 1; 0 if there is none.
    pub line: u32,
    /// The column, counted from 1; 0 if there is none.
    pub column: u32,
    /// The statement, condition or rule.
    pub text: String,
    /// What changed, as `replay` says it.
    pub changed: Vec<String>,
    /// The shared values that change, by their number.
    pub shared: BTreeMap<usize, String>,
    /// The threads that change, by their number.
    pub threads: BTreeMap<usize, Option<ThreadRow>>,
}

/// What was proved.
#[derive(Clone, Debug, Serialize)]
pub struct ProofStory {
    /// The kind of evidence.
    pub kind: &'static str,
    /// How much there is of it.
    pub size: String,
    /// What the kind means, in a sentence.
    pub meaning: &'static str,
    /// For how many threads it holds.
    pub threads: String,
    /// What the certificate was checked against.
    pub against: Option<&'static str>,
    /// What holds where, by place.
    pub places: Vec<Place>,
    /// Whether there was more than is told.
    pub cut: bool,
}

/// A run of an engine.
#[derive(Clone, Debug, Serialize)]
pub struct EngineRow {
    engine: &'static str,
    threads: String,
    started: f64,
    seconds: f64,
    outcome: String,
}

/// A bound that was explored, and what was seen within it.
#[derive(Clone, Debug, Serialize)]
pub struct WalkRow {
    rounds: u32,
    delays: u32,
    visible: usize,
    r#abstract: usize,
}

impl Story {
    /// The story of a check, told with its report. `growth`: states stored after so many seconds.
    pub fn new(checked: &Checked<'_>, report: &Report, growth: Vec<(f64, usize)>) -> Story {
        let forms = checked.forms();
        let source = forms.task().map(|task| task.source.text.clone()).unwrap_or_default();
        let mut story = Story {
            source: String::from_utf8_lossy(&source[..source.len().min(LONGEST_SOURCE)]).into_owned(),
            growth,
            ..Story::of_report(report)
        };
        match checked.verdict() {
            Verdict::Unsafe(Counterexample::Trace(trace)) => {
                story.run = match forms.encoding() {
                    Some(Ok(encoded)) => states::of_program(&encoded, trace, &source),
                    _ => forms.pushdown().ok().map(|form| states::of_rules(&*form.system, trace, &source)),
                };
            }
            Verdict::Unsafe(Counterexample::Lasso(lasso)) => {
                let encoded = forms.encoding().and_then(Result::ok);
                story.run = encoded.and_then(|encoded| states::of_run(&encoded, &lasso.run()?, &source));
            }
            Verdict::Unsafe(Counterexample::Run(run)) => {
                story.run = forms.counters().map(|counters| states::of_counters(counters, run, &source));
            }
            Verdict::Safe(certificate) => {
                let mut proof = invariant::proof(forms, certificate);
                proof.against = report.certified_against;
                story.proof = Some(proof);
            }
            Verdict::Unknown(_) => {}
        }
        story
    }

    /// What a report alone tells.
    pub fn of_report(report: &Report) -> Story {
        let runs = report.runs().iter().map(|run| EngineRow {
            engine: run.engine,
            threads: run.threads.clone(),
            started: run.started.as_secs_f64(),
            seconds: run.took.as_secs_f64(),
            outcome: run.outcome.clone(),
        });
        let walk = report.stats().cells().iter().map(|cell: &Cell| WalkRow {
            rounds: cell.rounds,
            delays: cell.delays,
            visible: cell.visible,
            r#abstract: cell.abstract_states,
        });
        Story {
            file: report.file.clone(),
            verdict: report.verdict,
            sentence: report.sentence.clone(),
            details: report.details.clone(),
            time: words::duration(Duration::from_secs_f64(report.seconds)),
            version: env!("CARGO_PKG_VERSION"),
            engines: runs.collect(),
            walk: walk.collect(),
            explanation: report.explanation.clone(),
            ..Story::default()
        }
    }
}
