//! Runs a session to its end and tells what came out.
//!
//! Invariant: whatever ends the executions, the report says so. A failing schedule is run a second time, with notes taken,
//! before it is reported; the search itself takes none.

use crate::alloc;
use crate::crash;
use crate::facade;
use crate::page;
use crate::parallel;
use crate::picture::picture;
use crate::quiet::{self, Panic};
use crate::recording::{Recording, Step, Story};
use crate::replay::Recipe;
use crate::report::{Delay, Failure, FailureKind, Outcome, Report, StopReason};
use crate::scheduler::DelayScheduler;
use crate::session::Session;
use crate::settings::{End, Settings};
use shuttle::scheduler::Scheduler;
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Taking a backtrace needs room on the stack of a task.
const RECORDING_STACK: usize = 0x40000;

/// Searches, on one core or on several, and tells what came out.
pub(crate) fn search<F>(settings: Settings, test: &Arc<F>) -> Report
where
    F: Fn() + Send + Sync + 'static,
{
    if settings.cores > 1 || settings.resume.is_some() {
        let started = Instant::now();
        let (session, result) = parallel::search(&settings, test);
        return tell(session, result, started.elapsed(), test);
    }
    execute(Session::search(settings), None, test)
}

/// Runs a session to its end and tells what came out.
pub(crate) fn execute<F>(session: Session, guide: Option<Box<dyn Scheduler>>, test: &Arc<F>) -> Report
where
    F: Fn() + Send + Sync + 'static,
{
    let stack = session.settings.stack;
    let started = Instant::now();
    let (session, result) = guided_executions(session, guide, test, stack);
    tell(session, result, started.elapsed(), test)
}

fn tell<F>(session: Session, result: Result<(), Panic>, time: Duration, test: &Arc<F>) -> Report
where
    F: Fn() + Send + Sync + 'static,
{
    let recipe = session.recipe();
    let outcome = match (result, session.end) {
        (Err(panic), _) => Outcome::Failed(Box::new(explain(&session, Some(panic), recipe, test))),
        (Ok(()), Some(End::Unfinished | End::Deadlock | End::Memory)) => {
            Outcome::Failed(Box::new(explain(&session, None, recipe, test)))
        }
        (Ok(()), Some(End::Diverged | End::Dealt | End::Foreign) | None) => {
            Outcome::Diverged { replay: recipe.to_string() }
        }
        (Ok(()), Some(End::Replayed)) => Outcome::Stopped(StopReason::Replay),
        (Ok(()), Some(End::Delays)) => {
            Outcome::Stopped(StopReason::Delays(session.settings.delays.unwrap_or(0)))
        }
        (Ok(()), Some(End::Schedules)) => Outcome::Stopped(StopReason::Schedules(session.tally.executions)),
        (Ok(()), Some(End::Time)) => {
            Outcome::Stopped(StopReason::Time(session.settings.time.unwrap_or_default()))
        }
        (Ok(()), Some(End::Exhausted)) => exhausted(&session, test),
    };
    Report {
        outcome,
        schedules: session.tally.executions,
        by_delays: session.schedules(),
        steps: session.tally.steps,
        longest: session.tally.longest,
        tasks: session.tally.tasks,
        unfinished: session.tally.unfinished,
        random_values: session.tally.random_values,
        random_choices: session.settings.random,
        spurious_left_out: session.spurious_left_out(),
        redundant: session.tally.redundant,
        reduced: session.tally.reduced,
        weak_memory: session.settings.weak,
        time,
    }
}

/// The tree has no schedule left. Is that every schedule?
fn exhausted<F>(session: &Session, test: &Arc<F>) -> Outcome
where
    F: Fn() + Send + Sync + 'static,
{
    let tally = &session.tally;
    if tally.unfinished > 0 {
        Outcome::Stopped(StopReason::Unfinished(tally.unfinished))
    } else if tally.random_values && session.settings.random == 0 {
        Outcome::Stopped(StopReason::RandomValues)
    } else if session.spurious_left_out() {
        Outcome::Stopped(StopReason::SpuriousWakeUps)
    } else if !session.execution.meeting.met() {
        Outcome::Stopped(StopReason::NeverMet(switches(session, test)))
    } else {
        Outcome::EverySchedule
    }
}

