//! `check`: runs a strategy on a task, has the answer certified, makes counterexamples short, and maps them back to the source.
//!
//! Nothing is announced that a checker has not accepted: rejected evidence is a [`CheckError::Rejected`], a bug of ours and
//! never a verdict. Limits hold in every phase: a checker that runs out of them makes the verdict unknown.

use crate::explain;
use crate::load::{LoadError, forms};
use crate::report::{Answer, Report};
use crate::source_trace::SourceTrace;
use allways_engines::confirm::{Shortened, confirm, shorten};
use allways_engines::engine::Setting;
use allways_engines::meet::progress;
use allways_engines::table::NoEngine;
use allways_engines::{Budget, Engine, Engines, EvidenceRejected, Forms, Outcome, Question, Strategy};
use allways_evidence::listed::text_of;
use allways_evidence::{
    Certificate, Counterexample, Exhausted, Rejection, StopReason, Verdict, exhaust, interpret,
    write_evidence,
};
use allways_model::notation::show_state;
use allways_model::task::{Instance, Task};
use allways_smt::Settings;
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How to answer.
#[derive(Clone, Default)]
pub struct Request {
    /// Which engine; if none is named, whichever fits.
    pub engine: Option<&'static dyn Engine>,
    /// Bounds, and how to go about it. Its property is that of the task.
    pub question: Question,
    /// Where thread-modular sets do not prove it, say why.
    pub explain: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum CheckError {
    /// The task cannot be checked as it is.
    Input(LoadError),
    /// The engine cannot say anything about it.
    Unsupported(NoEngine),
    /// An engine whose evidence is rejected.
    Rejected(EvidenceRejected),
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CheckError::Input(error) => error.fmt(f),
            CheckError::Unsupported(error) => error.fmt(f),
            CheckError::Rejected(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CheckError {}

impl From<LoadError> for CheckError {
    fn from(error: LoadError) -> CheckError {
        CheckError::Input(error)
    }
}

impl From<EvidenceRejected> for CheckError {
    fn from(error: EvidenceRejected) -> CheckError {
        CheckError::Rejected(error)
    }
}

/// The answer.
pub struct Checked<'a> {
    /// What there is to say.
    pub report: Report,
    forms: Forms<'a>,
    verdict: Verdict,
}

impl Checked<'_> {
    /// The verdict with its evidence. A verdict other than unknown has been certified.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// What was checked, in the form that the verdict is about.
    pub(crate) fn forms(&self) -> &Forms<'_> {
        &self.forms
    }

    /// Writes the evidence, if there is any; whether there is.
    pub fn write_evidence(&self, out: &mut dyn Write) -> io::Result<bool> {
        write(&self.forms, &self.verdict, out)
    }
}

/// Writes evidence about an instance of a task.
pub(crate) fn write(forms: &Forms, verdict: &Verdict, out: &mut dyn Write) -> io::Result<bool> {
    let Some(evidence) = verdict.evidence() else { return Ok(false) };
    let misfit = |reason: StopReason| io::Error::new(io::ErrorKind::InvalidInput, reason.to_string());
    let written = forms.with_subject(evidence.kind(), |subject| write_evidence(subject, evidence, out));
    written.map_err(misfit)?.map(|()| true)
}

/// How much time shortening a trace takes its share of: of a program with integers, and with a number of threads that was not
/// asked for.
const INTEGER_SHORTENING_BUDGET: Duration = Duration::from_secs(1);
const INSTANCE_SHORTENING_BUDGET: Duration = Duration::from_secs(5);

/// How many states of a program, as it was written, are explored to confirm that it is safe.
const EXHAUSTED: usize = 1 << 8;

