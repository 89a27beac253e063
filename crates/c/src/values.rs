//! Which values variables can have where, whatever the schedule: thread-modular, in strides (`strides.rs`).
//!
//! For each location there are the values that local variables, and shared variables that nobody else can change, may have
//! when a thread is there; and for each shared variable all values that it ever has. A shared variable is *stable* for a thread
//! that is in the midst of an atomic section, that holds a lock which everyone holds who writes the variable, or that alone
//! writes it (its *owner*). While it is, it has the value that the thread has seen or given it; otherwise any that it ever has.
//! The owner finds at its start what was there before anybody wrote.
//!
//! Locks are those of the model, and *flags*: shared variables that are 0 or not, where every step that stores something else
//! than 0 can only be taken if the flag is 0, or is in an atomic section which has seen that, and every step that stores 0 is one of who has stored
//! something else before. Invariant: if the flag is 0, no thread holds it, and otherwise at most one.
//!
//! While `main` is alone (`concurrent.rs`), everything is stable for it, and what it stores is seen by nobody; when it no longer
//! is, what variables hold then is what others see first. So what is known of a thread that waits to be created is what it
//! will find when it is.
//!
//! Where that is too much, the slots of a large shared variable are taken for one (*smashed*), which has any value that one of them has.
//!
//! All of this is found by taking every step until nothing changes: values and the writes without a lock become more, the locks
//! that are held on all ways become fewer. What still grows after some rounds grows to the next constant of the program.

mod expressions;
mod numbers;

use crate::bounds::range_of;
use crate::concurrent::Concurrent;
use crate::strides::Stride;
use allways_model::program::expression::OPEN;
use allways_model::program::{
    Count, Edge, Expr, Location, LocationId, Op, Place, Procedure, ProcedureId, Program, Slot, Target, Type,
    Value, Variable,
};
use numbers::Numbers;
use std::collections::BTreeSet;
use std::rc::Rc;

/// A program with more variables, times locations, is not looked at.
const MOST_VALUES: usize = 1 << 17;

/// In a program that would have more, a shared variable with more slots than this is smashed.
const MOST_TOLD_APART: usize = 16;

/// After so many rounds, what shared variables ever hold grows to the next constant, so do values at locations, which mostly
/// depend on those, and both grow to the end of their type.
const SHARED_ROUNDS: usize = 6;
const LOCAL_ROUNDS: usize = 20;
const MOST_ROUNDS: usize = 60;

/// How often what grew too far is made smaller again: each time, one more step is looked at.
const NARROWINGS: usize = 64;

/// What a variable may hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Held {
    /// Nothing if it was never given a value.
    values: Option<Stride>,
    /// Whether it may not have been given a value.
    open: bool,
}

/// What is known when a thread is at a location.
#[derive(Clone, PartialEq, Eq)]
struct Here {
    locals: Vec<Held>,
    shared: Vec<Held>,
    /// The locks that it holds for certain.
    locks: BTreeSet<Slot>,
    /// Whether it is in an atomic section for certain.
    atomic: bool,
}

/// What a step adds to what is known.
enum Effect {
    /// A thread comes to a location.
    Arrives(LocationId, Here),
    /// A shared slot gets values, by a thread with this body, which holds these locks.
    Stores(ProcedureId, Slot, Stride, BTreeSet<Slot>),
    /// `main` is no longer alone, and shared slots hold this.
    Shows(Vec<Held>),
    /// A slot of a procedure gets values.
    StoresLocally(ProcedureId, Slot, Stride),
    /// A shared slot is no flag.
    IsNoFlag(Slot),
}

/// Who writes a shared variable while `main` is not alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writers {
    Nobody,
    /// Threads with this body.
    With(ProcedureId),
    Several,
}

