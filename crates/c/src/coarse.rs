//! An abstraction for data that is too wide to be listed: a program that may do more, of which a proof counts.
//!
//! A value is *wide* if it is one of many that may be chosen, or computed from a wide value with many possible results. A
//! variable is wide if it is ever given a wide value. In the abstraction, wide values are copied, compared with constants, and
//! compared with each other for equality, as they are; whatever else is computed from them is any value of its range, and
//! whatever else is asked about them may be true or false. Parts that may fail are still computed if they are not wide, and
//! otherwise the run may leave what is followed. So every run of the program is one of the abstraction, too. After that, few values suffice ([`crate::domains`]).
//!
//! Numbers of 64 bits that the model has no room for are among those that any value stands for: comparisons with constants near
//! the ends of what it has room for are left out, so that such a number is like others beyond all constants.

use crate::bounds::{EVERYTHING, Ranges, range_of};
use crate::choices::compares;
use allways_model::program::{
    Binary, Edge, Expr, Location, LocationId, Op, Place, ProcedureId, Program, Slot, Span, Target, Type,
    Unary, Value,
};
use std::collections::HashSet;

/// A value that may be one of so many is not wide.
const FEW_VALUES: i128 = 64;

/// How many values there are on either side of every constant at least.
const ROOM: u64 = 1 << 16;

fn many((low, high): (i128, i128)) -> bool {
    high - low >= FEW_VALUES
}

/// Which variables are wide.
struct Wide<'p> {
    program: &'p Program,
    ranges: Ranges<'p>,
    shared: Vec<bool>,
    locals: Vec<Vec<bool>>,
    rough: bool,
    changed: bool,
}

/// The abstraction; nothing if no variable is wide, or if it would be of no use. In a rough one, whatever is computed with many
/// possible results is wide, and it is forgotten whether wide values are equal: with any number of threads there is no end of
/// different ones.
pub fn coarse(program: &Program, rough: bool) -> Option<Program> {
    if !program.never.is_empty() || !program.hints.is_empty() {
        return None;
    }
    let mut wide = Wide {
        program,
        ranges: Ranges::of_variables(program),
        shared: vec![false; program.shared_slots()],
        locals: program.procedures.iter().map(|procedure| vec![false; procedure.slots()]).collect(),
        rough,
        changed: true,
    };
    wide.start()?;
    wide.growing();
    while std::mem::take(&mut wide.changed) {
        for location in &program.locations {
            location.edges.iter().for_each(|edge| wide.step(location.procedure, &edge.op));
        }
    }
    if !wide.shared.iter().chain(wide.locals.iter().flatten()).any(|&wide| wide) {
        return None;
    }
    let mut coarse = program.clone();
    for location in &mut coarse.locations {
        let mut fails = None;
        for edge in &mut location.edges {
            let mut rewriting = Rewriting { wide: &wide, here: location.procedure, fails: false };
            edge.op = rewriting.op(&edge.op)?;
            if rewriting.fails {
                fails = Some(edge.span);
            }
        }
        if let Some(span) = fails {
            location.edges.push(Edge { op: Op::Beyond, to: location.edges[0].to, span });
        }
    }
    choose_at_start(&mut coarse)?;
    Some(coarse)
}

/// Gives shared variables that start with one of many values one, in steps of `main` before all others.
fn choose_at_start(program: &mut Program) -> Option<()> {
    let (mut places, mut values) = (Vec::new(), Vec::new());
    let mut read = vec![false; program.shared_slots()];
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    for expr in edges.flat_map(|edge| edge.op.expressions()) {
        expr.visit(&mut |part| match part {
            Expr::Shared(slot) | Expr::NextShared(slot) => read[*slot] = true,
            Expr::SharedElement(slot, length, ..) => read[*slot..slot + length].fill(true),
            _ => {}
        });
    }
    for variable in &mut program.shared {
        let Type::Range(low, high) = variable.ty else { continue };
        if high.abs_diff(low) < FEW_VALUES as u64 {
            continue;
        }
        for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
            if initial.is_none() {
                *initial = Some(0.clamp(low, high));
                if !read[slot] {
                    continue;
                }
                places.push(Place { target: Target::Shared(slot), ty: variable.ty, span: variable.span });
                values.push(Expr::Choose(low, high));
            }
        }
    }
    let main = program.templates.iter().find(|template| template.name == "main")?.body;
    let entry = program.procedures[main].entry;
    // What led back to the entry would choose again.
    let mut edges = program.locations.iter().flat_map(|location| &location.edges);
    if !places.is_empty() && edges.any(|edge| edge.to == entry) {
        return None;
    }
    for (place, value) in places.into_iter().zip(values) {
        let next = LocationId(program.locations.len());
        let here = &mut program.locations[entry];
        let choice = Edge { op: Op::Assign(vec![place], vec![value], None), to: next, span: here.span };
        let moved = Location { edges: std::mem::replace(&mut here.edges, vec![choice]), ..here.clone() };
        program.locations.push(moved);
    }
    Some(())
}

