//! The commands for counter systems, files that end in `.spec` or `.tts`: `check` is here.

mod convert;
mod evidence;

pub use convert::convert;
pub use evidence::{certify, replay};

use super::arguments::Check;
use super::check::each_file;
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure, words};
use allways::counters::{Checked, check as ask, is_counters, load};
use allways::{LoadError, StopReason, Watch};
use allways_engines::meet::coverability::Method;
use allways_evidence::counters::Run;
use allways_evidence::{Certificate, Counterexample, Subject, Verdict};
use allways_model::counters::Counters;
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// Runs `check`, if all files are counter systems; else `None`, and if only some are, a complaint.
pub fn check(arguments: &Check, context: &mut Context) -> Option<Result<Exit, Failure>> {
    let theirs = arguments.files.iter().filter(|file| is_counters(file)).count();
    match theirs {
        0 => None,
        _ if theirs == arguments.files.len() => Some(check_all(arguments, context)),
        _ => {
            let what = ".spec and .tts files have engines of their own".to_string();
            Some(Err(Failure::Usage(what, "check them apart from the others".to_string())))
        }
    }
}

fn check_all(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    let method = method(arguments)?;
    each_file(arguments, context, |file, session, destination, context| {
        check_one(arguments, file, method, &session, destination, context)
    })
}

/// The method that is asked for. An option that it would ignore is refused.
fn method(arguments: &Check) -> Result<Method, Failure> {
    let search = &arguments.search;
    let ignored = [
        (search.rounds.is_some(), "--rounds"),
        (search.contexts.is_some(), "--contexts"),
        (search.max_states.is_some(), "--max-states"),
        (search.max_depth.is_some(), "--max-depth"),
        (search.window.is_some(), "--window"),
        (search.no_symmetry, "--no-symmetry"),
        (search.published_bound, "--published-bound"),
        (search.no_frontier, "--no-frontier"),
        (search.start.threads.is_some(), "--threads"),
        (search.start.unreduced, "--unreduced"),
        (arguments.targets.deadlock, "--deadlock"),
        (arguments.explain, "--explain"),
        (arguments.scheduler.is_some(), "--scheduler"),
    ];
    refuse(&ignored)?;
    if search.engine == "auto" {
        return Ok(Method::Coverability);
    }
    let named = Method::ALL.into_iter().find(|method| method.name() == search.engine);
    named.ok_or_else(|| {
        let names = Method::ALL.map(Method::name).join(", ");
        Failure::Usage(
            format!("the engine {} is not for .spec and .tts files", search.engine),
            format!("take one of {names}"),
        )
    })
}

/// Refuses options that would be ignored.
fn refuse(ignored: &[(bool, &str)]) -> Result<(), Failure> {
    match ignored.iter().find(|(given, _)| *given) {
        Some((_, option)) => Err(Failure::Usage(
            format!("{option} is not for .spec and .tts files"),
            format!("leave out {option}"),
        )),
        None => Ok(()),
    }
}

fn check_one(
    arguments: &Check,
    file: &Path,
    method: Method,
    session: &Session,
    destination: &Destination,
    context: &mut Context,
) -> Result<Exit, Failure> {
    let search = &arguments.search;
    let (path, init, targets) =
        (file.to_path_buf(), search.start.init.clone(), arguments.targets.states.clone());
    let loaded = session.reading(move || load(&path, init.as_deref(), &targets, &Watch::none()));
    let (system, remarks) = match loaded {
        Err(LoadError::Stopped(reason)) => {
            return Ok(Answer { file, method, search_json: search.json, session }.not_read(&reason, context));
        }
        loaded => loaded?,
    };
    context.complaints.remarks(&remarks);
    if system.targets.is_empty() {
        let prop = words::path(&file.with_extension("prop"));
        let what = format!("{}: nothing to check: no target is given", words::path(file));
        let help = format!("give --target STATE, such as --target '0|1,1', or write it to {prop}");
        return Err(Failure::Usage(what, help));
    }
    let checked = session.watched(|watch| ask(&system, method, watch))?;
    let exit = match &checked.report.verdict {
        Verdict::Safe(_) => Exit::Success,
        Verdict::Unsafe(_) => Exit::Unsafe,
        Verdict::Unknown(reason) => Exit::stopped(reason),
    };
    let answer = Answer { file, method: checked.report.method, search_json: search.json, session };
    if search.json {
        answer.print_json(&checked.report.verdict, Some(&system), context);
    } else {
        answer.print(&system, &checked, arguments.files.len() > 1, context);
        if search.stats {
            let (stored, images) = (checked.report.stored, checked.report.images);
            let (searching, checking) =
                (words::duration(checked.searching), words::duration(checked.checking));
            context.output.emit(|out| {
                writeln!(
                    out,
                    "  {stored} stored, {images} images; searching {searching}, checking {checking}"
                )
            });
        }
    }
    destination.write(&Subject::Counters(&system), &checked.report.verdict, context)?;
    Ok(exit)
}

/// What is said about one file.
struct Answer<'a> {
    file: &'a Path,
    method: Method,
    search_json: bool,
    session: &'a Session,
}