/// Whether the task can go wrong.
pub fn check<'a>(task: &'a Task, request: &Request, budget: &Budget) -> Result<Checked<'a>, CheckError> {
    let started = Instant::now();
    let forms = forms(task, &request.question, false)?;
    let engine = request.engine.unwrap_or_else(|| Engines::default().auto());
    if task.asks_progress() {
        if !matches!(engine.info().name, "auto" | "progress") {
            let what = format!("engine `{}` does not check progress", engine.info().name);
            let help =
                "leave out --engine and bounds, or --stuck; `eventually` is part of the program".to_string();
            return Err(CheckError::Unsupported(NoEngine { what, help }));
        }
        progress::supported(&forms).map_err(CheckError::Unsupported)?;
    }
    engine.supports(&forms).map_err(|what| unsupported(what, engine, &forms))?;
    if request.explain && forms.counters().is_some() {
        let what = "--explain is for programs and pushdown systems".to_string();
        return Err(CheckError::Unsupported(NoEngine { what, help: "leave out --explain".to_string() }));
    }
    // Where a task may do more than the program, half of the time is for counterexamples of one that does not.
    let half = task.exact.as_ref().and_then(|_| budget.time_left()).map(|left| budget.within(left / 2));
    let outcome = Strategy::of(engine, &forms).run(&forms, half.as_ref().unwrap_or(budget));
    let mut outcome = outcome
        .unwrap_or_else(|| Outcome::unknown(StopReason::GaveUp("nothing applies".to_string())))
        .by(engine.info());
    confirm(&forms, &mut outcome, budget);
    if let (Verdict::Safe(_), Some(why)) = (&outcome.verdict, &task.narrowed) {
        outcome.verdict = Verdict::Unknown(StopReason::GaveUp(why.clone()));
        outcome.certified = false;
    }
    if let (Verdict::Unsafe(_) | Verdict::Unknown(_), Some(exact)) = (&outcome.verdict, &task.exact)
        && outcome.rejected.is_none()
    {
        let checked = check(exact, request, budget)?;
        if matches!(checked.verdict, Verdict::Unsafe(_)) {
            return Ok(checked);
        }
    }
    if let (Verdict::Unsafe(_), Some(why)) = (&outcome.verdict, &task.widened) {
        outcome.verdict =
            Verdict::Unknown(StopReason::GaveUp(format!("the counterexample may be none: {why}")));
        outcome.certified = false;
    }
    let mut shortened = Shortened::default();
    if outcome.certified && !request.question.bounded() && outcome.figures.schedule.is_none() {
        // The runs of a program with integers are many, and a longer search seldom pays. A small number of threads is tried for
        // a short time only, and its trace made short in proportion.
        let share = match &outcome.instance {
            _ if task.has_integers() => INTEGER_SHORTENING_BUDGET,
            Some(_) => INSTANCE_SHORTENING_BUDGET,
            None => Duration::MAX,
        };
        shortened = shorten(&forms, &mut outcome, started.elapsed(), &budget.within(share));
    }
    if let Some(rejected) = outcome.rejected {
        return Err(rejected.into());
    }
    let forms = forms.of(&outcome);
    let source = source_trace(&forms, &mut outcome)?;
    let confirmed = confirm_unreduced(&forms, &mut outcome, budget)?;
    let explanation = request.explain.then(|| explain(&forms, &outcome.verdict, budget));
    let searching = started.elapsed().saturating_sub(outcome.checking).saturating_sub(shortened.time);
    let named = request.engine.is_some_and(|engine| engine.info().name != "auto");
    let answer = Answer {
        task,
        forms: &forms,
        outcome: &outcome,
        source,
        shortened,
        confirmed,
        explanation,
        searching,
        named,
    };
    Ok(Checked { report: Report::new(answer), verdict: outcome.verdict, forms })
}

/// That an engine does not support a task, and which do.
fn unsupported(what: String, engine: &dyn Engine, forms: &Forms) -> CheckError {
    let given = Setting::ALL.into_iter().filter(|setting| setting.is_given(forms.question()));
    let own =
        given.filter(|setting| engine.info().settings.contains(setting)).map(|setting| setting.to_string());
    let own: Vec<String> = own.collect();
    let able = Engines::default();
    let able = able.iter().filter(|able| able.info().needs.is_none() && able.supports(forms).is_ok());
    let able: Vec<&str> = able.map(|able| able.info().name).collect();
    let leave = if own.is_empty() { "--engine".to_string() } else { own.join(" and ") };
    let help = format!("leave out {leave}; engines that support it: {}", able.join(", "));
    CheckError::Unsupported(NoEngine { what, help })
}

