//! Progress of programs with finitely many states: do threads come to where they should, and is none stuck for ever?
//!
//! All states and steps are listed (`graph`). For each promise to a thread, the states in which it is pending are divided into
//! strongly connected components; one in which a fair run can stay gives a counterexample, and if there is none, the
//! topological order of the components is a certificate (`components`, `fairness`). A thread is stuck in a state from which no way leads to a
//! step of its own (`stuck`). Counterexamples are made short (`runs`).
//!
//! From: Lichtenstein and Pnueli, *Checking that finite state concurrent programs satisfy their linear specification* (POPL 1985), for
//! fair components; Manna and Pnueli's rule with helpful threads for what the certificate says. Deviations: one label of one thread
//! in place of a formula, and only weak fairness, so that no component needs to be divided further.
//!
//! What goes wrong in a state is found by the engines for that; this one only notices, and asks them.

mod components;
mod fairness;
mod graph;
mod runs;
mod stuck;

use crate::budget::Budget;
use crate::engine::{Engine, Figures, Info, Outcome, Takes, Threads};
use crate::forms::Forms;
use crate::strategy;
use crate::table::NoEngine;
use allways_evidence::{Ranking, StopReason, Verdict};
use allways_model::program::{Program, TemplateId, Type, Variable};
use fairness::Found;
use graph::{Graph, NoGraph, StateNumber};
use stuck::NEVER;

/// The engine; see the module.
pub struct Progress;

const INFO: Info = Info {
    takes: Takes::Programs,
    threads: Threads::AsStated,
    ..Info::new(
        "progress",
        "lists all states: stuck threads (--stuck), and fair runs that break an `eventually`",
    )
};

/// What can be checked about progress, and what not: what is wrong, and what to do.
pub fn supported(forms: &Forms) -> Result<Vec<usize>, NoEngine> {
    let refuse = |what: String, help: &str| Err(NoEngine { what, help: help.to_string() });
    let (Some(task), Some(program)) = (forms.task(), forms.program()) else {
        return refuse("progress is checked of programs".to_string(), "leave out --engine progress");
    };
    if !task.asks_progress() {
        return refuse(
            "nothing is asked about progress".to_string(),
            "give --stuck, or write `eventually LABEL;` into the program",
        );
    }
    if let Some(task) = program.templates.iter().find(|template| template.vanishes) {
        let what = format!("line {}: progress is not checked of programs with tasks", task.span.line);
        return refuse(what, "write threads instead");
    }
    if let Some(template) = program.templates.iter().find(|template| template.spawned) {
        let what = format!(
            "line {}: progress is not checked with dynamically created threads, such as those of {}",
            template.span.line, template.name
        );
        return refuse(what, "write `thread NAME[2]` in place of `spawn`");
    }
    let counts = task.counts(program).map_err(|error| NoEngine { what: error.what, help: error.help })?;
    if let Some(open) = counts.iter().position(Option::is_none) {
        let template = &program.templates[TemplateId(open)];
        let what = format!(
            "line {}: progress is not checked with any number of threads, such as those of {}",
            template.span.line, template.name
        );
        return refuse(what, &format!("give a number, such as --threads {}=3", template.name));
    }
    if let Some(variable) = integer(program) {
        let what = format!(
            "line {}: progress is checked of programs with finitely many states, and `{}` is an integer without bounds",
            variable.span.line, variable.name
        );
        return refuse(what, "give it a range, such as `0..7`");
    }
    if forms.question().bounded() || forms.question().max_states.is_some() {
        return refuse("progress is not checked within bounds".to_string(), "leave out the bounds");
    }
    Ok(counts.into_iter().flatten().collect())
}

/// A variable without bounds, shared or of a thread. Those of procedures are mostly arguments, and have few values.
fn integer(program: &Program) -> Option<&Variable> {
    let bodies = program.templates.iter().map(|template| &program.procedures[template.body]);
    let locals = bodies.flat_map(|body| &body.locals);
    program.shared.iter().chain(locals).find(|variable| variable.ty == Type::Int)
}

impl Engine for Progress {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        supported(forms).map(drop).map_err(|error| error.to_string())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let (counts, program) = match (supported(forms), forms.program()) {
            (Ok(counts), Some(program)) => (counts, program),
            (Err(error), _) => return Outcome::unknown(StopReason::GaveUp(error.to_string())),
            (_, None) => return Outcome::unknown(StopReason::GaveUp("no program".to_string())),
        };
        let deadlock = forms.question().property.deadlock;
        let graph = match Graph::explore(program, &counts, deadlock, budget) {
            Ok(graph) => graph,
            Err(NoGraph::Stopped(reason)) => return Outcome::unknown(reason),
            Err(NoGraph::Wrong) => return goes_wrong(forms, budget),
        };
        let stuck = forms.task().is_some_and(|task| task.stuck);
        let (states, bytes) = (graph.len(), graph.bytes());
        let figures = Figures {
            concrete_states: Some(states),
            images: states as u64,
            store_bytes: bytes,
            ..Figures::default()
        };
        let verdict = judge(program, &counts, stuck, graph, budget).unwrap_or_else(Verdict::Unknown);
        Outcome::new(verdict, figures)
    }
}

/// What the other engines find where something goes wrong. That they prove the rest says nothing about progress.
fn goes_wrong(forms: &Forms, budget: &Budget) -> Outcome {
    let found = strategy::safety(forms).run(forms, budget);
    match found {
        Some(outcome) if matches!(outcome.verdict, Verdict::Unsafe(_)) || outcome.rejected.is_some() => {
            outcome
        }
        Some(Outcome { verdict: Verdict::Unknown(reason), .. }) => Outcome::unknown(reason),
        _ => {
            let why = "it can go wrong, but no engine has found how".to_string();
            Outcome::unknown(StopReason::GaveUp(why))
        }
    }
}

fn judge(
    program: &Program,
    counts: &[usize],
    stuck: bool,
    graph: Graph,
    budget: &Budget,
) -> Result<Verdict, StopReason> {
    let mut escapes = Vec::new();
    if stuck {
        budget.room_for(graph.len() * 4 * (graph.threads() + 2))?;
        escapes = stuck::escapes(program, &graph);
        let first = |away: &Vec<u32>| away.iter().position(|&away| away == NEVER);
        // States are numbered breadth first: the least number is nearest.
        let found =
            escapes.iter().enumerate().filter_map(|(thread, away)| Some((first(away)?, thread))).min();
        if let Some((state, thread)) = found {
            return Ok(runs::stuck(&graph, thread, state as StateNumber).into());
        }
    }
    let mut goals = Vec::new();
    for goal in program.goals(counts) {
        budget.room_for(graph.len() * 32)?;
        let eventually = &program.progress[goal.property];
        match fairness::look(&graph, goal, eventually) {
            Found::Ranks(ranks) => goals.push(ranks),
            Found::Fair { pending, components, fair } => {
                let before = |state: StateNumber| eventually.again || pending[state as usize];
                let of = (goal.property, goal.thread);
                return Ok(runs::starved(&graph, of, before, &components, &fair).into());
            }
        }
    }
    Ok(Ranking { states: graph.states, goals, escapes }.into())
}