/// What variables can hold, and where.
pub struct Values<'p> {
    program: &'p Program,
    /// The number of each shared slot in what is known: one for all of a smashed variable.
    numbers: Rc<Numbers>,
    /// Where `main` is alone.
    alone: Rc<[bool]>,
    at: Vec<Option<Here>>,
    /// All that each shared slot ever holds while `main` is not alone.
    shared: Vec<Held>,
    /// What each shared slot holds when `main` ceases to be alone.
    shown: Vec<Held>,
    /// Who writes each shared slot then.
    writers: Vec<Writers>,
    /// Bodies that one thread runs at most.
    once: Rc<[bool]>,
    /// All that each slot of local arrays ever holds, by procedure.
    local_elements: Vec<Vec<Held>>,
    /// For each shared slot, the locks that everyone holds who writes it; nothing if nobody does.
    guards: Vec<Option<BTreeSet<Slot>>>,
    /// Shared slots that are no flags.
    no_flag: Vec<bool>,
    constants: Vec<i128>,
    round: usize,
    changed: bool,
}

impl<'p> Values<'p> {
    /// What is known of a program; nothing if it is too large, or does what is not looked at.
    pub fn of(program: &'p Program) -> Option<Values<'p>> {
        Values::smashing(program, usize::MAX).or_else(|| Values::smashing(program, MOST_TOLD_APART))
    }

    /// The same, with shared variables smashed that have more slots than this.
    pub fn smashing(program: &'p Program, told_apart: usize) -> Option<Values<'p>> {
        let numbers = Rc::new(Numbers::of(program, told_apart));
        let slots =
            |location: &Location| program.procedures[location.procedure].slots() + numbers.slots.len();
        if program.locations.iter().map(slots).sum::<usize>() > MOST_VALUES {
            return None;
        }
        let edges = || program.locations.iter().flat_map(|location| &location.edges);
        let others = |place: &Place| matches!(place.target, Target::Others(_));
        if edges()
            .any(|edge| matches!(edge.op, Op::Call(..) | Op::Fork(_)) || edge.op.places().iter().any(others))
        {
            return None;
        }
        let mut constants: BTreeSet<i128> = BTreeSet::new();
        for expr in edges().flat_map(|edge| edge.op.expressions()) {
            expr.visit(&mut |part| {
                let constant = match part {
                    Expr::Constant(value) => i128::from(*value),
                    Expr::SharedElement(_, length, ..) | Expr::LocalElement(_, length, ..) => *length as i128,
                    _ => return,
                };
                constants.extend([constant - 1, constant, constant + 1]);
            });
        }
        let concurrent = Concurrent::of(program);
        let alone = (0..program.locations.len()).map(|location| concurrent.is_alone(LocationId(location)));
        let mut values = Values::nothing(program, numbers, alone.collect(), constants.into_iter().collect());
        while std::mem::take(&mut values.changed) {
            for effect in values.threads_at_the_start() {
                values.add(effect);
            }
            for location in 0..program.locations.len() {
                for effect in values.effects(LocationId(location)) {
                    values.add(effect);
                }
            }
            values.round += 1;
        }
        for _ in 0..NARROWINGS {
            let fewer = values.narrowed();
            if fewer.at == values.at && fewer.shared == values.shared {
                break;
            }
            values = fewer;
        }
        Some(values)
    }

    fn nothing(
        program: &'p Program,
        numbers: Rc<Numbers>,
        alone: Rc<[bool]>,
        constants: Vec<i128>,
    ) -> Values<'p> {
        let count = numbers.slots.len();
        let shared = match alone.contains(&true) {
            true => vec![Held { values: None, open: false }; count],
            false => numbers.initial(&program.shared),
        };
        Values {
            program,
            alone,
            at: vec![None; program.locations.len()],
            shown: shared.clone(),
            shared,
            writers: vec![Writers::Nobody; count],
            once: (0..program.procedures.len()).map(|body| runs_once(program, ProcedureId(body))).collect(),
            local_elements: program.procedures.iter().map(|procedure| initial(&procedure.locals)).collect(),
            guards: vec![None; count],
            no_flag: numbers.slots.iter().map(|&(_, smashed)| smashed).collect(),
            numbers,
            constants,
            round: 0,
            changed: true,
        }
    }

    /// What one more step from what is known leads to: no more than that, and enough, since what is known contains what each of
    /// its steps leads to.
    fn narrowed(&self) -> Values<'p> {
        let mut fewer =
            Values::nothing(self.program, self.numbers.clone(), self.alone.clone(), self.constants.clone());
        let all = (0..self.program.locations.len()).flat_map(|location| self.effects(LocationId(location)));
        self.threads_at_the_start().into_iter().chain(all).for_each(|effect| fewer.add(effect));
        fewer
    }