/// What the user should know before the search: that a solver which may be needed cannot be started.
pub fn missing_solver(task: &Task, request: &Request) -> Option<String> {
    let engine = request.engine.unwrap_or_else(|| Engines::default().auto());
    let wanted = task.has_integers() && !task.property.deadlock && !request.question.bounded();
    if !wanted || !engine.info().settings.contains(&Setting::Solver) {
        return None;
    }
    let settings = request.question.solver.clone().unwrap_or_else(Settings::usual);
    settings.available().err().map(|failure| failure.to_string())
}

/// The run behind a trace, if it is one of a program, and the state after each step. That the program has no such run is a bug
/// of ours; that it could not be followed makes the verdict unknown.
fn source_trace(
    forms: &Forms,
    outcome: &mut Outcome,
) -> Result<Option<(SourceTrace, Vec<String>)>, EvidenceRejected> {
    let Verdict::Unsafe(counterexample) = &outcome.verdict else { return Ok(None) };
    let (Some(Ok(encoded)), Some(task)) = (forms.encoding(), forms.task()) else { return Ok(None) };
    let run = match counterexample {
        Counterexample::Trace(trace) => interpret(&encoded, trace),
        Counterexample::Lasso(lasso) => match lasso.run() {
            Some(run) => Ok(run),
            None => return Ok(None),
        },
        Counterexample::Run(_) => return Ok(None),
    };
    match run {
        Ok(run) => {
            // Where nothing was reduced, states are those of the program.
            let own = matches!(counterexample, Counterexample::Lasso(_));
            let states = run.steps.iter().map(|step| match own {
                true => text_of(&step.state),
                false => show_state(&*encoded, &encoded.encode(&step.state, &step.slots)),
            });
            let states = states.collect();
            Ok(Some((SourceTrace::new(&encoded, &run, &task.source.text), states)))
        }
        Err(Rejection::Stopped(reason)) => {
            outcome.verdict = Verdict::Unknown(reason);
            outcome.certified = false;
            Ok(None)
        }
        Err(why) => {
            let engine = outcome.engine.map_or("", |info| info.name);
            Err(EvidenceRejected { engine, claim: "unsafe", why: why.to_string() })
        }
    }
}

/// Confirms that a program is safe by running it as it was written, without reduction and encoding, where it has few states;
/// says how many, or nothing where that is not affordable.
fn confirm_unreduced(
    forms: &Forms,
    outcome: &mut Outcome,
    budget: &Budget,
) -> Result<Option<usize>, EvidenceRejected> {
    let (Verdict::Safe(certificate), Some(task), Some(program)) =
        (&outcome.verdict, forms.task(), forms.program())
    else {
        return Ok(None);
    };
    // There are more states than the certificate has, and where stacks grow there may be no end of them.
    let small = EXHAUSTED / 4;
    let few = match certificate {
        Certificate::Invariant(invariant) => {
            // To count visible states takes a while if there are many.
            invariant.states().len() <= EXHAUSTED
                && invariant.visible_count() <= small as u128
                && !invariant.windows.iter().flatten().any(|window| window.more)
        }
        Certificate::Products(products) => !products.any_number() && products.facts() <= small,
        Certificate::Counted(_)
        | Certificate::Basis(_)
        | Certificate::Views(_)
        | Certificate::Shards(_)
        | Certificate::Ranking(_) => false,
    };
    if !few || outcome.abstraction.is_some() || *forms.instance() == Instance::Any || task.has_integers() {
        return Ok(None);
    }
    let Ok(Some(threads)) = task.threads_of(program, forms.instance()) else { return Ok(None) };
    let started = Instant::now();
    let stop = || budget.check().err();
    let explored = exhaust(program, &threads, task.property.deadlock, EXHAUSTED, &stop);
    outcome.checking += started.elapsed();
    match explored {
        Ok(Exhausted::All { states }) => Ok(Some(states)),
        Ok(Exhausted::Beyond(_)) | Err(Rejection::Stopped(_)) => Ok(None),
        Err(why) => {
            let engine = outcome.engine.map_or("", |info| info.name);
            Err(EvidenceRejected { engine, claim: "safe", why: why.to_string() })
        }
    }
}

fn explain(forms: &Forms, verdict: &Verdict, budget: &Budget) -> String {
    match forms.pushdown() {
        Ok(form) => explain::sentence(&*form.system, &form.question.property, verdict, budget),
        Err(reason) => format!("no explanation, because {}", crate::words::because(&reason)),
    }
}
