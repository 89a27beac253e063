//! `allways certify` and `allways replay`, and where `--evidence` goes.

use super::arguments::{Certify, Replay, TraceForm};
use super::cluster;
use super::exit::Exit;
use super::native;
use super::output;
use super::session::Session;
use super::{Context, Failure};
use crate::check::Request;
use crate::definition::is_definition;
use crate::load::{LoadError, Loaded, Options, SourceDiagnostics, load, load_stated, read};
use crate::recheck::{NoClaim, Walked, read_claim};
use crate::witness::confirm::{self, Judged};
use crate::witness::judge::{Stated, Tasks};
use crate::witness::{self, NoWitness};
use crate::words;
use allways_c::instrument::Instrumentation;
use allways_c::property::Property;
use allways_engines::{Budget, Question};
use allways_evidence::Rejection;
use allways_lang::diagnostic::{Diagnostics, Severity};
use allways_model::task::{Model, Task};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Where evidence is written, if anywhere.
pub struct Destination(Option<PathBuf>);

impl Destination {
    /// Complains at once about a place where nothing can be written: it would be a pity after the search.
    pub fn new(path: Option<&Path>) -> Result<Destination, Failure> {
        if let Some(path) = path {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let kind = if folder.is_some_and(|folder| !folder.is_dir()) {
                Some(io::ErrorKind::NotFound)
            } else {
                path.is_dir().then_some(io::ErrorKind::IsADirectory)
            };
            if let Some(kind) = kind {
                return Err(Failure::Unwritable(path.to_path_buf(), kind.into()));
            }
        }
        Ok(Destination(path.map(Path::to_path_buf)))
    }

    /// Has evidence written that a checker has accepted, if there is some.
    pub fn write(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<bool>,
        context: &mut Context,
    ) -> Result<(), Failure> {
        let Some(path) = &self.0 else { return Ok(()) };
        let unwritable = |error| Failure::Unwritable(path.clone(), error);
        let mut file = Later { path, file: None };
        if !write(&mut file).map_err(unwritable)? {
            context.printer.note(&format!("no evidence, so {} is not written", words::path(path)));
        }
        file.flush().map_err(unwritable)
    }
}

/// A file that is created when there is something to be written.
struct Later<'a> {
    path: &'a Path,
    file: Option<BufWriter<File>>,
}