    fn threads_at_the_start(&self) -> Vec<Effect> {
        let templates = self.program.templates.iter();
        let running = templates.filter(|template| template.count != Count::Fixed(0));
        let arrivals = running.map(|template| {
            let procedure = &self.program.procedures[template.body];
            let mut here = self.start(template.body, first_locals(procedure));
            if self.alone[procedure.entry.index()] {
                here.shared = self.numbers.initial(&self.program.shared);
            }
            Effect::Arrives(procedure.entry, here)
        });
        arrivals.collect()
    }

    /// What the steps at a location lead to.
    fn effects(&self, location: LocationId) -> Vec<Effect> {
        let mut effects = Vec::new();
        if let Some(here) = self.now(location) {
            let Location { procedure, edges, .. } = &self.program.locations[location];
            for edge in edges {
                let first = effects.len();
                self.step(*procedure, here.clone(), edge, &mut effects);
                if self.alone[location.index()] {
                    self.keep_to_itself(&mut effects, first);
                }
            }
        }
        effects
    }

    /// Of what a step of `main` does that is taken while it is alone, others see what is there when they come.
    fn keep_to_itself(&self, effects: &mut Vec<Effect>, first: usize) {
        let mut later = effects.split_off(first);
        later.retain(|effect| !matches!(effect, Effect::Stores(..)));
        for effect in later {
            if let Effect::Arrives(to, here) = &effect
                && !self.alone[to.index()]
            {
                effects.push(Effect::Shows(here.shared.clone()));
            }
            effects.push(effect);
        }
    }

    fn add(&mut self, effect: Effect) {
        match effect {
            Effect::Shows(shared) => {
                for (slot, held) in shared.into_iter().enumerate() {
                    let bounds = self.bounds_of_shared(slot);
                    let joined = self.join(self.shared[slot], held, bounds, SHARED_ROUNDS);
                    self.changed |= std::mem::replace(&mut self.shared[slot], joined) != joined;
                    let joined = self.join(self.shown[slot], held, bounds, SHARED_ROUNDS);
                    self.changed |= std::mem::replace(&mut self.shown[slot], joined) != joined;
                }
            }
            Effect::Arrives(location, here) => self.arrive(location, here),
            Effect::Stores(body, slot, values, locks) => {
                let writers = match self.writers[slot] {
                    Writers::Nobody => Writers::With(body),
                    Writers::With(other) if other == body => Writers::With(body),
                    _ => Writers::Several,
                };
                self.changed |= std::mem::replace(&mut self.writers[slot], writers) != writers;
                let stored = Held { values: Some(values), open: false };
                let bounds = self.bounds_of_shared(slot);
                let joined = self.join(self.shared[slot], stored, bounds, SHARED_ROUNDS);
                self.changed |= std::mem::replace(&mut self.shared[slot], joined) != joined;
                let guards = match &self.guards[slot] {
                    Some(guards) => guards.intersection(&locks).copied().collect(),
                    None => locks,
                };
                self.changed |= self.guards[slot].as_ref() != Some(&guards);
                self.guards[slot] = Some(guards);
            }
            Effect::StoresLocally(procedure, slot, values) => {
                let stored = Held { values: Some(values), open: false };
                let bounds = self.bounds(&self.program.procedures[procedure].locals, slot);
                let known = self.local_elements[procedure.index()][slot];
                let joined = self.join(known, stored, bounds, LOCAL_ROUNDS);
                let known = &mut self.local_elements[procedure.index()][slot];
                self.changed |= std::mem::replace(known, joined) != joined;
            }
            Effect::IsNoFlag(slot) => self.changed |= !std::mem::replace(&mut self.no_flag[slot], true),
        }
    }

