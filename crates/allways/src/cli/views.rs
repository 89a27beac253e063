//! Proofs by views on the command line: beside the engines, alone, and from a file of evidence.

use super::arguments::{Certify, Smt};
use super::check::One;
use super::evidence::Destination;
use super::exit::Exit;
use super::session::Session;
use super::stats::write_cells;
use super::{Context, Failure, words};
use allways::load::{load_program, read};
use allways::threads::Counts;
use allways::verify::shorten;
use allways::views::{NAME, Viewed, certify, has_integers, prove};
use allways::{Checked, Loaded, Question, Refuted, StopReason, Verdict, Watch, check, engines};
use allways_engines::engine::Cell;
use allways_engines::meet::observation::walk;
use allways_evidence::views::{read_views, write_views};
use allways_evidence::{Rejection, Views};
use allways_model::encoding::Encoded;
use allways_model::program::Program;
use serde::Serialize;
use std::fs::File;
use std::io::BufWriter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long the engines are alone: what they decide at once needs no solver.
const HEAD_START: Duration = Duration::from_millis(300);

/// How often to look whether the head start is over.
const LOOK: Duration = Duration::from_millis(5);

/// How long views are waited for after the engines have given up.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a program with integers is searched with each number of threads before anything else is tried.
const HUNT: Duration = Duration::from_millis(500);

/// What to prove, and how.
pub(super) struct Task {
    pub(super) program: Program,
    pub(super) counts: Vec<Option<usize>>,
}

impl Task {
    /// The task for a program that has integers.
    pub(super) fn of(loaded: &Loaded, asked: &Counts) -> Result<Option<Task>, Failure> {
        let Some(encoded) = loaded.system.program() else { return Ok(None) };
        let program = encoded.program().clone();
        let counts = asked.by_template(&program).map_err(allways::LoadError::from)?;
        Ok(has_integers(&program).then_some(Task { program, counts }))
    }
}

/// Runs the engines, and after a head start views beside them; whoever decides stops the other.
pub(super) fn beside<T>(
    session: &Session,
    smt: &Smt,
    task: &Task,
    engines: impl FnOnce() -> Result<T, Failure>,
    decided: impl FnOnce(&T) -> bool,
) -> Result<(T, Viewed), Failure> {
    let over = AtomicBool::new(false);
    let prover = || -> Result<Viewed, Refuted> {
        let started = Instant::now();
        while started.elapsed() < HEAD_START && !over.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
        }
        let viewed = session.watched(|watch| {
            let watch = Watch { beside: None, over: Some(&over), ..*watch };
            prove(
                &task.program,
                &task.counts,
                &smt.settings(session.memory_left()),
                smt.smt_dump.as_deref(),
                &watch,
            )
        });
        if viewed.as_ref().is_ok_and(|viewed| viewed.views.is_ok()) {
            session.beside.store(true, Ordering::Relaxed);
        }
        viewed
    };
    std::thread::scope(|scope| {
        let prover = scope.spawn(prover);
        let answer = engines();
        if answer.as_ref().map_or(true, decided) {
            over.store(true, Ordering::Relaxed);
        }
        let ended = Instant::now();
        while !prover.is_finished() {
            if ended.elapsed() > PATIENCE {
                over.store(true, Ordering::Relaxed);
            }
            std::thread::sleep(LOOK);
        }
        let viewed = prover.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((answer?, viewed?))
    })
}

/// Why nothing is known: what the engines say, and what the views say if that is news.
pub(super) fn both(engines: &StopReason, views: &StopReason) -> StopReason {
    match (engines, views) {
        (StopReason::GaveUp(_) | StopReason::Time, StopReason::GaveUp(views)) => {
            StopReason::GaveUp(format!("{engines}; {views}"))
        }
        _ => engines.clone(),
    }
}

