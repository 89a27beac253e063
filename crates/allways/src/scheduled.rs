//! An asynchronous program under a scheduler, within a number of delays.
//!
//! What is found here is checked like the answer of any engine: a run that goes wrong is replayed on the pushdown system of the
//! program. If more delays add nothing, every schedule has been explored, and it is known how many tasks are ever under way at
//! a time; with room for so many, an engine that gives an invariant can be asked, and its invariant checked.

use crate::load::{LoadError, Loaded, Options, Remarks};
use crate::threads::Counts;
use crate::verify::{Checked, Refuted, check, nothing};
use allways_engines::below::schedules::explore::Explored;
use allways_engines::below::schedules::trace::{Run, needed, run, trace};
use allways_engines::below::schedules::{
    Asynchronous, Bag, BoundedBag, Bounding, Delays, DepthFirst, ReverseDepthFirst, RoundRobin, explore,
};
use allways_engines::engine::{Engine, Question, Report, Watch, auto};
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::program::Program;
use allways_model::pushdown::Pushdown;
use std::path::Path;
use std::str::FromStr;

/// A scheduler, by its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Any task may be next.
    Bag,
    /// The same, with at most so many copies of a task.
    BoundedBag(usize),
    /// Tasks take turns.
    RoundRobin,
    /// What a task posts comes first, in order.
    DepthFirst,
    /// What a task posts comes first, the last of it before the others.
    ReverseDepthFirst,
}

impl Scheduler {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::Bag => "bag",
            Scheduler::BoundedBag(_) => "bounded-bag",
            Scheduler::RoundRobin => "round-robin",
            Scheduler::DepthFirst => "depth-first",
            Scheduler::ReverseDepthFirst => "reverse-depth-first",
        }
    }
}

impl FromStr for Scheduler {
    type Err = String;

    fn from_str(text: &str) -> Result<Scheduler, String> {
        let plain =
            [Scheduler::Bag, Scheduler::RoundRobin, Scheduler::DepthFirst, Scheduler::ReverseDepthFirst];
        let named = plain.into_iter().find(|scheduler| scheduler.name() == text);
        let bounded = text.strip_prefix("bounded-bag=").and_then(|bound| bound.parse().ok());
        let bounded = bounded.filter(|&bound| bound > 0).map(Scheduler::BoundedBag);
        named.or(bounded).ok_or_else(|| {
            "expected bag, bounded-bag=K, round-robin, depth-first or reverse-depth-first".to_string()
        })
    }
}

/// A program that was searched under a scheduler.
#[derive(Debug)]
pub struct Searched {
    /// The program with room for the tasks that were under way at a time.
    pub loaded: Loaded,
    /// The question that was answered.
    pub question: Question,
    /// The answer.
    pub checked: Checked,
    /// The delays of a run that goes wrong; else the most with which there are configurations that fewer do not reach, or the
    /// bound.
    pub delays: usize,
    /// How many configurations there are within 0, 1, … delays.
    pub levels: Vec<usize>,
    /// Whether every schedule has been explored.
    pub exhausted: bool,
}

/// Why there is no answer.
#[derive(Debug)]
pub enum NotSearched {
    /// The program has no tasks.
    NoTasks,
    /// It cannot be encoded.
    Load(LoadError),
    /// A checker rejects what was found: a bug of ours.
    Refuted(Refuted),
}

impl From<LoadError> for NotSearched {
    fn from(error: LoadError) -> NotSearched {
        NotSearched::Load(error)
    }
}

impl From<Refuted> for NotSearched {
    fn from(refuted: Refuted) -> NotSearched {
        NotSearched::Refuted(refuted)
    }
}

/// What a search under a scheduler gives, whatever the scheduler.
struct Found {
    run: Option<(usize, Option<Run>)>,
    exhausted: bool,
    stopped: Option<StopReason>,
    levels: Vec<usize>,
    /// Room for tasks.
    room: Vec<usize>,
}