impl Wide<'_> {
    /// Variables that start with any value; nothing if a local one does.
    fn start(&mut self) -> Option<()> {
        for variable in &self.program.shared {
            for (slot, initial) in (variable.slot..).zip(&variable.initial) {
                self.shared[slot] |= initial.is_none() && many(range_of(variable.ty));
            }
        }
        let bodies = self.program.procedures.iter();
        let mut locals = bodies.flat_map(|procedure| procedure.locals.iter().skip(procedure.parameters));
        let any = locals.any(|local| local.initial.contains(&None) && many(range_of(local.ty)));
        (!any).then_some(())
    }

    /// Variables that are added to for ever, and of which nothing but other variables depends; if it is rough, all that are given
    /// something computed.
    fn growing(&mut self) {
        let mut steers: HashSet<(Option<ProcedureId>, Slot)> = HashSet::new();
        let mut grow = Vec::new();
        let program = self.program;
        for location in &program.locations {
            let here = location.procedure;
            for op in location.edges.iter().map(|edge| &edge.op) {
                let Op::Assign(places, values, None) = op else {
                    for expr in op.expressions() {
                        expr.visit(&mut |part| steers.extend(variable_of(here, part)));
                    }
                    continue;
                };
                for value in values {
                    value.visit(&mut |part| match part {
                        Expr::If(part, ..)
                        | Expr::SharedElement(_, _, part, _)
                        | Expr::LocalElement(_, _, part, _) => {
                            part.visit(&mut |part| steers.extend(variable_of(here, part)));
                        }
                        Expr::Binary(operator, left, right, _) if compares(*operator) => {
                            left.visit(&mut |part| steers.extend(variable_of(here, part)));
                            right.visit(&mut |part| steers.extend(variable_of(here, part)));
                        }
                        _ => {}
                    });
                }
                for (place, value) in places.iter().zip(values) {
                    match &place.target {
                        Target::Shared(slot) => grow.push((None, *slot, here, &place.target, value)),
                        Target::Local(slot) => grow.push((Some(here), *slot, here, &place.target, value)),
                        Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => {
                            index.visit(&mut |part| steers.extend(variable_of(here, part)));
                        }
                        Target::Others(_) => {}
                    }
                }
            }
        }
        for (of, slot, here, target, value) in grow {
            let mut own = false;
            value.visit(&mut |part| own |= variable_of(here, part) == Some((of, slot)));
            let grows = self.rough || own && !steers.contains(&(of, slot));
            if grows && !is_variable(value) && !is_truth(value) && many(self.ranges.of(here, value)) {
                self.mark(here, target);
            }
        }
    }

    fn step(&mut self, here: ProcedureId, op: &Op) {
        match op {
            Op::Assign(places, values, _) => {
                for (place, value) in places.iter().zip(values) {
                    if self.is_wide(here, value) {
                        self.mark(here, &place.target);
                    }
                }
            }
            Op::Call(callee, arguments, places) => {
                self.pass(here, *callee, arguments);
                // Results of procedures are not followed one by one.
                places.iter().for_each(|place| self.mark(here, &place.target));
            }
            Op::Spawn(template, arguments) => {
                self.pass(here, self.program.templates[*template].body, arguments);
            }
            _ => {}
        }
    }

    fn pass(&mut self, here: ProcedureId, callee: ProcedureId, arguments: &[Expr]) {
        for (parameter, argument) in self.program.procedures[callee].locals.iter().zip(arguments) {
            if self.is_wide(here, argument) {
                self.mark(callee, &Target::Local(parameter.slot));
            }
        }
    }

    fn mark(&mut self, here: ProcedureId, target: &Target) {
        let (slots, first, length) = match target {
            Target::Shared(slot) => (&mut self.shared, *slot, 1),
            Target::SharedElement(slot, length, _) => (&mut self.shared, *slot, *length),
            Target::Local(slot) | Target::Others(slot) => (&mut self.locals[here.index()], *slot, 1),
            Target::LocalElement(slot, length, _) => (&mut self.locals[here.index()], *slot, *length),
        };
        for slot in &mut slots[first..first + length] {
            self.changed |= !*slot;
            *slot = true;
        }
    }

    /// Whether a wide variable is read anywhere in an expression, or one of many values is chosen.
    fn reads(&self, here: ProcedureId, expr: &Expr) -> bool {
        let mut found = false;
        expr.visit(&mut |part| {
            found |= match part {
                Expr::Choose(low, high) => many((i128::from(*low), i128::from(*high))),
                part => self.variable(here, part) == Some(true),
            };
        });
        found
    }

    /// Of a variable, whether it is wide.
    fn variable(&self, here: ProcedureId, expr: &Expr) -> Option<bool> {
        let locals = &self.locals[here.index()];
        Some(match expr {
            Expr::Shared(slot) | Expr::NextShared(slot) => self.shared[*slot],
            Expr::Local(slot) | Expr::NextLocal(slot) => locals[*slot],
            Expr::SharedElement(slot, length, ..) => self.shared[*slot..slot + length].contains(&true),
            Expr::LocalElement(slot, length, ..) => locals[*slot..slot + length].contains(&true),
            _ => return None,
        })
    }

    /// Whether the value of an expression is wide.
    fn is_wide(&self, here: ProcedureId, expr: &Expr) -> bool {
        match expr {
            Expr::If(_, then, other) => self.is_wide(here, then) || self.is_wide(here, other),
            Expr::Binary(Binary::And | Binary::Or, _, right, _) => self.is_wide(here, right),
            expr => match self.variable(here, expr) {
                Some(wide) => wide,
                None => self.reads(here, expr) && many(self.ranges.of(here, expr)),
            },
        }
    }
}

