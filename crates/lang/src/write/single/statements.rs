//! What steps do, as statements.

use super::super::variables::{Sort, sort_of};
use super::super::{Written, refuse};
use super::bounds::folded;
use super::lower::Lowering;
use super::{Exit, Statement};
use allways_model::program::defined::{defined, fits, not};
use allways_model::program::{
    Expr, LockPlace, Op, Place, ProcedureId, Slot, Span, Target, Type, Value, Wrong,
};
use std::ops::Range;

impl Lowering<'_> {
    /// The statements of a step, all but where it leads.
    pub fn step(&mut self, op: &Op, span: Span) -> Written<()> {
        match op {
            Op::Skip => {}
            Op::Assign(places, values, constraint) => {
                self.assign(places, values, constraint.as_ref(), span)?;
                self.look_after(places)?;
            }
            Op::Guard(expr, expected) => {
                let expr = self.value(expr, Sort::Bool, span)?;
                let holds = if *expected { expr } else { not(expr) };
                self.statements.push(Statement::Assume(holds));
            }
            Op::Assert(expr) => {
                let expr = self.value(expr, Sort::Bool, span)?;
                self.assert(expr, Wrong::Assertion.word(), span);
            }
            Op::Beyond => return refuse(span, crate::write::BEYOND),
            Op::Error | Op::NoResult => {
                let wrong = if *op == Op::Error { Wrong::Error } else { Wrong::NoResult };
                self.assert(Expr::Constant(0), wrong.word(), span);
                self.statements.push(Statement::Assume(Expr::Constant(0)));
            }
            Op::Call(callee, arguments, places) => self.call(*callee, arguments, places, span)?,
            Op::Return(_) => {}
            Op::AtomicBegin => {
                if let Some(inside) = self.inside {
                    self.set(Target::Shared(inside), Type::Bool, Expr::Constant(1), span);
                }
            }
            Op::AtomicEnd => self.leave_section(span)?,
            Op::Acquire(lock) => {
                let (held, target) = self.lock(lock)?;
                self.statements.push(Statement::Assume(not(held)));
                self.set(target, Type::Bool, Expr::Constant(1), span);
            }
            Op::Release(lock) => {
                let (held, target) = self.lock(lock)?;
                self.assert(held, Wrong::Release.word(), span);
                self.set(target, Type::Bool, Expr::Constant(0), span);
            }
            Op::Spawn(..) | Op::Fork(_) => return self.refused("a thread is started", span),
            Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) => {
                return self.refused("an event is for others", span);
            }
        }
        Ok(())
    }

    /// An atomic section ends here, if there is one.
    pub fn leave_section(&mut self, span: Span) -> Written<()> {
        let Some(inside) = self.inside.filter(|_| self.sections) else { return Ok(()) };
        self.set(Target::Shared(inside), Type::Bool, Expr::Constant(0), span);
        self.look()
    }

    pub fn returns(&mut self, results: &[Expr], span: Span) -> Written<Exit> {
        let mut values = Vec::new();
        for (result, &ty) in results.iter().zip(&self.procedure.results) {
            values.push(self.value(result, sort_of(ty), span)?);
        }
        for (value, &ty) in values.iter().zip(&self.procedure.results) {
            self.assert_fits(value, ty, span);
        }
        self.leave_section(span)?;
        Ok(if self.main { self.leave() } else { Exit::Return(values) })
    }

    fn call(&mut self, callee: ProcedureId, arguments: &[Expr], places: &[Place], span: Span) -> Written<()> {
        let procedure = &self.program.procedures[callee];
        let mut values = Vec::new();
        for (argument, local) in arguments.iter().zip(&procedure.locals) {
            values.push((self.value(argument, sort_of(local.ty), span)?, local.ty));
        }
        for (value, ty) in &values {
            self.assert_fits(value, *ty, span);
        }
        // In this order, so that a language that has one result only knows where it belongs.
        let results: Vec<Slot> = procedure.results.iter().map(|&ty| self.spare(ty)).collect();
        self.statements.push(Statement::Call(self.called[&callee].clone(), values, results.clone()));
        if !places.is_empty() {
            let results: Vec<Expr> = results.into_iter().map(Expr::Local).collect();
            self.assign(places, &results, None, span)?;
            self.look_after(places)?;
        }
        Ok(())
    }

    fn look_after(&mut self, places: &[Place]) -> Written<()> {
        let seen = |place: &Place| matches!(place.target, Target::Shared(_) | Target::SharedElement(..));
        if places.iter().any(seen) { self.look() } else { Ok(()) }
    }

    /// An assignment: all values and indices first.
    fn assign(
        &mut self,
        places: &[Place],
        values: &[Expr],
        constraint: Option<&Expr>,
        span: Span,
    ) -> Written<()> {
        if constraint.is_some_and(Expr::is_about_others) {
            return self.refused("a constraint reads the variables of other threads", span);
        }
        let mut assigned = Vec::new();
        for (place, value) in places.iter().zip(values) {
            assigned.push((place.clone(), self.value(value, sort_of(place.ty), span)?));
        }
        for (place, value) in &mut assigned {
            if let Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) =
                &mut place.target
            {
                *index = self.index(index, *length, place.span)?;
            }
            if matches!(place.target, Target::Others(_)) {
                return self.refused("the variables of other threads are assigned", place.span);
            }
            self.assert_fits(value, place.ty, place.span);
        }
        let interferes = assigned.iter().enumerate().any(|(index, (written, _))| {
            assigned[index + 1..].iter().any(|(place, value)| {
                let at = match &place.target {
                    Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) => Some(index),
                    _ => None,
                };
                reads(value, &written.target) || at.is_some_and(|at| reads(at, &written.target))
            })
        });
        if interferes || constraint.is_some() {
            for (place, value) in &mut assigned {
                if let Target::SharedElement(_, length, index) | Target::LocalElement(_, length, index) =
                    &mut place.target
                {
                    *index = self.aside(index, Type::Range(0, *length as Value - 1), place.span);
                }
                *value = self.aside(value, place.ty, place.span);
            }
        }
        if let Some(constraint) = constraint {
            let plain =
                |(place, _): &(Place, Expr)| matches!(place.target, Target::Shared(_) | Target::Local(_));
            if !assigned.iter().all(plain) {
                return refuse(span, "a constraint is about more than plain variables");
            }
            self.assigned = Some(assigned.clone());
            let holds = self.value(constraint, Sort::Bool, span)?;
            self.assigned = None;
            self.statements.push(Statement::Assume(holds));
        }
        for (place, value) in assigned {
            self.statements.push(Statement::Set(place, value));
        }
        Ok(())
    }

    /// A value, in a variable.
    fn aside(&mut self, value: &Expr, ty: Type, span: Span) -> Expr {
        if let Expr::Constant(_) = value {
            return value.clone();
        }
        let slot = self.spare(ty);
        self.set(Target::Local(slot), ty, value.clone(), span);
        Expr::Local(slot)
    }

    /// What a variable will be after the assignment, whose values are known.
    fn afterwards(&self, target: Target, before: Expr, span: Span) -> Written<Expr> {
        let Some(assigned) = &self.assigned else {
            return refuse(span, "a value afterwards, before there is one");
        };
        let last = assigned.iter().rev().find(|(place, _)| place.target == target);
        Ok(last.map_or(before, |(_, value)| value.clone()))
    }

    /// An expression that has a value, which is asserted, and makes no choice.
    pub fn value(&mut self, expr: &Expr, sort: Sort, span: Span) -> Written<Expr> {
        let expr = self.chosen(expr, sort, span)?;
        self.assert(defined(&expr), "no value", span);
        Ok(folded(&expr, self.shared, &self.locals))
    }

    /// An index that is one, which is asserted.
    fn index(&mut self, index: &Expr, length: usize, span: Span) -> Written<Expr> {
        let index = self.value(index, Sort::Number, span)?;
        self.assert_within(&index, (0, length as Value - 1), Wrong::Index, span);
        Ok(index)
    }

    fn assert_fits(&mut self, value: &Expr, ty: Type, span: Span) {
        if let Type::Range(low, high) = ty {
            self.assert_within(value, (low, high), Wrong::Range, span);
        }
    }

    fn assert_within(&mut self, value: &Expr, (low, high): (Value, Value), wrong: Wrong, span: Span) {
        self.assert(fits(value, Type::Range(low, high)), wrong.word(), span);
    }

    /// Asserts something, unless types tell that it holds.
    pub fn assert(&mut self, holds: Expr, what: &str, span: Span) {
        let holds = folded(&holds, self.shared, &self.locals);
        if holds != Expr::Constant(1) {
            self.statements.push(Statement::Assert(holds, format!("line {}: {what}", span.line)));
        }
    }

    fn set(&mut self, target: Target, ty: Type, value: Expr, span: Span) {
        self.statements.push(Statement::Set(Place { target, ty, span }, value));
    }

    /// A lock, as an expression and as what is assigned.
    fn lock(&mut self, lock: &LockPlace) -> Written<(Expr, Target)> {
        let Some((length, index)) = &lock.element else {
            return Ok((Expr::Shared(lock.slot), Target::Shared(lock.slot)));
        };
        let index = self.index(index, *length, lock.span)?;
        let held = Expr::SharedElement(lock.slot, *length, Box::new(index.clone()), lock.span);
        Ok((held, Target::SharedElement(lock.slot, *length, index)))
    }

    /// An expression of a sort, with the choices in it made.
    pub fn chosen(&mut self, expr: &Expr, sort: Sort, span: Span) -> Written<Expr> {
        Ok(match expr {
            Expr::Choose(low, high) => {
                let ty = if sort == Sort::Bool { Type::Bool } else { Type::Int };
                self.any((*low, *high), ty)
            }
            Expr::This => Expr::Constant(0),
            Expr::At(_) => return refuse(span, "a property that asks where a thread is cannot be written"),
            Expr::NextShared(slot) => self.afterwards(Target::Shared(*slot), Expr::Shared(*slot), span)?,
            Expr::NextLocal(slot) => self.afterwards(Target::Local(*slot), Expr::Local(*slot), span)?,
            Expr::Constant(_)
            | Expr::Shared(_)
            | Expr::Local(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_) => expr.clone(),
            Expr::SharedElement(slot, length, index, place) => {
                let index = self.chosen(index, Sort::Number, span)?;
                Expr::SharedElement(*slot, *length, Box::new(index), *place)
            }
            Expr::LocalElement(slot, length, index, place) => {
                let index = self.chosen(index, Sort::Number, span)?;
                Expr::LocalElement(*slot, *length, Box::new(index), *place)
            }
            Expr::Unary(operator, operand) => {
                Expr::Unary(*operator, Box::new(self.chosen(operand, Sort::of_unary(*operator), span)?))
            }
            Expr::Binary(operator, left, right, place) => {
                let sort = Sort::of_binary(*operator)
                    .unwrap_or_else(|| Sort::of_operands(left, right, self.shared, &self.locals));
                let (left, right) = (self.chosen(left, sort, span)?, self.chosen(right, sort, span)?);
                Expr::Binary(*operator, Box::new(left), Box::new(right), *place)
            }
            Expr::If(condition, then, other) => Expr::If(
                Box::new(self.chosen(condition, Sort::Bool, span)?),
                Box::new(self.chosen(then, sort, span)?),
                Box::new(self.chosen(other, sort, span)?),
            ),
        })
    }
}

/// Whether an expression reads what is written.
fn reads(expr: &Expr, written: &Target) -> bool {
    let (shared, slots): (bool, Range<Slot>) = match written {
        Target::Shared(slot) => (true, *slot..slot + 1),
        Target::Local(slot) | Target::Others(slot) => (false, *slot..slot + 1),
        Target::SharedElement(slot, length, _) => (true, *slot..slot + length),
        Target::LocalElement(slot, length, _) => (false, *slot..slot + length),
    };
    let mut found = false;
    expr.visit(&mut |part| {
        let (of_shared, read) = match part {
            Expr::Shared(slot) => (true, *slot..slot + 1),
            Expr::Local(slot) => (false, *slot..slot + 1),
            Expr::SharedElement(slot, length, ..) => (true, *slot..slot + length),
            Expr::LocalElement(slot, length, ..) => (false, *slot..slot + length),
            _ => return,
        };
        found |= shared == of_shared && read.start < slots.end && slots.start < read.end;
    });
    found
}
