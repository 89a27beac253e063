//! `allways check`: can a bad state be reached?

use super::arguments::Check;
use super::choice::choose;
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::stats::{self, Stats};
use super::steps::Rows;
use super::{Context, Failure, words};
use allways::verify::{name, nothing};
use allways::{Checked, Engine, LoadError, Loaded, Question, StopReason, Verdict, Watch, check, load};
use allways_evidence::Trace;
use allways_model::notation::show_state;
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs the command.
pub fn run(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    let (engine, question) = choose(&arguments.search)?;
    let several = arguments.files.len() > 1;
    if several && arguments.search.evidence.is_some() {
        let what = "--evidence holds the evidence for one file".to_string();
        return Err(Failure::Usage(what, "check the files one by one".to_string()));
    }
    let destination = Destination::new(arguments.search.evidence.as_deref())?;
    Session::heed_interruptions();
    let mut worst = Exit::Success;
    for (index, file) in arguments.files.iter().enumerate() {
        let started = if index == 0 { context.started } else { Instant::now() };
        let session = Session::new(started, arguments.search.limits, !context.quiet);
        let one = One { arguments, file, engine, session, several };
        let exit = one.run(&question, &destination, context);
        let exit = exit.unwrap_or_else(|failure| context.complaints.report(&failure));
        worst = worst.max(exit);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(worst)
}

/// One file of those to be checked.
struct One<'a> {
    arguments: &'a Check,
    file: &'a Path,
    engine: &'static dyn Engine,
    session: Session,
    several: bool,
}

impl One<'_> {
    fn run(
        self,
        question: &Question,
        destination: &Destination,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let search = &self.arguments.search;
        let (file, init) = (self.file.to_path_buf(), search.start.init.clone());
        let targets = self.arguments.targets.states.clone();
        let deadlock = self.arguments.targets.deadlock;
        let loaded = self.session.reading(move || {
            let loaded = load(file, init.as_deref(), &Watch::none())?;
            let property = Property { deadlock, ..loaded.property(&targets, &Watch::none())? };
            Ok((loaded, property))
        });
        let (loaded, property) = match loaded {
            Err(LoadError::Stopped(reason)) => return Ok(self.not_loaded(reason, context)),
            loaded => loaded?,
        };
        context.complaints.remarks(&loaded.remarks);
        loaded.vacuous(&property).iter().for_each(|slip| context.complaints.warn(slip));
        if property.is_empty() {
            let spec = words::path(&self.file.with_extension("spec"));
            let help = format!(
                "give --target STATE, such as --target '*|1,2', or --deadlock, or write the state to {spec}"
            );
            let what = format!("{}: nothing to check: no state to avoid is given", words::path(self.file));
            return Err(Failure::Usage(what, help));
        }
        let question = Question { property, ..question.clone() };
        let checked = self.session.watched(|watch| check(&loaded.system, &question, self.engine, watch))?;
        let exit = match &checked.report.verdict {
            Verdict::Safe(_) => Exit::Success,
            Verdict::Unsafe(_) => Exit::Unsafe,
            Verdict::Unknown(reason) => Exit::stopped(reason),
        };
        if search.json {
            let trace = match &checked.report.verdict {
                Verdict::Unsafe(trace) => Some(steps(&loaded.system, trace)),
                Verdict::Safe(_) | Verdict::Unknown(_) => None,
            };
            self.print_json(&checked, trace, context);
        } else {
            self.print(&loaded, &question, &checked, context);
        }
        destination.write(&loaded.system, checked.report.verdict, context)?;
        Ok(exit)
    }

    fn print(&self, loaded: &Loaded, question: &Question, checked: &Checked, context: &mut Context) {
        let Checked { report, searching, checking, .. } = checked;
        let file = words::path(self.file);
        let targets = words::targets(&loaded.system, &question.property);
        let visible = words::count(report.visible.count(), "visible state");
        let (engine, time) = (name(self.engine, report), words::duration(self.session.elapsed()));
        match &report.verdict {
            Verdict::Safe(invariant) => {
                let visible = words::count(invariant.visible_count(), "visible state");
                let rest = format!("{file} never reaches {targets} ({engine}, {visible}, certified, {time})");
                context.output.verdict("safe", &rest);
            }
            Verdict::Unsafe(trace) => {
                let bad = words::reached(&loaded.system, &question.property, &trace.last().visible());
                let steps = words::count(trace.steps.len() as u128, "step");
                let rest = format!("{file} reaches {bad} in {steps} ({engine}, certified, {time})");
                context.output.verdict("unsafe", &rest);
                if !context.quiet && !self.several {
                    let rows = Rows::new(&loaded.system, trace, &loaded.remarks.text.bytes);
                    context.output.emit(|out| {
                        writeln!(out, "{}", rows.header())?;
                        rows.iter().try_for_each(|row| writeln!(out, "{row}"))
                    });
                }
            }
            Verdict::Unknown(reason) => {
                let because = words::because(reason);
                let rest = format!(
                    "whether {file} reaches {targets}, because {because} ({engine}, {visible} so far, {time})"
                );
                context.output.verdict("unknown", &rest);
            }
        }
        if self.arguments.search.stats {
            context.output.emit(|out| stats::write(out, &report.figures, *searching, *checking));
        }
    }

    /// What is known if not even the file was read.
    fn not_loaded(&self, reason: StopReason, context: &mut Context) -> Exit {
        let exit = Exit::stopped(&reason);
        if self.arguments.search.json {
            let report = nothing(reason);
            let checked =
                Checked { report, certified: false, searching: Duration::ZERO, checking: Duration::ZERO };
            self.print_json(&checked, None, context);
        } else {
            let (file, because) = (words::path(self.file), words::because(&reason));
            let time = words::duration(self.session.elapsed());
            context
                .output
                .verdict("unknown", &format!("{file} was not read to the end, because {because} ({time})"));
        }
        exit
    }

    fn print_json(&self, checked: &Checked, trace: Option<Vec<StepRow>>, context: &mut Context) {
        let Checked { report, certified, searching, checking } = checked;
        let (verdict, reason) = match &report.verdict {
            Verdict::Safe(_) => ("safe", None),
            Verdict::Unsafe(_) => ("unsafe", None),
            Verdict::Unknown(reason) => ("unknown", Some(reason.to_string())),
        };
        let object = Object {
            verdict,
            file: self.file.display().to_string(),
            engine: name(self.engine, report),
            certified: *certified,
            reason,
            seconds: self.session.elapsed().as_secs_f64(),
            peak_bytes: self.session.peak(),
            trace,
            stats: self.arguments.search.stats.then(|| Stats::new(&report.figures, *searching, *checking)),
        };
        context.output.emit(|out| {
            serde_json::to_writer(&mut *out, &object)?;
            writeln!(out)?;
            out.flush()
        });
    }
}

fn steps(system: &dyn Pushdown, trace: &Trace) -> Vec<StepRow> {
    let initial = StepRow { thread: None, state: show_state(system, &trace.initial), line: None };
    let steps = trace.steps.iter().map(|step| StepRow {
        thread: Some(step.thread),
        state: show_state(system, &step.state),
        line: Some(step.line),
    });
    std::iter::once(initial).chain(steps).collect()
}

#[derive(Serialize)]
struct Object {
    verdict: &'static str,
    file: String,
    engine: &'static str,
    certified: bool,
    reason: Option<String>,
    seconds: f64,
    peak_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Vec<StepRow>>,
    #[serde(flatten)]
    stats: Option<Stats>,
}

#[derive(Serialize)]
struct StepRow {
    thread: Option<usize>,
    state: String,
    line: Option<u32>,
}