/// How the steps of a procedure are made coarse.
struct Rewriting<'w, 'p> {
    wide: &'w Wide<'p>,
    here: ProcedureId,
    /// Whether something that may fail is left out.
    fails: bool,
}

impl Rewriting<'_, '_> {
    fn op(&mut self, op: &Op) -> Option<Op> {
        Some(match op {
            Op::Assign(places, values, constraint) => {
                let places: Vec<Place> = places.iter().map(|place| self.place(place)).collect();
                let stored = places.iter().zip(values).map(|(place, value)| {
                    let wide = self.is_wide_place(self.here, &place.target);
                    self.stored(value, wide, place.ty)
                });
                let stored: Option<Vec<Expr>> = stored.collect();
                Op::Assign(places, stored?, constraint.as_ref().map(|constraint| self.truth(constraint)))
            }
            Op::Guard(expr, holds) => Op::Guard(self.truth(expr), *holds),
            Op::Assert(expr) => Op::Assert(self.truth(expr)),
            Op::Call(callee, arguments, places) => {
                let arguments = self.arguments(*callee, arguments)?;
                Op::Call(*callee, arguments, places.iter().map(|place| self.place(place)).collect())
            }
            Op::Spawn(template, arguments) => {
                Op::Spawn(*template, self.arguments(self.wide.program.templates[*template].body, arguments)?)
            }
            Op::Return(values) => {
                let types = &self.wide.program.procedures[self.here].results;
                let results = types.iter().zip(values).map(|(&ty, value)| self.stored(value, true, ty));
                Op::Return(results.collect::<Option<_>>()?)
            }
            Op::Acquire(lock) | Op::Release(lock) => {
                let index = lock.element.as_ref().map(|(_, index)| index);
                if index.is_some_and(|index| self.wide.reads(self.here, index)) {
                    return None;
                }
                op.clone()
            }
            op => op.clone(),
        })
    }

