//! Which variables matter.
//!
//! A variable matters if its value can decide whether a step can be taken or goes wrong: if it is read by a condition, an
//! assertion, a constraint or a property; by an index of a lock; or by an expression that may go wrong or whose value may
//! not fit where it is stored. A variable also matters if it is read by what is stored in one that matters. Arguments are
//! stored in parameters, returned values in results, and results in the places of calls. Locks always matter, and so do
//! local variables that other threads write.
//!
//! What is stored in variables that do not matter is replaced by a constant that fits. This is sound since the variables
//! that matter depend only on each other: two runs, one of the program and one of what is made of it, that take the same
//! edges and choose alike in the expressions that remain have the same values in all variables that matter. So the same
//! edges can be taken in both; and an expression that was replaced always has a value, and one that fits.
//!
//! Slots are treated one by one; what has a computed index reads and writes the whole array.

use super::super::{Expr, Op, Place, ProcedureId, Program, Slot, Target, Type, Value, Variable};
use super::intervals::Bounds;
use super::written;
use std::ops::Range;

/// A variable's slot or a result of a procedure, all numbered together.
type Node = usize;

/// What the value of an expression is for.
enum Use {
    /// It decides which step is taken.
    Control,
    /// It is stored. If that does not matter, another value does as well.
    Stored {
        /// Where, or which array it selects an element of.
        nodes: Range<Node>,
        /// What it must fit.
        ty: Type,
        /// The other value; it fits too.
        instead: Value,
    },
}

/// Stores constants in the variables that do not matter. Says for each shared slot whether it does.
pub(super) fn forget(program: &mut Program) -> Vec<bool> {
    let analysis = Analysis::new(program);
    let matters = analysis.matters(program);
    let forgotten = |nodes: Range<Node>| !matters[nodes].contains(&true);
    for location in &mut program.locations {
        let here = location.procedure;
        for edge in &mut location.edges {
            analysis.uses(here, &mut edge.op, &mut |expr, usage| {
                if let Use::Stored { nodes, ty, instead } = usage
                    && forgotten(nodes)
                    && analysis.is_harmless(expr, here, ty)
                {
                    *expr = Expr::Constant(instead);
                }
            });
        }
    }
    let start = |variable: &mut Variable, first: Node| {
        for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
            if !matters[first + slot] {
                *initial = Some(variable.ty.default_value());
            }
        }
    };
    program.shared.iter_mut().for_each(|variable| start(variable, 0));
    for (procedure, &first) in program.procedures.iter_mut().zip(&analysis.locals) {
        procedure.locals.iter_mut().for_each(|variable| start(variable, first));
    }
    matters[..program.shared_slots()].to_vec()
}

/// Where everything is.
struct Analysis {
    /// The first local node of each procedure.
    locals: Vec<Node>,
    /// The first result of each procedure.
    results: Vec<Node>,
    nodes: usize,
    bounds: Bounds,
    /// The nodes of each procedure's parameters, and their types.
    parameters: Vec<Vec<(Range<Node>, Type)>>,
    /// The types of each procedure's results.
    types: Vec<Vec<Type>>,
    /// What each template runs.
    bodies: Vec<ProcedureId>,
}

impl Analysis {
    fn new(program: &Program) -> Analysis {
        let bounds = Bounds::new(program);
        let mut nodes = program.shared_slots();
        let mut next = |count: usize| {
            nodes += count;
            nodes - count
        };
        let locals: Vec<Node> = program.procedures.iter().map(|procedure| next(procedure.slots())).collect();
        let results = bounds.results.iter().map(|results| next(results.len())).collect();
        let parameters = program.procedures.iter().zip(&locals).map(|(procedure, first)| {
            let nodes = |local: &Variable| first + local.slot..first + local.slot + local.slots();
            procedure.locals[..procedure.parameters].iter().map(|local| (nodes(local), local.ty)).collect()
        });
        Analysis {
            parameters: parameters.collect(),
            types: program.procedures.iter().map(|procedure| procedure.results.clone()).collect(),
            bodies: program.templates.iter().map(|template| template.body).collect(),
            locals,
            results,
            nodes,
            bounds,
        }
    }

    /// The result of a procedure, if it has one of this number.
    fn result(&self, procedure: ProcedureId, number: usize) -> Option<Node> {
        (number < self.bounds.results[procedure.index()].len())
            .then(|| self.results[procedure.index()] + number)
    }

    /// What a place may write, unless it is another thread's.
    fn nodes_of(&self, here: ProcedureId, place: &Place) -> Option<Range<Node>> {
        let (shared, slots) = written(place)?;
        let first = if shared { 0 } else { self.locals[here.index()] };
        Some(first + slots.start..first + slots.end)
    }

    /// Whether an expression always has a value, and one of this type.
    fn is_harmless(&self, expr: &Expr, here: ProcedureId, ty: Type) -> bool {
        let (values, fine) = self.bounds.value(expr, here);
        fine && values.fits(ty)
    }

