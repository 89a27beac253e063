//! `allways check`: can it go wrong? One file after the other, whatever their notations; the worst exit counts.

use super::arguments::Check;
use super::cluster;
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::{Context, Failure};
use crate::check::{CheckError, Request, check, missing_solver};
use crate::load::{LoadError, load};
use crate::report::Report;
use crate::words;
use allways_engines::Budget;
use allways_model::task::{Model, Task};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// Runs the command.
pub fn run(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    let question = arguments.search.question(&arguments.smt, arguments.scheduler);
    let engine = match cluster::engine(&arguments.workers, arguments, context.engines, &question)? {
        Some(engine) => engine,
        None => arguments.search.engine(context.engines, &question)?,
    };
    let request = Request { engine: Some(engine), question, explain: arguments.explain };
    if arguments.files.len() > 1 && arguments.search.evidence.is_some() {
        let what = "--evidence holds the evidence for one file".to_string();
        return Err(Failure::Usage(what, "check the files one by one".to_string()));
    }
    let destination = Destination::new(arguments.search.evidence.as_deref())?;
    Session::heed_interruptions();
    let mut worst = Exit::Success;
    for (index, file) in arguments.files.iter().enumerate() {
        let started = if index == 0 { context.started } else { Instant::now() };
        let session = Arc::new(Session::new(started, arguments.search.limits, !context.quiet));
        let job = CheckJob { arguments, request: &request, file, session: &session };
        let exit = job.run(&destination, context);
        let exit = exit.unwrap_or_else(|failure| context.fail(file, arguments.search.json, &failure));
        worst = worst.max(exit);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(worst)
}

/// One file of those to be checked.
struct CheckJob<'a> {
    arguments: &'a Check,
    request: &'a Request,
    file: &'a Path,
    session: &'a Arc<Session>,
}

/// What a check says, and its evidence when that is written out: none if there is none.
struct Told {
    report: Report,
    evidence: Receiver<io::Result<Option<Vec<u8>>>>,
}

impl CheckJob<'_> {
    fn run(&self, destination: &Destination, context: &mut Context) -> Result<Exit, Failure> {
        let mut options = self.arguments.search.start.options();
        options.targets = self.arguments.targets.states.clone();
        options.labels = self.arguments.targets.labels.clone();
        options.deadlock = self.arguments.targets.deadlock;
        let file = self.file.to_path_buf();
        let loaded = match self.session.reading(move || load(file, &options, &Budget::unlimited())) {
            Err(LoadError::Stopped(reason)) => {
                let engine = self.request.engine.map_or("", |engine| engine.info().name);
                return Ok(self.tell(Report::not_read(self.file, engine, &reason), context));
            }
            loaded => loaded?,
        };
        context.printer.diagnostics(&loaded.diagnostics);
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
        let working = move |sender: Sender<Result<Told, CheckError>>| {
            let mut checked = match session.budgeted(|budget| check(&task, &request, budget)) {
                Ok(checked) => checked,
                // Nobody waits any more if this fails; so in what follows.
                Err(error) => return drop(sender.send(Err(error))),
            };
            let (later, evidence) = channel();
            let report = std::mem::take(&mut checked.report);
            let _ = sender.send(Ok(Told { report, evidence }));
            if wanted {
                let mut bytes = Vec::new();
                let written = checked.write_evidence(&mut bytes);
                let _ = later.send(written.map(|some| some.then_some(bytes)));
            }
            drop(checked);
            drop(later);
        };
        let told = match self.session.working(working) {
            Ok(told) => told?,
            Err(reason) => {
                let engine = self.request.engine.map_or("", |engine| engine.info().name);
                return Ok(self.tell(Report::not_finished(&name, engine, &reason), context));
            }
        };
        let exit = self.tell(told.report, context);
        let evidence = || told.evidence.recv().expect("a check that has a report gives its evidence");
        destination.write(
            |out| evidence()?.map_or(Ok(false), |bytes| out.write_all(&bytes).map(|()| true)),
            context,
        )?;
        if self.arguments.files.len() > 1 {
            // What one file took is freed before the next one is measured; the end of the process frees the last at once.
            while told.evidence.recv().is_ok() {}
        }
        Ok(exit)
    }

    /// A system with nothing to be avoided is a slip of the user.
    fn refuse_nothing(&self, task: &Task) -> Result<(), Failure> {
        let (what, example, ending) = match &task.model {
            Model::Rules(_) if task.property.is_empty() => {
                ("no state to avoid is given", "'*|1,2', or --deadlock", "spec")
            }
            Model::Counters(counters)
                if counters.targets.is_empty() && self.file.extension().is_some_and(|it| it == "spec") =>
            {
                let what = format!("{}: nothing to check: there is no `target`", words::path(self.file));
                let help =
                    "give --target, such as --target 'x >= 1, y >= 2', or write `target` into the file";
                return Err(Failure::Usage(what, help.to_string()));
            }
            Model::Counters(counters) if counters.targets.is_empty() => {
                ("no target is given", "'0|1,1'", "prop")
            }
            _ => return Ok(()),
        };
        let beside = words::path(&self.file.with_extension(ending));
        let what = format!("{}: nothing to check: {what}", words::path(self.file));
        let help = format!("give --target STATE, such as --target {example}, or write it to {beside}");
        Err(Failure::Usage(what, help))
    }

    /// Renders a report.
    fn tell(&self, mut report: Report, context: &mut Context) -> Exit {
        let search = &self.arguments.search;
        if search.stats {
            report = report.with_stats();
        }
        report.seconds = self.session.elapsed().as_secs_f64();
        report.peak_bytes = self.session.peak();
        if search.json {
            context.output.json(&report);
        } else {
            context.output.verdict(report.verdict, &report.headline(self.session.elapsed()));
            let table = report.table.iter().filter(|_| !context.quiet && self.arguments.files.len() == 1);
            let lines = table.flat_map(|table| table.lines());
            context.output.emit(|out| {
                lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
                if let Some(stats) = &report.stats {
                    stats.write(out)?;
                }
                report.explanation.iter().try_for_each(|sentence| writeln!(out, "  {sentence}"))
            });
        }
        match (report.verdict, &report.stopped) {
            ("safe", _) => Exit::Success,
            ("unsafe", _) => Exit::Unsafe,
            (_, Some(reason)) => Exit::stopped(reason),
            (_, None) => Exit::Unknown,
        }
    }
}
