//! From an execution that goes wrong to a run of the whole program, and of its pushdown system.
//!
//! [`run`] takes the steps again by the [reference semantics](semantics), with all tasks in one state, as threads; delays and
//! dispatches are no steps there. Which thread a dispatched task is, is found by comparing stacks and locks: where several fit,
//! they are the same but for their numbers. [`trace`](fn@trace) then follows that run in the encoding of the program, whose
//! replay is the checker's.
//!
//! Nothing here is believed: if the schedule dropped tasks that a property speaks of, the run may not go wrong after all, and
//! then there is none.

use super::asynchronous::{Asynchronous, Move, Task};
use super::explore::WrongRun;
use allways_evidence::{Step, Trace};
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_model::program::semantics::{self, Outcome, State};
use allways_model::pushdown::{self, Pushdown};

/// A run of a program: where it starts, and who moves to which state. After the last step something is wrong; if the step
/// itself goes wrong, it leads nowhere.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where it starts.
    pub initial: State,
    /// The thread that moves, and the state after it.
    pub steps: Vec<(usize, Option<State>)>,
}

/// The run behind an execution that goes wrong, if there is one.
pub fn run<O>(program: &Asynchronous<'_>, wrong: &WrongRun<O>) -> Option<Run> {
    let main = wrong.initial.running.clone()?;
    let initial = State { shared: wrong.initial.shared.clone(), threads: vec![Task { id: 0, ..main }] };
    let (mut state, mut running) = (initial.clone(), 0);
    let mut steps = Vec::new();
    for (how, to) in &wrong.moves {
        match how {
            Move::Delay => {}
            Move::Dispatch => {
                let to = to.as_ref()?;
                let task = to.running.as_ref()?;
                let held = program.held(&to.shared, task);
                running = (0..state.threads.len()).find(|&thread| {
                    let candidate = &state.threads[thread];
                    candidate.template == task.template
                        && candidate.stack == task.stack
                        && (program.held(&state.shared, candidate) == held)
                })?;
            }
            Move::Step(index) => {
                let step = semantics::steps(program.program, &state, running).into_iter().nth(*index)?;
                match step.outcome {
                    Outcome::To(next) => {
                        steps.push((running, Some(next.clone())));
                        state = next;
                    }
                    Outcome::Wrong(_) => steps.push((running, None)),
                    Outcome::Beyond(_) => return None,
                }
            }
        }
    }
    let is_wrong = steps.last().is_some_and(|(_, to)| to.is_none())
        || matches!(state.violated(program.program), Some(Outcome::Wrong(_)));
    is_wrong.then_some(Run { initial, steps })
}

/// For each template of a program, how many threads of it a run needs at a time.
pub fn needed(program: &Program, run: &Run) -> Vec<usize> {
    let mut needed = State::counts(program);
    for state in std::iter::once(&run.initial).chain(run.steps.iter().filter_map(|(_, to)| to.as_ref())) {
        let mut count = vec![0; needed.len()];
        let under_way = state.threads.iter().filter(|thread| !thread.ended(program));
        under_way.for_each(|thread| count[thread.template.index()] += 1);
        needed.iter_mut().zip(count).for_each(|(needed, count)| *needed = (*needed).max(count));
    }
    needed
}

/// The threads of a program, with room for so many of each template.
pub fn threads(program: &Program, needed: &[usize]) -> Threads {
    let mut threads = Threads::of(program, 0);
    threads.pool = needed.iter().zip(&threads.running).map(|(needed, running)| needed - running).collect();
    threads
}

/// A run of a program as one of its pushdown system, which has room for its tasks.
pub fn trace(encoded: &Encoded, run: &Run) -> Option<Trace> {
    let program = encoded.program();
    let mut slots = encoded.initial_slots();
    let initial = encoded.encode(&run.initial, &slots);
    let mut trace = Trace { initial, steps: Vec::new() };
    let mut threads = run.initial.threads.len();
    for (thread, to) in &run.steps {
        let mover = slots.iter().position(|slot| *slot == Some(*thread))?;
        let mut started = None;
        if let Some(next) = to {
            if next.threads.len() > threads {
                threads = next.threads.len();
                let template = next.threads[threads - 1].template;
                let free = |slot: &usize| {
                    let role = encoded.roles()[*slot];
                    role.pooled && role.template == template && slots[*slot].is_none()
                };
                let slot = (0..slots.len()).find(free)?;
                slots[slot] = Some(threads - 1);
                started = Some(slot);
            }
            let role = encoded.roles()[mover];
            let vanishes = role.pooled && program.templates[role.template].vanishes;
            if vanishes && next.threads[*thread].ended(program) {
                slots[mover] = None;
            }
        }
        let bad = encoded.property(false).bad.first().and_then(|pattern| pattern.shared);
        let goal = match to {
            Some(next) if next.violated(program).is_none() => Some(encoded.encode(next, &slots)),
            _ => None,
        };
        let is_goal = |state: &pushdown::State| match &goal {
            Some(goal) => state == goal,
            None => Some(state.shared) == bad,
        };
        let movers = [mover, started.unwrap_or(mover)];
        let steps = walk(encoded, trace.last(), movers, &is_goal)?;
        trace.steps.extend(steps);
    }
    Some(trace)
}

/// The steps of the pushdown system that are one step of the program: the first thread moves, and while the system only
/// passes through states, it or the one that it has started.
fn walk(
    encoded: &Encoded,
    from: &pushdown::State,
    [first, other]: [usize; 2],
    is_goal: &dyn Fn(&pushdown::State) -> bool,
) -> Option<Vec<Step>> {
    let mut todo = vec![(from.clone(), Vec::new())];
    while let Some((state, steps)) = todo.pop() {
        let movers: &[usize] = if steps.is_empty() || first == other { &[first] } else { &[first, other] };
        for &thread in movers {
            for rule in state.enabled(encoded, thread) {
                let next = state.step(thread, &rule);
                let mut steps: Vec<Step> = steps.clone();
                steps.push(Step { thread, line: rule.line, state: next.clone() });
                if is_goal(&next) {
                    return Some(steps);
                }
                // A step of a program is few of the system: a return and its results, a task and its start.
                if encoded.is_transient(next.shared) && steps.len() < 4 {
                    todo.push((next, steps));
                }
            }
        }
    }
    None
}
