//! `allways certify` and `allways replay`, and where `--evidence` goes.

use super::arguments::{Certify, Replay};
use super::exit::Exit;
use super::session::Session;
use super::steps::Rows;
use super::{Context, Failure, words};
use allways::load::read;
use allways::{Evidence, LoadError, Loaded, Options, Story, Verdict, Watch, load};
use allways_evidence::{
    Certificate, Counterexample, Header, Judge, Rejection, Subject, Trace, VERSION, certify as accept,
    interpret, read_evidence, replay as walk, write_evidence,
};
use allways_model::property::{Pattern, Property};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufRead, IsTerminal};
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

    /// Where that is.
    pub fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }

    /// Says that there is nothing to be written.
    pub fn nothing(&self, context: &mut Context) {
        if let Some(path) = &self.0 {
            context.complaints.note(&format!("no evidence, so {} is not written", words::path(path)));
        }
    }

    /// Writes the evidence of a verdict that a checker has accepted.
    pub fn write(
        &self,
        subject: &Subject<'_>,
        verdict: &Verdict,
        context: &mut Context,
    ) -> Result<(), Failure> {
        let Some(path) = &self.0 else { return Ok(()) };
        let Some(evidence) = verdict.evidence() else {
            self.nothing(context);
            return Ok(());
        };
        let unwritable = |error| Failure::Unwritable(path.clone(), error);
        let mut file = File::create(path).map_err(unwritable)?;
        write_evidence(subject, evidence, &mut file).map_err(unwritable)
    }
}

/// Runs `certify`.
pub fn certify(arguments: &Certify, context: &mut Context) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    let session = Session::new(context.started, arguments.limits, false);
    let (file, evidence, options) =
        (arguments.file.clone(), arguments.evidence.clone(), arguments.start.options());
    let (targets, none) = (arguments.targets.states.clone(), arguments.no_target);
    let deadlock = arguments.targets.deadlock;
    let read = session.reading(move || {
        let case = Case::load(&file, &evidence, &options)?;
        let property =
            if none { Property::default() } else { case.loaded.property(&targets, &Watch::none())? };
        Ok((case, Property { deadlock, ..property }))
    });
    let (case, property) = match read {
        Err(Failure::Input(LoadError::Stopped(reason))) => {
            context
                .output
                .verdict("unknown", &format!("not read to the end, because {}", words::because(&reason)));
            return Ok(Exit::stopped(&reason));
        }
        read => read?,
    };
    context.complaints.remarks(&case.loaded.remarks);
    let judged = session.watched(|watch| case.judge(&property, watch))?;
    let (verdict, rejection, exit) = match &judged {
        Ok(()) => ("accepted", None, Exit::Success),
        Err(Rejected::Checker(Rejection::Stopped(reason))) => {
            ("unknown", Some(words::because(reason)), Exit::stopped(reason))
        }
        Err(Rejected::Checker(rejection)) => ("rejected", Some(rejection.to_string()), Exit::Bug),
        Err(Rejected::Text(text)) => ("rejected", Some(text.clone()), Exit::Bug),
    };
    let name = words::path(&arguments.evidence);
    if arguments.json {
        let object = Object {
            verdict,
            kind: case.kind(),
            reason: rejection,
            seconds: session.elapsed().as_secs_f64(),
        };
        context.output.emit(|out| {
            serde_json::to_writer(&mut *out, &object)?;
            writeln!(out)
        });
    } else {
        let (file, time) = (words::path(&arguments.file), words::duration(session.elapsed()));
        let rest = match rejection {
            None => format!("{name} proves that {file} {} ({time})", case.claim(&property)),
            Some(why) if verdict == "unknown" => format!("{name} was not checked to the end, because {why}"),
            Some(why) => format!("{name} proves nothing about {file}: {why}"),
        };
        context.output.verdict(verdict, &rest);
    }
    Ok(exit)
}

/// Runs `replay`.
pub fn replay(arguments: &Replay, context: &mut Context) -> Result<Exit, Failure> {
    let case = Case::load(&arguments.file, &arguments.trace, &arguments.start.options())?;
    context.complaints.remarks(&case.loaded.remarks);
    let (file, name) = (words::path(&arguments.file), words::path(&arguments.trace));
    let trace = match &case.evidence {
        Ok(Evidence::Counterexample(Counterexample::Trace(trace))) => trace,
        Ok(_) => {
            let help = "`allways certify` checks proofs".to_string();
            return Err(Failure::Usage(format!("{name} is a proof, which has no steps"), help));
        }
        Err(text) => {
            context.output.verdict("rejected", &format!("{name} is no run of {file}: {text}"));
            return Ok(Exit::Bug);
        }
    };
    let mut property = case.loaded.property(&arguments.targets.states, &Watch::none())?;
    property.deadlock = arguments.targets.deadlock;
    let end = trace.last().visible();
    if property.is_empty() {
        // Nothing is said about where the run must end, so let it be where it does.
        property
            .bad
            .push(Pattern { shared: Some(end.shared), tops: end.tops.iter().copied().map(Some).collect() });
    }
    let rows = Rows::new(&case.loaded.system, trace, &case.loaded.remarks.text.bytes);
    let judged = case.walk(&property, trace);
    let (good, exit) = match &judged {
        Ok(Some(story)) => {
            let steps = words::count(story.steps.len() as u128, "step");
            context.output.verdict("accepted", &format!("{file} goes wrong in {steps}: {}", story.end));
            if !context.quiet {
                let table = story.table();
                let rows = (0..story.steps.len()).map(|step| table.rows(step).join("\n"));
                step_through(&table.header().join("\n"), &rows.collect::<Vec<_>>(), context);
                let ending = [&story.end].into_iter().chain(&story.notes);
                ending.for_each(|line| context.output.emit(|out| writeln!(out, "  {line}")));
            }
            return Ok(Exit::Success);
        }
        Ok(None) => {
            let end = words::reached(&case.loaded.system, &property, &end);
            let steps = words::count(trace.steps.len() as u128, "step");
            context.output.verdict("accepted", &format!("{file} reaches {end} in {steps}"));
            (trace.steps.len() + 1, Exit::Success)
        }
        Err(rejection) => {
            context
                .output
                .verdict("rejected", &format!("{name} is no run of {file} that goes wrong: {rejection}"));
            let good = match rejection {
                Rejection::BadStep { step, .. } => *step,
                Rejection::NotBad { step, .. } => step + 1,
                _ => 0,
            };
            (good, Exit::Bug)
        }
    };
    if !context.quiet && good > 0 {
        step_through(&rows.header(), &rows.iter().take(good).collect::<Vec<_>>(), context);
    }
    Ok(exit)
}