    fn bounds_of_shared(&self, number: usize) -> (i128, i128) {
        self.bounds(&self.program.shared, self.numbers.slots[number].0)
    }

    fn bounds(&self, variables: &[Variable], slot: Slot) -> (i128, i128) {
        let after = variables.partition_point(|variable| variable.slot <= slot);
        range_of(variables[after - 1].ty)
    }

    /// Whether an expression has a value between bounds, for certain, when a thread is at a location.
    pub fn is_within(&self, location: LocationId, expr: &Expr, bounds: (i128, i128)) -> bool {
        let here = self.program.locations[location].procedure;
        self.now(location).is_none_or(|now| {
            !self.may_be_open(here, expr, &now)
                && self.value(here, expr, &now).is_none_or(|values| values.is_within(bounds))
        })
    }

    /// Bounds of all that a shared variable ever holds; nothing if that is nothing.
    pub fn of_shared(&self, variable: &Variable) -> Option<(i128, i128)> {
        let slots = self.numbers.all(variable.slot..variable.slot + variable.slots());
        let initial = initial(std::slice::from_ref(variable));
        let alone = self.at.iter().flatten().flat_map(|here| &here.shared[slots.clone()]);
        bounds(initial.iter().chain(&self.shared[slots.clone()]).chain(alone))
    }

    /// Bounds of all that a local variable ever holds; nothing if that is nothing, or if it may be read before it holds something.
    pub fn of_local(&self, procedure: ProcedureId, variable: &Variable) -> Option<(i128, i128)> {
        let slots = variable.slot..variable.slot + variable.slots();
        let reads = |expr: &Expr| {
            let mut found = false;
            expr.visit(&mut |part| match part {
                Expr::Local(slot) | Expr::LocalElement(slot, ..) => found |= slots.contains(slot),
                _ => {}
            });
            found
        };
        let own = LocationId::all(&self.program.locations)
            .filter(|&location| self.program.locations[location].procedure == procedure);
        let known: Vec<(LocationId, Here)> =
            own.filter_map(|location| Some((location, self.now(location)?))).collect();
        let open = |(location, here): &(LocationId, Here)| {
            let expressions =
                self.program.locations[*location].edges.iter().flat_map(|edge| edge.op.expressions());
            expressions.filter(|expr| reads(expr)).any(|expr| self.may_be_open(procedure, expr, here))
        };
        if known.iter().any(open) {
            return None;
        }
        let initial = initial(std::slice::from_ref(variable));
        let elements = &self.local_elements[procedure.index()][slots.clone()];
        let here = known.iter().flat_map(|(_, here)| &here.locals[slots.clone()]);
        bounds(initial.iter().chain(elements).chain(here))
    }

    /// Whether it is possible, as far as is known, that a thread at a location has these local variables and sees these shared ones.
    pub fn admit(&self, location: LocationId, locals: &[Value], shared: &[Value]) -> bool {
        let admits = |held: &[Held], now: &[Value]| {
            held.iter().zip(now).all(|(held, &value)| match held.values {
                _ if value == OPEN => held.open,
                None => false,
                Some(values) => values.contains(i128::from(value)),
            })
        };
        let locks = |shared: &[Value]| -> Vec<Value> {
            let mut shared = shared.to_vec();
            let locks = self.program.shared.iter().filter(|variable| variable.ty == Type::Lock);
            // Locks are not followed.
            locks.for_each(|lock| shared[lock.slot..lock.slot + lock.slots()].fill(0));
            shared
        };
        self.now(location).is_some_and(|here| {
            let held: Vec<Held> = self.numbers.of.iter().map(|&number| here.shared[number]).collect();
            admits(&here.locals, locals) && admits(&held, &locks(shared))
        })
    }

