//! The reference semantics of programs: which steps a thread can take, and where they lead.
//!
//! This is what a program means. It is written to be read, not to be fast: states are plain values and every step copies
//! one. The encoding of programs as pushdown systems, and through it every engine, is tested against it; a trace that is
//! shown to a user has been walked by it.
//!
//! A thread moves from the location of its topmost frame along one of the edges there. Threads interleave at every step,
//! except that an atomic section is one step: whatever state it can be left in is a successor, found by trying everything
//! inside; if it cannot be left, the step cannot be taken. A thread at a `wait` moves only when another one broadcasts,
//! and then all that wait for the event move in that same step; or when another one signals, and then one of them does.

use super::expression::{Choices, NoValue, Scope, element};
use super::{
    Binary, Count, Edge, Expr, LocationId, LockPlace, Op, Place, Procedure, Program, Slot, Span, Target,
    TemplateId, Value, Variable, Violation, Wrong,
};
use crate::hash::RowSet;

/// An activation of a procedure.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Frame {
    /// Where control is.
    pub location: LocationId,
    /// The edge from there by which another procedure was called, if it has not returned yet.
    pub calling: Option<usize>,
    /// The values of the local variables.
    pub locals: Vec<Value>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Thread {
    /// What it is an instance of.
    pub template: TemplateId,
    /// A number of its own among all threads, which a lock remembers.
    pub id: usize,
    /// Which thread of its template it is.
    pub this: Value,
    /// The frames, the topmost last.
    pub stack: Vec<Frame>,
}

/// A state of the program.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct State {
    /// The values of the shared variables. A lock is 0, or one more than the number of the thread that holds it.
    pub shared: Vec<Value>,
    /// The threads; those started later come last.
    pub threads: Vec<Thread>,
}

/// Where a step leads.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// To another state.
    To(State),
    /// It goes wrong.
    Wrong(Violation),
    /// It is not followed: a number is too large, an atomic section does too much, or other values than a few could be chosen.
    Beyond(Span),
}

/// A step of a thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Step {
    /// The edge, counted among those of the location.
    pub edge: usize,
    /// Where it leads.
    pub outcome: Outcome,
}

/// How many states an atomic section, or how many values a single step, may go through before it is given up.
pub const MOST: usize = 1 << 16;

/// After how many states of a single way through an atomic section one is kept, to notice a circle.
const BETWEEN_LOOKS: usize = 16;

impl Thread {
    /// A thread of a template at the start of its body, with these values for the parameters and, where any value will
    /// do, choices.
    pub fn start(
        program: &Program,
        template: TemplateId,
        (id, this): (usize, Value),
        arguments: &[Value],
        choices: &mut Choices,
    ) -> Thread {
        let body = &program.procedures[program.templates[template].body];
        Thread { template, id, this, stack: vec![Frame::enter(body, arguments, choices)] }
    }

    /// The topmost frame.
    pub fn top(&self) -> Option<&Frame> {
        self.stack.last()
    }

    /// Whether it has reached its end.
    pub fn ended(&self, program: &Program) -> bool {
        self.top().is_none_or(|frame| program.locations[frame.location].edges.is_empty())
    }
}

impl Frame {
    /// A frame at the start of a procedure.
    pub fn enter(procedure: &Procedure, arguments: &[Value], choices: &mut Choices) -> Frame {
        let mut locals = Vec::with_capacity(procedure.slots());
        for (index, local) in procedure.locals.iter().enumerate() {
            for &initial in &local.initial {
                let any = |choices: &mut Choices| {
                    local.ty.bounds().map_or(0, |(low, high)| choices.choose(low, high))
                };
                locals.push(match arguments.get(index) {
                    Some(&argument) if index < procedure.parameters => argument,
                    _ => initial.unwrap_or_else(|| any(choices)),
                });
            }
        }
        Frame { location: procedure.entry, calling: None, locals }
    }
}

