//! `allways check`: can a bad state be reached?

use super::arguments::Check;
use super::choice::choose;
use super::evidence::Destination;
use super::exit::Exit;
use super::explain;
use super::schedule::Schedule;
use super::session::Session;
use super::stats::{self, Stats};
use super::steps::Rows;
use super::story::{self, Telling};
use super::views::{Task, beside, both};
use super::{Context, Failure, words};
use allways::verify::{cover, name, nothing};
use allways::views::NAME;
use allways::{
    Checked, Engine, LoadError, Loaded, Question, StopReason, Verdict, Watch, auto, check, engines, load,
};
use allways_engines::meet::coverability::threads::Covered;
use allways_evidence::{Counterexample, Subject, Trace};
use allways_model::notation::show_state;
use allways_model::property::Property;
use allways_model::pushdown::Pushdown;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Runs the command.
pub fn run(arguments: &Check, context: &mut Context) -> Result<Exit, Failure> {
    let (engine, question) = match arguments.scheduler {
        Some(_) => (auto(), Question::default()),
        None => choose(&arguments.search)?,
    };
    let with_solver = [auto().name(), NAME].contains(&arguments.search.engine.as_str());
    if arguments.smt.is_given() && (!with_solver || arguments.scheduler.is_some()) {
        let what = "--solver and --smt-dump are for proofs by views".to_string();
        return Err(Failure::Usage(what, format!("leave them out, or use --engine {NAME}")));
    }
    let several = arguments.files.len() > 1;
    each_file(arguments, context, |file, session, destination, context| {
        let one = One { arguments, file, engine, session, several };
        match arguments.scheduler {
            Some(scheduler) => one.scheduled(scheduler, destination, context),
            None => one.run(&question, destination, context),
        }
    })
}

/// Checks one file after the other, each with the limits for itself; the worst exit counts.
pub fn each_file<'a>(
    arguments: &'a Check,
    context: &mut Context,
    check: impl Fn(&'a Path, Session, &Destination, &mut Context) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    if arguments.files.len() > 1 && arguments.search.evidence.is_some() {
        let what = "--evidence holds the evidence for one file".to_string();
        return Err(Failure::Usage(what, "check the files one by one".to_string()));
    }
    let destination = Destination::new(arguments.search.evidence.as_deref())?;
    Session::heed_interruptions();
    let mut worst = Exit::Success;
    for (index, file) in arguments.files.iter().enumerate() {
        let started = if index == 0 { context.started } else { Instant::now() };
        let session = Session::new(started, arguments.search.limits, !context.quiet);
        let exit = check(file, session, &destination, context);
        let exit = exit.unwrap_or_else(|failure| context.complaints.report(&failure));
        worst = worst.max(exit);
        if exit == Exit::Interrupted {
            break;
        }
    }
    Ok(worst)
}

/// How long a program is tried with few threads if it may have more.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long threads are counted before few of them are tried, and after.
const AT_FIRST: Duration = Duration::from_secs(1);
const AT_LAST: Duration = Duration::from_secs(30);

