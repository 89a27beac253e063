//! Bugs behind wide inputs: executions with few delays, inputs as bit-vectors.
//!
//! The role of STORM (DBS, section 6), path by path in place of one large formula: `search` follows executions with 0, 1, 2,
//! … delays, `steps` says what a step does to values that depend on inputs, `values` makes formulas of expressions. Ways
//! through one atomic section are merged (DBS has one formula for all; a section is where that pays and control stays known).
//! Bounds grow together: within `d` delays, so many steps; each pair of bounds gets its turn, and the turns grow.
//!
//! What is found becomes values for the choices of the program ([`Inputs`]), and an execution of the program with these, which
//! goes through the ordinary replay. Nothing is proved: that nothing is found within bounds says nothing.

mod search;
mod steps;
mod values;

use crate::below::schedules::trace::{Run, trace};
use crate::budget::Budget;
use crate::confirm;
use crate::engine::{Engine, Figures, Info, Outcome, Setting, Takes};
use crate::forms::Forms;
use allways_evidence::{StopReason, Trace, Verdict};
use allways_model::program::inputs::Inputs;
use allways_model::program::{Expr, LocationId, Op, Program};
use allways_smt::bits::Session;
use search::{Bounds, End, Found, Refuted, Search};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use steps::{Steps, number_choices};

/// The engine.
pub struct SymbolicInputs;

const INFO: Info = Info {
    takes: Takes::Programs,
    ..Info::new(
        "symbolic",
        "programs with wide inputs: executions with 0, 1, 2, … delays, inputs as bit-vectors, by a solver; finds bugs",
    )
    .knowing(&[Setting::Solver])
};

/// The most steps without delays; each delay doubles them.
const FIRST_STEPS: u32 = 64;

/// The first turn of each pair of bounds, and what it is multiplied with each time.
const FIRST_TURN: Duration = Duration::from_millis(250);
const GROWTH: u32 = 3;

/// How much longer than a turn the solver may look for one example: some are hard to find, and worth it.
const THINKING: u32 = 8;

/// How many more pairs of bounds there are after each turn of all, and the last of them.
const MORE_DELAYS: u32 = 2;
const MOST_DELAYS: u32 = 32;

impl Engine for SymbolicInputs {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn supports(&self, forms: &Forms) -> Result<(), String> {
        let refused = |why: &str| Err(format!("engine `symbolic` does not support {why}"));
        let Some(program) = forms.program() else { return refused("systems that are no programs") };
        if program.procedures.iter().flat_map(|procedure| &procedure.locals).any(|local| local.mixed) {
            return refused("variables that other threads write (x$)");
        }
        if program.signals() {
            return refused("`signal`");
        }
        Ok(())
    }

    fn run(&self, forms: &Forms, budget: &Budget) -> Outcome {
        let supported = self.supports(forms).map_err(StopReason::GaveUp);
        supported.and_then(|()| hunt(forms, budget)).unwrap_or_else(Outcome::unknown)
    }
}

/// Whether a program has choices, or variables to start with, of so many values that they cannot all be tried.
pub fn has_wide_inputs(program: &Program) -> bool {
    let mut wide = false;
    let is_wide = |low: i64, high: i64| low.abs_diff(high) >= allways_model::program::expression::WIDE;
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    for expr in edges.flat_map(|edge| edge.op.expressions()) {
        expr.visit(&mut |part| wide |= matches!(part, Expr::Choose(low, high) if is_wide(*low, *high)));
    }
    let locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
    wide || program.shared.iter().chain(locals).any(|variable| {
        variable.initial.contains(&None) && variable.ty.bounds().is_some_and(|(low, high)| is_wide(low, high))
    })
}

fn hunt(forms: &Forms, budget: &Budget) -> Result<Outcome, StopReason> {
    let gave_up = |why: &dyn std::fmt::Display| StopReason::GaveUp(why.to_string());
    let (Some(task), Some(original)) = (forms.task(), forms.program()) else {
        return Err(gave_up(&"there is no program"));
    };
    let threads = task.threads_of(original, forms.instance()).map_err(|error| gave_up(&error))?;
    let threads = threads.ok_or_else(|| gave_up(&"the program leaves no number of threads open"))?;
    let mut program = Program::clone(original);
    let numbers = number_choices(&mut program);
    let program = &program;
    let counts: Vec<usize> =
        threads.running.iter().zip(&threads.pool).map(|(running, pool)| running + pool).collect();
    let quiet = quiet(program, &counts);
    let waits = waits(program);
    let stop = || budget.check().is_err();
    let settings = confirm::solver(forms.question(), budget);
    let mut session = Session::start(&settings, &stop).map_err(|failure| gave_up(&failure))?;
    let mut steps = Steps::new(program, &numbers, counts);
    let (initial, assumed) = steps.initial(&threads.running);
    if initial.threads.is_empty() {
        return Err(gave_up(&"there is no thread"));
    }
    let mut answer: Option<(Inputs, Trace)> = None;
    let mut refuted = Refuted::default();
    let mut done: HashSet<u32> = HashSet::new();
    let (mut most, mut turn) = (MORE_DELAYS, FIRST_TURN);
    loop {
        refuted.limit = turn.saturating_mul(THINKING);
        session.think(refuted.limit).map_err(|failure| gave_up(&failure))?;
        for delays in 0..=most {
            if done.contains(&delays) {
                continue;
            }
            let bounds = Bounds { delays, steps: FIRST_STEPS << delays.min(16) };
            let share = budget.within(turn);
            let mut found = |found: Found| {
                answer = confirmed(forms, found);
                answer.is_none()
            };
            let solver = (&mut session, &mut refuted);
            let search = Search::new(&mut steps, solver, (&quiet, &waits), &share, &mut found);
            let end = search.run(&initial, assumed, bounds);
            if let Some((inputs, trace)) = answer {
                let figures = Figures { delays: Some(delays), images: session.asked, ..Figures::default() };
                let outcome = Outcome::new(Verdict::from(trace), figures);
                return Ok(Outcome { inputs: Some(Arc::new(inputs)), ..outcome });
            }
            budget.check()?;
            match end {
                End::All(true) | End::Stopped(StopReason::Time) => {}
                End::All(false) => {
                    return Err(gave_up(&"no execution goes wrong that is followed with symbolic inputs"));
                }
                End::Stopped(reason) => return Err(reason),
                End::Failed(failure) => return Err(gave_up(&failure)),
            }
            if matches!(end, End::All(true)) {
                done.insert(delays);
            }
        }
        if done.len() > MOST_DELAYS as usize {
            return Err(StopReason::Bound(format!("{MOST_DELAYS} delays, with symbolic inputs")));
        }
        most = (most + MORE_DELAYS).min(MOST_DELAYS);
        turn = turn.saturating_mul(GROWTH);
    }
}