impl State {
    /// The initial states of a program with so many threads of each template. `None` if there are too many.
    pub fn initial(program: &Program, counts: &[usize]) -> Option<Vec<State>> {
        if initial_states(program, counts) > MOST as u128 {
            return None;
        }
        let mut states = Vec::new();
        Choices::each(|choices| {
            let values = program.shared.iter().flat_map(|variable| {
                variable.initial.iter().map(|initial| (*initial, variable.ty.bounds().unwrap_or_default()))
            });
            let shared =
                values.map(|(initial, (low, high))| initial.unwrap_or_else(|| choices.choose(low, high)));
            let mut state = State { shared: shared.collect(), threads: Vec::new() };
            for (template, &count) in counts.iter().enumerate() {
                for this in 0..count {
                    let place = (state.threads.len(), this as Value);
                    state.threads.push(Thread::start(program, TemplateId(template), place, &[], choices));
                }
            }
            states.push(state);
            true
        });
        Some(states)
    }

    /// How many threads of each template the program says there are; any number of them is none.
    pub fn counts(program: &Program) -> Vec<usize> {
        let count = |count| if let Count::Fixed(count) = count { count } else { 0 };
        program.templates.iter().map(|template| count(template.count)).collect()
    }

    /// What of the program's properties is violated here.
    pub fn violated(&self, program: &Program) -> Option<Outcome> {
        let control: Vec<LocationId> =
            self.threads.iter().filter_map(Thread::top).map(|top| top.location).collect();
        let scope = Scope { shared: &self.shared, locals: &[], this: 0, next: None, control: &control };
        program.never.iter().find_map(|never| violation(&never.expr, never.span, &scope))
    }

    /// Whether no thread can move, although not all have ended.
    pub fn deadlocked(&self, program: &Program) -> bool {
        let stuck = |thread| steps(program, self, thread).is_empty();
        !self.threads.iter().all(|thread| thread.ended(program)) && (0..self.threads.len()).all(stuck)
    }
}

/// How many initial states there are: one for each choice of the values that are open.
fn initial_states(program: &Program, counts: &[usize]) -> u128 {
    let choices = |variables: &[Variable]| {
        variables.iter().fold(1_u128, |product, variable| {
            let (low, high) = variable.ty.bounds().unwrap_or_default();
            let open = variable.initial.iter().filter(|initial| initial.is_none()).count();
            let each = u128::from(low.abs_diff(high.max(low))) + 1;
            product.saturating_mul(each.saturating_pow(u32::try_from(open).unwrap_or(u32::MAX)))
        })
    };
    let threads = program.templates.iter().zip(counts).map(|(template, &count)| {
        let each = choices(&program.procedures[template.body].locals);
        each.saturating_pow(u32::try_from(count).unwrap_or(u32::MAX))
    });
    threads.fold(choices(&program.shared), u128::saturating_mul)
}

/// What is violated if `expr` can be true.
pub fn violation(expr: &Expr, span: Span, scope: &Scope<'_>) -> Option<Outcome> {
    let mut found = None;
    Choices::each(|choices| {
        found = match expr.value(scope, choices) {
            Ok(0) => None,
            Ok(_) => Some(Outcome::Wrong(Violation::at(Wrong::Never, span))),
            Err(no_value) => Some(Outcome::from(no_value)),
        };
        found.is_none()
    });
    found
}

impl From<NoValue> for Outcome {
    fn from(no_value: NoValue) -> Outcome {
        match no_value {
            NoValue::Wrong(violation) => Outcome::Wrong(violation),
            NoValue::TooLarge(span) => Outcome::Beyond(span),
            NoValue::Open(_) => Outcome::Beyond(Span::default()),
        }
    }
}

/// The steps that a thread can take.
pub fn steps(program: &Program, state: &State, thread: usize) -> Vec<Step> {
    steps_noting(program, state, thread, &mut None)
}

