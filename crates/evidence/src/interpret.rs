//! The run of a program behind a run of its pushdown system, walked by the program's own semantics.
//!
//! An engine's trace is about the [encoding](Encoded) of a program. Here each of its steps is matched with a step of the
//! [reference semantics](semantics); where the encoding takes several steps with nobody else moving in between, they are
//! one; where a thread passes locations in one step, the program takes several; where the encoding chooses the initial value of
//! a variable, the program does nothing. So what is shown to a user is a run of the program, whatever the encoding and its reductions did.
//!
//! Invariant: before each step, the encoding of the program's state, its threads in the slots known so far, is the state
//! of the trace. Values that the encoding leaves out are those that no longer matter, so any step that fits will do.

use crate::rejection::shorten;
use crate::{Halt, Rejection, StopReason, Trace};
use allways_model::encoding::{Encoded, Mode};
use allways_model::notation::show_state;
use allways_model::program::semantics::{self, Outcome, State, Thread};
use allways_model::program::{LocationId, Program, Slot, Span, Type, Value, Variable, Violation};
use allways_model::pushdown;
use std::collections::HashMap;

/// A run of a program that goes wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Where it starts.
    pub initial: State,
    /// For each thread of the pushdown system, the thread of the program that it is at the start.
    pub slots: Vec<Option<usize>>,
    /// Its steps.
    pub steps: Vec<RunStep>,
    /// How it ends.
    pub end: End,
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStep {
    /// Which thread of the pushdown system moves.
    pub thread: usize,
    /// From where.
    pub location: LocationId,
    /// By which of the edges there.
    pub edge: usize,
    /// The thread of the pushdown system that is started, if one is.
    pub started: Option<usize>,
    /// The state afterwards; unchanged by a step that goes wrong.
    pub state: State,
    /// For each thread of the pushdown system, the thread of the program that it then is.
    pub slots: Vec<Option<usize>>,
}

/// How a run ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// With a violation.
    Wrong(Violation),
    /// In a state in which no thread can move, although not all have ended.
    Deadlock,
    /// Without progress.
    Halted(Halt),
}

/// Walks a trace of a program's encoding that [`replay`](crate::replay()) has accepted.
pub fn interpret(encoded: &Encoded, trace: &Trace) -> Result<Run, Rejection> {
    let program = encoded.program();
    let slots = encoded.initial_slots();
    let values = chosen(encoded, trace);
    let initial = encoded
        .lift(&trace.initial, |slot| values.get(&slot).copied())
        .filter(|state| is_initial(program, state))
        .ok_or_else(|| Rejection::NotInitial(shorten(&show_state(encoded, &trace.initial))))?;
    let mut run =
        Run { initial: initial.clone(), slots: slots.clone(), steps: Vec::new(), end: End::Deadlock };
    if let Some(Outcome::Wrong(violation)) = initial.violated(program) {
        run.end = End::Wrong(violation);
        return Ok(run);
    }
    let (mut state, mut slots) = (initial, slots);
    let mut index = 0;
    // Where the steps of the trace begin among those of the run.
    let mut firsts = Vec::new();
    while index < trace.steps.len() {
        let first = index;
        let mover = trace.steps[first].thread;
        let before = if first == 0 { &trace.initial } else { &trace.steps[first - 1].state };
        if encoded.chosen(before, &trace.steps[first].state).is_some() {
            // The program has had that value from the start.
            index += 1;
            continue;
        }
        let passing =
            |at: usize| !matches!(mode(encoded, &trace.steps[at].state), Mode::Normal | Mode::Violated);
        while index + 1 < trace.steps.len() && passing(index) {
            index += 1;
        }
        let goal = &trace.steps[index].state;
        let taker = match mode(encoded, &trace.steps[first].state) {
            Mode::Starting(..) => Some(trace.steps[index].thread),
            _ => None,
        };
        let walk = Walk { encoded, state: &state, slots: &slots, mover, taker };
        let Some((steps, end)) = walk.steps(goal) else {
            if let Some(span) = walk.beyond() {
                let why = format!("line {}: a single step does too much to be followed", span.line);
                return Err(Rejection::Stopped(StopReason::GaveUp(why)));
            }
            let what = format!(
                "the program has no step of thread {mover} from {} to {}",
                shorten(&show_state(encoded, &encoded.encode(&state, &slots))),
                shorten(&show_state(encoded, goal))
            );
            return Err(Rejection::BadStep { step: first + 1, what });
        };
        if let Some(last) = steps.last() {
            (state, slots) = (last.state.clone(), last.slots.clone());
        }
        firsts.push(run.steps.len());
        run.steps.extend(steps);
        if let Some(violation) = end {
            run.end = End::Wrong(violation);
            return Ok(without_idle_steps(program, &run, &firsts).unwrap_or(run));
        }
        index += 1;
    }
    if state.deadlocked(program) {
        Ok(run)
    } else {
        let state = shorten(&show_state(encoded, &encoded.encode(&state, &slots)));
        Err(Rejection::NotBad { step: trace.steps.len(), state })
    }
}