impl Answer<'_> {
    fn print(&self, system: &Counters, checked: &Checked, several: bool, context: &mut Context) {
        let (file, engine) = (words::path(self.file), self.method.name());
        let time = words::duration(self.session.elapsed());
        match &checked.report.verdict {
            Verdict::Safe(Certificate::Basis(proof)) => {
                let basis = words::count(proof.members.len() as u128, "configuration");
                let limits = proof.bound.as_ref().map_or(0, Vec::len);
                let weights = proof.weights.len() as u128;
                let bound = format!(
                    "{}, {}",
                    words::count(limits as u128, "limit"),
                    words::count(weights, "invariant")
                );
                let targets = targets(system);
                let rest = format!(
                    "{file} never covers {targets}, with any number of threads ({engine}, {bound}, basis of {basis}, certified, {time})"
                );
                context.output.verdict("safe", &rest);
            }
            Verdict::Unsafe(Counterexample::Run(run)) => {
                let end = run.configurations(system).last().unwrap_or_else(|| run.initial.clone());
                let steps = words::count(run.rules.len() as u128, "step");
                let threads = words::count(run.threads(system).1, "thread");
                let end = words::cut(&system.show(&end));
                let rest = format!(
                    "{file} covers a target in {steps}, in {end} ({engine}, {threads}, certified, {time})"
                );
                context.output.verdict("unsafe", &rest);
                if !context.quiet && !several {
                    context.output.emit(|out| table(out, system, run));
                }
            }
            Verdict::Unknown(reason) => {
                let because = words::because(reason);
                let rest = format!(
                    "whether {file} covers {}, because {because} ({engine}, {time})",
                    targets(system)
                );
                context.output.verdict("unknown", &rest);
            }
            Verdict::Safe(_) | Verdict::Unsafe(_) => {}
        }
    }

    fn not_read(&self, reason: &StopReason, context: &mut Context) -> Exit {
        if self.search_json {
            self.print_json(&Verdict::Unknown(reason.clone()), None, context);
        } else {
            let (file, because) = (words::path(self.file), words::because(reason));
            context.output.verdict("unknown", &format!("{file} was not read to the end, because {because}"));
        }
        Exit::stopped(reason)
    }

    fn print_json(&self, verdict: &Verdict, system: Option<&Counters>, context: &mut Context) {
        let (word, reason) = match verdict {
            Verdict::Safe(_) => ("safe", None),
            Verdict::Unsafe(_) => ("unsafe", None),
            Verdict::Unknown(reason) => ("unknown", Some(reason.to_string())),
        };
        let run = match (verdict, system) {
            (Verdict::Unsafe(Counterexample::Run(run)), Some(system)) => Some(RunObject::new(system, run)),
            _ => None,
        };
        let object = Object {
            verdict: word,
            file: self.file.display().to_string(),
            engine: self.method.name(),
            certified: reason.is_none(),
            reason,
            seconds: self.session.elapsed().as_secs_f64(),
            peak_bytes: self.session.peak(),
            run,
        };
        emit(&object, context);
    }
}

fn emit(object: &impl Serialize, context: &mut Context) {
    context.output.emit(|out| {
        serde_json::to_writer(&mut *out, object)?;
        writeln!(out)?;
        out.flush()
    });
}

fn targets(system: &Counters) -> String {
    match &system.targets[..] {
        [target] => {
            let tokens = || target.tokens.iter().map(|(local, count)| (local, Some(count)));
            let shown = match target.shared {
                Some(shared) => system.show_tokens(shared, tokens()),
                // Written with any shared state, and without its name.
                None => {
                    let shown = system.show_tokens(0, tokens());
                    shown.split_once('|').map_or(shown.clone(), |(_, tokens)| format!("*|{tokens}"))
                }
            };
            words::cut(&shown)
        }
        many => format!("any of {} targets", many.len()),
    }
}

/// The steps of a run, one per row.
fn table(out: &mut dyn Write, system: &Counters, run: &Run) -> io::Result<()> {
    writeln!(out, "  step   line  state")?;
    writeln!(out, "     0         {}", words::cut(&system.show(&run.initial)))?;
    for (index, (&rule, after)) in run.rules.iter().zip(run.configurations(system)).enumerate() {
        let line = system.rules[rule as usize].line;
        writeln!(out, "{:6} {line:6}  {}", index + 1, words::cut(&system.show(&after)))?;
    }
    Ok(())
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
    #[serde(flatten)]
    run: Option<RunObject>,
}

#[derive(Serialize)]
struct RunObject {
    steps: usize,
    threads: u64,
    trace: Vec<StepObject>,
}

#[derive(Serialize)]
struct StepObject {
    thread: Option<usize>,
    state: String,
    line: Option<u32>,
}

impl RunObject {
    fn new(system: &Counters, run: &Run) -> RunObject {
        let initial = StepObject { thread: None, state: system.show(&run.initial), line: None };
        let steps = run.rules.iter().zip(run.configurations(system)).map(|(&rule, after)| StepObject {
            thread: None,
            state: system.show(&after),
            line: Some(system.rules[rule as usize].line),
        });
        let trace = std::iter::once(initial).chain(steps).collect();
        RunObject { steps: run.rules.len(), threads: run.threads(system).1, trace }
    }
}