/// The steps that a thread can take. If one of them reads a shared slot whose value is left [open](super::expression::OPEN),
/// which one it is instead.
pub fn steps_unless_open(program: &Program, state: &State, thread: usize) -> Result<Vec<Step>, Slot> {
    let mut open = None;
    let steps = steps_noting(program, state, thread, &mut open);
    open.map_or(Ok(steps), Err)
}

fn steps_noting(program: &Program, state: &State, thread: usize, open: &mut Option<Slot>) -> Vec<Step> {
    let Some(top) = state.threads[thread].top() else { return Vec::new() };
    let mut steps: Vec<Step> = Vec::new();
    for (index, edge) in program.locations[top.location].edges.iter().enumerate() {
        let outcomes = match edge.op {
            Op::AtomicBegin => atomic(program, state, thread, edge, open),
            _ => take_each(program, state, thread, (index, edge), open),
        };
        steps.extend(outcomes.into_iter().map(|outcome| Step { edge: index, outcome }));
    }
    steps
}

/// Where an edge leads, over all choices.
fn take_each(
    program: &Program,
    state: &State,
    thread: usize,
    (index, edge): (usize, &Edge),
    open: &mut Option<Slot>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::new();
    let mut seen = RowSet::default();
    let mut tried = 0;
    let left_out = Choices::each_of_few(|choices| {
        let outcome = match take(program, state, thread, (index, edge), choices) {
            Ok(next) => next.map(Outcome::To),
            Err(no_value) => {
                if let NoValue::Open(slot) = no_value {
                    open.get_or_insert(slot);
                }
                Some(Outcome::from(no_value))
            }
        };
        if let Some(outcome) = outcome {
            add_new(outcome, &mut outcomes, &mut seen);
        }
        tried += 1;
        tried <= MOST
    });
    if left_out || tried > MOST {
        outcomes.push(Outcome::Beyond(edge.span));
    }
    outcomes
}

/// Adds an outcome that is not there yet. Most steps have one, with which nothing needs to be compared.
fn add_new(outcome: Outcome, outcomes: &mut Vec<Outcome>, seen: &mut RowSet<Outcome>) {
    if outcomes.len() == 1 && seen.is_empty() {
        seen.extend(outcomes.iter().cloned());
    }
    if outcomes.is_empty() || seen.insert(outcome.clone()) {
        outcomes.push(outcome);
    }
}

/// The states in which an atomic section can be left, and what can go wrong in it.
fn atomic(
    program: &Program,
    state: &State,
    thread: usize,
    begin: &Edge,
    open: &mut Option<Slot>,
) -> Vec<Outcome> {
    let mut first = state.clone();
    go(&mut first, thread, begin.to);
    let depth = first.threads[thread].stack.len();
    let mut seen = RowSet::default();
    let mut visited: usize = 0;
    let mut todo = vec![first];
    let mut outcomes: Vec<Outcome> = Vec::new();
    let mut had = RowSet::default();
    let mut add = |outcome: Outcome, outcomes: &mut Vec<Outcome>| add_new(outcome, outcomes, &mut had);
    while let Some(state) = todo.pop() {
        // Most sections are a single way; then it is enough to look now and then whether it leads in a circle.
        if (!todo.is_empty() || (visited + 1).is_multiple_of(BETWEEN_LOOKS)) && !seen.insert(state.clone()) {
            continue;
        }
        visited += 1;
        let stack = &state.threads[thread].stack;
        let edges = &program.locations[stack[stack.len() - 1].location].edges;
        if edges.is_empty() {
            // The thread ends, and with it the section.
            add(Outcome::To(state.clone()), &mut outcomes);
        }
        for (index, edge) in edges.iter().enumerate() {
            let here = stack.len() == depth;
            let after = match edge.op {
                Op::Return(_) if here => {
                    add(Outcome::To(state.clone()), &mut outcomes);
                    continue;
                }
                Op::AtomicEnd if here => {
                    let mut left = state.clone();
                    go(&mut left, thread, edge.to);
                    add(Outcome::To(left), &mut outcomes);
                    continue;
                }
                _ => take_each(program, &state, thread, (index, edge), open),
            };
            for outcome in after {
                match outcome {
                    Outcome::To(next) => todo.push(next),
                    outcome => add(outcome, &mut outcomes),
                }
            }
        }
        if visited > MOST {
            outcomes.push(Outcome::Beyond(begin.span));
            break;
        }
    }
    outcomes
}

