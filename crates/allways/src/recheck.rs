//! Evidence from a file, checked again: `allways certify` and `allways replay`.

use crate::columns::TraceTable;
use crate::load::{LoadError, forms};
use crate::native::schedule::{NoSchedule, Schedule};
use crate::report::{run_table, trace_table};
use crate::source_trace::SourceTrace;
use crate::words;
use allways_engines::confirm::check_evidence;
use allways_engines::{Budget, Forms, Question};
use allways_evidence::{
    BadEvidence, Certificate, Counterexample, Evidence, Halt, Header, Rejection, Shards, interpret,
    read_evidence, read_inputs,
};
use allways_model::property::Pattern;
use allways_model::task::{Abstraction, Instance, Model, Task};
use std::path::Path;
use std::sync::Arc;

/// Evidence that was read, for a task.
pub struct Claim<'a> {
    forms: Forms<'a>,
    /// The evidence, or why it is none for this task.
    evidence: Result<Evidence, String>,
    /// The same about the tasks beside it, whose proofs count.
    abstractions: Vec<Claim<'a>>,
}

/// Why there is nothing to be checked.
#[derive(Debug)]
pub enum NoClaim {
    /// The task cannot be checked as it is.
    Input(LoadError),
    /// The text is no evidence at all.
    NoEvidence(BadEvidence),
}

impl From<LoadError> for NoClaim {
    fn from(error: LoadError) -> NoClaim {
        NoClaim::Input(error)
    }
}

/// Reads evidence about a task; without its property on request, as for evidence about what can be reached. A text that starts
/// as evidence does, and then is wrong, is a claim that will be rejected.
pub fn read_claim<'a>(
    task: &'a Task,
    question: &Question,
    no_property: bool,
    text: &[u8],
) -> Result<Claim<'a>, NoClaim> {
    // Where a task may do more than the program, counterexamples are those of one that does not.
    if let Some(exact) = &task.exact {
        let claim = read_claim(exact, question, no_property, text)?;
        if claim.is_counterexample() == Some(true) {
            return Ok(claim);
        }
    }
    let forms = forms(task, question, no_property)?;
    let others = Abstraction::ALL.into_iter().filter_map(|kind| forms.abstraction(kind));
    let claims = others.filter_map(|other| read_about(other, text).ok());
    let abstractions = claims.filter(|claim| claim.is_counterexample() == Some(false)).collect();
    Ok(Claim { abstractions, ..read_about(forms, text)? })
}

fn read_about<'a>(mut forms: Forms<'a>, text: &[u8]) -> Result<Claim<'a>, NoClaim> {
    let header = Header::read(text);
    let crowd = forms.at(Instance::Any);
    if header.is_some_and(|header| header.any_number) && matches!(crowd.encoding(), Some(Ok(_))) {
        forms = crowd;
    }
    let inputs = read_inputs(text);
    if !inputs.is_empty() {
        forms = forms.with_inputs(Arc::new(inputs));
    }
    let kind = header.map_or("", |header| header.kind);
    let read = forms.with_subject(kind, |subject| read_evidence(subject, text));
    let evidence = match read.map_err(|reason| NoClaim::Input(LoadError::Stopped(reason)))? {
        Ok(evidence) => Ok(evidence),
        Err(bad) if header.is_some() => {
            let hint = match forms.task().and_then(|task| task.numbers_taken(forms.instance())) {
                Some(_) => {
                    "; the program leaves open how many threads there are: give the --threads that check printed"
                }
                None => "",
            };
            Err(format!("line {}, column {}: {}{hint}", bad.line, bad.column, bad.what))
        }
        Err(bad) => return Err(NoClaim::NoEvidence(bad)),
    };
    Ok(Claim { forms, evidence, abstractions: Vec::new() })
}

/// A run that was walked step by step.
pub struct Walked {
    /// What it shows, or why it is rejected.
    pub judged: Result<String, String>,
    /// The steps, as far as they are possible.
    pub table: TraceTable,
}

