//! What a step of a program does: where control goes, and what becomes of the values.
//!
//! Where control is, is listed: the locations of all threads and of the frames below. So starting threads, calling,
//! broadcasting and atomic sections are done here as [the semantics](allways_model::program::semantics) does them; only what
//! is done to values is an [`Action`] on diagrams. A section is followed step by step, while no other thread moves.
//!
//! What goes beyond the threads and the depth of stacks that there are bits for is not followed.

use super::values::{Action, Bit, Chosen, Scope, Values};
use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_model::encoding::Threads;
use allways_model::program::semantics::{self, Frame};
use allways_model::program::{
    Edge, Expr, LocationId, Op, Place, ProcedureId, Program, Target, TemplateId, Value,
};
use biodivine_lib_bdd::Bdd;

/// The most frames of a thread.
const MOST_FRAMES: usize = 8;

/// A thread, without its values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    template: TemplateId,
    this: Value,
    /// Locations, the topmost last, and the edges by which the frames below have called.
    stack: Vec<(LocationId, Option<usize>)>,
}

/// A state, without its values.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Control {
    /// The threads.
    pub threads: Vec<Thread>,
    /// Whether the thread that moves is in an atomic section: the height of its stack where that began.
    pub section: Option<usize>,
}

impl Control {
    /// Where a thread is.
    pub fn location(&self, thread: usize) -> Option<LocationId> {
        self.threads[thread].stack.last().map(|(location, _)| *location)
    }
}

/// A step.
pub struct Step {
    /// The edge.
    pub edge: usize,
    /// What it does.
    pub action: Action,
    /// Where control goes; nowhere if something goes wrong.
    pub to: Option<Control>,
}

/// The steps of a program.
pub struct Steps<'p> {
    /// The program.
    pub program: &'p Program,
    /// The values.
    pub values: Values<'p>,
    /// For each template, how many threads there can be.
    counts: Vec<usize>,
    frames: usize,
    slots: usize,
}