/// The execution as a trace of the program with its inputs.
fn confirmed(forms: &Forms, found: Found) -> Option<(Inputs, Trace)> {
    let given = forms.with_inputs(Arc::new(found.inputs.clone()));
    let encoded = given.encoding()?.ok()?;
    let trace = trace(&encoded, &Run { initial: found.initial, steps: found.steps })?;
    Some((found.inputs, trace))
}

/// For each location, whether a step from there touches nothing that is written and that two threads touch.
fn quiet(program: &Program, counts: &[usize]) -> Vec<bool> {
    if !program.never.is_empty() {
        // Where threads are may be seen.
        return vec![false; program.locations.len()];
    }
    let mut users = vec![0_usize; program.shared_slots()];
    let mut written = vec![false; program.shared_slots()];
    for (template, &count) in program.templates.iter().zip(counts) {
        let mut used = vec![false; users.len()];
        for location in within(program, program.procedures[template.body].entry, &|_| false) {
            for edge in &program.locations[location].edges {
                edge.op.shared_accesses(&mut |slot, length, writes| {
                    for slot in slot..slot + length {
                        used[slot] = true;
                        written[slot] |= writes;
                    }
                });
            }
        }
        users.iter_mut().zip(used).for_each(|(users, used)| *users += if used { count } else { 0 });
    }
    let is_common = |slot: usize| users[slot] > 1 && written[slot];
    let sees = |op: &Op| {
        let mut sees =
            matches!(op, Op::Spawn(..) | Op::Fork(_) | Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_));
        op.shared_accesses(&mut |slot, length, _| sees |= (slot..slot + length).any(is_common));
        sees
    };
    each_step(program, &|location| program.locations[location].edges.iter().any(|edge| sees(&edge.op)))
        .into_iter()
        .map(|sees| !sees)
        .collect()
}

/// For each location, whether a thread may have to wait in the step from there.
fn waits(program: &Program) -> Vec<bool> {
    each_step(program, &|location| match &program.locations[location].edges[..] {
        [] => false,
        [one, other] => match (&one.op, &other.op) {
            (Op::Guard(expr, wanted), Op::Guard(same, otherwise)) => expr != same || wanted == otherwise,
            _ => false,
        },
        edges => edges.iter().all(|edge| {
            matches!(edge.op, Op::Guard(..) | Op::Acquire(_) | Op::Wait(_) | Op::Assign(_, _, Some(_)))
        }),
    })
}

/// For each location, whether something is true of one that the step from there comes through.
fn each_step(program: &Program, is: &dyn Fn(LocationId) -> bool) -> Vec<bool> {
    let ends = |op: &Op| matches!(op, Op::AtomicEnd);
    let step = |(here, _): (LocationId, _)| {
        let sections = program.locations[here].edges.iter().filter(|edge| matches!(edge.op, Op::AtomicBegin));
        let mut sections = sections.peekable();
        match sections.peek() {
            None => is(here),
            Some(_) => sections.any(|begin| within(program, begin.to, &ends).into_iter().any(is)),
        }
    };
    LocationId::each(&program.locations).map(step).collect()
}

/// The locations that are reached from one by steps that do not end it, calls included.
fn within(program: &Program, from: LocationId, ends: &dyn Fn(&Op) -> bool) -> Vec<LocationId> {
    let mut seen = HashSet::from([from]);
    let mut found = vec![from];
    let mut next = 0;
    while let Some(&location) = found.get(next) {
        next += 1;
        for edge in program.locations[location].edges.iter().filter(|edge| !ends(&edge.op)) {
            let called = match &edge.op {
                Op::Call(procedure, ..) => Some(program.procedures[*procedure].entry),
                Op::Fork(location) => Some(*location),
                _ => None,
            };
            found.extend([Some(edge.to), called].into_iter().flatten().filter(|to| seen.insert(*to)));
        }
    }
    found
}