pub(super) fn go(state: &mut State, thread: usize, to: LocationId) {
    if let Some(top) = state.threads[thread].stack.last_mut() {
        top.location = to;
    }
}

/// Where an edge leads with these choices; nowhere if it cannot be taken so.
pub(super) fn take(
    program: &Program,
    state: &State,
    thread: usize,
    (index, edge): (usize, &Edge),
    choices: &mut Choices,
) -> Result<Option<State>, NoValue> {
    let moving = &state.threads[thread];
    let Some(top) = moving.top() else { return Ok(None) };
    let scope =
        Scope { shared: &state.shared, locals: &top.locals, this: moving.this, next: None, control: &[] };
    let wrong = |kind| Err(NoValue::Wrong(Violation::at(kind, edge.span)));
    if let Op::Guard(expr, expected) = &edge.op
        && (expr.value(&scope, choices)? != 0) != *expected
    {
        return Ok(None);
    }
    let mut next = state.clone();
    match &edge.op {
        Op::Skip | Op::Guard(..) | Op::AtomicBegin | Op::AtomicEnd => go(&mut next, thread, edge.to),
        Op::Assert(expr) => {
            if expr.value(&scope, choices)? == 0 {
                return wrong(Wrong::Assertion);
            }
            go(&mut next, thread, edge.to);
        }
        Op::Error => return wrong(Wrong::Error),
        Op::NoResult => return wrong(Wrong::NoResult),
        Op::Beyond => return Err(NoValue::TooLarge(edge.span)),
        Op::Assign(places, values, constraint) => {
            if places.iter().any(|place| matches!(place.target, Target::Others(_))) {
                give(&mut next, thread, places, values, &scope, choices)?;
            }
            let values = evaluate(values, &scope, choices)?;
            store(&mut next, thread, places, &values, &scope, choices)?;
            if let Some(constraint) = constraint {
                let after = next.threads[thread].top().map_or(&[][..], |top| &top.locals);
                let scope = Scope { next: Some((&next.shared, after)), ..scope };
                let mixed = program.procedure_of(top.location).locals.iter().any(|local| local.mixed);
                let holds = match mixed {
                    true => holds_for_others(constraint, (state, &next), thread, &scope, choices)?,
                    false => constraint.value(&scope, choices)? != 0,
                };
                if !holds {
                    return Ok(None);
                }
            }
            go(&mut next, thread, edge.to);
        }
        Op::Call(procedure, arguments, _) => {
            let procedure = &program.procedures[*procedure];
            let arguments = passed(procedure, arguments, edge.span, &scope, choices)?;
            let frame = Frame::enter(procedure, &arguments, choices);
            let stack = &mut next.threads[thread].stack;
            if let Some(caller) = stack.last_mut() {
                caller.calling = Some(index);
            }
            stack.push(frame);
        }
        Op::Return(results) => {
            let results = returned(program, top.location, results, edge.span, &scope, choices)?;
            let stack = &mut next.threads[thread].stack;
            stack.pop();
            if let Some(caller) = stack.last_mut() {
                let call =
                    &program.locations[caller.location].edges[caller.calling.take().unwrap_or_default()];
                caller.location = call.to;
                let locals = caller.locals.clone();
                let scope = Scope { locals: &locals, ..scope };
                if let Op::Call(_, _, places) = &call.op {
                    store(&mut next, thread, places, &results, &scope, choices)?;
                }
            }
        }
        Op::Acquire(lock) => {
            let slot = lock_slot(lock, &scope, choices)?;
            if state.shared[slot] != 0 {
                return Ok(None);
            }
            next.shared[slot] = moving.id as Value + 1;
            go(&mut next, thread, edge.to);
        }
        Op::Release(lock) => {
            let slot = lock_slot(lock, &scope, choices)?;
            if state.shared[slot] != moving.id as Value + 1 {
                return wrong(Wrong::Release);
            }
            next.shared[slot] = 0;
            go(&mut next, thread, edge.to);
        }
        Op::Spawn(template, arguments) => {
            let body = &program.procedures[program.templates[*template].body];
            let arguments = passed(body, arguments, edge.span, &scope, choices)?;
            let place = (next.threads.len(), 0);
            next.threads.push(Thread::start(program, *template, place, &arguments, choices));
            go(&mut next, thread, edge.to);
        }
        Op::Fork(location) => {
            let frame = Frame { location: *location, calling: None, locals: top.locals.clone() };
            let (template, id) = (moving.template, next.threads.len());
            next.threads.push(Thread { template, id, this: 0, stack: vec![frame] });
            go(&mut next, thread, edge.to);
        }
        Op::Wait(_) => return Ok(None),
        Op::Broadcast(event) => {
            for other in (0..next.threads.len()).filter(|&other| other != thread) {
                let Some(top) = next.threads[other].stack.last_mut() else { continue };
                if program.waits_for(top.location) == Some(*event) {
                    top.location = program.locations[top.location].edges[0].to;
                }
            }
            go(&mut next, thread, edge.to);
        }
        Op::Signal(event) => {
            let waits = |other: &usize| {
                let top = state.threads[*other].top().map(|top| top.location);
                *other != thread && top.is_some_and(|top| program.waits_for(top) == Some(*event))
            };
            let waiting: Vec<usize> = (0..state.threads.len()).filter(waits).collect();
            if !waiting.is_empty() {
                let woken = waiting[choices.choose(0, waiting.len() as Value - 1) as usize];
                let to = next.threads[woken].top().map(|top| program.locations[top.location].edges[0].to);
                to.into_iter().for_each(|to| go(&mut next, woken, to));
            }
            go(&mut next, thread, edge.to);
        }
    }
    Ok(Some(next))
}