    /// Calls a function with every expression of a step and what it is for.
    fn uses(&self, here: ProcedureId, op: &mut Op, see: &mut dyn FnMut(&mut Expr, Use)) {
        match op {
            Op::Guard(expr, _) | Op::Assert(expr) => see(expr, Use::Control),
            Op::Assign(places, values, constraint) => {
                for (index, value) in values.iter_mut().enumerate() {
                    let place = places.get(index);
                    let usage = match place.and_then(|place| Some((self.nodes_of(here, place)?, place.ty))) {
                        Some((nodes, ty)) => Use::Stored { nodes, ty, instead: ty.default_value() },
                        None => Use::Control,
                    };
                    see(value, usage);
                }
                self.indices(here, places, see);
                constraint.iter_mut().for_each(|constraint| see(constraint, Use::Control));
            }
            Op::Call(callee, arguments, places) => {
                self.arguments(*callee, arguments, see);
                self.indices(here, places, see);
            }
            Op::Spawn(template, arguments) => self.arguments(self.bodies[template.index()], arguments, see),
            Op::Return(results) => {
                for (number, expr) in results.iter_mut().enumerate() {
                    // No place takes it or all of them take all values of this result.
                    let ty = self.types[here.index()].get(number).copied().unwrap_or(Type::Int);
                    let (low, high) = ty.bounds().unwrap_or((Value::MIN, Value::MAX));
                    let instead =
                        self.bounds.results[here.index()][number].closest_to_zero().clamp(low, high);
                    let node = self.results[here.index()] + number;
                    see(expr, Use::Stored { nodes: node..node + 1, ty, instead });
                }
            }
            Op::Acquire(lock) | Op::Release(lock) => {
                lock.element.iter_mut().for_each(|(_, index)| see(index, Use::Control));
            }
            Op::Skip
            | Op::Error
            | Op::NoResult
            | Op::Beyond
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Fork(_)
            | Op::Wait(_)
            | Op::Broadcast(_)
            | Op::Signal(_) => {}
        }
    }

    fn arguments(&self, callee: ProcedureId, arguments: &mut [Expr], see: &mut dyn FnMut(&mut Expr, Use)) {
        for (index, argument) in arguments.iter_mut().enumerate() {
            let usage = match self.parameters[callee.index()].get(index) {
                Some((nodes, ty)) => {
                    Use::Stored { nodes: nodes.clone(), ty: *ty, instead: ty.default_value() }
                }
                None => Use::Control,
            };
            see(argument, usage);
        }
    }

    fn indices(&self, here: ProcedureId, places: &mut [Place], see: &mut dyn FnMut(&mut Expr, Use)) {
        for place in places {
            let Some(nodes) = self.nodes_of(here, place) else { continue };
            if let Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) =
                &mut place.target
            {
                see(index, Use::Stored { nodes, ty: Type::Range(0, *length as Value - 1), instead: 0 });
            }
        }
    }

    /// Which nodes matter. The program is not changed.
    fn matters(&self, program: &mut Program) -> Vec<bool> {
        let mut todo: Vec<Node> = self.always(program);
        // For each node, what matters if it does.
        let mut sources: Vec<Vec<Node>> = vec![Vec::new(); self.nodes];
        for location in &mut program.locations {
            let here = location.procedure;
            for edge in &mut location.edges {
                self.uses(here, &mut edge.op, &mut |expr, usage| match usage {
                    Use::Stored { nodes, ty, .. } if self.is_harmless(expr, here, ty) => {
                        sources[nodes].iter_mut().for_each(|sources| self.reads(expr, here, sources));
                    }
                    Use::Stored { .. } | Use::Control => self.reads(expr, here, &mut todo),
                });
                let Op::Call(callee, _, places) = &edge.op else { continue };
                for (number, place) in places.iter().enumerate() {
                    let Some(result) = self.result(*callee, number) else { continue };
                    match self.nodes_of(here, place) {
                        Some(nodes) if self.bounds.results[callee.index()][number].fits(place.ty) => {
                            sources[nodes].iter_mut().for_each(|sources| sources.push(result));
                        }
                        _ => todo.push(result),
                    }
                }
            }
        }
        let mut matters = vec![false; self.nodes];
        while let Some(node) = todo.pop() {
            if !std::mem::replace(&mut matters[node], true) {
                todo.append(&mut sources[node]);
            }
        }
        matters
    }

    /// The nodes that matter whatever the steps do.
    fn always(&self, program: &Program) -> Vec<Node> {
        let mut always = Vec::new();
        let all = |variable: &Variable| variable.slot..variable.slot + variable.slots();
        for variable in program.shared.iter().filter(|variable| variable.ty == Type::Lock) {
            always.extend(all(variable));
        }
        for edge in program.locations.iter().flat_map(|location| &location.edges) {
            if let Op::Acquire(lock) | Op::Release(lock) = &edge.op {
                let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
                always.extend(lock.slot..lock.slot + length);
            }
        }
        for (procedure, first) in program.procedures.iter().zip(&self.locals) {
            for variable in procedure.locals.iter().filter(|variable| variable.mixed) {
                always.extend(all(variable).map(|slot| first + slot));
            }
        }
        // Properties read no local variables, so any procedure will do.
        program.never.iter().for_each(|never| self.reads(&never.expr, ProcedureId(0), &mut always));
        always
    }

    /// The nodes that an expression of a procedure may read.
    fn reads(&self, expr: &Expr, here: ProcedureId, nodes: &mut Vec<Node>) {
        let local = |slot: &Slot| self.locals[here.index()] + slot;
        expr.visit(&mut |part| match part {
            Expr::Shared(slot) | Expr::NextShared(slot) => nodes.push(*slot),
            Expr::Local(slot) | Expr::NextLocal(slot) => nodes.push(local(slot)),
            Expr::SharedElement(slot, length, ..) => nodes.extend(*slot..slot + length),
            Expr::LocalElement(slot, length, ..) => nodes.extend(local(slot)..local(slot) + length),
            _ => {}
        });
    }
}