/// One file of those to be checked.
pub(super) struct One<'a> {
    pub(super) arguments: &'a Check,
    pub(super) file: &'a Path,
    engine: &'static dyn Engine,
    pub(super) session: Session,
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
        let (file, options) = (self.file.to_path_buf(), search.start.options());
        let targets = self.arguments.targets.states.clone();
        let deadlock = self.arguments.targets.deadlock;
        let loaded = self.session.reading(move || {
            let loaded = load(file, &options, &Watch::none())?;
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
        if search.engine == NAME {
            return self.by_views(&loaded, destination, context);
        }
        let task = match self.engine.name() == auto().name() && !question.bounded() && !deadlock {
            true => Task::of(&loaded, loaded.threads_asked())?,
            false => None,
        };
        let Some(task) = task else {
            let (loaded, question, checked) = self.by_engines(loaded, question)?;
            return self.conclude((&loaded, &question, None), checked, destination, context);
        };
        let decided =
            |answer: &(Loaded, Question, Checked)| !matches!(answer.2.report.verdict, Verdict::Unknown(_));
        let engines = || match self.hunted(&loaded, &question)? {
            Some(found) => Ok(found),
            None => self.by_engines(loaded, question),
        };
        let ((loaded, question, mut checked), viewed) =
            beside(&self.session, &self.arguments.smt, &task, engines, decided)?;
        One::contradiction(&checked.report.verdict, &viewed)?;
        match (&mut checked.report.verdict, &viewed.views) {
            (Verdict::Unknown(_), Ok(_)) => {
                self.conclude_viewed(&task.program, &viewed, destination, context)
            }
            (verdict, views) => {
                if let (Verdict::Unknown(engines), Err(views)) = (&mut *verdict, views) {
                    *engines = both(engines, views);
                }
                self.conclude((&loaded, &question, None), checked, destination, context)
            }
        }
    }

    /// What the engines say, with any number of threads, or with a few of them and more where the program leaves that open.
    fn by_engines(
        &self,
        mut loaded: Loaded,
        mut question: Question,
    ) -> Result<(Loaded, Question, Checked), Failure> {
        let deadlock = question.property.deadlock;
        if let Some((any_number, property, checked)) = self.any_number(&loaded, &question)? {
            return Ok((any_number, Question { property, ..question }, checked));
        }
        loop {
            // A program that leaves the number of threads open is tried with more of them, and not for ever with few.
            let patience = loaded.can_grow().then(|| Instant::now() + PATIENCE);
            let mut checked = self.session.watched(|watch| {
                let deadline = watch.deadline.into_iter().chain(patience).min();
                check(&loaded.system, &question, self.engine, &Watch { deadline, ..*watch })
            })?;
            if let Some(exactly) = self.exactly(&mut loaded, &mut question, &checked)? {
                checked = exactly;
            }
            let undecided =
                matches!(checked.report.verdict, Verdict::Unknown(StopReason::GaveUp(_) | StopReason::Time));
            if !undecided {
                return Ok((loaded, question, checked));
            }
            if !loaded.grow()? {
                if let Some((counted, property, checked)) = self.counted(&loaded, &question, AT_LAST, true)? {
                    return Ok((counted, Question { property, ..question }, checked));
                }
                return Ok((loaded, question, checked));
            }
            question.property = Property { deadlock, ..loaded.property(&[], &Watch::none())? };
        }
    }

    /// Tells the answer, and writes the evidence.
    pub(super) fn conclude(
        &self,
        (loaded, question, schedule): (&Loaded, &Question, Option<&Schedule>),
        mut checked: Checked,
        destination: &Destination,
        context: &mut Context,
    ) -> Result<Exit, Failure> {
        let told = match &checked.report.verdict {
            Verdict::Unsafe(Counterexample::Trace(trace)) => {
                Telling::of(loaded, trace, name(self.engine, &checked.report))?
            }
            _ => Ok(None),
        };
        let story = told.unwrap_or_else(|reason| {
            checked.report.verdict = Verdict::Unknown(reason);
            checked.certified = false;
            None
        });
        let exit = match &checked.report.verdict {
            Verdict::Safe(_) => Exit::Success,
            Verdict::Unsafe(_) => Exit::Unsafe,
            Verdict::Unknown(reason) => Exit::stopped(reason),
        };
        let explanation = self.arguments.explain.then(|| {
            self.session.watched(|watch| {
                explain::sentence(&loaded.system, &question.property, &checked.report.verdict, watch)
            })
        });
        if self.arguments.search.json {
            let run = match &checked.report.verdict {
                Verdict::Unsafe(Counterexample::Trace(trace)) => {
                    Some(Run::new(&loaded.system, trace, story.as_ref(), checked.shortest))
                }
                _ => None,
            };
            self.print_json(&checked, run, (schedule, explanation), context);
        } else {
            self.print((loaded, question, schedule), (&checked, story.as_ref()), context);
            explanation.iter().for_each(|sentence| context.output.emit(|out| writeln!(out, "  {sentence}")));
        }
        let subject = Subject::Pushdown { system: &loaded.system, property: &question.property };
        destination.write(&subject, &checked.report.verdict, context)?;
        Ok(exit)
    }

    /// Whether a program that leaves the number of threads open is safe with any number, if that is easily said.
    fn any_number(
        &self,
        loaded: &Loaded,
        question: &Question,
    ) -> Result<Option<(Loaded, Property, Checked)>, Failure> {
        let engine = self.engine.name();
        if question.bounded() || !(engine == auto().name() || engine.starts_with("modular")) {
            return Ok(None);
        }
        let Some(any_number) = loaded.any_number()? else { return Ok(None) };
        let property = any_number.property(&[], &Watch::none())?;
        let property = Property { deadlock: question.property.deadlock, ..property };
        let question = Question { property, ..question.clone() };
        let checked = self.session.watched(|watch| {
            let patience = (engine == auto().name()).then(|| Instant::now() + 2 * AT_FIRST);
            let deadline = watch.deadline.into_iter().chain(patience).min();
            check(&any_number.system, &question, self.engine, &Watch { deadline, ..*watch })
        })?;
        match checked.report.verdict {
            Verdict::Safe(_) => Ok(Some((any_number, question.property, checked))),
            _ => self.counted(loaded, &question, AT_FIRST, false),
        }
    }

    /// What counting threads says of a program with any number of them, within some time. That it goes wrong is confirmed, on
    /// request, with the number of threads that it takes.
    fn counted(
        &self,
        loaded: &Loaded,
        question: &Question,
        patience: Duration,
        confirm: bool,
    ) -> Result<Option<(Loaded, Property, Checked)>, Failure> {
        if self.engine.name() != auto().name() || question.bounded() || question.property.deadlock {
            return Ok(None);
        }
        let Some(any_number) = loaded.any_number()? else { return Ok(None) };
        let property = any_number.property(&[], &Watch::none())?;
        let question = Question { property, ..question.clone() };
        let covered = self.session.watched(|watch| {
            let deadline = watch.deadline.into_iter().chain([Instant::now() + patience]).min();
            cover(&any_number.system, &question, &Watch { deadline, ..*watch })
        })?;
        let counts = match covered {
            Ok(checked) => return Ok(Some((any_number, question.property, checked))),
            Err(Covered::Unsafe(counts)) if confirm => counts,
            Err(_) => return Ok(None),
        };
        // Counters of `at` are not tied to the threads that are counted; where they matter, it may take a few more.
        for more in [0, 1, 2, 4, 8] {
            let counts: Vec<u64> = counts.iter().map(|count| count.saturating_add(more)).collect();
            let Some(exact) = any_number.with_numbers(&counts)? else { continue };
            let property = exact.property(&[], &Watch::none())?;
            let question = Question { property, ..question.clone() };
            let checked = self.session.watched(|watch| {
                let patience = (more > 0).then(|| Instant::now() + AT_LAST);
                let deadline = watch.deadline.into_iter().chain(patience).min();
                check(&exact.system, &question, self.engine, &Watch { deadline, ..*watch })
            })?;
            if matches!(checked.report.verdict, Verdict::Unsafe(_)) {
                return Ok(Some((exact, question.property, checked)));
            }
        }
        Ok(None)
    }

    /// A bound from above may ask what happens in states that no run reaches, and hit a limit of the program there. A search
    /// from below asks only what can happen, so it may decide where such a limit was hit.
    fn exactly(
        &self,
        loaded: &mut Loaded,
        question: &mut Question,
        checked: &Checked,
    ) -> Result<Option<Checked>, Failure> {
        let undecided = matches!(checked.report.verdict, Verdict::Unknown(StopReason::GaveUp(_)));
        let hit = loaded.system.incomplete().is_some() && loaded.system.program().is_some();
        if !(undecided && hit && self.engine.name() == auto().name()) {
            return Ok(None);
        }
        loaded.again()?;
        // States and symbols have new numbers now.
        let deadlock = question.property.deadlock;
        question.property = Property { deadlock, ..loaded.property(&[], &Watch::none())? };
        if loaded.system.incomplete().is_some() {
            // It is so from the start.
            return Ok(None);
        }
        let Some(free) = engines().iter().find(|engine| engine.name() == "free") else { return Ok(None) };
        let mut exactly = self.session.watched(|watch| {
            let deadline = watch.deadline.into_iter().chain([Instant::now() + PATIENCE]).min();
            check(&loaded.system, question, *free, &Watch { deadline, ..*watch })
        })?;
        exactly.report.engine = Some(free.name());
        let decided = !matches!(exactly.report.verdict, Verdict::Unknown(_));
        Ok(decided.then_some(exactly))
    }

    fn print(
        &self,
        (loaded, question, schedule): (&Loaded, &Question, Option<&Schedule>),
        (checked, telling): (&Checked, Option<&Telling>),
        context: &mut Context,
    ) {
        let Checked { report, shortest, searching, shortening, checking, .. } = checked;
        let taken = schedule.map(|schedule| schedule.words(loaded)).or_else(|| loaded.threads_taken());
        let threads = taken.map_or(String::new(), |taken| format!("{taken}, "));
        let file = words::path(self.file);
        let targets = words::targets(&loaded.system, &question.property);
        let visible = match schedule {
            Some(schedule) => words::count(schedule.configurations as u128, "configuration"),
            None => words::count(report.visible.count(), "visible state"),
        };
        let (engine, time) = (name(self.engine, report), words::duration(self.session.elapsed()));
        match &report.verdict {
            Verdict::Safe(proof) => {
                let (size, any_number) = (words::size(proof), words::any_number(proof));
                let never = match loaded.system.program() {
                    Some(_) if question.property.deadlock => "goes wrong or is stuck".to_string(),
                    Some(_) => "goes wrong".to_string(),
                    None => format!("reaches {targets}"),
                };
                let rest = format!(
                    "{file} never {never}{any_number} ({engine}, {threads}{size}, certified, {time})"
                );
                context.output.verdict("safe", &rest);
            }
            Verdict::Unsafe(_) if telling.is_some() => {
                let Some(Telling { story, .. }) = telling else { return };
                let steps = words::count(story.steps.len() as u128, "step");
                let switches = words::count(story.switches() as u128, "context switch");
                let rest = format!(
                    "{file}: {} ({steps}, {switches}, {engine}, {threads}certified, {time})",
                    story.end
                );
                context.output.verdict("unsafe", &rest);
                if !context.quiet && !self.several {
                    context.output.emit(|out| story::write(out, story));
                }
            }
            Verdict::Unsafe(counterexample) => {
                let Some(trace) = counterexample.trace() else { return };
                let bad = words::reached(&loaded.system, &question.property, &trace.last().visible());
                let steps = words::count(trace.steps.len() as u128, "step");
                let mut switches = words::count(trace.switches() as u128, "context switch");
                if *shortest {
                    switches += ", shortest";
                }
                let rest =
                    format!("{file} reaches {bad} in {steps} ({engine}, {switches}, certified, {time})");
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
                let whether = match loaded.system.program() {
                    Some(_) => format!("whether {file} can go wrong"),
                    None => format!("whether {file} reaches {targets}"),
                };
                // Some methods see no states of the whole system.
                let seen =
                    if report.visible.count() == 0 { String::new() } else { format!("{visible} so far, ") };
                let rest = format!("{whether}, because {because} ({engine}, {seen}{time})");
                context.output.verdict("unknown", &rest);
            }
        }
        if self.arguments.search.stats {
            context
                .output
                .emit(|out| stats::write(out, &report.figures, *searching, Some(*shortening), *checking));
        }
    }

    /// What is known if not even the file was read.
    pub(super) fn not_loaded(&self, reason: StopReason, context: &mut Context) -> Exit {
        let exit = Exit::stopped(&reason);
        if self.arguments.search.json {
            let report = nothing(reason);
            self.print_json(&Checked::nothing(report), None, (None, None), context);
        } else {
            let (file, because) = (words::path(self.file), words::because(&reason));
            let time = words::duration(self.session.elapsed());
            context
                .output
                .verdict("unknown", &format!("{file} was not read to the end, because {because} ({time})"));
        }
        exit
    }

    fn print_json(
        &self,
        checked: &Checked,
        run: Option<Run>,
        (schedule, explanation): (Option<&Schedule>, Option<String>),
        context: &mut Context,
    ) {
        let Checked { report, certified, searching, shortening, checking, .. } = checked;
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
            any_number: matches!(&report.verdict, Verdict::Safe(proof) if proof.any_number()).then_some(true),
            explanation,
            seconds: self.session.elapsed().as_secs_f64(),
            peak_bytes: self.session.peak(),
            schedule: schedule.cloned(),
            run,
            stats: self
                .arguments
                .search
                .stats
                .then(|| Stats::new(&report.figures, *searching, Some(*shortening), *checking)),
        };
        context.output.emit(|out| {
            serde_json::to_writer(&mut *out, &object)?;
            writeln!(out)?;
            out.flush()
        });
    }
}