/// The values that are chosen on the way for variables that may start with any.
fn chosen(encoded: &Encoded, trace: &Trace) -> HashMap<Slot, Value> {
    let before = std::iter::once(&trace.initial).chain(trace.steps.iter().map(|step| &step.state));
    let steps = before.zip(&trace.steps);
    steps.filter_map(|(before, step)| encoded.chosen(before, &step.state)).collect()
}

/// Whether a state is one of [`State::initial`], with as many threads as it has.
fn is_initial(program: &Program, state: &State) -> bool {
    let starts = |variables: &[Variable], values: &[Value]| {
        let slots = variables
            .iter()
            .flat_map(|variable| variable.initial.iter().map(move |initial| (variable.ty, initial)));
        let may = |(ty, initial): (Type, &Option<Value>), value: Value| match (initial, ty.bounds()) {
            (Some(initial), _) => *initial == value,
            (None, Some((low, high))) => low <= value && value <= high,
            (None, None) => value == 0,
        };
        slots.clone().count() == values.len() && slots.zip(values).all(|(slot, &value)| may(slot, value))
    };
    let mut of_template = vec![0; program.templates.len()];
    let thread_starts = |(id, thread): (usize, &Thread)| {
        let body = &program.procedures[program.templates[thread.template].body];
        let this = of_template[thread.template.index()];
        of_template[thread.template.index()] += 1;
        let [frame] = &thread.stack[..] else { return false };
        (thread.id, thread.this) == (id, this)
            && (frame.location, frame.calling) == (body.entry, None)
            && starts(&body.locals, &frame.locals)
    };
    starts(&program.shared, &state.shared) && state.threads.iter().enumerate().all(thread_starts)
}

fn mode(encoded: &Encoded, state: &pushdown::State) -> Mode {
    encoded.key(state.shared).mode
}

/// A step of the encoding that is to be found in the program.
struct Walk<'a> {
    encoded: &'a Encoded,
    state: &'a State,
    slots: &'a [Option<usize>],
    mover: usize,
    taker: Option<usize>,
}