    /// The locks that a thread holds for certain at a location: the first slots of what is a lock. Nothing if no thread comes there.
    pub fn locks(&self, location: LocationId) -> Option<BTreeSet<Slot>> {
        let here = self.at[location.index()].as_ref()?;
        let locks = here.locks.iter().filter(|&&lock| !self.no_flag[lock]);
        Some(locks.map(|&lock| self.numbers.slots[lock].0).collect())
    }

    /// Whether a step can be taken only while nobody holds a lock.
    pub fn needs_free(&self, location: LocationId, op: &Op, lock: Slot) -> bool {
        let Some(mut here) = self.now(location) else { return true };
        let procedure = self.program.locations[location].procedure;
        let possible = match op {
            Op::Acquire(taken) => return taken.slot == lock && taken.element.is_none(),
            Op::Guard(expr, expected) => self.restrict(procedure, expr, *expected, &mut here),
            Op::Assign(_, _, Some(constraint)) if !speaks_of_next(constraint) => {
                self.restrict(procedure, constraint, true, &mut here)
            }
            _ => true,
        };
        !possible || self.slot(&here, lock) == Held { values: Some(Stride::constant(0)), open: false }
    }

    /// What a shared slot holds.
    fn slot(&self, here: &Here, slot: Slot) -> Held {
        here.shared[self.numbers.of[slot]]
    }

    /// What is known at a location, if a thread can be there.
    fn now(&self, location: LocationId) -> Option<Here> {
        let mut here = self.at[location.index()].clone()?;
        if !self.alone[location.index()] {
            self.forget_unstable(self.program.locations[location].procedure, &mut here);
        }
        Some(here)
    }

    fn start(&self, body: ProcedureId, locals: Vec<Held>) -> Here {
        let slots = 0..self.shared.len();
        let found = |slot| if self.owns(body, slot) { self.shown[slot] } else { self.shared[slot] };
        Here { locals, shared: slots.map(found).collect(), locks: BTreeSet::new(), atomic: false }
    }

    /// Whether nobody but the one thread with this body writes a shared slot.
    fn owns(&self, body: ProcedureId, slot: Slot) -> bool {
        self.once[body.index()] && self.writers[slot] == Writers::With(body)
    }

    /// What others may have changed has any value that it ever has.
    fn forget_unstable(&self, body: ProcedureId, here: &mut Here) {
        if here.atomic {
            return;
        }
        here.locks.retain(|&lock| !self.no_flag[lock]);
        for (slot, held) in here.shared.iter_mut().enumerate() {
            let guarded = self.guards[slot].as_ref().is_none_or(|guards| !guards.is_disjoint(&here.locks));
            if !guarded && !self.owns(body, slot) {
                *held = self.shared[slot];
            }
        }
    }

    /// A thread comes to a location.
    fn arrive(&mut self, location: LocationId, here: Here) {
        let Some(before) = &self.at[location.index()] else {
            self.at[location.index()] = Some(here);
            self.changed = true;
            return;
        };
        let procedure = self.program.locations[location].procedure;
        let locals = &self.program.procedures[procedure].locals;
        let join = |before: &[Held], now: &[Held], variables: &[Variable]| {
            let joined = variables.iter().flat_map(|variable| {
                let slots = variable.slot..variable.slot + variable.slots();
                slots.map(|slot| self.join(before[slot], now[slot], range_of(variable.ty), LOCAL_ROUNDS))
            });
            joined.collect::<Vec<Held>>()
        };
        let after = Here {
            locals: join(&before.locals, &here.locals, locals),
            shared: (0..here.shared.len())
                .map(|slot| {
                    let bounds = self.bounds_of_shared(slot);
                    self.join(before.shared[slot], here.shared[slot], bounds, LOCAL_ROUNDS)
                })
                .collect(),
            locks: before.locks.intersection(&here.locks).copied().collect(),
            atomic: before.atomic && here.atomic,
        };
        if after != *before {
            self.changed = true;
            self.at[location.index()] = Some(after);
        }
    }