impl<'p> Steps<'p> {
    /// Those of a program with so many threads.
    pub fn new(
        program: &'p Program,
        threads: &Threads,
        budget: &'p Budget<'p>,
    ) -> Result<Steps<'p>, StopReason> {
        let counts: Vec<usize> =
            threads.running.iter().zip(&threads.pool).map(|(running, pool)| running + pool).collect();
        let edges = program.locations.iter().flat_map(|location| &location.edges);
        let calls = edges.clone().any(|edge| matches!(edge.op, Op::Call(..)));
        let frames = if calls { MOST_FRAMES } else { 1 };
        let slots = program.procedures.iter().map(|procedure| procedure.slots()).max().unwrap_or(0);
        let choices = edges.map(|edge| choices_of(&edge.op)).max().unwrap_or(0);
        let of_properties = program.never.iter().map(|never| choices_in(&never.expr)).max().unwrap_or(0);
        let order = order(program);
        let bits = program.shared_slots() + counts.iter().sum::<usize>() * frames * slots;
        let values = Values::new(bits, choices.max(of_properties), &order, budget)?;
        Ok(Steps { program, values, counts, frames, slots })
    }

    /// Where control is at the start, and the values there.
    pub fn initial(&self, running: &[usize]) -> Result<(Control, Bdd), StopReason> {
        let mut control = Control { threads: Vec::new(), section: None };
        let mut action = self.values.nothing();
        let shared = self.program.shared.iter().flat_map(|variable| &variable.initial);
        self.start(0, shared.copied(), &mut action);
        for (template, &count) in running.iter().enumerate() {
            for this in 0..count {
                self.enter(&mut control, TemplateId(template), this as Value);
                let body = self.program.templates[TemplateId(template)].body;
                let locals = self.frame(control.threads.len() - 1, 0);
                self.start(locals, self.program.procedures[body].initial(), &mut action);
            }
        }
        let values = self.values.image(&self.values.constant(true), &action)?;
        Ok((control, values))
    }

    fn enter(&self, control: &mut Control, template: TemplateId, this: Value) {
        let entry = self.program.procedures[self.program.templates[template].body].entry;
        control.threads.push(Thread { template, this, stack: vec![(entry, None)] });
    }

    /// Variables get their initial values.
    fn start(&self, first: Bit, initial: impl Iterator<Item = Option<Value>>, action: &mut Action) {
        for (bit, initial) in (first..).zip(initial) {
            match initial {
                Some(value) => action.gives.push((bit, self.values.known(value != 0))),
                None => action.drops.push(bit),
            }
        }
    }

    /// The first bit of a frame.
    fn frame(&self, thread: usize, depth: usize) -> Bit {
        self.program.shared_slots() + (thread * self.frames + depth) * self.slots
    }

    /// Where a thread is, if it has not come to its end.
    pub fn edges(&self, control: &Control, thread: usize) -> &'p [Edge] {
        let top = control.threads[thread].stack.last();
        top.map_or(&[], |(location, _)| &self.program.locations[*location].edges)
    }

    /// The steps of a thread.
    pub fn of(&self, control: &Control, thread: usize) -> Result<Vec<Step>, StopReason> {
        let mut steps = Vec::new();
        for edge in 0..self.edges(control, thread).len() {
            self.along(control, thread, edge, &mut steps)?;
        }
        Ok(steps)
    }

    /// The steps along an edge.
    pub fn along(
        &self,
        control: &Control,
        thread: usize,
        index: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), StopReason> {
        let edge = &self.edges(control, thread)[index];
        let moving = &control.threads[thread];
        let (depth, top) = (moving.stack.len(), moving.stack.len() - 1);
        let locals = self.frame(thread, top);
        let scope = Scope { locals, this: moving.this, assigned: &[], at: &|_| 0 };
        let (values, mut choices) = (&self.values, 0);
        let mut next = control.clone();
        next.threads[thread].stack[top].0 = edge.to;
        let mut action = values.nothing();
        let mut wrong = None;
        let ends_section = control.section == Some(depth);
        match &edge.op {
            Op::Return(_) if ends_section => next = Control { section: None, ..control.clone() },
            Op::AtomicEnd if ends_section => next.section = None,
            Op::AtomicBegin if control.section.is_none() => next.section = Some(depth),
            Op::Skip | Op::AtomicBegin | Op::AtomicEnd => {}
            Op::Guard(expr, wanted) => {
                let truth = values.condition(expr, &scope, &mut choices)?;
                action.when = if *wanted { truth } else { truth.not() };
            }
            Op::Assert(expr) => {
                action.when = values.condition(expr, &scope, &mut choices)?;
                wrong = Some(action.when.not());
            }
            Op::Error | Op::NoResult => {
                wrong = Some(values.known(true));
                action.when = values.known(false);
            }
            Op::Assign(places, exprs, constraint) => {
                self.store(places, exprs, &scope, locals, &mut choices, &mut action)?;
                if let Some(constraint) = constraint {
                    let assigned: Vec<Bit> = action.gives.iter().map(|(bit, _)| *bit).collect();
                    let scope = Scope { assigned: &assigned, ..scope };
                    action.when = values.condition(constraint, &scope, &mut choices)?;
                }
            }
            Op::Call(procedure, arguments, _) => {
                if depth == self.frames {
                    return Ok(());
                }
                self.pass(
                    *procedure,
                    self.frame(thread, depth),
                    arguments,
                    &scope,
                    &mut choices,
                    &mut action,
                )?;
                next.threads[thread].stack[top] = (moving.stack[top].0, Some(index));
                next.threads[thread].stack.push((self.program.procedures[*procedure].entry, None));
            }
            Op::Return(results) => {
                next.threads[thread].stack.pop();
                if let Some((location, calling)) = next.threads[thread].stack.last_mut() {
                    let call = &self.program.locations[*location].edges[calling.take().unwrap_or_default()];
                    *location = call.to;
                    if let Op::Call(_, _, places) = &call.op {
                        self.store(
                            places,
                            results,
                            &scope,
                            self.frame(thread, top - 1),
                            &mut choices,
                            &mut action,
                        )?;
                    }
                }
                action.drops.extend(locals..locals + self.slots);
            }
            Op::Spawn(template, arguments) => {
                if !self.has_room(control, *template) {
                    return Ok(());
                }
                let (body, started) =
                    (self.program.templates[*template].body, self.frame(control.threads.len(), 0));
                self.pass(body, started, arguments, &scope, &mut choices, &mut action)?;
                self.enter(&mut next, *template, 0);
            }
            Op::Fork(location) => {
                if !self.has_room(control, moving.template) {
                    return Ok(());
                }
                let started = self.frame(control.threads.len(), 0);
                let slots = self.program.procedure_of(*location).slots();
                action.gives.extend((0..slots).map(|slot| {
                    (started + slot, Chosen { truth: values.bit(locals + slot), choices: 0..0 })
                }));
                let stack = vec![(*location, None)];
                next.threads.push(Thread { template: moving.template, this: 0, stack });
            }
            Op::Broadcast(event) => {
                for (_, other) in next.threads.iter_mut().enumerate().filter(|(other, _)| *other != thread) {
                    let Some((location, _)) = other.stack.last_mut() else { continue };
                    if self.program.waits_for(*location) == Some(*event) {
                        *location = self.program.locations[*location].edges[0].to;
                    }
                }
            }
            Op::Wait(_) | Op::Signal(_) | Op::Beyond | Op::Acquire(_) | Op::Release(_) => return Ok(()),
        }
        action.choices = choices;
        if let Some(when) = wrong {
            let action = Action { when, choices, ..values.nothing() };
            steps.push(Step { edge: index, action, to: None });
        }
        if next.section.is_some() && self.edges(&next, thread).is_empty() {
            next.section = None;
        }
        steps.push(Step { edge: index, action, to: Some(next) });
        Ok(())
    }

    fn has_room(&self, control: &Control, template: TemplateId) -> bool {
        let there = control.threads.iter().filter(|thread| thread.template == template);
        there.count() < self.counts[template.index()]
    }

    /// Places get values, of those that are given several the last.
    fn store(
        &self,
        places: &[Place],
        exprs: &[Expr],
        scope: &Scope<'_>,
        locals: Bit,
        choices: &mut usize,
        action: &mut Action,
    ) -> Result<(), StopReason> {
        for (place, expr) in places.iter().zip(exprs) {
            let bit = match place.target {
                Target::Shared(slot) => slot,
                Target::Local(slot) => locals + slot,
                _ => return Err(StopReason::GaveUp("engine `diagrams` does not support arrays".to_string())),
            };
            let value = self.values.stored(expr, scope, choices)?;
            action.gives.retain(|(given, _)| *given != bit);
            action.gives.push((bit, value));
        }
        Ok(())
    }

    /// A frame gets its arguments and initial values.
    fn pass(
        &self,
        procedure: ProcedureId,
        locals: Bit,
        arguments: &[Expr],
        scope: &Scope<'_>,
        choices: &mut usize,
        action: &mut Action,
    ) -> Result<(), StopReason> {
        for (bit, argument) in (locals..).zip(arguments) {
            action.gives.push((bit, self.values.stored(argument, scope, choices)?));
        }
        let initial = self.program.procedures[procedure].initial().skip(arguments.len());
        self.start(locals + arguments.len(), initial, action);
        Ok(())
    }

    /// The values with which a property is violated, by so many choices.
    pub fn violations(&self, control: &Control) -> Result<Vec<Action>, StopReason> {
        let at = |locations: &[LocationId]| {
            let tops = control.threads.iter().filter_map(|thread| thread.stack.last());
            tops.filter(|(location, _)| locations.contains(location)).count()
        };
        let violation = |expr: &Expr| {
            let (scope, mut choices) = (Scope { locals: 0, this: 0, assigned: &[], at: &at }, 0);
            let when = self.values.condition(expr, &scope, &mut choices)?;
            Ok(Action { when, choices, ..self.values.nothing() })
        };
        self.program.never.iter().map(|never| violation(&never.expr)).collect()
    }

    /// The state with these values.
    pub fn state(&self, control: &Control, bits: &[bool]) -> semantics::State {
        let value = |bit: Bit| Value::from(bits[bit]);
        let threads = control.threads.iter().enumerate().map(|(id, thread)| {
            let frame = |(depth, (location, calling)): (usize, &(LocationId, Option<usize>))| {
                let (first, slots) = (self.frame(id, depth), self.program.procedure_of(*location).slots());
                Frame {
                    location: *location,
                    calling: *calling,
                    locals: (first..first + slots).map(value).collect(),
                }
            };
            let stack = thread.stack.iter().enumerate().map(frame).collect();
            semantics::Thread { template: thread.template, id, this: thread.this, stack }
        });
        let shared = (0..self.program.shared_slots()).map(value).collect();
        semantics::State { shared, threads: threads.collect() }
    }
}