impl Walk<'_> {
    /// The steps that lead to the goal, the first of them and those after it from locations that are passed; and what goes
    /// wrong with the last.
    fn steps(&self, goal: &pushdown::State) -> Option<(Vec<RunStep>, Option<Violation>)> {
        let program = self.encoded.program();
        let thread = self.slots[self.mover]?;
        let violated = mode(self.encoded, goal) == Mode::Violated;
        // Each step that was taken, with the one before it.
        let mut taken: Vec<(Option<usize>, RunStep)> = Vec::new();
        let mut todo: Vec<Option<usize>> = vec![None];
        while let Some(before) = todo.pop() {
            let (state, slots) = match before {
                None => (self.state.clone(), self.slots.to_vec()),
                Some(before) => (taken[before].1.state.clone(), taken[before].1.slots.clone()),
            };
            let location = state.threads[thread].top()?.location;
            let started = self.taker.filter(|_| before.is_none());
            for step in semantics::steps(program, &state, thread) {
                let taking = |state: State, slots: Vec<Option<usize>>, started| RunStep {
                    thread: self.mover,
                    location,
                    edge: step.edge,
                    started,
                    state,
                    slots,
                };
                match step.outcome {
                    Outcome::Wrong(violation) if violated => {
                        taken.push((before, taking(state, slots, None)));
                        return Some((path_to(taken), Some(violation)));
                    }
                    Outcome::To(next) => {
                        // A thread that sits in no slot would not be seen in the encoding.
                        if (next.threads.len() > state.threads.len()) != started.is_some() {
                            continue;
                        }
                        let slots = self.after(&slots, &next, thread, started);
                        let wrong = next.violated(program);
                        let reached = wrong.is_none() && self.encoded.stands_for(goal, &next, &slots);
                        let top = next.threads[thread].top().map(|top| top.location);
                        taken.push((before, taking(next, slots, started)));
                        match wrong {
                            Some(Outcome::Wrong(violation)) if violated => {
                                return Some((path_to(taken), Some(violation)));
                            }
                            _ if reached => return Some((path_to(taken), None)),
                            None if top.is_some_and(|top| self.encoded.passes(top))
                                && taken.len() < semantics::MOST =>
                            {
                                todo.push(Some(taken.len() - 1));
                            }
                            _ => {}
                        }
                    }
                    Outcome::Wrong(_) | Outcome::Beyond(_) => {}
                }
            }
        }
        None
    }

    /// A step of the thread that is not followed to its end.
    fn beyond(&self) -> Option<Span> {
        let steps = semantics::steps(self.encoded.program(), self.state, self.slots[self.mover]?);
        steps.into_iter().find_map(|step| match step.outcome {
            Outcome::Beyond(span) => Some(span),
            Outcome::To(_) | Outcome::Wrong(_) => None,
        })
    }

    /// Who is who after a step.
    fn after(
        &self,
        before: &[Option<usize>],
        next: &State,
        thread: usize,
        started: Option<usize>,
    ) -> Vec<Option<usize>> {
        let mut slots = before.to_vec();
        if let Some(slot) = started {
            slots[slot] = Some(next.threads.len() - 1);
        }
        let role = self.encoded.roles()[self.mover];
        let vanishes = role.pooled && self.encoded.program().templates[role.template].vanishes;
        if vanishes && next.threads[thread].ended(self.encoded.program()) {
            slots[self.mover] = None;
        }
        slots
    }
}

/// The last of the steps that were taken, after those that come before it.
fn path_to(mut taken: Vec<(Option<usize>, RunStep)>) -> Vec<RunStep> {
    let mut path = Vec::new();
    let mut next = taken.len().checked_sub(1);
    while let Some(index) = next {
        taken.truncate(index + 1);
        let Some((before, step)) = taken.pop() else { break };
        path.push(step);
        next = before;
    }
    path.reverse();
    path
}

/// A run that goes wrong, without the steps from passed locations of threads that do not move any more: nobody needs them. Walked
/// anew; nothing if it then does not go wrong in the same way.
fn without_idle_steps(program: &Program, run: &Run, firsts: &[usize]) -> Option<Run> {
    let last_mover = run.steps.last()?.thread;
    let last_first = |thread: usize| firsts.iter().rev().find(|&&first| run.steps[first].thread == thread);
    let idle = |(index, step): &(usize, &RunStep)| {
        step.thread != last_mover && last_first(step.thread).is_some_and(|first| index > first)
    };
    if !run.steps.iter().enumerate().any(|step| idle(&step)) {
        return None;
    }
    let mut shorter = Run { steps: Vec::new(), ..run.clone() };
    let mut state = run.initial.clone();
    let mut slots = &run.slots;
    let mut end = None;
    for (_, step) in run.steps.iter().enumerate().filter(|step| !idle(step)) {
        let thread = slots[step.thread]?;
        let same = |outcome: &Outcome| match outcome {
            Outcome::To(next) => next.threads[thread] == step.state.threads[thread],
            Outcome::Wrong(violation) => End::Wrong(*violation) == run.end,
            Outcome::Beyond(_) => false,
        };
        let mut taken = semantics::steps(program, &state, thread).into_iter();
        let taken = taken.find(|taken| taken.edge == step.edge && same(&taken.outcome))?;
        match taken.outcome {
            Outcome::To(next) => {
                end = next.violated(program);
                state = next;
            }
            outcome => end = Some(outcome),
        }
        slots = &step.slots;
        shorter.steps.push(RunStep { state: state.clone(), ..step.clone() });
        if end.is_some() {
            break;
        }
    }
    match end {
        Some(Outcome::Wrong(violation)) if End::Wrong(violation) == run.end => Some(shorter),
        _ => None,
    }
}
