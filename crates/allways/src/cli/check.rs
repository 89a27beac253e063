//! `allways check`: can it go wrong? One file after the other, whatever their notations; the worst exit counts.

use super::arguments::{Check, TraceForm};
use super::cluster;
use super::diagnostics::Unanswered;
use super::evidence::Destination;
use super::exit::Exit;
use super::output;
use super::session::Session;
use super::{Context, Failure};
use crate::check::{CheckError, Request, check, missing_solver};
use crate::columns::TraceTable;
use crate::definition::{Definition, is_definition};
use crate::findings::{Finding, annotations, junit, sarif};
use crate::load::{LoadError, Loaded, Notation, is_standard_input, load};
use crate::page;
use crate::report::Report;
use crate::story::Story;
use crate::witness::{Asked, NoWitness, Witness, graphml, yaml};
use crate::words;
use allways_c::property::Property;
use allways_c::typed::DataModel;
use allways_engines::Budget;
use allways_lang::diagnostic::line_column;
use allways_model::task::{Model, Task};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Runs the command.
pub fn run(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    #[cfg(any(feature = "lsp", feature = "serve"))]
    if let Some(process) = arguments.asked_by {
        crate::jobs::end_with(process);
    }
    let question = arguments.search.question(&arguments.smt, arguments.scheduler);
    let engine = match cluster::engine(&arguments.workers, arguments, context.engines, &question)? {
        Some(engine) => engine,
        None => arguments.search.engine(context.engines, &question)?,
    };
    let request = Request { engine: Some(engine), question, explain: arguments.explain };
    let mut worst = Exit::Success;
    let json = arguments.search.json || arguments.story;
    let mut questions = Vec::new();
    let mut findings = Vec::new();
    for file in &arguments.files {
        match asked(file, arguments, context) {
            Ok(asked) => questions.extend(asked),
            Err(failure) => {
                worst = worst.max(context.fail(file, json, &failure));
                findings.push(Unanswered::new(file, &failure).finding());
            }
        }
    }
    let several = questions.len() > 1 || arguments.files.len() > 1;
    let written = [
        ("--evidence", &arguments.search.evidence),
        ("--witness", &arguments.witness),
        ("--html", &arguments.html),
    ];
    if let Some((option, _)) = written.iter().find(|(_, path)| several && path.is_some()) {
        let what = format!("{option} is about one answer");
        return Err(Failure::Usage(what, "check the files, or properties, one by one".to_string()));
    }
    let destination = Destination::new(arguments.search.evidence.as_deref())?;
    let witness = Destination::new(arguments.witness.as_deref())?;
    let html = Destination::new(arguments.html.as_deref())?;
    let destinations = Destinations { evidence: destination, witness, html };
    let sarif = Destination::new(arguments.sarif.as_deref())?;
    let junit = Destination::new(arguments.junit.as_deref())?;
    Session::heed_interruptions();
    let single = questions.len() == 1 && arguments.files.len() == 1;
    for (index, asked) in questions.iter().enumerate() {
        let started = if index == 0 { context.started } else { Instant::now() };
        let session = Session::new(started, arguments.search.limits, !context.quiet);
        let session = Arc::new(session.noting_growth(arguments.html.is_some() || arguments.story));
        let pictured = arguments.html.is_some()
            || arguments.sarif.is_some()
            || arguments.junit.is_some()
            || arguments.story
            || context.annotates;
        let job = CheckJob { arguments, request: &request, asked, single, pictured, session: &session };
        let exit = job.run(&destinations, &mut findings, context);
        let exit = exit.unwrap_or_else(|failure| {
            findings.push(Unanswered::new(&asked.file, &failure).finding());
            context.fail(&asked.file, json, &if single { failure } else { failure.about(&asked.file) })
        });
        worst = worst.max(exit);
        if exit == Exit::Interrupted {
            break;
        }
    }
    if context.annotates {
        annotate(&findings, json, context);
    }
    let text = |text: String| move |out: &mut dyn io::Write| out.write_all(text.as_bytes()).map(|()| true);
    if arguments.sarif.is_some() {
        sarif.write(text(format!("{:#}\n", sarif::log(&findings))), context)?;
    }
    if arguments.junit.is_some() {
        junit.write(text(junit::report(&findings)), context)?;
    }
    Ok(worst)
}