fn steps(system: &dyn Pushdown, trace: &Trace, telling: Option<&Telling>) -> Vec<StepRow> {
    let state = show_state(system, &trace.initial);
    let initial = StepRow { thread: None, state, line: None, told: None };
    if let Some(Telling { story, states }) = telling {
        let told = story.steps.iter().zip(states).map(|(step, state)| StepRow {
            thread: Some(step.thread),
            state: state.clone(),
            line: Some(step.line),
            told: Some(ToldRow {
                name: story.threads[step.thread].clone(),
                column: step.column,
                text: step.text.clone(),
                changed: step.changed.clone(),
                switch: step.switch,
            }),
        });
        return std::iter::once(initial).chain(told).collect();
    }
    let steps = trace.steps.iter().map(|step| StepRow {
        thread: Some(step.thread),
        state: show_state(system, &step.state),
        line: Some(step.line),
        told: None,
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
    /// Whether the proof holds for any number of threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    any_number: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<String>,
    seconds: f64,
    peak_bytes: usize,
    #[serde(flatten)]
    schedule: Option<Schedule>,
    #[serde(flatten)]
    run: Option<Run>,
    #[serde(flatten)]
    stats: Option<Stats>,
}

/// What there is to say if it is unsafe.
#[derive(Serialize)]
struct Run {
    /// Of a program, what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<&'static str>,
    steps: usize,
    switches: usize,
    shortest: bool,
    trace: Vec<StepRow>,
}

impl Run {
    /// Of a program, the run as it is told: a step of the system may be several of the program.
    fn new(system: &dyn Pushdown, trace: &Trace, telling: Option<&Telling>, shortest: bool) -> Run {
        let violation = telling.map(|telling| telling.story.kind);
        let switches = telling.map_or(trace.switches(), |telling| telling.story.switches());
        let rows = steps(system, trace, telling);
        Run { violation, steps: rows.len() - 1, switches, shortest, trace: rows }
    }
}

#[derive(Serialize)]
struct StepRow {
    thread: Option<usize>,
    state: String,
    line: Option<u32>,
    #[serde(flatten)]
    told: Option<ToldRow>,
}

/// What a step of a program has besides.
#[derive(Serialize)]
struct ToldRow {
    name: String,
    column: u32,
    text: String,
    changed: Vec<String>,
    switch: bool,
}
