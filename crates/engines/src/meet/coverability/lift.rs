//! A run of the counter system of a program, as a trace of the program with as many threads.
//!
//! A configuration says how many threads are in which thread state. The trace is made step by step in the encoding with as many
//! threads: from a state that a configuration counts, some step, by any thread that is where the rule takes a token from, leads
//! to one that the next configuration counts. What counting passes over at once, the midst of a broadcast, takes several
//! steps, which are searched for breadth first. Threads in the same thread state are interchangeable, so any of them may move,
//! and nothing has to be taken back.
//!
//! Invariant: the trace is a run, and the last configuration counts its last state. Where the two encodings disagree (numbers
//! of threads that are cut off at a cap), there may be no such step; then there is no trace, and nothing is lost but time.

use crate::budget::Budget;
use crate::forms::CountedForm;
use allways_evidence::counters::Run;
use allways_evidence::{Step, StopReason, Trace};
use allways_model::counters::Configuration;
use allways_model::counters::step::step;
use allways_model::encoding::{Cell, Encoded, Key, Mode};
use allways_model::program::TemplateId;
use allways_model::pushdown::{EMPTY, Pushdown, Shared, State, Symbol};
use std::collections::{HashMap, HashSet, VecDeque};

/// Between two configurations, no more states than this are looked at.
const MOST_BETWEEN: usize = 1 << 14;

/// What both encodings know of a state: the shared variables, and how many threads of each template are where.
#[derive(PartialEq, Eq)]
struct Picture {
    shared: Key,
    threads: HashMap<(TemplateId, Option<Cell>), u64>,
}

/// The trace of a run, if the program with these threads can follow it.
pub fn lift(
    run: &Run,
    form: &CountedForm,
    (crowd, exact): (&Encoded, &Encoded),
    budget: &Budget,
) -> Result<Option<Trace>, StopReason> {
    let counted = |configuration: &Configuration| {
        let places = configuration.tokens.iter().map(|(place, count)| {
            let (kind, top) = form.counting.places[place as usize];
            let leader = form.products.kinds.members(kind)[0];
            let shared = form.counting.shared[configuration.shared.index()];
            ((crowd.roles()[leader].template, cell(crowd, shared, leader, top)), count)
        });
        let mut threads = HashMap::new();
        places.for_each(|(place, count)| *threads.entry(place).or_default() += count);
        Picture { shared: known(crowd, form.counting.shared[configuration.shared.index()]), threads }
    };
    let first = counted(&run.initial);
    let Some(initial) = exact.initial().into_iter().find(|state| picture(exact, state) == first) else {
        return Ok(None);
    };
    let mut trace = Trace { initial, steps: Vec::new() };
    let mut configuration = run.initial.clone();
    for &rule in &run.rules {
        let Some(next) = step(&form.counting.counters.rules[rule as usize], &configuration) else {
            return Ok(None);
        };
        let shared = form.counting.shared[next.shared.index()];
        // What threads are given one by one, all of them are given in one step of the program, and so is a whole section.
        if !matches!(crowd.key(shared).mode, Mode::Giving(..) | Mode::Within) {
            match between(exact, trace.last(), &counted(&next), budget)? {
                Some(steps) => trace.steps.extend(steps),
                None => return Ok(None),
            }
        }
        configuration = next;
    }
    Ok(Some(trace))
}

/// The steps from a state to one with this picture, through states that nobody stays in.
fn between(
    exact: &Encoded,
    from: &State,
    wanted: &Picture,
    budget: &Budget,
) -> Result<Option<Vec<Step>>, StopReason> {
    // The states, each with the step that led to it and where that came from.
    let mut found: Vec<(Option<usize>, Step)> = Vec::new();
    let mut seen: HashSet<State> = HashSet::new();
    let mut waiting: VecDeque<(Option<usize>, State)> = VecDeque::from([(None, from.clone())]);
    while let Some((origin, state)) = waiting.pop_front() {
        budget.check()?;
        let mut tried = HashSet::new();
        for thread in 0..exact.threads() {
            // Threads in the same thread state would do the same.
            let cell = cell(exact, state.shared, thread, state.stacks[thread].top());
            if !tried.insert((exact.roles()[thread].template, cell)) {
                continue;
            }
            for rule in state.enabled(exact, thread) {
                let next = state.step(thread, &rule);
                // Where something went wrong, it does not matter who is where.
                let arrived = known(exact, next.shared) == wanted.shared
                    && (wanted.shared.mode == Mode::Violated || picture(exact, &next) == *wanted);
                if !arrived && (!exact.is_transient(next.shared) || !seen.insert(next.clone())) {
                    continue;
                }
                found.push((origin, Step { thread, line: rule.line, state: next.clone() }));
                let last = found.len() - 1;
                if arrived {
                    return Ok(Some(path(found, last)));
                }
                if found.len() > MOST_BETWEEN {
                    return Ok(None);
                }
                waiting.push_back((Some(last), next));
            }
        }
    }
    Ok(None)
}

fn path(found: Vec<(Option<usize>, Step)>, last: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = Some(last);
    while let Some(index) = at {
        steps.push(found[index].1.clone());
        at = found[index].0;
    }
    steps.reverse();
    steps
}

fn picture(system: &Encoded, state: &State) -> Picture {
    let mut threads = HashMap::new();
    for (thread, (role, stack)) in system.roles().iter().zip(&state.stacks).enumerate() {
        let cell = cell(system, state.shared, thread, stack.top());
        *threads.entry((role.template, cell)).or_default() += 1;
    }
    Picture { shared: known(system, state.shared), threads }
}

/// Where a thread is, with all of its variables.
fn cell(system: &Encoded, shared: Shared, thread: usize, top: Symbol) -> Option<Cell> {
    (top != EMPTY).then(|| system.whole_cell(shared, thread, top))
}

/// A shared state without the numbers of threads, which are cut off where threads are any number. A thread that starts has all of
/// its variables in its cell.
fn known(system: &Encoded, shared: Shared) -> Key {
    let Key { mode, values } = system.key(shared);
    let mode = match mode {
        Mode::Waking(event, ..) => Mode::Waking(event, 0, 0),
        Mode::Settling(_) => Mode::Settling(0),
        Mode::Starting(template, mut cell, mixed) => {
            let body = &system.program().procedures[system.program().templates[template].body];
            for local in body.locals.iter().filter(|local| local.mixed) {
                let slots = local.slot..local.slot + local.slots();
                if let (Some(into), Some(from)) = (cell.locals.get_mut(slots.clone()), mixed.get(slots)) {
                    into.copy_from_slice(from);
                }
            }
            Mode::Starting(template, cell, Box::default())
        }
        mode => mode,
    };
    let slots = system.program().shared_slots().min(values.len());
    Key { mode, values: values[..slots].into() }
}