fn evaluate(exprs: &[Expr], scope: &Scope<'_>, choices: &mut Choices) -> Result<Vec<Value>, NoValue> {
    exprs.iter().map(|expr| expr.value(scope, choices)).collect()
}

/// The values of arguments, which must fit the parameters.
pub fn passed(
    procedure: &Procedure,
    arguments: &[Expr],
    span: Span,
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<Vec<Value>, NoValue> {
    let values = evaluate(arguments, scope, choices)?;
    for (parameter, &value) in procedure.locals.iter().zip(&values) {
        if !parameter.ty.contains(value) {
            return Err(NoValue::Wrong(Violation::at(Wrong::Range, span)));
        }
    }
    Ok(values)
}

/// The values of results, which must fit their types.
pub fn returned(
    program: &Program,
    location: LocationId,
    results: &[Expr],
    span: Span,
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<Vec<Value>, NoValue> {
    let values = evaluate(results, scope, choices)?;
    let types = &program.procedure_of(location).results;
    if types.iter().zip(&values).any(|(ty, &value)| !ty.contains(value)) {
        return Err(NoValue::Wrong(Violation::at(Wrong::Range, span)));
    }
    Ok(values)
}

fn lock_slot(lock: &LockPlace, scope: &Scope<'_>, choices: &mut Choices) -> Result<usize, NoValue> {
    Ok(match &lock.element {
        Some((length, index)) => lock.slot + element(index, *length, lock.span, scope, choices)?,
        None => lock.slot,
    })
}

/// Where a return of these results to the top frame of a state's only thread leads; or which shared slot is read although
/// its value is left open.
pub fn store_results(
    state: &State,
    places: &[Place],
    results: &[Value],
    to: LocationId,
) -> Result<Vec<Outcome>, Slot> {
    let mut open = None;
    let mut outcomes = Vec::new();
    let moving = &state.threads[0];
    let locals = moving.top().map_or(&[][..], |top| &top.locals);
    let scope = Scope { shared: &state.shared, locals, this: moving.this, next: None, control: &[] };
    let left_out = Choices::each_of_few(|choices| {
        let mut next = state.clone();
        go(&mut next, 0, to);
        let stored = store(&mut next, 0, places, results, &scope, choices);
        if let Err(NoValue::Open(slot)) = stored {
            open.get_or_insert(slot);
        }
        outcomes.push(stored.map_or_else(Outcome::from, |()| Outcome::To(next)));
        true
    });
    if left_out {
        outcomes.push(Outcome::Beyond(Span::default()));
    }
    open.map_or(Ok(outcomes), Err)
}

/// Gives each of the other threads of the template values for its variables, each evaluated for itself: what it reads of its
/// own are the values before, and its choices are its own.
fn give(
    state: &mut State,
    thread: usize,
    places: &[Place],
    values: &[Expr],
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<(), NoValue> {
    let template = state.threads[thread].template;
    let others = state.threads.iter_mut().enumerate();
    for (_, other) in others.filter(|(other, of)| *other != thread && of.template == template) {
        let Some(frame) = other.stack.first_mut() else { continue };
        let before = frame.locals.clone();
        for (place, expr) in places.iter().zip(values) {
            let Target::Others(slot) = place.target else { continue };
            frame.locals[slot] = expr.for_other(&before, &before).value(scope, choices)?;
        }
    }
    Ok(())
}

/// Whether a constraint holds, where threads write variables of each other. Each part of it that reads those of other threads has
/// to be true for all of them, between these states.
fn holds_for_others(
    constraint: &Expr,
    (before, after): (&State, &State),
    thread: usize,
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<bool, NoValue> {
    if let Expr::Binary(Binary::And, left, right, _) = constraint {
        return Ok(holds_for_others(left, (before, after), thread, scope, choices)?
            && holds_for_others(right, (before, after), thread, scope, choices)?);
    }
    if !constraint.is_about_others() {
        return Ok(constraint.value(scope, choices)? != 0);
    }
    let template = before.threads[thread].template;
    for (other, (before, after)) in before.threads.iter().zip(&after.threads).enumerate() {
        if other == thread || before.template != template {
            continue;
        }
        let (Some(before), Some(after)) = (before.stack.first(), after.stack.first()) else { continue };
        if constraint.for_other(&before.locals, &after.locals).value(scope, choices)? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Stores values in places of a thread, all indices evaluated in the scope.
fn store(
    state: &mut State,
    thread: usize,
    places: &[Place],
    values: &[Value],
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<(), NoValue> {
    for (place, &value) in places.iter().zip(values) {
        let mut index = |length: &usize, index| element(index, *length, place.span, scope, choices);
        let (shared, slot) = match &place.target {
            Target::Shared(slot) => (true, *slot),
            Target::Local(slot) => (false, *slot),
            Target::SharedElement(slot, length, expr) => (true, slot + index(length, expr)?),
            Target::LocalElement(slot, length, expr) => (false, slot + index(length, expr)?),
            // Only expressions are given to others.
            Target::Others(_) => continue,
        };
        if !place.ty.contains(value) {
            return Err(NoValue::Wrong(Violation::at(Wrong::Range, place.span)));
        }
        let top = state.threads[thread].stack.last_mut();
        match (shared, top) {
            (true, _) => state.shared[slot] = value,
            (false, Some(top)) => top.locals[slot] = value,
            (false, None) => {}
        }
    }
    Ok(())
}
