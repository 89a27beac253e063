//! The steps of a program whose inputs are formulas.
//!
//! A state is that of the [reference](allways_model::program::semantics) with [values](super::values) that may depend on
//! inputs; control, locks and the number of threads are always known. A step of a thread is a list of [`Move`]s, each with the
//! condition under which it is possible. An atomic section is followed to its end along all ways at once: of the states that
//! come to one location with the same control, one is made, whose values depend on the way that was taken.
//!
//! Invariant: for every example of the inputs, the states of moves whose conditions are true in it are those that the
//! reference has with these inputs; moves may be missing where a limit is hit ([`Steps::cut`]), none is added.

use super::values::{Evaluation, Index, Scope, Val, width_of};
use allways_model::program::inputs::each_choice;
use allways_model::program::semantics;
use allways_model::program::{
    Edge, Expr, LocationId, LockPlace, Op, Place, Procedure, ProcedureId, Program, Slot, Target, TemplateId,
    Type, Value, Violation, Wrong,
};
use allways_smt::bits::{Bit, Bits, Example};
use std::collections::HashMap;

/// An activation of a procedure.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Where control is.
    pub location: LocationId,
    calling: Option<usize>,
    locals: Vec<Val>,
}

/// A thread.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    template: TemplateId,
    this: Value,
    /// How many choices it has made.
    choices: u32,
    /// The frames, the topmost last.
    pub stack: Vec<Frame>,
}

/// A state of the program.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct State {
    shared: Vec<Val>,
    /// The threads; those started later come last.
    pub threads: Vec<Thread>,
    /// The inputs of which something may depend.
    inputs: Vec<Bit>,
}

/// Where an input comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// A choice, by its number; the thread, and how many it had made before.
    Choice(usize, usize, u32),
    /// The initial value of a shared variable.
    Shared(Slot),
    /// The initial value of a local variable of a procedure, whoever enters it.
    Local(usize, Slot),
}

/// A step of a thread, or a part of one.
pub struct Move {
    /// When it is possible.
    pub when: Bit,
    /// Where it leads.
    pub to: Result<State, Violation>,
}

/// The most states that are looked at inside an atomic section.
const MOST_INSIDE: usize = 1 << 12;

/// The steps of a program.
pub struct Steps<'p> {
    program: &'p Program,
    /// The number of each choice, by its address.
    numbers: &'p HashMap<usize, usize>,
    /// How many threads of each template there can be at a time.
    pool: Vec<usize>,
    /// The terms.
    pub bits: Bits,
    variables: HashMap<Origin, Bit>,
    /// Where each input comes from.
    pub origins: HashMap<Bit, Origin>,
    /// For each location, its place in an order in which loops aside all steps lead on.
    ranks: Vec<usize>,
    /// Why moves are missing, if some are.
    pub cut: Option<String>,
}

/// The numbers of the choices of a program, by their addresses; it must not be changed or moved apart any more.
pub fn number_choices(program: &mut Program) -> HashMap<usize, usize> {
    let mut numbers = HashMap::new();
    let mut next = 0;
    each_choice(program, &mut |choice| {
        numbers.insert(std::ptr::from_ref::<Expr>(choice).addr(), next);
        next += 1;
    });
    numbers
}

