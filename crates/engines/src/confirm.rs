//! From a claim to an answer: evidence through the checkers of `allways-evidence`, and counterexamples made short.

use crate::below::shortest::{Effort, Shortest, shortest};
use crate::budget::Budget;
use crate::engine::{EvidenceRejected, Outcome, Question, VisibleStates};
use crate::forms::Forms;
use allways_evidence::{
    Counterexample, EvidenceRef, Judge, Rejection, StopReason, Verdict, certify, check_passed, replay,
};
use allways_model::symmetry::Kinds;
use allways_model::task::Task;
use allways_smt::{Query, Settings};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Has evidence about an instance of a task checked.
pub fn check_evidence(forms: &Forms, evidence: EvidenceRef<'_>, budget: &Budget) -> Result<(), Rejection> {
    let question = forms.question();
    // What says something about the program itself does not rest on its encoding.
    let encoded = !matches!(evidence.kind(), "views" | "ranking" | "lasso");
    if let EvidenceRef::Certificate(_) = evidence
        && encoded
        && forms.has_property()
        && forms.task().is_some_and(Task::asks_progress)
    {
        let what = format!("evidence of the kind `{}` says nothing about progress", evidence.kind());
        return Err(Rejection::Malformed(what));
    }
    if let (EvidenceRef::Certificate(_), true, Some(Ok(encoded))) = (evidence, encoded, forms.encoding()) {
        check_passed(&encoded)?;
    }
    let stop = || budget.check().err();
    let mut dump = Dump { folder: question.smt_dump.as_deref(), written: 0, fault: None };
    let mut witness = |query: &Query| dump.write(query);
    let mut judge = Judge { stop: &stop, solver: solver(question, budget), witness: Some(&mut witness) };
    let accepted = forms.with_subject(evidence.kind(), |subject| certify(subject, evidence, &mut judge));
    match (dump.fault, accepted) {
        (Some(fault), _) => Err(Rejection::Stopped(StopReason::GaveUp(fault))),
        (None, Ok(accepted)) => accepted,
        (None, Err(reason)) => Err(Rejection::Stopped(reason)),
    }
}

/// The solver with the memory that is left.
pub fn solver(question: &Question, budget: &Budget) -> Settings {
    let settings = question.solver.clone().unwrap_or_else(Settings::usual);
    let memory = budget.memory_left().or(settings.memory);
    Settings { memory, ..settings }
}

/// Where queries are written.
struct Dump<'a> {
    folder: Option<&'a Path>,
    written: usize,
    fault: Option<String>,
}

impl Dump<'_> {
    fn write(&mut self, query: &Query) {
        let Some(folder) = self.folder else { return };
        self.written += 1;
        let path = folder.join(format!("{:05}.smt2", self.written));
        if let Err(error) = fs::create_dir_all(folder).and_then(|()| fs::write(&path, query.script())) {
            self.fault = Some(format!("cannot write {}: {error}", path.display()));
        }
    }
}

/// Has the claim of an outcome checked, unless that was done. A checker that runs into a limit makes the verdict unknown, one
/// that rejects says so in the outcome.
pub fn confirm(forms: &Forms, outcome: &mut Outcome, budget: &Budget) {
    if outcome.certified || !outcome.settled() {
        return;
    }
    let started = Instant::now();
    let forms = forms.of(outcome);
    let Some(evidence) = outcome.verdict.evidence() else { return };
    let claim = if matches!(evidence, EvidenceRef::Certificate(_)) { "safe" } else { "unsafe" };
    let accepted = check_evidence(&forms, evidence, budget);
    let took = started.elapsed();
    outcome.checking += took;
    let engine = outcome.engine.map_or("", |info| info.name);
    let said = accepted.as_ref().map_or_else(ToString::to_string, |()| "accepted".to_string());
    tracing::info!(engine, ?took, outcome = said, "evidence checked");
    match accepted {
        Ok(()) => outcome.certified = true,
        Err(Rejection::Stopped(reason)) => {
            outcome.verdict = Verdict::Unknown(reason);
            if !outcome.exact {
                // They may be a bound from above, and nobody has confirmed it: nothing is known of them.
                outcome.visible = VisibleStates::new(Kinds::distinct(0));
            }
        }
        Err(rejection) => {
            outcome.rejected = Some(EvidenceRejected { engine, claim, why: rejection.to_string() });
        }
    }
}

/// How an accepted counterexample was made short.
#[derive(Clone, Debug, Default)]
pub struct Shortened {
    /// Whether it has the fewest context switches of all, and among those the fewest steps. If not, this is not known.
    pub minimal: bool,
    /// Why not all that could be better was looked at, if it was not.
    pub stopped: Option<StopReason>,
    /// How long it took.
    pub time: Duration,
}

/// Replaces an accepted trace by the shortest one that is found, once that is accepted, too. The longer it took to find one, the
/// longer it may take to make it short: half of the time that was `used`, or a few seconds.
pub fn shorten(forms: &Forms, outcome: &mut Outcome, used: Duration, budget: &Budget) -> Shortened {
    let forms = forms.of(outcome);
    let Verdict::Unsafe(Counterexample::Trace(known)) = &mut outcome.verdict else {
        return Shortened::default();
    };
    let Ok(form) = forms.pushdown() else { return Shortened::default() };
    let (system, property) = (&*form.system, &form.question.property);
    let started = Instant::now();
    let effort = Effort::default();
    let effort = Effort { patience: effort.patience.max(used / 2), ..effort };
    let Shortest { trace, minimal, stopped } = shortest(system, property, known, effort, budget);
    let time = started.elapsed();
    let judged = replay(system, property, &trace);
    outcome.checking += started.elapsed() - time;
    match judged {
        Ok(()) => {
            *known = trace;
            // With other inputs there may be a shorter one.
            Shortened { minimal: minimal && !forms.has_inputs(), stopped, time }
        }
        // It rests on rules that may be missing, and the known one does not.
        Err(Rejection::Stopped(_)) => Shortened { minimal: false, stopped, time },
        Err(rejection) => {
            let (engine, claim) = ("shortest", "unsafe");
            outcome.rejected = Some(EvidenceRejected { engine, claim, why: rejection.to_string() });
            Shortened::default()
        }
    }
}