impl Write for Later<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.file {
            Some(file) => file.write(bytes),
            None => self.file.insert(BufWriter::new(File::create(self.path)?)).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// Runs `certify` on a witness of another tool.
fn confirm_witness(arguments: &Certify, context: &mut Context) -> Result<Exit, Failure> {
    let session = Session::new(context.started, arguments.limits, false);
    let source = read(&arguments.evidence, &Budget::unlimited())?;
    let witness = witness::read::read(&source.text).map_err(|misfit| {
        let mut diagnostics = Diagnostics::default();
        diagnostics
            .add(Severity::Error, misfit.at..misfit.at, || (format!("expected {}", misfit.what), None));
        LoadError::Faulty(Box::new(SourceDiagnostics { source, diagnostics }))
    })?;
    let unfit = |why: NoWitness| {
        let help = "give a witness of a property that is checked".to_string();
        Failure::Usage(why.to_string(), help)
    };
    let stated = Stated::of(&witness);
    let mut options = arguments.start.options();
    options.property = Some(match stated {
        Some(stated) => stated.property().map_err(unfit)?,
        None => confirm::property(&witness).map_err(unfit)?,
    });
    if arguments.start.data_model.is_none() {
        options.data_model = witness.about.data_model;
    }
    let file = arguments.file.clone();
    let question = Question { solver: arguments.smt.settings(), ..Question::default() };
    let request = Request { question, ..Request::default() };
    let judged = match stated {
        None => {
            let loaded = session.reading(move || load(file, &options, &Budget::unlimited()))?;
            context.printer.diagnostics(&loaded.diagnostics);
            loaded.warnings.iter().for_each(|warning| context.printer.warn(warning));
            session.budgeted(|budget| confirm::confirm(&loaded.task, &witness, &request, budget))?
        }
        Some(stated) => {
            let instrumentation = stated.instrumentation();
            let (tasks, diagnostics, warnings) =
                session.reading(move || tasks(&file, options, &instrumentation))?;
            context.printer.diagnostics(&diagnostics);
            warnings.iter().for_each(|warning| context.printer.warn(warning));
            session.budgeted(|budget| stated.judge(&tasks, &request, budget))?
        }
    };
    let (verdict, words, exit) = match judged {
        Judged::Confirmed(how) => ("accepted", how, Exit::Success),
        Judged::Rejected(why) => ("rejected", why, Exit::Rejected),
        Judged::Unknown(why) => ("unknown", why, Exit::Unknown),
    };
    let (name, file) = (words::path(&arguments.evidence), words::path(&arguments.file));
    if arguments.json {
        let reason = (exit != Exit::Success).then_some(words);
        let seconds = session.elapsed().as_secs_f64();
        context.output.json(&Object { verdict, kind: Some("witness"), reason, seconds });
    } else {
        let time = words::duration(session.elapsed());
        let rest = match exit {
            Exit::Success if stated.is_some() => {
                format!("{file} is safe, as {name} says: {words} ({time})")
            }
            Exit::Success => format!("{file} goes wrong where {name} says: {words} ({time})"),
            Exit::Rejected if stated.is_some() => format!("{name} is not true of {file}: {words}"),
            Exit::Rejected => format!("{name} shows nothing about {file}: {words}"),
            _ => format!("{name} is neither accepted nor rejected, because {words}"),
        };
        context.output.verdict(verdict, &rest);
    }
    Ok(exit)
}

/// The tasks by which a correctness witness is judged, and what the user should know of the program. Races are looked for by themselves: what is stated causes none.
fn tasks(
    file: &Path,
    mut options: Options,
    stated: &Instrumentation,
) -> Result<(Tasks, SourceDiagnostics, Vec<String>), LoadError> {
    let budget = Budget::unlimited();
    let races = options.property.is_some_and(|property| property.races);
    let plain = if races { Some(load(file, &options, &budget)?.task) } else { None };
    if races {
        options.property = Some(Property::NOTHING);
    }
    let (loaded, unplaced) = load_stated(file, &options, stated, &budget)?;
    let Loaded { task: stated, diagnostics, warnings } = loaded;
    Ok((Tasks { plain, stated, unplaced }, diagnostics, warnings))
}

/// Runs `certify`.
pub fn recheck(arguments: &Certify, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    if is_definition(&arguments.evidence) {
        return confirm_witness(arguments, context);
    }
    let session = Session::new(context.started, arguments.limits, false);
    let (file, evidence) = (arguments.file.clone(), arguments.evidence.clone());
    let options = crate::load::Options {
        targets: arguments.targets.states.clone(),
        labels: arguments.targets.labels.clone(),
        deadlock: arguments.targets.deadlock,
        stuck: arguments.targets.stuck,
        no_property: arguments.no_target,
        ..arguments.start.options()
    };
    let loaded = session.reading(move || {
        let budget = Budget::unlimited();
        Ok((load(file, &options, &budget)?, read(&evidence, &budget)?.text))
    });
    let (loaded, text) = match loaded {
        Err(LoadError::Stopped(reason)) => {
            let because = words::because(&reason);
            context.output.verdict("unknown", &format!("not read to the end, because {because}"));
            return Ok(Exit::stopped(&reason));
        }
        loaded => loaded?,
    };
    context.printer.diagnostics(&loaded.diagnostics);
    let task = loaded.task;
    if arguments.no_target && matches!(task.model, Model::Counters(_)) {
        let what = "--no-target is not for .spec and .tts files".to_string();
        return Err(Failure::Usage(what, "leave out --no-target".to_string()));
    }
    let question = Question {
        unreduced: arguments.start.unreduced,
        solver: arguments.smt.settings(),
        smt_dump: arguments.smt.smt_dump.clone(),
        ..Question::default()
    };
    let mut claim = read_claim(&task, &question, arguments.no_target, &text)
        .map_err(|error| no_claim(error, &arguments.evidence))?;
    claim.set_folder(arguments.evidence.parent().unwrap_or(Path::new("")));
    if claim.is_counterexample() == Some(true) && is_silent(&task, arguments.no_target) {
        let spec = words::path(&arguments.file.with_extension("spec"));
        let what = "a trace proves something only about a state to avoid, and none is given".to_string();
        let help = format!("give --target STATE or --deadlock, or write the state to {spec}");
        return Err(Failure::Usage(what, help));
    }
    let judged = match arguments.workers {
        None => session.budgeted(|budget| claim.check(budget)),
        Some(workers) => {
            let spill = arguments.spill.as_deref();
            session.budgeted(|budget| cluster::certify(workers, spill, &claim, budget))?
        }
    };
    let (verdict, reason, exit) = match &judged {
        Ok(()) => ("accepted", None, Exit::Success),
        Err(Rejection::Stopped(reason)) => ("unknown", Some(words::because(reason)), Exit::stopped(reason)),
        Err(rejection) => ("rejected", Some(rejection.to_string()), Exit::Rejected),
    };
    let (name, file) = (words::path(&arguments.evidence), words::path(&arguments.file));
    if arguments.json {
        let seconds = session.elapsed().as_secs_f64();
        context.output.json(&Object { verdict, kind: claim.kind(), reason, seconds });
    } else {
        let rest = match reason {
            None => {
                let time = words::duration(session.elapsed());
                format!("{name} proves that {file} {} ({time})", claim.claim())
            }
            Some(why) if verdict == "unknown" => format!("{name} was not checked to the end, because {why}"),
            Some(why) => format!("{name} proves nothing about {file}: {why}"),
        };
        context.output.verdict(verdict, &rest);
    }
    Ok(exit)
}

/// Whether nothing is said about what is to be avoided.
fn is_silent(task: &Task, no_target: bool) -> bool {
    no_target || matches!(task.model, Model::Rules(_)) && task.property.is_empty()
}

fn no_claim(error: NoClaim, evidence: &Path) -> Failure {
    match error {
        NoClaim::Input(error) => error.into(),
        NoClaim::NoEvidence(bad) => Failure::NoEvidence(evidence.to_path_buf(), bad),
    }
}

/// Runs `replay`.
pub fn walk(arguments: &Replay, context: &mut Context) -> Result<Exit, Failure> {
    let budget = Budget::unlimited();
    let options = crate::load::Options {
        targets: arguments.targets.states.clone(),
        labels: arguments.targets.labels.clone(),
        deadlock: arguments.targets.deadlock,
        stuck: arguments.targets.stuck,
        ..arguments.start.options()
    };
    let loaded = load(&arguments.file, &options, &budget)?;
    context.printer.diagnostics(&loaded.diagnostics);
    let text = read(&arguments.trace, &budget)?.text;
    let question = Question { unreduced: arguments.start.unreduced, ..Question::default() };
    let claim = read_claim(&loaded.task, &question, false, &text)
        .map_err(|error| no_claim(error, &arguments.trace))?;
    let (file, name) = (words::path(&arguments.file), words::path(&arguments.trace));
    if claim.is_counterexample() == Some(false) {
        let help = "`allways certify` checks certificates".to_string();
        return Err(Failure::Usage(format!("{name} is a certificate, which has no steps"), help));
    }
    if arguments.native {
        return native::run(arguments, &claim, context);
    }
    let Walked { judged, table } = claim.walk(&budget)?;
    let (word, said, exit) = match judged {
        Ok(shown) => ("accepted", format!("{file} {shown}"), Exit::Success),
        Err(why) => ("rejected", format!("{name} is no run of {file} {why}"), Exit::Rejected),
    };
    if arguments.form == TraceForm::Json {
        if !context.quiet {
            output::complain(&format!("{word}: {said}\n"));
        }
        context.output.json(&table.steps());
        return Ok(exit);
    }
    context.output.verdict(word, &said);
    let table = if arguments.form == TraceForm::Full { table.full() } else { table };
    if !context.quiet && !table.is_empty() {
        let (header, steps) = table.set(context.width);
        step_through(&header.join("\n"), &steps, context);
        table.footer.iter().for_each(|line| context.output.emit(|out| writeln!(out, "{line}")));
    }
    Ok(exit)
}

/// Prints rows; on a terminal, one by one.
fn step_through(header: &str, rows: &[String], context: &mut Context) {
    let patient = io::stdin().is_terminal() && io::stdout().is_terminal();
    if patient && rows.len() > 1 {
        output::complain("Enter: the next step; q and Enter: no more\n");
    }
    context.output.emit(|out| writeln!(out, "{header}"));
    for (index, row) in rows.iter().enumerate() {
        context.output.emit(|out| write!(out, "{row}"));
        // The user's Enter ends the row.
        if patient && index + 1 < rows.len() {
            context.output.emit(|out| out.flush());
            let mut line = String::new();
            let read = io::stdin().lock().read_line(&mut line);
            if !read.is_ok_and(|bytes| bytes > 0) || line.trim() == "q" {
                return;
            }
        } else {
            context.output.emit(|out| writeln!(out));
        }
    }
}

#[derive(Serialize)]
struct Object {
    verdict: &'static str,
    kind: Option<&'static str>,
    reason: Option<String>,
    seconds: f64,
}
