//! Proves programs with integers, for any number of threads: views of 1, 2, 3 threads, told apart ever more finely.
//!
//! Paper: DrUBA, section 5.2, whose outer loop is in the number of threads; here it is in the number of threads that are looked
//! at together, since closure for k-thread views holds for any number (see [`allways_evidence::views`]). Predicates of the
//! program are tried first, then those that [`forms`] makes up. Each level either closes, and what comes out is evidence for the
//! checker, or says why not. Bugs are not looked for here: explorers from below do that, at the same time.

use crate::above::views::forms::{Level, forms};
use crate::above::views::setting::Setting as Obligations;
use crate::above::views::steps::Steps;
use crate::above::views::values::Values;
use crate::above::views::weights::weights;
use crate::above::views::{Growing, NoViews};
use crate::budget::Budget;
use crate::confirm::solver;
use crate::engine::{Cell, Engine, Figures, Info, Outcome, Setting, Takes, Threads};
use crate::forms::Forms;
use crate::meet::observation::walk;
use allways_evidence::views::MOST;
use allways_evidence::{Certificate, StopReason, Verdict, Views as ViewSet};
use allways_model::encoding::Encoded;
use allways_model::program::reduction::Reduction;
use allways_model::program::{LocationId, Program};
use allways_model::task::{Instance, Task};
use allways_smt::{Failure, Process, Settings};
use std::time::Duration;

/// The engine `views`; see the module.
pub struct Views;

const INFO: Info = Info {
    takes: Takes::Programs,
    threads: Threads::AsStated,
    ..Info::new(
        "views",
        "programs with integers, any number of threads: what few threads see together, by predicates and a solver",
    )
    .knowing(&[Setting::Solver])
};

/// For how long predicates are watched on a walk through rounds and delays.
const WALK_BUDGET: Duration = Duration::from_secs(60);

impl Engine for Views {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, run: &Forms) -> Result<(), String> {
        match run.program() {
            None => Err("engine `views` supports programs only".to_string()),
            Some(_) if run.question().property.deadlock => {
                Err("engine `views` does not support deadlocks".to_string())
            }
            Some(_) => Ok(()),
        }
    }

    fn run(&self, run: &Forms, budget: &Budget) -> Outcome {
        let (Some(task), Some(program)) = (run.task(), run.program()) else {
            return Outcome::unknown(StopReason::GaveUp("engine `views` supports programs only".to_string()));
        };
        let counts = match task.counts(program) {
            Ok(counts) => any_number_started(program, counts),
            Err(error) => return Outcome::unknown(StopReason::GaveUp(error.to_string())),
        };
        let settings = solver(run.question(), budget);
        let reduction = run.reduction(program);
        let found = find(program, &reduction, &counts, &settings, &|| budget.check().err());
        let mut figures = Figures { remarks: found.remarks, ..Figures::default() };
        if run.question().observe && !program.hints.is_empty() && !run.is_open() {
            figures.walk = observed(task, program, &budget.within(WALK_BUDGET));
        }
        let verdict = match found.views {
            Ok(views) => Verdict::Safe(Certificate::Views(Box::new(views))),
            Err(reason) => Verdict::Unknown(reason),
        };
        Outcome::new(verdict, figures)
    }
}

/// Of threads that are started on the way, there may be any number.
fn any_number_started(program: &Program, mut counts: Vec<Option<usize>>) -> Vec<Option<usize>> {
    let spawned = program.templates.iter().map(|template| template.spawned);
    counts.iter_mut().zip(spawned).filter(|(_, spawned)| *spawned).for_each(|(count, _)| *count = None);
    counts
}

/// What the predicates of a program, all of whose variables are kept, show on the way through growing rounds and delays.
fn observed(task: &Task, program: &Program, budget: &Budget) -> Vec<Cell> {
    let Ok(Some(threads)) = task.threads_of(program, &Instance::Few(1)) else { return Vec::new() };
    let Ok(encoded) = Encoded::new(program, &threads, false) else { return Vec::new() };
    walk(&encoded, budget).unwrap_or_default()
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The views, or why there are none.
    pub views: Result<ViewSet, StopReason>,
    /// What was tried, level by level, for people.
    pub remarks: Vec<String>,
}

/// Whether the method applies, and why not.
pub fn applies(program: &Program) -> Result<Steps, String> {
    Steps::new(program).map_err(|unsupported| unsupported.to_string())
}

