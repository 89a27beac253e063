//! The engine `schedules`: a program with tasks under a scheduler, with 0, 1, 2, … delays (DBS).
//!
//! A run that goes wrong is given as a trace of the pushdown system of the program, with room for as many tasks as it needs.
//! If more delays add nothing, every schedule has been explored, and it is known how many tasks are ever under way at a time;
//! with room for so many, the [portfolio](crate::strategy::portfolio) is asked for a certificate.

use super::explore::Explored;
use super::trace::{Run, needed, run, trace};
use super::{
    Asynchronous, Bag, BoundedBag, Bounding, Delays, DepthFirst, ReverseDepthFirst, RoundRobin, explore,
};
use crate::budget::Budget;
use crate::engine::{Engine, EvidenceRejected, Figures, Info, Outcome, Schedule, Setting, Takes, Threads};
use crate::forms::Forms;
use crate::strategy::{FreeSearch, Strategy};
use allways_evidence::{Counterexample, StopReason, Verdict};
use allways_model::program::Program;
use allways_model::task::Instance;
use allways_model::threads::Counts;
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
    /// Its name, which the answers bear.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    fn info(self) -> &'static Info {
        const fn named(name: &'static str) -> Info {
            Info { name, ..INFO }
        }
        const INFOS: [Info; 5] = [
            named("bag"),
            named("bounded-bag"),
            named("round-robin"),
            named("depth-first"),
            named("reverse-depth-first"),
        ];
        match self {
            Scheduler::Bag => &INFOS[0],
            Scheduler::BoundedBag(_) => &INFOS[1],
            Scheduler::RoundRobin => &INFOS[2],
            Scheduler::DepthFirst => &INFOS[3],
            Scheduler::ReverseDepthFirst => &INFOS[4],
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

/// The engine; see the module.
pub struct Schedules;

const INFO: Info = Info {
    takes: Takes::Programs,
    threads: Threads::AsStated,
    needs: Some(Setting::Scheduler),
    ..Info::new(
        "schedules",
        "programs with tasks: explores the schedules of --scheduler with 0, 1, 2, … --delays (DBS)",
    )
    .knowing(&[Setting::Scheduler])
};

impl Engine for Schedules {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        let program = forms.program().ok_or("engine `schedules` supports programs only")?;
        match Asynchronous::new(program) {
            Some(_) => Ok(()),
            None => Err("engine `schedules` supports programs with tasks only".to_string()),
        }
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let question = forms.question();
        let (Some(program), Some(scheduler)) = (forms.program(), question.scheduler) else {
            return Outcome::unknown(StopReason::GaveUp("there is no scheduler, or no program".to_string()));
        };
        let Some(asynchronous) = Asynchronous::new(program) else {
            return Outcome::unknown(StopReason::GaveUp("there are no tasks".to_string()));
        };
        let delays = question.delays.map(|delays| delays as usize);
        let found = match scheduler {
            Scheduler::Bag => found(&asynchronous, &Delays(Bag), delays, budget),
            Scheduler::BoundedBag(bound) => {
                found(&asynchronous, &Delays(BoundedBag { bound }), delays, budget)
            }
            Scheduler::RoundRobin => found(&asynchronous, &Delays(RoundRobin), delays, budget),
            Scheduler::DepthFirst => found(&asynchronous, &Delays(DepthFirst), delays, budget),
            Scheduler::ReverseDepthFirst => found(&asynchronous, &Delays(ReverseDepthFirst), delays, budget),
        };
        let used = found.run.as_ref().map_or(found.levels.len().saturating_sub(1), |(delays, _)| *delays);
        let mut outcome = conclude(&found, scheduler, used, program, forms, budget).by(scheduler.info());
        let levels: Vec<String> = found.levels.iter().map(usize::to_string).collect();
        let remark = format!("configurations within 0, 1, … delays: {}", levels.join(", "));
        outcome.figures.remarks.push(remark);
        outcome.figures.delays = u32::try_from(used).ok();
        outcome.figures.schedule = Some(Schedule {
            scheduler: scheduler.name(),
            delays: used,
            configurations: found.levels.last().copied().unwrap_or_default(),
            exhausted: found.exhausted,
        });
        outcome
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

fn found<B: Bounding>(
    program: &Asynchronous<'_>,
    bounding: &B,
    delays: Option<usize>,
    budget: &Budget,
) -> Found {
    let Explored { wrong, exhausted, stopped, levels, peak, .. } = explore(program, bounding, delays, budget);
    let run = wrong.map(|wrong| (wrong.cost, run(program, &wrong)));
    let room = match &run {
        Some((_, Some(run))) => needed(program.program, run),
        _ if exhausted => peak,
        // Nothing will be asked of it.
        _ => vec![1; peak.len()],
    };
    Found { run, exhausted: exhausted && bounding.limit_sound(), stopped, levels, room }
}

fn conclude(
    found: &Found,
    scheduler: Scheduler,
    used: usize,
    program: &Program,
    forms: &Forms,
    budget: &Budget,
) -> Outcome {
    let templates = program.templates.iter().zip(&found.room).filter(|(template, _)| template.spawned);
    let counts = Counts::of(templates.map(|(template, &room)| (template.name.clone(), room)));
    let instance = Instance::Exactly(counts);
    let forms = forms.at(instance.clone());
    let gave_up = |why: &str| Outcome::unknown(StopReason::GaveUp(why.to_string()));
    let engine = scheduler.name();
    let outcome = match &found.run {
        Some((_, Some(run))) => {
            let encoded = forms.encoding().and_then(Result::ok);
            match encoded.and_then(|encoded| trace(&encoded, run)) {
                Some(trace) => {
                    let verdict = Verdict::Unsafe(Counterexample::Trace(trace));
                    Outcome::new(verdict, Figures::default())
                }
                None => {
                    let why = "the pushdown system of the program has no such run".to_string();
                    let rejected = Some(EvidenceRejected { engine, claim: "unsafe", why });
                    Outcome { rejected, ..gave_up("there is no such run") }
                }
            }
        }
        Some((_, None)) => {
            gave_up("the run that was found goes wrong only if the tasks that the scheduler dropped are gone")
        }
        None if found.exhausted => {
            let outcome = Strategy::Portfolio(FreeSearch::InTurns).run(&forms, budget);
            let mut outcome = outcome.unwrap_or_else(|| gave_up("there is nothing to do"));
            match &mut outcome.verdict {
                Verdict::Safe(_) => {}
                Verdict::Unsafe(_) => {
                    let why = "a search found no run that goes wrong, and there is one".to_string();
                    outcome.rejected = Some(EvidenceRejected { engine, claim: "safe", why });
                }
                Verdict::Unknown(StopReason::GaveUp(why)) => {
                    *why = format!("every schedule was explored, but there is no certificate: {why}");
                }
                Verdict::Unknown(_) => {}
            }
            outcome
        }
        None => {
            let within = format!("{used} delay{} of {engine}", if used == 1 { "" } else { "s" });
            let reason = found.stopped.clone().unwrap_or(StopReason::Bound(within));
            Outcome::unknown(reason)
        }
    };
    Outcome { instance: Some(instance), ..outcome }
}