impl<'p> Steps<'p> {
    /// Those of a program, of which there can be so many threads of each template.
    pub fn new(program: &'p Program, numbers: &'p HashMap<usize, usize>, pool: Vec<usize>) -> Steps<'p> {
        Steps {
            program,
            numbers,
            pool,
            bits: Bits::default(),
            variables: HashMap::new(),
            origins: HashMap::new(),
            ranks: ranks(program),
            cut: None,
        }
    }

    /// The initial state with so many threads of each template, and what is assumed of it.
    pub fn initial(&mut self, counts: &[usize]) -> (State, Bit) {
        let mut state = State { shared: Vec::new(), threads: Vec::new(), inputs: Vec::new() };
        let mut fine = self.bits.truth(true);
        for variable in &self.program.shared {
            for (slot, initial) in (variable.slot..).zip(&variable.initial) {
                let value =
                    self.start(*initial, variable.ty, Origin::Shared(slot), &mut state.inputs, &mut fine);
                state.shared.push(value);
            }
        }
        for (template, &count) in counts.iter().enumerate() {
            let body = self.program.templates[TemplateId(template)].body;
            for this in 0..count {
                let frame = self.enter(body, &[], &mut state.inputs, &mut fine);
                let (template, this) = (TemplateId(template), this as Value);
                state.threads.push(Thread { template, this, choices: 0, stack: vec![frame] });
            }
        }
        (state, fine)
    }

    /// The value with which a variable starts.
    fn start(
        &mut self,
        initial: Option<Value>,
        ty: Type,
        origin: Origin,
        inputs: &mut Vec<Bit>,
        fine: &mut Bit,
    ) -> Val {
        match (initial, ty.bounds()) {
            (Some(value), _) => Val::Known(value),
            (None, None) => Val::Known(0),
            (None, Some((low, high))) if low >= high => Val::Known(low),
            (None, Some((low, high))) => {
                let (value, within) = self.input(origin, low, high, inputs);
                *fine = self.bits.both(*fine, within);
                value
            }
        }
    }

    fn input(&mut self, origin: Origin, low: Value, high: Value, inputs: &mut Vec<Bit>) -> (Val, Bit) {
        let bit = *self.variables.entry(origin).or_insert_with(|| {
            let bit = self.bits.variable(width_of(low.into(), high.into()));
            self.origins.insert(bit, origin);
            bit
        });
        inputs.push(bit);
        Val::variable(&mut self.bits, bit, low, high)
    }

    fn enter(
        &mut self,
        procedure: ProcedureId,
        arguments: &[Val],
        inputs: &mut Vec<Bit>,
        fine: &mut Bit,
    ) -> Frame {
        let Procedure { locals, parameters, entry, .. } = &self.program.procedures[procedure];
        let mut values = Vec::new();
        for (index, local) in locals.iter().enumerate() {
            for initial in &local.initial {
                values.push(match arguments.get(index) {
                    Some(&argument) if index < *parameters => argument,
                    _ => {
                        let origin = Origin::Local(procedure.index(), values.len());
                        self.start(*initial, local.ty, origin, inputs, fine)
                    }
                });
            }
        }
        Frame { location: *entry, calling: None, locals: values }
    }

    /// The state of the reference in an example.
    pub fn in_example(&self, state: &State, example: &mut Example) -> semantics::State {
        let mut values = |values: &[Val]| -> Vec<Value> {
            values.iter().map(|value| value.in_example(&self.bits, example)).collect()
        };
        let shared = values(&state.shared);
        let threads = state.threads.iter().enumerate().map(|(id, thread)| semantics::Thread {
            template: thread.template,
            id,
            this: thread.this,
            stack: thread
                .stack
                .iter()
                .map(|frame| semantics::Frame {
                    location: frame.location,
                    calling: frame.calling,
                    locals: values(&frame.locals),
                })
                .collect(),
        });
        let threads = threads.collect();
        semantics::State { shared, threads }
    }

    /// The inputs on which a state may depend, of which values are given.
    pub fn inputs<'s>(&'s self, state: &'s State) -> impl Iterator<Item = (Bit, Origin)> + 's {
        state.inputs.iter().filter_map(|bit| Some((*bit, *self.origins.get(bit)?)))
    }

    /// What a state shows of what must never be true.
    pub fn violations(&mut self, state: &State) -> Vec<(Bit, Violation)> {
        let control: Vec<LocationId> =
            state.threads.iter().filter_map(|thread| thread.stack.last()).map(|top| top.location).collect();
        let program = self.program;
        let mut found = Vec::new();
        for never in &program.never {
            let mut choose = |bits: &mut Bits, _: &Expr| (Val::Known(0), bits.truth(false));
            let mut evaluation = Evaluation::new(&mut self.bits, &mut choose);
            let scope = Scope { shared: &state.shared, locals: &[], this: 0, next: None, control: &control };
            let value = evaluation.value(&never.expr, &scope);
            let wrong = evaluation.truth(value);
            let when = evaluation.bits.both(evaluation.fine, wrong);
            let mut wrongs = evaluation.wrong;
            wrongs.push((when, Violation::at(Wrong::Never, never.span)));
            found.extend(wrongs.into_iter().filter(|(when, _)| self.bits.known(*when) != Some(false)));
        }
        found
    }

    /// Whether a thread has ended.
    pub fn ended(&self, state: &State, thread: usize) -> bool {
        let top = state.threads[thread].stack.last();
        top.is_none_or(|top| self.program.locations[top.location].edges.is_empty())
    }

    /// The steps of a thread.
    pub fn moves(&mut self, state: &State, thread: usize) -> Vec<Move> {
        let Some(top) = state.threads[thread].stack.last() else { return Vec::new() };
        let program = self.program;
        let mut moves = Vec::new();
        for (index, edge) in program.locations[top.location].edges.iter().enumerate() {
            match edge.op {
                Op::AtomicBegin => self.section(state, thread, edge, &mut moves),
                _ => self.take(state, thread, (index, edge), &mut moves),
            }
        }
        moves.retain(|to| self.bits.known(to.when) != Some(false));
        moves
    }

    /// The ways through an atomic section.
    fn section(&mut self, state: &State, thread: usize, begin: &Edge, moves: &mut Vec<Move>) {
        let program = self.program;
        let always = self.bits.truth(true);
        let mut first = state.clone();
        go(&mut first, thread, begin.to);
        let depth = first.threads[thread].stack.len();
        let mut todo = vec![Move { when: always, to: Ok(first) }];
        let mut left: Vec<(Bit, State)> = Vec::new();
        let mut looked = 0;
        while let Some((when, state)) = self.next_of(&mut todo, thread) {
            looked += 1;
            if looked > MOST_INSIDE {
                self.cut = Some(format!("line {}: an atomic section does too much", begin.span.line));
                return;
            }
            let stack = &state.threads[thread].stack;
            let Some(top) = stack.last() else { continue };
            let edges = &program.locations[top.location].edges;
            let here = stack.len() == depth;
            if edges.is_empty() {
                left.push((when, state));
                continue;
            }
            for (index, edge) in edges.iter().enumerate() {
                match edge.op {
                    Op::Return(_) if here => left.push((when, state.clone())),
                    Op::AtomicEnd if here => {
                        let mut after = state.clone();
                        go(&mut after, thread, edge.to);
                        left.push((when, after));
                    }
                    _ => {
                        let mut after = Vec::new();
                        self.take(&state, thread, (index, edge), &mut after);
                        for mut step in after {
                            step.when = self.bits.both(when, step.when);
                            if self.bits.known(step.when) == Some(false) {
                                continue;
                            }
                            match step.to {
                                Ok(_) => todo.push(step),
                                Err(_) => moves.push(step),
                            }
                        }
                    }
                }
            }
        }
        // Ways that end alike are one.
        let mut merged: Vec<(Bit, State)> = Vec::new();
        for (when, state) in left {
            match merged.iter_mut().find(|(_, other)| alike(other, &state)) {
                Some(other) => self.merge(other, (when, state)),
                None => merged.push((when, state)),
            }
        }
        moves.extend(merged.into_iter().map(|(when, state)| Move { when, to: Ok(state) }));
    }

    /// Takes the state that is to be looked at next, joined with all that are like it.
    fn next_of(&mut self, todo: &mut Vec<Move>, thread: usize) -> Option<(Bit, State)> {
        let rank = |step: &Move| {
            let stack = step.to.as_ref().map(|state| &state.threads[thread].stack[..]).unwrap_or_default();
            let rank = stack.last().map_or(0, |top| self.ranks[top.location.index()]);
            (std::cmp::Reverse(stack.len()), rank)
        };
        let next = (0..todo.len()).min_by_key(|&index| rank(&todo[index]))?;
        let Move { when, to: Ok(state) } = todo.swap_remove(next) else { return None };
        let mut found = (when, state);
        let mut index = 0;
        while index < todo.len() {
            match &todo[index].to {
                Ok(other) if alike(&found.1, other) => {
                    if let Move { when, to: Ok(other) } = todo.swap_remove(index) {
                        self.merge(&mut found, (when, other));
                    }
                }
                _ => index += 1,
            }
        }
        Some(found)
    }

    /// Makes one of two states with the same control.
    fn merge(&mut self, (when, state): &mut (Bit, State), (and, other): (Bit, State)) {
        let mut choose = |bits: &mut Bits, _: &Expr| (Val::Known(0), bits.truth(false));
        let mut evaluation = Evaluation::new(&mut self.bits, &mut choose);
        let mut values = |one: &mut [Val], two: &[Val]| {
            one.iter_mut().zip(two).for_each(|(one, two)| *one = evaluation.choice(*when, *one, *two));
        };
        values(&mut state.shared, &other.shared);
        for (one, two) in state.threads.iter_mut().zip(&other.threads) {
            one.choices = one.choices.max(two.choices);
            for (one, two) in one.stack.iter_mut().zip(&two.stack) {
                values(&mut one.locals, &two.locals);
            }
        }
        state.inputs.extend(other.inputs);
        state.inputs.sort_unstable();
        state.inputs.dedup();
        *when = self.bits.either(*when, and);
    }

    /// Where an edge leads.
    fn take(
        &mut self,
        state: &State,
        thread: usize,
        (index, edge): (usize, &'p Edge),
        moves: &mut Vec<Move>,
    ) {
        let program = self.program;
        let moving = &state.threads[thread];
        let Some(top) = moving.stack.last() else { return };
        let mut next = state.clone();
        let mut made = moving.choices;
        let mut inputs = Vec::new();
        let mut bits = std::mem::take(&mut self.bits);
        let mut choose = |bits: &mut Bits, choice: &Expr| {
            let Expr::Choose(low, high) = *choice else { return (Val::Known(0), bits.truth(false)) };
            let number = self.numbers.get(&std::ptr::from_ref(choice).addr()).copied().unwrap_or(usize::MAX);
            let origin = Origin::Choice(number, thread, made);
            made += 1;
            let bit = *self.variables.entry(origin).or_insert_with(|| {
                let bit = bits.variable(width_of(low.into(), high.into()));
                self.origins.insert(bit, origin);
                bit
            });
            inputs.push(bit);
            Val::variable(bits, bit, low, high)
        };
        let mut evaluation = Evaluation::new(&mut bits, &mut choose);
        let scope =
            Scope { shared: &state.shared, locals: &top.locals, this: moving.this, next: None, control: &[] };
        let always = evaluation.bits.truth(true);
        // The condition of the step, and the procedure that is entered.
        let mut possible = always;
        let mut entered: Option<(ProcedureId, Vec<Val>)> = None;
        let mut fails = None;
        match &edge.op {
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd => go(&mut next, thread, edge.to),
            Op::Guard(expr, expected) => {
                let value = evaluation.value(expr, &scope);
                let truth = evaluation.truth(value);
                possible = if *expected { truth } else { evaluation.bits.not(truth) };
                go(&mut next, thread, edge.to);
            }
            Op::Assert(expr) => {
                let value = evaluation.value(expr, &scope);
                possible = evaluation.truth(value);
                fails = Some((evaluation.bits.not(possible), Wrong::Assertion));
                go(&mut next, thread, edge.to);
            }
            Op::Error => fails = Some((always, Wrong::Error)),
            Op::NoResult => fails = Some((always, Wrong::NoResult)),
            Op::Beyond | Op::Wait(_) | Op::Signal(_) => possible = evaluation.bits.truth(false),
            Op::Assign(places, values, constraint) => {
                let values: Vec<Val> = values.iter().map(|expr| evaluation.value(expr, &scope)).collect();
                store(&mut evaluation, &mut next, thread, places, &values, &scope);
                if let Some(constraint) = constraint {
                    let after = next.threads[thread].stack.last().map_or(&[][..], |top| &top.locals);
                    let scope = Scope { next: Some((&next.shared, after)), ..scope };
                    let value = evaluation.value(constraint, &scope);
                    possible = evaluation.truth(value);
                }
                go(&mut next, thread, edge.to);
            }
            Op::Call(procedure, arguments, _) => {
                let locals = &program.procedures[*procedure].locals;
                entered = Some((*procedure, passed(&mut evaluation, locals, arguments, edge, &scope)));
                if let Some(caller) = next.threads[thread].stack.last_mut() {
                    caller.calling = Some(index);
                }
            }
            Op::Return(results) => {
                let types = &program.procedure_of(top.location).results;
                let results = results.iter().zip(types).map(|(expr, ty)| {
                    let value = evaluation.value(expr, &scope);
                    evaluation.stored(value, *ty, edge.span)
                });
                let results: Vec<Val> = results.collect();
                let stack = &mut next.threads[thread].stack;
                stack.pop();
                if let Some(caller) = stack.last_mut() {
                    let call =
                        &program.locations[caller.location].edges[caller.calling.take().unwrap_or_default()];
                    caller.location = call.to;
                    let locals = caller.locals.clone();
                    let scope = Scope { locals: &locals, ..scope };
                    if let Op::Call(_, _, places) = &call.op {
                        store(&mut evaluation, &mut next, thread, places, &results, &scope);
                    }
                }
            }
            Op::Acquire(lock) | Op::Release(lock) => match lock_slot(&mut evaluation, lock, &scope) {
                Some(slot) => {
                    let own = Val::Known(thread as Value + 1);
                    let acquires = matches!(edge.op, Op::Acquire(_));
                    match (acquires, state.shared[slot] == own, state.shared[slot] == Val::Known(0)) {
                        (true, _, true) => next.shared[slot] = own,
                        (false, true, _) => next.shared[slot] = Val::Known(0),
                        (true, _, false) => possible = evaluation.bits.truth(false),
                        (false, false, _) => fails = Some((always, Wrong::Release)),
                    }
                    go(&mut next, thread, edge.to);
                }
                None => possible = evaluation.bits.truth(false),
            },
            Op::Spawn(template, arguments) => {
                let body = program.templates[*template].body;
                let of_template = state.threads.iter().filter(|thread| thread.template == *template);
                let busy = of_template.filter(|thread| {
                    let top = thread.stack.last();
                    !program.templates[*template].vanishes
                        || top.is_some_and(|top| !program.locations[top.location].edges.is_empty())
                });
                if busy.count() >= self.pool[template.index()] {
                    possible = evaluation.bits.truth(false);
                }
                let locals = &program.procedures[body].locals;
                entered = Some((body, passed(&mut evaluation, locals, arguments, edge, &scope)));
                go(&mut next, thread, edge.to);
            }
            Op::Fork(location) => {
                let frame = Frame { location: *location, calling: None, locals: top.locals.clone() };
                let template = moving.template;
                next.threads.push(Thread { template, this: 0, choices: 0, stack: vec![frame] });
                go(&mut next, thread, edge.to);
            }
            Op::Broadcast(event) => {
                for other in (0..next.threads.len()).filter(|&other| other != thread) {
                    let Some(top) = next.threads[other].stack.last_mut() else { continue };
                    if program.waits_for(top.location) == Some(*event) {
                        top.location = program.locations[top.location].edges[0].to;
                    }
                }
                go(&mut next, thread, edge.to);
            }
        }
        if let Some((when, kind)) = fails {
            let when = evaluation.bits.both(evaluation.fine, when);
            possible = evaluation.bits.not(when);
            evaluation.wrong.push((when, Violation::at(kind, edge.span)));
        }
        let (wrong, mut fine) = (std::mem::take(&mut evaluation.wrong), evaluation.fine);
        next.threads[thread].choices = made;
        next.inputs.extend(inputs);
        self.bits = bits;
        if let Some((procedure, arguments)) = entered {
            let mut inputs = std::mem::take(&mut next.inputs);
            let frame = self.enter(procedure, &arguments, &mut inputs, &mut fine);
            next.inputs = inputs;
            match edge.op {
                Op::Spawn(template, _) => {
                    next.threads.push(Thread { template, this: 0, choices: 0, stack: vec![frame] });
                }
                _ => next.threads[thread].stack.push(frame),
            }
        }
        next.inputs.sort_unstable();
        next.inputs.dedup();
        moves.extend(wrong.into_iter().map(|(when, violation)| Move { when, to: Err(violation) }));
        let when = self.bits.both(fine, possible);
        if self.bits.known(when) != Some(false) {
            moves.push(Move { when, to: Ok(next) });
        }
    }
}