/// Says what was found as annotations of a pull request: among the output, unless that is for programs.
fn annotate(findings: &[Finding], json: bool, context: &mut Context) {
    for line in findings.iter().flat_map(annotations::annotations) {
        match json {
            true => output::complain(&format!("{line}\n")),
            false => context.output.emit(|out| writeln!(out, "{line}")),
        }
    }
}

/// What the user should know of a file besides the answer.
fn warnings(loaded: &Loaded) -> Vec<String> {
    let text = &loaded.diagnostics.source.text;
    let placed = loaded.diagnostics.diagnostics.iter().map(|remark| {
        let (line, _) = line_column(text, remark.span.start);
        format!("line {line}: {}", remark.message)
    });
    placed.chain(loaded.warnings.iter().cloned()).collect()
}

/// A file, and what is asked of it where a task definition says so.
struct Question {
    file: PathBuf,
    data_model: Option<DataModel>,
    property: Option<(String, Property)>,
    expected: Option<bool>,
}

/// What is asked of a file; of a task definition, one question for each of its properties that is checked, or the property that
/// is given.
fn asked(file: &Path, arguments: &Check, context: &mut Context) -> Result<Vec<Question>, Failure> {
    let plain = Question { file: file.to_path_buf(), data_model: None, property: None, expected: None };
    if !is_definition(file) {
        return Ok(vec![plain]);
    }
    let definition = Definition::read(file, &Budget::unlimited())?;
    let question = |property: Option<(String, Property)>, expected| Question {
        file: definition.input.clone(),
        data_model: definition.data_model,
        property,
        expected,
    };
    if let Some(given) = arguments.search.start.options().property {
        let same = definition.asked.iter().find(|asked| asked.property == Ok(given));
        return Ok(vec![question(None, same.and_then(|asked| asked.expected))]);
    }
    let mut questions = Vec::new();
    for asked in definition.asked.iter() {
        match &asked.property {
            Ok(property) => {
                questions.push(question(Some((asked.name.clone(), *property)), asked.expected));
            }
            Err(why) => context.printer.warn(&format!("{} is not checked: {why}", asked.name)),
        }
    }
    if questions.is_empty() {
        let what = format!("{} asks for no property that is checked", words::path(file));
        return Err(Failure::Usage(what, "give one with --property".to_string()));
    }
    Ok(questions)
}

/// Where answers are written besides standard output.
struct Destinations {
    evidence: Destination,
    witness: Destination,
    html: Destination,
}

/// One file of those to be checked.
struct CheckJob<'a> {
    arguments: &'a Check,
    request: &'a Request,
    asked: &'a Question,
    /// Whether it is the only one.
    single: bool,
    /// Whether more than the report is told.
    pictured: bool,
    session: &'a Arc<Session>,
}

/// What a check says, and its evidence when that is written out: none if there is none.
struct Told {
    report: Report,
    evidence: Receiver<io::Result<Option<Vec<u8>>>>,
    /// The same of the witness, or why there is none.
    witness: Receiver<Result<String, NoWitness>>,
    /// What a page shows.
    story: Receiver<Story>,
}