/// The places at which tasks reach operations in the schedule without delays.
fn switches<F>(session: &Session, test: &Arc<F>) -> Vec<String>
where
    F: Fn() + Send + Sync + 'static,
{
    let settings = session.settings.clone();
    let stack = settings.stack.max(RECORDING_STACK);
    let (again, _) = executions(Session::replay(settings, Vec::new()), test, stack);
    let recording = again.execution.recording.unwrap_or_default();
    let places = recording.story().steps.into_iter().filter_map(|step| {
        let place = step.place?;
        Some(format!("{} at {place}", recording.name(step.task)))
    });
    places.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// Lets shuttle execute the test until the session has had enough.
pub(crate) fn executions<F>(session: Session, test: &Arc<F>, stack: usize) -> (Session, Result<(), Panic>)
where
    F: Fn() + Send + Sync + 'static,
{
    guided_executions(session, None, test, stack)
}

/// The same, with another scheduler of shuttle that chooses, if any. The name of the module marks the end of the user's frames in
/// backtraces, see `location.rs`.
#[inline(never)]
fn guided_executions<F>(
    session: Session,
    guide: Option<Box<dyn Scheduler>>,
    test: &Arc<F>,
    stack: usize,
) -> (Session, Result<(), Panic>)
where
    F: Fn() + Send + Sync + 'static,
{
    let mut config = Config::new();
    config.failure_persistence = FailurePersistence::None;
    config.max_steps = MaxSteps::None;
    config.silence_warnings = true;
    config.stack_size = stack;
    crash::watch();
    let session = Rc::new(RefCell::new(session));
    let result = {
        let scheduler = DelayScheduler { session: Rc::clone(&session), guide };
        let test = Arc::clone(test);
        let run = move || {
            Runner::new(scheduler, config).run(move || {
                test();
                alloc::report();
                facade::ends(None);
            });
        };
        facade::during(&session, || quiet::catch(run))
    };
    crash::none_runs();
    let mut session = Rc::into_inner(session).expect("shuttle has dropped its scheduler").into_inner();
    if result.is_err() {
        session.close();
    }
    (session, result)
}

/// Runs a failing schedule a second time and takes notes.
fn explain<F>(session: &Session, panic: Option<Panic>, recipe: Recipe<'_>, test: &Arc<F>) -> Failure
where
    F: Fn() + Send + Sync + 'static,
{
    let settings = session.settings.clone();
    let stack = settings.stack.max(RECORDING_STACK);
    let (again, second) = executions(Session::replay(settings, recipe.path.to_vec()), test, stack);
    let reproduced = session.execution.walk.followed()
        && again.execution.walk.followed()
        && !session.confirming()
        && match (&panic, &second) {
            (Some(first), Err(second)) => first.is_like(second),
            (None, Ok(())) => again.end == session.end,
            _ => false,
        };
    let last = again.execution.current;
    let recording = again.execution.recording.unwrap_or_default();
    let story = if reproduced { recording.story() } else { Story::default() };
    let kind = match &panic {
        None if session.end == Some(End::Deadlock) => FailureKind::Deadlock,
        None if session.end == Some(End::Memory) => FailureKind::Panic,
        None => FailureKind::Unfinished,
        Some(panic) if panic.message.starts_with("deadlock!") => FailureKind::Deadlock,
        Some(_) => FailureKind::Panic,
    };
    let task = recording.panicking().or(last).filter(|_| reproduced && kind == FailureKind::Panic);
    // Schedules with fewer delays that were not run, or not to their end.
    let cut_off = session.tally.unfinished - u64::from(kind == FailureKind::Unfinished);
    let left_out = cut_off > 0 || session.spurious_left_out();
    let (message, place) = match panic {
        Some(panic) if panic.message.starts_with("deadlock! blocked tasks") => {
            (format!("deadlock: {}", recording.waiting(&story, &panic.message)), None)
        }
        Some(panic) => (panic.message, panic.place),
        None if session.end == Some(End::Deadlock) => {
            let waiting = recording.waiting_tasks(&story, session.execution.stuck.iter().copied());
            (format!("deadlock: {waiting}"), None)
        }
        None if session.end == Some(End::Memory) => (session.memory_error.clone().unwrap_or_default(), None),
        None => {
            (format!("the test has not ended after {} steps (`Check::steps`)", session.settings.steps), None)
        }
    };
    let mut failure = Failure {
        kind,
        message,
        place,
        task: task.map(|task| recording.name(task)),
        delays: recipe.path.len(),
        placed: placed(&recording, &story.steps),
        minimal: reproduced && session.execution.recording.is_none() && !left_out && !session.tally.reduced,
        reproduced,
        replay: recipe.to_string(),
        picture: if reproduced { picture(&recording, &story.steps) } else { String::new() },
        page: None,
    };
    if let Some(folder) = session.settings.page.as_ref().filter(|_| reproduced) {
        match page::write(folder, &page::page(&failure, &recording, &story.steps)) {
            Ok(file) => failure.page = Some(file),
            Err(error) => eprintln!("allways-test: {}: {error}", folder.display()),
        }
    }
    failure
}

fn placed(recording: &Recording, steps: &[Step]) -> Vec<Delay> {
    let mut delays = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        for (i, (task, place)) in step.delayed.iter().enumerate() {
            let instead = step.delayed.get(i + 1).map_or(step.task, |next| next.0);
            delays.push(Delay {
                step: number + 1,
                task: recording.name(*task),
                place: place.as_ref().map(ToString::to_string),
                instead: recording.name(instead),
            });
        }
    }
    delays
}