/// The levels that are tried, one after the other.
fn levels(hints: bool, counts: &[Option<usize>]) -> Vec<Level> {
    let threads = counts.iter().try_fold(0_usize, |sum, count| sum.checked_add((*count)?));
    let most = threads.unwrap_or(3).min(3);
    let pair = most.min(2);
    let plain = |size| Level { size, differences: true, ..Level::default() };
    let known: usize = counts.iter().flatten().fold(0, |sum, &count| sum.saturating_add(count));
    let mut levels = Vec::new();
    if hints {
        levels.push(Level { size: pair, hints: true, ..Level::default() });
        levels.push(Level { hints: true, ..plain(pair) });
    }
    levels.extend((1..=pair).map(plain));
    if threads.is_none() && (1..MOST).contains(&known) {
        // A few known threads among any number of others.
        let anchored = |size| Level { anchored: true, ..plain(size) };
        levels.push(anchored(known + 1));
        levels.push(Level { conditions: true, ..anchored(known + 1) });
    }
    levels.push(Level { conditions: true, ..plain(pair) });
    levels.push(Level { sums: true, ..plain(pair) });
    levels.push(Level { sums: true, conditions: true, ..plain(pair) });
    levels.extend((3..=most).map(plain));
    levels.extend((3..=most).map(|size| Level { conditions: true, ..plain(size) }));
    levels
}

/// Looks for views that prove a program with so many threads of each template.
pub fn find(
    program: &Program,
    reduction: &Reduction,
    counts: &[Option<usize>],
    settings: &Settings,
    stop: &dyn Fn() -> Option<StopReason>,
) -> Found {
    let mut remarks = Vec::new();
    let views = search(program, reduction, counts, settings, stop, &mut remarks);
    Found { views, remarks }
}

fn search(
    program: &Program,
    reduction: &Reduction,
    counts: &[Option<usize>],
    settings: &Settings,
    stop: &dyn Fn() -> Option<StopReason>,
    remarks: &mut Vec<String>,
) -> Result<ViewSet, StopReason> {
    let steps = applies(program).map_err(StopReason::GaveUp)?;
    let threads = counts.iter().try_fold(0_usize, |sum, count| sum.checked_add((*count)?));
    if threads == Some(0) {
        return Err(StopReason::GaveUp("there are no threads".to_string()));
    }
    let values = Values::new(program, reduction, &steps);
    let gave_up = |failure: Failure| match failure {
        Failure::Stopped => stop().unwrap_or(StopReason::Interrupted),
        failure => StopReason::GaveUp(failure.to_string()),
    };
    let wanted = || stop().is_some();
    let explained = weights(&steps, &|slot| values.matters(slot));
    let mut why = String::new();
    for level in levels(!steps.hints.is_empty(), counts) {
        let views = ViewSet {
            counts: counts.to_vec(),
            size: level.size,
            anchored: level.anchored,
            weights: if level.differences { explained.weights.clone() } else { Vec::new() },
            ..ViewSet::default()
        };
        let setting = Obligations::new(program, &steps, &views)
            .map_err(|unsupported| StopReason::GaveUp(unsupported.to_string()))?;
        let mut solver = Process::start(settings, &wanted).map_err(gave_up)?;
        let forms = |locations: &[LocationId]| forms((&setting, &explained, &values), level, locations);
        let mut growing = Growing::new(&setting, &mut solver, &forms);
        let closed = growing.close(stop);
        let (states, queries) = (growing.abstract_states(), growing.queries);
        let found = closed.and_then(|()| growing.views());
        let outcome = match &found {
            Ok(_) => "closed".to_string(),
            Err(NoViews::Coarse(what)) => what.clone(),
            Err(NoViews::Fine) => "too many abstract states".to_string(),
            Err(NoViews::Solver(failure)) => failure.to_string(),
            Err(NoViews::Stopped(reason)) => reason.to_string(),
        };
        remarks.push(format!("{}: {states} abstract states, {queries} queries, {outcome}", words(level)));
        match found {
            Ok(views) => return Ok(views),
            Err(NoViews::Stopped(reason)) => return Err(stop().unwrap_or(reason)),
            Err(NoViews::Solver(failure @ Failure::Missing(..))) => return Err(gave_up(failure)),
            Err(_) => why = outcome,
        }
    }
    Err(StopReason::GaveUp(format!(
        "no closed set of views was found: {why}, as far as views of few threads can tell"
    )))
}

fn words(level: Level) -> String {
    let plural = if level.size == 1 { "" } else { "s" };
    let mut text = format!("views of {} thread{plural}", level.size);
    let parts = [
        (level.anchored, " with all known ones"),
        (level.hints, ", given predicates"),
        (level.differences, ", differences"),
        (level.conditions, ", conditions"),
        (level.sums, ", sums"),
    ];
    parts.iter().filter(|part| part.0).for_each(|part| text += part.1);
    text
}