    fn join(&self, before: Held, now: Held, bounds: (i128, i128), rounds: usize) -> Held {
        let values = match (before.values, now.values) {
            (Some(before), Some(now)) => {
                let joined = before.join(now);
                let constants: &[i128] = if self.round < MOST_ROUNDS { &self.constants } else { &[] };
                let grows = joined != before && self.round >= rounds;
                Some(if grows { joined.widened(before, constants, bounds) } else { joined })
            }
            (before, now) => before.or(now),
        };
        Held { values, open: before.open || now.open }
    }

    fn step(&self, procedure: ProcedureId, mut here: Here, edge: &Edge, effects: &mut Vec<Effect>) {
        match &edge.op {
            Op::Guard(expr, expected) => {
                if !self.restrict(procedure, expr, *expected, &mut here) {
                    return;
                }
            }
            Op::Assert(expr) => {
                if !self.restrict(procedure, expr, true, &mut here) {
                    return;
                }
            }
            Op::Assign(places, values, constraint) => {
                // A constraint on what is there before is a guard of the same step.
                let guard = constraint.as_ref().filter(|constraint| !speaks_of_next(constraint));
                if guard.is_some_and(|guard| !self.restrict(procedure, guard, true, &mut here)) {
                    return;
                }
                let value = |(place, value): (&Place, &Expr)| {
                    let all = range_of(place.ty);
                    match constraint {
                        Some(_) if guard.is_none() => Some(Stride::range(all)),
                        // What does not fit is a violation.
                        _ => self.value(procedure, value, &here)?.between(all),
                    }
                };
                let stored: Option<Vec<Stride>> = places.iter().zip(values).map(value).collect();
                let Some(stored) = stored else { return };
                let flag = self.flag(&edge.op, &here, effects);
                for (place, values) in places.iter().zip(stored) {
                    self.store(procedure, place, values, &mut here, effects);
                }
                match flag {
                    Some((slot, true)) => drop(here.locks.insert(slot)),
                    Some((slot, false)) => drop(here.locks.remove(&slot)),
                    None => {}
                }
            }
            Op::Error | Op::NoResult | Op::Beyond | Op::Return(_) => return,
            Op::AtomicBegin => here.atomic = true,
            Op::AtomicEnd => here.atomic = false,
            Op::Acquire(lock) if lock.element.is_none() => {
                let (_, smashed) = self.numbers.slots[self.numbers.of[lock.slot]];
                if !smashed {
                    here.locks.insert(self.numbers.of[lock.slot]);
                }
            }
            Op::Release(lock) => {
                let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
                let released = self.numbers.all(lock.slot..lock.slot + length);
                here.locks.retain(|lock| !released.contains(lock));
            }
            Op::Spawn(template, arguments) => {
                let body = &self.program.procedures[self.program.templates[*template].body];
                let mut locals = first_locals(body);
                for (local, argument) in body.locals.iter().zip(arguments) {
                    let values = self.value(procedure, argument, &here);
                    let open = self.may_be_open(procedure, argument, &here);
                    locals[local.slot] = Held { values, open };
                }
                let started = self.start(self.program.templates[*template].body, locals);
                effects.push(Effect::Arrives(body.entry, started));
            }
            // The model has no other step that changes a variable.
            Op::Skip
            | Op::Acquire(_)
            | Op::Wait(_)
            | Op::Broadcast(_)
            | Op::Signal(_)
            | Op::Call(..)
            | Op::Fork(_) => {}
        }
        effects.push(Effect::Arrives(edge.to, here));
    }