fn go(state: &mut State, thread: usize, to: LocationId) {
    if let Some(top) = state.threads[thread].stack.last_mut() {
        top.location = to;
    }
}

/// Whether control is the same in two states.
fn alike(one: &State, other: &State) -> bool {
    one.threads.len() == other.threads.len()
        && one.threads.iter().zip(&other.threads).all(|(one, other)| {
            one.template == other.template
                && one.stack.len() == other.stack.len()
                && one
                    .stack
                    .iter()
                    .zip(&other.stack)
                    .all(|(one, other)| (one.location, one.calling) == (other.location, other.calling))
        })
}

/// The values of arguments, which must fit the parameters.
fn passed(
    evaluation: &mut Evaluation<'_>,
    locals: &[allways_model::program::Variable],
    arguments: &[Expr],
    edge: &Edge,
    scope: &Scope<'_>,
) -> Vec<Val> {
    let values: Vec<Val> = arguments.iter().map(|expr| evaluation.value(expr, scope)).collect();
    values
        .into_iter()
        .zip(locals)
        .map(|(value, local)| evaluation.stored(value, local.ty, edge.span))
        .collect()
}

/// The lock, if it is known which.
fn lock_slot(evaluation: &mut Evaluation<'_>, lock: &LockPlace, scope: &Scope<'_>) -> Option<Slot> {
    let Some((length, index)) = &lock.element else { return Some(lock.slot) };
    let index = evaluation.value(index, scope);
    match evaluation.index(index, *length, lock.span) {
        Index::At(index) => Some(lock.slot + index),
        Index::Nowhere | Index::Between(..) => None,
    }
}