/// The shared slots, related ones next to each other, on which the size of diagrams depends: in the order in which they occur in
/// assertions, properties and constraints, then in other steps.
fn order(program: &Program) -> Vec<Bit> {
    let ops = || program.locations.iter().flat_map(|location| &location.edges).map(|edge| &edge.op);
    let relating = ops().filter_map(|op| match op {
        Op::Assert(expr) | Op::Assign(_, _, Some(expr)) => Some(expr),
        _ => None,
    });
    let mut order = Vec::new();
    let mut seen = vec![false; program.shared_slots()];
    let mut see = |slot: Bit| {
        if !std::mem::replace(&mut seen[slot], true) {
            order.push(slot);
        }
    };
    for expr in relating.chain(program.never.iter().map(|never| &never.expr)) {
        expr.visit(&mut |part| {
            if let Expr::Shared(slot) | Expr::NextShared(slot) = part {
                see(*slot);
            }
        });
    }
    ops().for_each(|op| op.shared_accesses(&mut |slot, length, _| (slot..slot + length).for_each(&mut see)));
    (0..program.shared_slots()).for_each(see);
    order
}

fn choices_in(expr: &Expr) -> usize {
    let mut count = 0;
    expr.visit(&mut |part| count += usize::from(matches!(part, Expr::Choose(..))));
    count
}

/// How many choices a step makes; those of a return are its own.
pub fn choices_of(op: &Op) -> usize {
    op.expressions().map(choices_in).sum()
}
