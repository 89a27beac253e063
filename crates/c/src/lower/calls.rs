//! Calls: of functions with a body, of the library, through pointers.

use super::body::{Address, Body, Inlined};
use super::places::{Target, binary};
use super::{FUNCTIONS, Lowering, Model, Result, refuse};
use crate::slots;
use crate::typed::{Expr, ExprKind, Function, FunctionId, Stmt, StmtKind, Type, VariableId};
use crate::walk;
use allways_model::program::{
    Binary as Operator, LocationId, Op, Procedure, ProcedureId, Slot, Span, Type as Values, Value,
};
use std::collections::HashMap;

/// Calls that are inlined into each other no deeper than this.
const MOST_DEEP: usize = 200;

impl Lowering<'_> {
    /// A call: the values of its result.
    pub(super) fn call(&mut self, call: &Expr, callee: &Expr, arguments: &[Expr]) -> Result<Vec<Model>> {
        if let ExprKind::Function(function) = callee.kind {
            return self.call_function(call, function, arguments);
        }
        let callees = self.pointers.callees(callee);
        if let Some(function) = self.constant_function(callee).filter(|function| callees.contains(function)) {
            return self.call_function(call, function, arguments);
        }
        let pointer = self.value(callee)?;
        let pointer = self.kept(pointer, call.span)?;
        let others: Vec<FunctionId> = self.pointers.started(callee);
        if callees.is_empty() {
            return refuse(call.span, "a call through a pointer that points to no function that is known");
        }
        let count = slots::count(self.unit, &call.ty).unwrap_or(0);
        let first = self.block(count, call.span);
        let (here, after) = (self.here, self.location(call.span));
        let mut none = Model::Constant(1);
        let is_it = |function: FunctionId| {
            binary(Operator::Equal, pointer.clone(), Model::Constant(FUNCTIONS + function.0 as Value))
        };
        for function in others.into_iter().filter(|function| !callees.contains(function)) {
            // Functions of another type: what such a call does is not defined, and not followed.
            let other = self.location(call.span);
            self.edge(here, Op::Guard(is_it(function), true), other, call.span);
            self.edge(other, Op::Beyond, other, call.span);
            none = and_not(none, is_it(function));
        }
        for function in callees {
            let is = is_it(function);
            let start = self.location(call.span);
            self.edge(here, Op::Guard(is.clone(), true), start, call.span);
            none = and_not(none, is);
            self.here = start;
            let values = self.call_function(call, function, arguments)?;
            for (slot, value) in (first..).zip(values) {
                self.store(&Target::Local(slot), value, call.span)?;
            }
            self.jump(after, call.span);
        }
        // A call of what is no function.
        let wrong = self.location(call.span);
        self.edge(here, Op::Guard(none, true), wrong, call.span);
        let astray = if self.property.memory { Op::Error } else { Op::Beyond };
        self.edge(wrong, astray, wrong, call.span);
        self.here = after;
        Ok((first..first + count).map(Model::Local).collect())
    }

    fn call_function(&mut self, call: &Expr, function: FunctionId, arguments: &[Expr]) -> Result<Vec<Model>> {
        let unit = self.unit;
        let called = &unit.functions[function.0];
        if called.name == "reach_error" || called.name == "__VERIFIER_error" {
            // What a body of it does is for other tools.
            self.fail(call.span)?;
            return Ok(Vec::new());
        }
        if matches!(called.name.as_str(), "__VERIFIER_assume" | "assume_abort_if_not") {
            return self.library(call, called, arguments);
        }
        match &called.body {
            None => self.library(call, called, arguments),
            Some(_) if self.pointers.recursive.contains(&function) => {
                self.call_procedure(call, function, arguments)
            }
            Some(_) => self.inline(call, function, called, arguments),
        }
    }

    fn inline(
        &mut self,
        call: &Expr,
        function: FunctionId,
        called: &Function,
        arguments: &[Expr],
    ) -> Result<Vec<Model>> {
        let span = call.span;
        if self.body.calls.len() > MOST_DEEP {
            return refuse(span, "calls are nested too deeply to be inlined");
        }
        if arguments.len() < called.parameters.len() {
            return refuse(span, format!("`{}` is called with too few arguments", called.name));
        }
        // All arguments are evaluated before any parameter is written: one may be the old value of another.
        let mut bound = Vec::new();
        for (&parameter, argument) in called.parameters.iter().zip(arguments) {
            if self.pointers.transparent.contains(&parameter) {
                let address = self.address(argument)?;
                let address = self.fixed(address, span)?;
                let ty = self.object_type(argument);
                bound.push((parameter, address, ty));
            }
        }
        let mut values = Vec::new();
        for (&parameter, argument) in called.parameters.iter().zip(arguments) {
            if self.pointers.transparent.contains(&parameter) {
                continue;
            }
            if matches!(argument.ty.plain(), Type::Float(_)) {
                self.effect(argument)?;
                continue;
            }
            let several = called.parameters.len() > 1;
            for (offset, value) in self.values(argument)?.into_iter().enumerate() {
                let value = if several { self.kept(value, span)? } else { value };
                values.push((parameter, offset, value));
            }
        }
        for argument in arguments.iter().skip(called.parameters.len()) {
            self.effect(argument)?;
        }
        // Parameters that keep the constant that they are given are like constants, until the call returns.
        let steady = called.parameters.iter().zip(arguments).filter_map(|(&parameter, argument)| {
            let value = self.constant_value(argument).filter(|_| self.steady.contains(&parameter))?;
            Some((parameter, value))
        });
        let steady: Vec<(VariableId, i128)> = steady.collect();
        self.constants.extend(steady.iter().copied());
        let functions = called.parameters.iter().zip(arguments).filter_map(|(&parameter, argument)| {
            let value = self.constant_function(argument).filter(|_| self.steady.contains(&parameter))?;
            Some((parameter, value))
        });
        let functions: Vec<(VariableId, FunctionId)> = functions.collect();
        self.functions.extend(functions.iter().copied());
        let allocates = self.allocated.get(&std::ptr::from_ref(call)).cloned();
        let results = self.inline_with(function, bound, values, allocates, span);
        steady.iter().for_each(|(parameter, _)| _ = self.constants.remove(parameter));
        functions.iter().for_each(|(parameter, _)| _ = self.functions.remove(parameter));
        results
    }

    /// A call of a function with a body, with one argument.
    pub(super) fn call_with(&mut self, function: FunctionId, argument: Address, span: Span) -> Result<()> {
        let called = &self.unit.functions[function.0];
        if called.body.is_none() || self.pointers.recursive.contains(&function) {
            return refuse(span, format!("a call of `{}` by the library is not followed", called.name));
        }
        let (mut bound, mut values) = (Vec::new(), Vec::new());
        match called.parameters.first() {
            Some(&parameter) if self.pointers.transparent.contains(&parameter) => {
                bound.push((parameter, argument, None));
            }
            Some(&parameter) => values.push((parameter, 0, self.number(argument, span)?)),
            None => {}
        }
        self.inline_with(function, bound, values, None, span).map(|_| ())
    }

    /// The body of a function: what its transparent parameters stand for, and the values of the slots of the others.
    fn inline_with(
        &mut self,
        function: FunctionId,
        bound: Vec<(VariableId, Address, Option<Type>)>,
        values: Vec<(VariableId, usize, Model)>,
        allocates: Option<Type>,
        span: Span,
    ) -> Result<Vec<Model>> {
        let unit = self.unit;
        let called = &unit.functions[function.0];
        let body = called.body.as_deref().unwrap_or_default();
        let mut outer = Vec::new();
        for (parameter, address, ty) in bound {
            outer.push((parameter, self.body.bound.insert(parameter, address)));
            match ty {
                Some(ty) => self.body.lengths.insert(parameter, ty),
                None => self.body.lengths.remove(&parameter),
            };
        }
        self.lifetimes(function, true, span)?;
        for (parameter, offset, value) in values {
            let place = self.variable(parameter, span)?;
            let slot = self.next_slot(&place, offset);
            self.store(&slot, value, span)?;
        }
        let atomic = called.name.starts_with("__VERIFIER_atomic");
        if atomic {
            self.enter_atomic(span)?;
        }
        let result = self.result_slots(function, called, span);
        let back = self.location(span);
        let in_loop = self.in_loop(span);
        let inlined = Inlined {
            function,
            back,
            result: result.clone(),
            labels: HashMap::new(),
            atomic: None,
            allocates,
            in_loop,
            loops: jumps_back(body),
        };
        self.body.calls.push(inlined);
        let exits = std::mem::take(&mut self.body.exits);
        let loops = std::mem::take(&mut self.body.loops);
        // What follows starts at the last location, which has no edges yet.
        let (locations, left_out, accesses) =
            (self.here.index(), self.lowered.left_out.len(), self.accesses.len());
        self.block_of(body)?;
        if self.unit.library.contains(&function) {
            for location in self.locations.iter_mut().skip(locations) {
                location.span = span;
                location.edges.iter_mut().for_each(|edge| crate::strings::move_to(edge, span));
            }
            self.lowered.left_out.iter_mut().skip(left_out).for_each(|(place, _)| *place = span);
            self.accesses.iter_mut().skip(accesses).for_each(|access| access.span = span);
        }
        let at_end = self.is_reached().then_some(self.body.atomic);
        self.jump(back, span);
        self.here = back;
        self.close_labels();
        self.body.exits = exits;
        self.body.loops = loops;
        let returned = self.body.calls.pop().and_then(|call| call.atomic);
        self.body.atomic = at_end.or(returned).unwrap_or(self.body.atomic);
        for (parameter, address) in outer {
            match address {
                Some(address) => self.body.bound.insert(parameter, address),
                None => self.body.bound.remove(&parameter),
            };
        }
        self.lifetimes(function, false, span)?;
        if atomic {
            self.leave_atomic(span)?;
        }
        Ok(result.into_iter().map(Model::Local).collect())
    }

    /// Whether what is here may run more than once in this body.
    pub(super) fn in_loop(&self, span: Span) -> bool {
        self.body.loops > 0
            || self.body.calls.last().is_some_and(|call| {
                call.in_loop || call.loops.iter().any(|&(from, to)| (from..=to).contains(&span.start))
            })
    }

    pub(super) fn enter_atomic(&mut self, span: Span) -> Result<()> {
        if self.body.atomic == 0 {
            self.emit(Op::AtomicBegin, span)?;
        }
        self.body.atomic += 1;
        Ok(())
    }

    pub(super) fn leave_atomic(&mut self, span: Span) -> Result<()> {
        if self.body.atomic == 0 {
            return refuse(span, "an atomic section ends that has not begun");
        }
        self.body.atomic -= 1;
        if self.body.atomic == 0 {
            self.emit(Op::AtomicEnd, span)?;
        }
        Ok(())
    }

    /// An address whose parts nothing that follows can change.
    pub(super) fn fixed(&mut self, address: Address, span: Span) -> Result<Address> {
        let keep = |lowering: &mut Self, value: Model| -> Result<Model> {
            if matches!(value, Model::Constant(_) | Model::NextShared(_)) {
                return Ok(value);
            }
            let slot = lowering.block(1, span);
            lowering.store(&Target::Local(slot), value, span)?;
            Ok(Model::Local(slot))
        };
        Ok(match address {
            Address::Value(value) => Address::Value(keep(self, value)?),
            Address::Known(Target::SharedElement(slot, length, index)) => {
                Address::Known(Target::SharedElement(slot, length, keep(self, index)?))
            }
            Address::Known(Target::LocalElement(slot, length, index)) => {
                Address::Known(Target::LocalElement(slot, length, keep(self, index)?))
            }
            Address::Known(Target::Region(access, address)) => {
                Address::Known(Target::Region(access, keep(self, address)?))
            }
            Address::Known(target) => Address::Known(target),
        })
    }

    /// The local slots in which a function leaves its result; one set for all its calls in a body.
    fn result_slots(&mut self, function: FunctionId, called: &Function, span: Span) -> Vec<Slot> {
        if matches!(called.ty.result.plain(), Type::Float(_)) {
            return Vec::new();
        }
        if let Some(slots) = self.body.results.get(&function) {
            return slots.clone();
        }
        let leaves = slots::leaves(self.unit, &called.ty.result);
        let slots: Vec<Slot> = leaves
            .iter()
            .map(|leaf| {
                self.local(format!("{}(){}", called.name, leaf.path), slots::values(&leaf.ty), Some(0), span)
            })
            .collect();
        self.body.results.insert(function, slots.clone());
        slots
    }

    /// A call of a function that calls itself.
    fn call_procedure(
        &mut self,
        call: &Expr,
        function: FunctionId,
        arguments: &[Expr],
    ) -> Result<Vec<Model>> {
        let span = call.span;
        let unit = self.unit;
        let called = &unit.functions[function.0];
        let mut values = Vec::new();
        for argument in arguments.iter().take(called.parameters.len()) {
            for value in self.values(argument)? {
                values.push(self.kept(value, span)?);
            }
        }
        let procedure = match self.recursive.get(&function) {
            Some(&procedure) => procedure,
            None => self.procedure(function, called)?,
        };
        let leaves = slots::leaves(self.unit, &called.ty.result);
        let first = self.block(leaves.len(), span);
        let places =
            (first..first + leaves.len()).map(|slot| self.model_place(&Target::Local(slot), span)).collect();
        self.emit(Op::Call(procedure, values, places), span)?;
        Ok((first..first + leaves.len()).map(Model::Local).collect())
    }

    /// The procedure of a function that calls itself.
    fn procedure(&mut self, function: FunctionId, called: &Function) -> Result<ProcedureId> {
        let number = ProcedureId(self.procedures.len());
        self.recursive.insert(function, number);
        let results: Vec<Values> =
            slots::leaves(self.unit, &called.ty.result).iter().map(|leaf| slots::values(&leaf.ty)).collect();
        self.procedures.push(Procedure {
            name: called.name.clone(),
            locals: Vec::new(),
            parameters: 0,
            results: results.clone(),
            entry: LocationId(0),
            span: called.span,
        });
        let body = Body {
            procedure: number,
            number: self.body.number,
            many: self.body.many,
            is_procedure: true,
            atomic: self.body.atomic,
            ..Body::default()
        };
        let outer = std::mem::replace(&mut self.body, body);
        let outer_here = self.here;
        let entry = self.location(called.span);
        self.here = entry;
        for &parameter in &called.parameters {
            self.variable(parameter, called.span)?;
        }
        let parameters = self.body.locals.len();
        let first = self.block(results.len(), called.span);
        let result: Vec<Slot> = (first..first + results.len()).collect();
        let back = self.location(called.span);
        let body = called.body.as_deref().unwrap_or_default();
        self.body.calls.push(Inlined {
            function,
            back,
            result: result.clone(),
            labels: HashMap::new(),
            atomic: None,
            allocates: None,
            in_loop: true,
            loops: Vec::new(),
        });
        self.block_of(body)?;
        self.close_labels();
        self.jump(back, called.span);
        let values = result.into_iter().map(Model::Local).collect();
        self.edge(back, Op::Return(values), back, called.span);
        let body = std::mem::replace(&mut self.body, outer);
        self.here = outer_here;
        let procedure = &mut self.procedures[number];
        procedure.locals = body.locals;
        procedure.parameters = parameters;
        procedure.entry = entry;
        Ok(number)
    }
}

/// That one holds, and another does not.
fn and_not(one: Model, other: Model) -> Model {
    match one {
        Model::Constant(_) => super::expressions::not(other),
        one => binary(Operator::And, one, super::expressions::not(other)),
    }
}

/// The parts of a text, in bytes, that a `goto` back makes a loop of.
pub(super) fn jumps_back(body: &[Stmt]) -> Vec<(u32, u32)> {
    let mut labels: HashMap<&str, u32> = HashMap::new();
    let mut jumps: Vec<(&str, u32)> = Vec::new();
    walk::each_statement(body, &mut |stmt| match &stmt.kind {
        StmtKind::Label(name, _) => {
            labels.insert(name, stmt.span.start);
        }
        StmtKind::Goto(name) => jumps.push((name, stmt.span.end)),
        _ => {}
    });
    jumps
        .into_iter()
        .filter_map(|(name, end)| labels.get(name).map(|&start| (start, end)))
        .filter(|(start, end)| start < end)
        .collect()
}