impl CheckJob<'_> {
    fn run(
        &self,
        destinations: &Destinations,
        findings: &mut Vec<Finding>,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        if self.arguments.witness.is_some() && !matches!(self.notation(), "c" | "i") {
            let what = "--witness is for C programs".to_string();
            return Err(Failure::Usage(what, "--evidence writes evidence about all programs".to_string()));
        }
        let mut options = self.arguments.search.start.options();
        options.targets = self.arguments.targets.states.clone();
        options.labels = self.arguments.targets.labels.clone();
        options.deadlock = self.arguments.targets.deadlock;
        options.stuck = self.arguments.targets.stuck;
        if let (Some(model), None) = (self.asked.data_model, self.arguments.search.start.data_model) {
            options.data_model = model;
        }
        options.property = self.asked.property.as_ref().map(|(_, property)| *property).or(options.property);
        let file = self.asked.file.clone();
        let asked = Asked { path: file.clone(), options: options.clone() };
        let loaded = match self.session.reading(move || load(file, &options, &Budget::unlimited())) {
            Err(LoadError::Stopped(reason)) => {
                let engine = self.request.engine.map_or("", |engine| engine.info().name);
                let report = Report::not_read(&self.asked.file, engine, &reason);
                return self.tell_without_evidence(report, Vec::new(), destinations, findings, context);
            }
            loaded => loaded?,
        };
        context.printer.diagnostics(&loaded.diagnostics);
        let warnings = warnings(&loaded);
        drop(loaded.diagnostics);
        loaded.warnings.iter().for_each(|warning| context.printer.warn(warning));
        let task = loaded.task;
        self.refuse_nothing(&task)?;
        if let Some(missing) = missing_solver(&task, self.request) {
            context.printer.warn(&missing);
        }
        let name = task.source.name.clone();
        let (session, request) = (Arc::clone(self.session), self.request.clone());
        let wanted = self.arguments.search.evidence.is_some();
        let witness_path = self.arguments.witness.clone();
        let pictured = self.pictured;
        let working = move |sender: Sender<Result<Told, CheckError>>| {
            let mut checked = match session.budgeted(|budget| check(&task, &request, budget)) {
                Ok(checked) => checked,
                // Nobody waits any more if this fails; so in what follows.
                Err(error) => return drop(sender.send(Err(error))),
            };
            let ((later, evidence), (telling, told), (showing, story)) = (channel(), channel(), channel());
            let report = std::mem::take(&mut checked.report);
            let pictured = pictured.then(|| report.clone());
            let _ = sender.send(Ok(Told { report, evidence, witness: told, story }));
            if let Some(report) = pictured {
                let _ = showing.send(Story::new(&checked, &report, session.growth()));
            }
            if wanted {
                let mut bytes = Vec::new();
                let written = checked.write_evidence(&mut bytes);
                let _ = later.send(written.map(|some| some.then_some(bytes)));
            }
            if let Some(path) = witness_path {
                let witness = session.budgeted(|budget| Witness::of(&checked, &asked, budget));
                let in_graphml = path.extension().is_some_and(|ending| ending == "graphml");
                let written = witness.and_then(|witness| match in_graphml {
                    true => graphml::write(&witness),
                    false => Ok(yaml::write(&witness)),
                });
                let _ = telling.send(written);
            }
            drop(checked);
            drop(later);
        };
        let told = match self.session.working(working) {
            Ok(told) => told?,
            Err(reason) => {
                let engine = self.request.engine.map_or("", |engine| engine.info().name);
                let report = Report::not_finished(&name, engine, &reason);
                return self.tell_without_evidence(report, warnings, destinations, findings, context);
            }
        };
        let report = self.completed(told.report);
        let exit = self.tell(&report, context);
        if self.pictured {
            let story = told.story.recv().expect("a check that has a report gives its story");
            let story = Story { warnings, ..story };
            self.show(story, &report, &destinations.html, findings, context)?;
        }
        let evidence = || told.evidence.recv().expect("a check that has a report gives its evidence");
        destinations.evidence.write(
            |out| evidence()?.map_or(Ok(false), |bytes| out.write_all(&bytes).map(|()| true)),
            context,
        )?;
        if self.arguments.witness.is_some() {
            let text =
                told.witness.recv().expect("a check that has a report says whether there is a witness");
            match text {
                Ok(text) => {
                    let witness = &destinations.witness;
                    witness.write(|out| out.write_all(text.as_bytes()).map(|()| true), context)?;
                }
                Err(why) => context.printer.note(&format!("no witness is written: {why}")),
            }
        }
        if !self.single {
            // What one file took is freed before the next one is measured; the end of the process frees the last at once.
            while told.evidence.recv().is_ok() {}
        }
        Ok(exit)
    }

    /// The notation of the file, by its ending.
    fn notation(&self) -> &'static str {
        Notation::of(&self.asked.file, &self.arguments.search.start.options()).ending
    }

    /// A system with nothing to be avoided is a slip of the user.
    fn refuse_nothing(&self, task: &Task) -> Result<(), Failure> {
        let (what, example, ending) = match &task.model {
            Model::Rules(_) if task.property.is_empty() => {
                ("no state to avoid is given", "'*|1,2', or --deadlock", "spec")
            }
            Model::Counters(counters) if counters.targets.is_empty() && self.notation() == "spec" => {
                let what = format!(
                    "{}: nothing to check: there is no `target`",
                    words::path(Path::new(&task.source.name))
                );
                let help =
                    "give --target, such as --target 'x >= 1, y >= 2', or write `target` into the file";
                return Err(Failure::Usage(what, help.to_string()));
            }
            Model::Counters(counters) if counters.targets.is_empty() => {
                ("no target is given", "'0|1,1'", "prop")
            }
            _ => return Ok(()),
        };
        let what = format!("{}: nothing to check: {what}", words::path(Path::new(&task.source.name)));
        let or = match is_standard_input(&self.asked.file) {
            true => String::new(),
            false => format!(", or write it to {}", words::path(&self.asked.file.with_extension(ending))),
        };
        let help = format!("give --target STATE, such as --target {example}{or}");
        Err(Failure::Usage(what, help))
    }

    /// Tells of a check that was given up.
    fn tell_without_evidence(
        &self,
        report: Report,
        warnings: Vec<String>,
        destinations: &Destinations,
        findings: &mut Vec<Finding>,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let report = self.completed(report);
        let exit = self.tell(&report, context);
        if self.pictured {
            let story = Story { warnings, ..Story::of_report(&report) };
            self.show(story, &report, &destinations.html, findings, context)?;
        }
        Ok(exit)
    }

    /// Writes the page of a check, if it is wanted, and notes what was found.
    fn show(
        &self,
        story: Story,
        report: &Report,
        html: &Destination,
        findings: &mut Vec<Finding>,
        context: &mut Context,
    ) -> Result<(), Failure> {
        let story = Story { time: words::duration(Duration::from_secs_f64(report.seconds)), ..story };
        let written = html.write(
            |out| out.write_all(page::page(&story, report.table.as_ref()).as_bytes()).map(|()| true),
            context,
        );
        if self.arguments.story {
            context.output.json(&story);
        }
        findings.push(Finding::new(report, story));
        written
    }

    /// A report with what only the session knows.
    fn completed(&self, mut report: Report) -> Report {
        if self.arguments.search.stats {
            report = report.with_stats();
        }
        report.seconds = self.session.elapsed().as_secs_f64();
        report.peak_bytes = self.session.peak();
        report.property = self.asked.property.as_ref().map(|(name, _)| name.clone());
        report.expected = self.asked.expected.map(|holds| if holds { "safe" } else { "unsafe" });
        report
    }

    /// Renders a report.
    fn tell(&self, report: &Report, context: &mut Context) -> Exit {
        if self.arguments.search.json {
            context.output.json(report);
        } else if !self.arguments.story {
            let took = Duration::from_secs_f64(report.seconds);
            let form = self.arguments.trace;
            if form == TraceForm::Json {
                if !context.quiet {
                    output::complain(&format!("{}: {}\n", report.verdict, report.headline(took)));
                }
                context.output.json(&report.table.as_ref().map_or_else(Vec::new, TraceTable::steps));
                return Exit::of(report);
            }
            context.output.verdict(report.verdict, &report.headline(took));
            let of = report.property.as_ref().map(|name| format!("of {name}"));
            let expected = report.expected.map(|expected| match report.verdict {
                verdict if verdict == expected => "as expected".to_string(),
                "unknown" => format!("expected: {expected}"),
                _ => format!("otherwise than expected: {expected}"),
            });
            let said: Vec<String> = of.into_iter().chain(expected).collect();
            if !said.is_empty() {
                context.output.emit(|out| writeln!(out, "  {}", said.join(", ")));
            }
            let table = report.table.iter().filter(|_| !context.quiet && self.single);
            let lines = table.flat_map(|table| match form {
                TraceForm::Full => table.clone().full().lines(context.width),
                _ => table.lines(context.width),
            });
            context.output.emit(|out| {
                lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
                if let Some(stats) = &report.stats {
                    stats.write(out)?;
                }
                let next = report.next.iter().filter(|_| !context.quiet);
                next.chain(&report.explanation).try_for_each(|sentence| writeln!(out, "  {sentence}"))
            });
        }
        Exit::of(report)
    }
}