/// Prints rows; on a terminal, one by one.
fn step_through(header: &str, rows: &[String], context: &mut Context) {
    let patient = io::stdin().is_terminal() && io::stdout().is_terminal();
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

/// A system and what is said about it.
struct Case {
    loaded: Loaded,
    /// The evidence, or why it is none for this system.
    evidence: Result<Evidence, String>,
}

/// Who rejects evidence, and why.
enum Rejected {
    /// It does not fit the system, at some line.
    Text(String),
    Checker(Rejection),
}

impl Case {
    fn load(file: &Path, evidence: &Path, options: &Options) -> Result<Case, Failure> {
        let loaded = load(file, options, &Watch::none())?;
        let text = read(evidence, &Watch::none())?.bytes;
        let header = Header::read(&text);
        let any_number = header.is_some_and(|header| header.any_number);
        let any_number = if any_number { loaded.any_number()? } else { None };
        let loaded = any_number.unwrap_or(loaded);
        let subject = Subject::Pushdown { system: &loaded.system, property: &Property::default() };
        let evidence = match read_evidence(&subject, &text) {
            Ok(evidence) => Ok(evidence),
            Err(bad) if header.is_some_and(|header| header.version == VERSION) => {
                let hint = match loaded.threads_taken() {
                    Some(_) => {
                        "; the program leaves open how many threads there are: give the --threads that check printed"
                    }
                    None => "",
                };
                Err(format!("line {}, column {}: {}{hint}", bad.line, bad.column, bad.what))
            }
            Err(bad) => return Err(Failure::NoEvidence(evidence.to_path_buf(), bad)),
        };
        Ok(Case { loaded, evidence })
    }

    /// The checker's word. A trace needs a property; an invariant without one contains every reachable state.
    fn judge(&self, property: &Property, watch: &Watch) -> Result<Result<(), Rejected>, Failure> {
        let judged = match &self.evidence {
            Err(text) => return Ok(Err(Rejected::Text(text.clone()))),
            Ok(Evidence::Counterexample(_)) if property.is_empty() => {
                let spec = words::path(&self.loaded.path.with_extension("spec"));
                let what =
                    "a trace proves something only about a state to avoid, and none is given".to_string();
                return Err(Failure::Usage(
                    what,
                    format!("give --target STATE or --deadlock, or write the state to {spec}"),
                ));
            }
            Ok(Evidence::Counterexample(Counterexample::Trace(trace))) => {
                self.walk(property, trace).map(|_| ())
            }
            Ok(evidence) => {
                let stop = || watch.room_for(0).err();
                let subject = Subject::Pushdown { system: &self.loaded.system, property };
                accept(&subject, evidence, &mut Judge::new(&stop))
            }
        };
        Ok(judged.map_err(Rejected::Checker))
    }

    /// Walks a trace, and if it is one of a program, by the program's own semantics as well.
    fn walk(&self, property: &Property, trace: &Trace) -> Result<Option<Story>, Rejection> {
        walk(&self.loaded.system, property, trace)?;
        let Some(encoded) = self.loaded.system.program() else { return Ok(None) };
        let run = interpret(encoded, trace)?;
        Ok(Some(Story::new(encoded, &run, &self.loaded.remarks.text.bytes)))
    }

    fn kind(&self) -> Option<&'static str> {
        self.evidence.as_ref().ok().map(Evidence::kind)
    }

    /// What accepted evidence shows about the system.
    fn claim(&self, property: &Property) -> String {
        let targets = words::targets(&self.loaded.system, property);
        match &self.evidence {
            Ok(Evidence::Counterexample(_)) if self.loaded.system.program().is_some() => {
                "goes wrong".to_string()
            }
            Ok(Evidence::Certificate(proof))
                if self.loaded.system.program().is_some() && !property.is_empty() =>
            {
                let stuck = if property.deadlock { " or is stuck" } else { "" };
                format!("never goes wrong{stuck}{}", words::any_number(proof))
            }
            Ok(Evidence::Counterexample(counterexample)) => {
                let end = counterexample.trace().map(|trace| trace.last().visible());
                let reached = end.map(|end| words::reached(&self.loaded.system, property, &end));
                format!("reaches {}", reached.unwrap_or_default())
            }
            Ok(Evidence::Certificate(_)) if !property.is_empty() => format!("never reaches {targets}"),
            Ok(Evidence::Certificate(Certificate::Invariant(invariant))) => {
                format!("never leaves {}", words::count(invariant.visible_count(), "visible state"))
            }
            Ok(Evidence::Certificate(proof)) => {
                format!("never leaves the products of {}", words::size(proof))
            }
            Err(_) => String::new(),
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