    fn arguments(&mut self, callee: ProcedureId, arguments: &[Expr]) -> Option<Vec<Expr>> {
        let parameters = &self.wide.program.procedures[callee].locals;
        let passed = parameters.iter().zip(arguments).map(|(parameter, argument)| {
            let wide = self.is_wide_place(callee, &Target::Local(parameter.slot));
            self.stored(argument, wide, parameter.ty)
        });
        passed.collect()
    }

    fn is_wide_place(&self, of: ProcedureId, target: &Target) -> bool {
        match target {
            Target::Shared(slot) => self.wide.shared[*slot],
            Target::SharedElement(slot, length, _) => self.wide.shared[*slot..slot + length].contains(&true),
            Target::Local(slot) | Target::Others(slot) => self.wide.locals[of.index()][*slot],
            Target::LocalElement(slot, length, _) => {
                self.wide.locals[of.index()][*slot..slot + length].contains(&true)
            }
        }
    }

    fn place(&mut self, place: &Place) -> Place {
        let target = match &place.target {
            Target::SharedElement(slot, length, index) => {
                Target::SharedElement(*slot, *length, self.index(index, *length))
            }
            Target::LocalElement(slot, length, index) => {
                Target::LocalElement(*slot, *length, self.index(index, *length))
            }
            target => target.clone(),
        };
        Place { target, ..place.clone() }
    }

    /// An index of an array.
    fn index(&mut self, index: &Expr, length: usize) -> Expr {
        if !self.wide.reads(self.here, index) {
            return index.clone();
        }
        let (low, high) = self.wide.ranges.of(self.here, index);
        let last = length as i128 - 1;
        self.fails |= low < 0 || high > last;
        self.any(index, low.clamp(0, last) as Value, high.clamp(0, last) as Value)
    }

    /// A value that is stored, in a wide variable or another one; nothing if it may not fit there.
    fn stored(&mut self, value: &Expr, wide: bool, ty: Type) -> Option<Expr> {
        if !wide && !self.wide.reads(self.here, value) {
            return Some(value.clone());
        }
        match value {
            Expr::Constant(_) | Expr::Choose(..) => Some(value.clone()),
            Expr::If(condition, then, other) => {
                let condition = self.truth(condition);
                let (then, other) = (self.stored(then, wide, ty)?, self.stored(other, wide, ty)?);
                Some(Expr::If(Box::new(condition), Box::new(then), Box::new(other)))
            }
            value if self.is_copy(value) || !wide && self.wide.variable(self.here, value).is_some() => {
                Some(self.copy(value))
            }
            value if is_truth(value) => Some(self.truth(value)),
            value => {
                let (low, high) = self.wide.ranges.of(self.here, value);
                let (least, most) = ty.bounds()?;
                // Numbers that the model has no room for are like the greatest.
                let fits =
                    |value: i128| value.clamp(i128::from(Value::MIN) + 1, i128::from(Value::MAX)) as Value;
                let (low, high) = (fits(low), fits(high));
                (least <= low && high <= most).then(|| self.any(value, low, high))
            }
        }
    }