impl Claim<'_> {
    /// What the evidence is called, if it is some.
    pub fn kind(&self) -> Option<&'static str> {
        let own = self.evidence.as_ref().ok().map(Evidence::kind);
        own.or_else(|| self.abstractions.first()?.kind())
    }

    /// Whether it is a counterexample; rejected evidence is nothing.
    pub fn is_counterexample(&self) -> Option<bool> {
        match &self.evidence {
            Ok(evidence) => Some(matches!(evidence, Evidence::Counterexample(_))),
            Err(_) => self.abstractions.first()?.is_counterexample(),
        }
    }

    /// The folder of the file from which it was read, in which shards are looked for.
    pub fn set_folder(&mut self, path: &Path) {
        if let Ok(Evidence::Certificate(Certificate::Shards(shards))) = &mut self.evidence {
            shards.folder = path.to_path_buf();
        }
    }

    /// The shards, if it is a list of such, and what they are about.
    pub fn shards(&self) -> Option<(&Forms<'_>, &Shards)> {
        match &self.evidence {
            Ok(Evidence::Certificate(Certificate::Shards(shards))) => Some((&self.forms, shards)),
            _ => None,
        }
    }

    /// The checker's word.
    pub fn check(&self, budget: &Budget) -> Result<(), Rejection> {
        let judged = self.check_exactly(budget);
        let accepted = || self.abstractions.iter().any(|claim| claim.check_exactly(budget).is_ok());
        if judged.is_err() && accepted() { Ok(()) } else { judged }
    }

    fn check_exactly(&self, budget: &Budget) -> Result<(), Rejection> {
        match &self.evidence {
            Err(text) => Err(Rejection::Malformed(text.clone())),
            Ok(evidence) => {
                check_evidence(&self.forms, evidence.into(), budget)?;
                self.source_trace().map(drop)
            }
        }
    }

    /// The run of a program behind a trace, if it is one.
    fn source_trace(&self) -> Result<Option<SourceTrace>, Rejection> {
        let (Some(Ok(encoded)), Some(task)) = (self.forms.encoding(), self.forms.task()) else {
            return Ok(None);
        };
        let run = match &self.evidence {
            Ok(Evidence::Counterexample(Counterexample::Trace(trace))) => interpret(&encoded, trace)?,
            Ok(Evidence::Counterexample(Counterexample::Lasso(lasso))) => match lasso.run() {
                Some(run) => run,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        Ok(Some(SourceTrace::new(&encoded, &run, &task.source.text)))
    }

    /// What a real run of a C program must do to go wrong as the trace does; nothing if it is no trace of a program.
    pub fn schedule(&self) -> Result<Option<Schedule>, NoSchedule> {
        let Ok(Evidence::Counterexample(Counterexample::Trace(trace))) = &self.evidence else {
            return Ok(None);
        };
        let (Some(Ok(encoded)), Some(task)) = (self.forms.encoding(), self.forms.task()) else {
            return Ok(None);
        };
        let run = interpret(&encoded, trace).map_err(|rejection| NoSchedule(rejection.to_string()))?;
        Schedule::new(&encoded, &run, &task.source.text).map(Some)
    }

    /// What accepted evidence shows about the task.
    pub fn claim(&self) -> String {
        let Some(task) = self.forms.task() else { return String::new() };
        let property = &self.forms.question().property;
        let targets = || match (self.forms.counters(), self.forms.pushdown()) {
            (Some(counters), _) => words::counter_targets(counters),
            (None, Ok(form)) => words::targets(&*form.system, &form.question.property),
            (None, Err(_)) => String::new(),
        };
        // Evidence about a task beside it need not read as evidence about the task.
        let evidence = match (&self.evidence, self.abstractions.first()) {
            (Err(_), Some(other)) => &other.evidence,
            (own, _) => own,
        };
        match (evidence, &task.model) {
            (Ok(Evidence::Counterexample(Counterexample::Lasso(lasso))), _) => match lasso.halt {
                Halt::Stuck { .. } => "has a thread that can be stuck for ever".to_string(),
                Halt::Starved { .. } => "may make no progress".to_string(),
            },
            (Ok(Evidence::Counterexample(_)), Model::Program(_)) => "goes wrong".to_string(),
            (Ok(Evidence::Counterexample(_)), Model::Counters(_)) => "covers a target".to_string(),
            (Ok(Evidence::Counterexample(counterexample)), Model::Rules(_)) => {
                match (counterexample.trace(), self.forms.pushdown()) {
                    (Some(trace), Ok(form)) => {
                        let end = trace.last().visible();
                        format!("reaches {}", words::reached(&*form.system, property, &end))
                    }
                    _ => String::new(),
                }
            }
            (Ok(Evidence::Certificate(certificate)), Model::Program(_)) if self.forms.has_property() => {
                let any = words::any_number(certificate, task);
                format!("{}{}", words::claim(task), words::with_any_number(any))
            }
            (Ok(Evidence::Certificate(_)), Model::Counters(_)) => format!("never covers {}", targets()),
            (Ok(Evidence::Certificate(certificate)), _) => match certificate {
                _ if !property.is_empty() => format!("never reaches {}", targets()),
                Certificate::Invariant(invariant) => {
                    format!("never leaves {}", words::count(invariant.visible_count(), "visible state"))
                }
                Certificate::Shards(shards) => {
                    format!("never leaves {}", words::count(shards.states(), "state"))
                }
                other => format!("never leaves the products of {}", words::size(other)),
            },
            (Err(_), _) => String::new(),
        }
    }

    /// Walks a counterexample. Where nothing is said about where it must end, it may end where it does.
    pub fn walk(mut self, budget: &Budget) -> Result<Walked, LoadError> {
        let trace = match &self.evidence {
            Err(text) => return Ok(Walked { judged: Err(text.clone()), table: TraceTable::default() }),
            Ok(Evidence::Counterexample(Counterexample::Trace(trace))) => trace.clone(),
            Ok(Evidence::Counterexample(Counterexample::Lasso(_))) => return Ok(self.walk_lasso(budget)),
            Ok(_) => return Ok(self.walk_run(budget)),
        };
        let form = self.forms.pushdown()?;
        if form.question.property.is_empty() {
            let end = trace.last().visible();
            let tops = end.tops.iter().copied().map(Some).collect();
            self.forms = self.forms.avoiding(Pattern { shared: Some(end.shared), tops });
        }
        let text = self.forms.task().map(|task| task.source.text.clone()).unwrap_or_default();
        let mut table = trace_table(&*form.system, &trace, &text);
        match self.check(budget) {
            Ok(()) => match self.source_trace() {
                Ok(Some(source)) => {
                    let steps = words::count(source.steps.len() as u128, "step");
                    let judged = Ok(format!("goes wrong in {steps}: {}", source.end));
                    Ok(Walked { judged, table: TraceTable::of_source(&source) })
                }
                _ => {
                    let steps = words::count(trace.steps.len() as u128, "step");
                    Ok(Walked { judged: Ok(format!("{} in {steps}", self.claim())), table })
                }
            },
            Err(rejection) => {
                table.truncate(match rejection {
                    Rejection::BadStep { step, .. } => step,
                    Rejection::NotBad { step, .. } => step + 1,
                    _ => 0,
                });
                let judged = Err(format!("that goes wrong: {rejection}"));
                Ok(Walked { judged, table })
            }
        }
    }

    fn walk_lasso(&self, budget: &Budget) -> Walked {
        match (self.check(budget), self.source_trace()) {
            (Ok(()), Ok(Some(source))) => Walked {
                judged: Ok(format!("makes no progress, {}: {}", words::lasso_steps(&source), source.end)),
                table: TraceTable::of_source(&source),
            },
            (Err(why), _) | (_, Err(why)) => {
                let judged = Err(format!("that makes no progress: {why}"));
                Walked { judged, table: TraceTable::default() }
            }
            (Ok(()), Ok(None)) => {
                let judged = Err("it is about a program".to_string());
                Walked { judged, table: TraceTable::default() }
            }
        }
    }

    fn walk_run(&self, budget: &Budget) -> Walked {
        let Ok(Evidence::Counterexample(Counterexample::Run(run))) = &self.evidence else {
            let judged = Err("a certificate has no steps".to_string());
            return Walked { judged, table: TraceTable::default() };
        };
        let Some(counters) = self.forms.counters() else {
            let judged = Err("it is about a counter system".to_string());
            return Walked { judged, table: TraceTable::default() };
        };
        match self.check(budget) {
            Ok(()) => {
                let end = run.configurations(counters).last().unwrap_or_else(|| run.initial.clone());
                let steps = words::count(run.rules.len() as u128, "step");
                let end = words::cut(&counters.show(&end));
                let judged = Ok(format!("covers a target in {steps}, in {end}"));
                Walked { judged, table: run_table(counters, run) }
            }
            Err(why) => {
                let judged = Err(format!("that covers a target: {why}"));
                Walked { judged, table: TraceTable::default() }
            }
        }
    }
}