    /// Whether an assignment takes a flag (true) or gives it back; if it does neither, what it writes is no flag.
    fn flag(&self, op: &Op, here: &Here, effects: &mut Vec<Effect>) -> Option<(Slot, bool)> {
        let Op::Assign(places, values, constraint) = op else { return None };
        let guarded = constraint.as_ref().is_some_and(|constraint| !speaks_of_next(constraint));
        let mut found = None;
        for (place, value) in places.iter().zip(values) {
            let slots = match &place.target {
                Target::Shared(slot) => self.numbers.all(*slot..slot + 1),
                Target::SharedElement(slot, length, _) => self.numbers.all(*slot..slot + length),
                _ => continue,
            };
            let slot = slots.start;
            let is_zero = here.shared[slot] == Held { values: Some(Stride::constant(0)), open: false };
            let flag = match (&place.target, value) {
                (Target::Shared(_), Expr::Constant(0)) if here.locks.contains(&slot) => Some((slot, false)),
                (Target::Shared(_), Expr::Constant(value))
                    if *value != 0 && (here.atomic || guarded) && is_zero =>
                {
                    Some((slot, true))
                }
                _ => None,
            };
            let alone = places.len() == 1 && (constraint.is_none() || guarded);
            match flag.filter(|_| alone && !self.no_flag[slot]) {
                Some(flag) => found = Some(flag),
                None => effects.extend(slots.map(Effect::IsNoFlag)),
            }
        }
        found
    }

    fn store(
        &self,
        procedure: ProcedureId,
        place: &Place,
        values: Stride,
        here: &mut Here,
        effects: &mut Vec<Effect>,
    ) {
        let stored = Held { values: Some(values), open: false };
        let also = |known: Held| Held {
            values: Some(known.values.map_or(values, |known| known.join(values))),
            open: known.open,
        };
        let slots = match &place.target {
            Target::Shared(slot) => self.numbers.all(*slot..slot + 1),
            Target::SharedElement(slot, length, _) => self.numbers.all(*slot..slot + length),
            Target::Local(slot) | Target::Others(slot) => *slot..slot + 1,
            Target::LocalElement(slot, length, _) => *slot..slot + length,
        };
        for slot in slots {
            match &place.target {
                Target::Shared(_) if !self.numbers.slots[slot].1 => here.shared[slot] = stored,
                Target::Shared(_) | Target::SharedElement(..) => {
                    here.shared[slot] = also(here.shared[slot]);
                }
                Target::Local(_) | Target::Others(_) => here.locals[slot] = stored,
                Target::LocalElement(..) => here.locals[slot] = also(here.locals[slot]),
            }
            effects.push(match &place.target {
                Target::Shared(_) | Target::SharedElement(..) => {
                    Effect::Stores(procedure, slot, values, here.locks.clone())
                }
                _ => Effect::StoresLocally(procedure, slot, values),
            });
        }
    }
}

/// Bounds of everything that is held.
fn bounds<'h>(held: impl Iterator<Item = &'h Held>) -> Option<(i128, i128)> {
    let all = held.filter_map(|held| held.values).reduce(Stride::join)?;
    Some((all.low, all.high))
}

/// Whether at most one thread runs a body.
fn runs_once(program: &Program, body: ProcedureId) -> bool {
    let mut running = program.templates.iter().filter(|template| template.body == body);
    let only = running.next().is_some_and(|template| !template.spawned && template.count == Count::Fixed(1));
    only && running.next().is_none()
}

/// Whether a constraint is one on what is there afterwards.
fn speaks_of_next(constraint: &Expr) -> bool {
    let mut next = false;
    constraint.visit(&mut |part| next |= matches!(part, Expr::NextShared(_) | Expr::NextLocal(_)));
    next
}

/// What variables hold at first.
fn initial(variables: &[Variable]) -> Vec<Held> {
    let slots = variables.iter().flat_map(|variable| {
        variable.initial.iter().map(|initial| match initial {
            Some(OPEN) => Held { values: None, open: true },
            Some(value) => Held { values: Some(Stride::constant(i128::from(*value))), open: false },
            None => Held { values: Some(Stride::range(range_of(variable.ty))), open: false },
        })
    });
    slots.collect()
}

/// What the local variables of a thread hold at first, if nothing is known of its arguments.
fn first_locals(procedure: &Procedure) -> Vec<Held> {
    let mut locals = initial(&procedure.locals);
    for parameter in procedure.locals.iter().take(procedure.parameters) {
        locals[parameter.slot] = Held { values: Some(Stride::range(range_of(parameter.ty))), open: false };
    }
    locals
}