    /// Whether an expression is a wide variable, perhaps converted to a type that has all its values.
    fn is_copy(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Unary(Unary::Wrap(machine), part) => {
                let ((low, high), (least, most)) = (self.wide.ranges.of(self.here, part), machine.bounds());
                self.is_copy(part) && least <= low && high <= most
            }
            expr => self.wide.variable(self.here, expr) == Some(true),
        }
    }

    fn copy(&mut self, expr: &Expr) -> Expr {
        match expr {
            // All its values are of the type that it is converted to.
            Expr::Unary(_, part) => self.copy(part),
            Expr::SharedElement(slot, length, index, span) => {
                Expr::SharedElement(*slot, *length, Box::new(self.index(index, *length)), *span)
            }
            Expr::LocalElement(slot, length, index, span) => {
                Expr::LocalElement(*slot, *length, Box::new(self.index(index, *length)), *span)
            }
            expr => expr.clone(),
        }
    }

    /// An expression of which only the truth matters.
    fn truth(&mut self, expr: &Expr) -> Expr {
        if !self.wide.reads(self.here, expr) {
            return expr.clone();
        }
        let binary = |operator: Binary, left: Expr, right: Expr, span: Span| {
            Expr::Binary(operator, Box::new(left), Box::new(right), span)
        };
        match expr {
            Expr::Unary(Unary::Not, part) => Expr::Unary(Unary::Not, Box::new(self.truth(part))),
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, span) => {
                binary(*operator, self.truth(left), self.truth(right), *span)
            }
            Expr::If(condition, then, other) => {
                let (condition, then, other) = (self.truth(condition), self.truth(then), self.truth(other));
                Expr::If(Box::new(condition), Box::new(then), Box::new(other))
            }
            expr if self.is_copy(expr) => self.copy(expr),
            Expr::Binary(operator, left, right, span) if compares(*operator) => {
                let equality = !self.wide.rough && matches!(operator, Binary::Equal | Binary::Unequal);
                let constant = |expr: &Expr| matches!(expr, Expr::Constant(value) if value.unsigned_abs() < Value::MAX as u64 - ROOM);
                match (self.is_copy(left), self.is_copy(right)) {
                    (true, true) if equality => binary(*operator, self.copy(left), self.copy(right), *span),
                    (true, false) if constant(right) => {
                        binary(*operator, self.copy(left), (**right).clone(), *span)
                    }
                    (false, true) if constant(left) => {
                        binary(*operator, (**left).clone(), self.copy(right), *span)
                    }
                    _ => self.either(expr),
                }
            }
            expr => self.either(expr),
        }
    }

    /// True or false.
    fn either(&mut self, expr: &Expr) -> Expr {
        self.any(expr, 0, 1)
    }

    /// Any value within bounds, in place of an expression. Parts of it that may fail are evaluated all the same.
    fn any(&mut self, expr: &Expr, low: Value, high: Value) -> Expr {
        let mut parts = Vec::new();
        expr.visit(&mut |part| parts.extend(self.may_fail(part)));
        let (mut fails, mut any) = (false, Expr::Choose(low, high));
        for part in parts {
            if self.wide.reads(self.here, &part) {
                fails = true;
            } else {
                any = Expr::If(Box::new(part), Box::new(any.clone()), Box::new(any));
            }
        }
        self.fails |= fails;
        any
    }

    /// What has a value if and only if an operation or an access to an array does, unless it always has.
    fn may_fail(&self, part: &Expr) -> Option<Expr> {
        let within = |expr: &Expr, least: i128, most: i128| {
            let (low, high) = self.wide.ranges.of(self.here, expr);
            least <= low && high <= most
        };
        match part {
            Expr::SharedElement(_, length, index, _) | Expr::LocalElement(_, length, index, _) => {
                (!within(index, 0, *length as i128 - 1)).then(|| part.clone())
            }
            Expr::Binary(operator, _, right, span) => {
                let fine = match operator {
                    Binary::Divide | Binary::Remainder => {
                        within(right, 1, EVERYTHING.1) || within(right, EVERYTHING.0, -1)
                    }
                    Binary::ShiftLeft | Binary::ShiftRight => within(right, 0, 63),
                    _ => true,
                };
                let zero = Box::new(Expr::Constant(0));
                (!fine).then(|| Expr::Binary(*operator, zero, right.clone(), *span))
            }
            _ => None,
        }
    }
}

/// The variable that an expression is.
fn variable_of(here: ProcedureId, expr: &Expr) -> Option<(Option<ProcedureId>, Slot)> {
    match expr {
        Expr::Shared(slot) => Some((None, *slot)),
        Expr::Local(slot) => Some((Some(here), *slot)),
        _ => None,
    }
}

fn is_variable(expr: &Expr) -> bool {
    matches!(expr, Expr::Shared(_) | Expr::Local(_))
}

/// Whether the value of an expression is 0 or 1.
fn is_truth(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(Unary::Not, _) => true,
        Expr::Binary(Binary::And | Binary::Or, _, right, _) => is_truth(right),
        Expr::Binary(operator, ..) => compares(*operator),
        _ => false,
    }
}