/// Searches a program under a scheduler, with at most so many delays if a number is given.
pub fn search(
    (program, path, remarks): (&Program, &Path, Remarks),
    scheduler: Scheduler,
    delays: Option<usize>,
    options: &Options,
    watch: &Watch,
) -> Result<Searched, NotSearched> {
    let asynchronous = Asynchronous::new(program).ok_or(NotSearched::NoTasks)?;
    let found = match scheduler {
        Scheduler::Bag => found(&asynchronous, &Delays(Bag), delays, watch),
        Scheduler::BoundedBag(bound) => found(&asynchronous, &Delays(BoundedBag { bound }), delays, watch),
        Scheduler::RoundRobin => found(&asynchronous, &Delays(RoundRobin), delays, watch),
        Scheduler::DepthFirst => found(&asynchronous, &Delays(DepthFirst), delays, watch),
        Scheduler::ReverseDepthFirst => found(&asynchronous, &Delays(ReverseDepthFirst), delays, watch),
    };
    let templates = program.templates.iter().zip(&found.room).filter(|(template, _)| template.spawned);
    let threads = Counts::of(templates.map(|(template, &room)| (template.name.clone(), room)));
    let loaded = Loaded::of(program, path, remarks, &Options { threads, ..options.clone() })?;
    let property = loaded.property(&[], &Watch::none())?;
    let used = found.run.as_ref().map_or(found.levels.len().saturating_sub(1), |(delays, _)| *delays);
    let within = format!("{used} delay{} of {}", if used == 1 { "" } else { "s" }, scheduler.name());
    let mut question = Question { property, delays: u32::try_from(used).ok(), ..Question::default() };
    let unknown = |reason| Checked::nothing(Report { engine: Some(scheduler.name()), ..nothing(reason) });
    let mut checked = match found.run {
        Some((_, Some(run))) => {
            let encoded = loaded.system.program();
            let trace = encoded.and_then(|encoded| trace(encoded, &run)).ok_or_else(|| Refuted {
                engine: scheduler.name(),
                claim: "unsafe",
                why: "the pushdown system of the program has no such run".to_string(),
            })?;
            check(&loaded.system, &question, &Known { scheduler, trace }, watch)?
        }
        Some((_, None)) => unknown(StopReason::GaveUp(
            "the run that was found goes wrong only if the tasks that the scheduler dropped are gone"
                .to_string(),
        )),
        None if found.exhausted => {
            question.delays = None;
            let mut checked = check(&loaded.system, &question, auto(), watch)?;
            match &mut checked.report.verdict {
                Verdict::Safe(_) => {}
                Verdict::Unsafe(_) => {
                    let why = "a search found no run that goes wrong, and there is one".to_string();
                    return Err(Refuted { engine: scheduler.name(), claim: "safe", why }.into());
                }
                Verdict::Unknown(reason) => {
                    if let StopReason::GaveUp(why) = reason {
                        *why = format!("every schedule was explored, but there is no proof to check: {why}");
                    }
                }
            }
            checked
        }
        None => unknown(found.stopped.unwrap_or(StopReason::Bound(within))),
    };
    let figures = &mut checked.report.figures;
    figures.delays = u32::try_from(used).ok();
    let levels: Vec<String> = found.levels.iter().map(usize::to_string).collect();
    figures.remarks.push(format!("configurations within 0, 1, … delays: {}", levels.join(", ")));
    let (levels, exhausted) = (found.levels, found.exhausted);
    Ok(Searched { loaded, question, checked, delays: used, levels, exhausted })
}

fn found<B: Bounding>(
    program: &Asynchronous<'_>,
    bounding: &B,
    delays: Option<usize>,
    watch: &Watch,
) -> Found {
    let Explored { wrong, exhausted, stopped, levels, peak, .. } = explore(program, bounding, delays, watch);
    let run = wrong.map(|wrong| (wrong.cost, run(program, &wrong)));
    let room = match &run {
        Some((_, Some(run))) => needed(program.program, run),
        _ if exhausted => peak,
        // Nothing will be asked of it.
        _ => vec![1; peak.len()],
    };
    Found { run, exhausted: exhausted && bounding.limit_sound(), stopped, levels, room }
}

/// An engine that knows the answer.
struct Known {
    scheduler: Scheduler,
    trace: Trace,
}

impl Engine for Known {
    fn name(&self) -> &'static str {
        self.scheduler.name()
    }

    fn summary(&self) -> &'static str {
        "a run that was found under a scheduler"
    }

    fn run(&self, _: &dyn Pushdown, _: &Question, _: &Watch) -> Report {
        let mut report = nothing(StopReason::Interrupted);
        report.verdict = self.trace.clone().into();
        report.engine = Some(self.scheduler.name());
        report
    }
}