/// Stores values in places of a thread, all indices evaluated in the scope.
fn store(
    evaluation: &mut Evaluation<'_>,
    state: &mut State,
    thread: usize,
    places: &[Place],
    values: &[Val],
    scope: &Scope<'_>,
) {
    for (place, &value) in places.iter().zip(values) {
        let (shared, slot, index) = match &place.target {
            Target::Shared(slot) => (true, *slot, Index::At(0)),
            Target::Local(slot) => (false, *slot, Index::At(0)),
            Target::SharedElement(slot, length, index) => {
                let index = evaluation.value(index, scope);
                (true, *slot, evaluation.index(index, *length, place.span))
            }
            Target::LocalElement(slot, length, index) => {
                let index = evaluation.value(index, scope);
                (false, *slot, evaluation.index(index, *length, place.span))
            }
            Target::Others(_) => continue,
        };
        let value = evaluation.stored(value, place.ty, place.span);
        let into = match (shared, state.threads[thread].stack.last_mut()) {
            (true, _) => &mut state.shared,
            (false, Some(top)) => &mut top.locals,
            (false, None) => continue,
        };
        match index {
            Index::Nowhere => {}
            Index::At(index) => into[slot + index] = value,
            Index::Between(number, low, high) => {
                for index in low..=high {
                    let here = evaluation.is(number, index as Value);
                    into[slot + index] = evaluation.choice(here, value, into[slot + index]);
                }
            }
        }
    }
}

/// For each location a number such that steps which are not back in a loop lead to greater ones.
fn ranks(program: &Program) -> Vec<usize> {
    let mut ranks = vec![usize::MAX; program.locations.len()];
    let mut seen = vec![false; program.locations.len()];
    let mut next = program.locations.len();
    for start in program.procedures.iter().map(|procedure| procedure.entry) {
        if std::mem::replace(&mut seen[start.index()], true) {
            continue;
        }
        // The edges of the location that are still to be followed.
        let mut path = vec![(start, 0)];
        while let Some((location, edge)) = path.last_mut() {
            match program.locations[*location].edges.get(*edge) {
                Some(follow) => {
                    *edge += 1;
                    if !std::mem::replace(&mut seen[follow.to.index()], true) {
                        path.push((follow.to, 0));
                    }
                }
                None => {
                    next -= 1;
                    ranks[location.index()] = next;
                    path.pop();
                }
            }
        }
    }
    ranks
}