impl One<'_> {
    /// What a short search from below says of a program with integers, with 1, 2, 3, 4 threads if their number is open: bounds
    /// from above that list values may have no end where a bug is near, or where there are few states.
    pub(super) fn hunted(
        &self,
        loaded: &Loaded,
        question: &Question,
    ) -> Result<Option<(Loaded, Question, Checked)>, Failure> {
        let Some(free) = engines().iter().find(|engine| engine.name() == "free") else { return Ok(None) };
        let Some(mut loaded) = loaded.afresh()? else { return Ok(None) };
        loop {
            let property = loaded.property(&[], &Watch::none())?;
            let question = Question { property, ..question.clone() };
            let mut checked = self.session.watched(|watch| {
                let deadline = watch.deadline.into_iter().chain([Instant::now() + HUNT]).min();
                check(&loaded.system, &question, *free, &Watch { deadline, ..*watch })
            })?;
            checked.report.engine = Some(free.name());
            match &checked.report.verdict {
                Verdict::Unknown(StopReason::GaveUp(_) | StopReason::Time) if loaded.grow()? => {}
                Verdict::Unknown(_) => return Ok(None),
                Verdict::Safe(_) => return Ok(Some((loaded, question, checked))),
                Verdict::Unsafe(_) => {
                    if !checked.shortest {
                        self.session.watched(|watch| {
                            let deadline =
                                watch.deadline.into_iter().chain([Instant::now() + 2 * HUNT]).min();
                            let watch = Watch { deadline, ..*watch };
                            shorten(&loaded.system, &question.property, &mut checked, &watch)
                        })?;
                    }
                    return Ok(Some((loaded, question, checked)));
                }
            }
        }
    }

    /// Tells what views have shown, and writes the evidence.
    pub(super) fn conclude_viewed(
        &self,
        program: &Program,
        viewed: &Viewed,
        destination: &Destination,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let (file, time) = (words::path(self.file), words::duration(self.session.elapsed()));
        let search = &self.arguments.search;
        if search.json {
            let object = Object::new(self, viewed);
            context.output.emit(|out| {
                serde_json::to_writer(&mut *out, &object)?;
                writeln!(out)?;
                out.flush()
            });
        } else {
            match &viewed.views {
                Ok(views) => {
                    let size = words::count(views.rows.len() as u128, "formula");
                    let seen = words::count(views.size as u128, "thread");
                    let any = any_number(views);
                    let rest =
                        format!("{file} never goes wrong{any} ({NAME} of {seen}, {size}, certified, {time})");
                    context.output.verdict("safe", &rest);
                }
                Err(reason) => {
                    let because = words::because(reason);
                    let rest = format!("whether {file} can go wrong, because {because} ({NAME}, {time})");
                    context.output.verdict("unknown", &rest);
                }
            }
            if search.stats {
                let (searching, checking) =
                    (words::duration(viewed.searching), words::duration(viewed.checking));
                context.output.emit(|out| {
                    viewed.remarks.iter().try_for_each(|remark| writeln!(out, "  {remark}"))?;
                    writeln!(out, "  {:30} {searching}", "search")?;
                    writeln!(out, "  {:30} {checking}", "checking the evidence")
                });
            }
        }
        match &viewed.views {
            Ok(views) => {
                if let Some(path) = destination.path() {
                    let unwritable = |error| Failure::Unwritable(path.to_path_buf(), error);
                    let mut file = BufWriter::new(File::create(path).map_err(unwritable)?);
                    write_views(program, views, &mut file).map_err(unwritable)?;
                }
                Ok(Exit::Success)
            }
            Err(reason) => {
                destination.nothing(context);
                Ok(Exit::stopped(reason))
            }
        }
    }

    /// Answers by views alone.
    pub(super) fn by_views(
        &self,
        loaded: &Loaded,
        destination: &Destination,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let smt = &self.arguments.smt;
        let Some(encoded) = loaded.system.program() else {
            let what = format!("the engine {NAME} is for programs");
            return Err(Failure::Usage(what, "leave out --engine, or see allways engines".to_string()));
        };
        if self.arguments.targets.deadlock {
            let what = format!("the engine {NAME} does not know --deadlock");
            return Err(Failure::Usage(what, "leave out --engine or --deadlock".to_string()));
        }
        let program = encoded.program();
        let counts = loaded.threads_asked().by_template(program).map_err(allways::LoadError::from)?;
        let settings = smt.settings(self.session.memory_left());
        let viewed = self
            .session
            .watched(|watch| prove(program, &counts, &settings, smt.smt_dump.as_deref(), watch))?;
        let exit = self.conclude_viewed(program, &viewed, destination, context)?;
        if self.arguments.search.stats && !self.arguments.search.json {
            let walk = self.walk(loaded, program)?;
            context.output.emit(|out| write_cells(out, &walk));
        }
        Ok(exit)
    }

    /// What the predicates of a program show on the way through growing rounds and delays, if its threads are counted.
    fn walk(&self, loaded: &Loaded, program: &Program) -> Result<Vec<Cell>, Failure> {
        let (threads, open) = loaded.threads_asked().threads(program, 1).map_err(allways::LoadError::from)?;
        let unreduced = Encoded::new(program, &threads, false);
        match unreduced {
            Ok(encoded) if !open && !program.hints.is_empty() => {
                let cells = self.session.watched(|watch| {
                    let deadline = watch.deadline.into_iter().chain([Instant::now() + PATIENCE]).min();
                    walk(&encoded, &Watch { deadline, ..*watch })
                });
                Ok(cells.unwrap_or_default())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A proof beside a run that goes wrong: one of them is mistaken.
    pub(super) fn contradiction(verdict: &Verdict, viewed: &Viewed) -> Result<(), Refuted> {
        match (verdict, &viewed.views) {
            (Verdict::Unsafe(_), Ok(_)) => {
                let why = "there is a run that goes wrong".to_string();
                Err(Refuted { engine: NAME, claim: "safe", why })
            }
            _ => Ok(()),
        }
    }
}

fn any_number(views: &Views) -> &'static str {
    if views.any_number() { ", with any number of threads" } else { "" }
}

/// Whether a text says that it is a set of views.
pub(super) fn claims_views(text: &[u8]) -> bool {
    let mut lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    first.starts_with(b"allways views")
}

/// Runs `certify` if the evidence is a set of views.
pub fn certify_views(arguments: &Certify, context: &mut Context) -> Option<Result<Exit, Failure>> {
    let session = Session::new(context.started, arguments.limits, false);
    let file = arguments.evidence.clone();
    // A text that cannot be read, or is something else, is for the other checkers to complain about.
    let text =
        session.reading(move || read(&file, &Watch::none())).ok().filter(|text| claims_views(&text.bytes))?;
    Some(certify_text(arguments, &session, &text.bytes, context))
}

fn certify_text(
    arguments: &Certify,
    session: &Session,
    text: &[u8],
    context: &mut Context,
) -> Result<Exit, Failure> {
    Session::heed_interruptions();
    let file = arguments.file.clone();
    let (program, remarks) = session.reading(move || load_program(&file, &Watch::none()))?;
    context.complaints.remarks(&remarks);
    let asked = arguments.start.threads.clone().unwrap_or_default();
    let counts = asked.by_template(&program).map_err(allways::LoadError::from)?;
    let judged = match read_views(&program, text) {
        Err(bad) => {
            Err(Rejection::Malformed(format!("line {}, column {}: {}", bad.line, bad.column, bad.what)))
        }
        Ok(views) if !covers(&views, &counts) => Err(Rejection::Malformed(
            "it is about other numbers of threads; give them by --threads".to_string(),
        )),
        Ok(_) if arguments.targets.deadlock => {
            Err(Rejection::Malformed("views say nothing about deadlocks".to_string()))
        }
        Ok(views) => {
            let (settings, dump) =
                (arguments.smt.settings(session.memory_left()), arguments.smt.smt_dump.as_deref());
            session.watched(|watch| certify(&program, &views, &settings, dump, watch)).map(|_| views)
        }
    };
    let (verdict, reason, exit) = match &judged {
        Ok(_) => ("accepted", None, Exit::Success),
        Err(Rejection::Stopped(reason)) => ("unknown", Some(words::because(reason)), Exit::stopped(reason)),
        Err(rejection) => ("rejected", Some(rejection.to_string()), Exit::Bug),
    };
    let (name, time) = (words::path(&arguments.evidence), words::duration(session.elapsed()));
    if arguments.json {
        let object = Certified { verdict, kind: "views", reason, seconds: session.elapsed().as_secs_f64() };
        context.output.emit(|out| {
            serde_json::to_writer(&mut *out, &object)?;
            writeln!(out)
        });
        return Ok(exit);
    }
    let file = words::path(&arguments.file);
    let rest = match (&judged, reason) {
        (Ok(views), _) => format!("{name} proves that {file} never goes wrong{} ({time})", any_number(views)),
        (Err(Rejection::Stopped(_)), Some(why)) => {
            format!("{name} was not checked to the end, because {why}")
        }
        (Err(_), why) => format!("{name} proves nothing about {file}: {}", why.unwrap_or_default()),
    };
    context.output.verdict(verdict, &rest);
    Ok(exit)
}

/// Whether views are about at least these numbers of threads.
fn covers(views: &Views, counts: &[Option<usize>]) -> bool {
    let enough = |(proved, asked): (&Option<usize>, &Option<usize>)| proved.is_none() || proved == asked;
    views.counts.len() == counts.len() && views.counts.iter().zip(counts).all(enough)
}

#[derive(Serialize)]
struct Certified {
    verdict: &'static str,
    kind: &'static str,
    reason: Option<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct Object {
    verdict: &'static str,
    file: String,
    engine: &'static str,
    certified: bool,
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    any_number: Option<bool>,
    /// How many threads are looked at together.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    seconds: f64,
    peak_bytes: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    remarks: Option<Vec<String>>,
}

impl Object {
    fn new(one: &One<'_>, viewed: &Viewed) -> Object {
        let views = viewed.views.as_ref().ok();
        Object {
            verdict: if views.is_some() { "safe" } else { "unknown" },
            file: one.file.display().to_string(),
            engine: NAME,
            certified: views.is_some(),
            reason: viewed.views.as_ref().err().map(ToString::to_string),
            any_number: views.is_some_and(Views::any_number).then_some(true),
            size: views.map(|views| views.size),
            seconds: one.session.elapsed().as_secs_f64(),
            peak_bytes: one.session.peak(),
            remarks: one.arguments.search.stats.then(|| viewed.remarks.clone()),
        }
    }
}
