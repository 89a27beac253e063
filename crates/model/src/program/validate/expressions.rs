//! The sorts of expressions, and what they may speak of.

use super::super::{Binary, Expr, Op, ProcedureId, Program, Slot, Span, Type, Unary, Variable};
use super::{Checked, Malformed, ensure};

/// What kind of value an expression has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Bool,
    Number,
    /// 0 or 1, which is either.
    Either,
}

impl Sort {
    pub fn of(ty: Type) -> Sort {
        if ty == Type::Bool { Sort::Bool } else { Sort::Number }
    }

    fn is(self, other: Sort) -> bool {
        self == other || self == Sort::Either || other == Sort::Either
    }
}

/// Where an expression stands.
#[derive(Clone, Copy)]
pub(super) enum Where {
    /// In a step of a procedure.
    Step(ProcedureId),
    /// In a step of a procedure, in what other threads are given.
    Given(ProcedureId),
    /// In the constraint of an assignment in a procedure.
    Constraint(ProcedureId),
    Property,
    Hint,
}

impl Program {
    /// Whether an expression is sound and of a sort.
    pub(super) fn expects(&self, expr: &Expr, sort: Sort, at: Where, span: Span) -> Checked {
        let found = self.sort(expr, at, span)?;
        ensure(found.is(sort), span, || format!("expected {sort:?}, found {found:?} in {expr:?}"))
    }

    fn sort(&self, expr: &Expr, at: Where, span: Span) -> Result<Sort, Malformed> {
        let here = match at {
            Where::Step(procedure) | Where::Given(procedure) | Where::Constraint(procedure) => {
                Some(procedure)
            }
            Where::Property | Where::Hint => None,
        };
        let value = |variables: &[Variable], slot, length| match found(variables, slot, length) {
            Some(variable) if variable.ty != Type::Lock => Ok(Sort::of(variable.ty)),
            _ => Err(Malformed { what: format!("no such variable in {expr:?}"), span }),
        };
        let local = |slot, length| match (here, at) {
            (Some(here), _) => value(&self.procedures[here].locals, slot, length),
            // A hint may be about threads of any kind, and does not say which.
            (None, Where::Hint) => Ok(Sort::Either),
            (None, _) => Err(Malformed { what: format!("no thread has {expr:?} here"), span }),
        };
        let allowed = |holds: bool| ensure(holds, span, || format!("{expr:?} has no value here"));
        match expr {
            Expr::Constant(0 | 1) | Expr::Choose(0, 1) => Ok(Sort::Either),
            Expr::Constant(_) => Ok(Sort::Number),
            Expr::Choose(low, high) => allowed(low <= high).map(|()| Sort::Number),
            Expr::Shared(slot) => value(&self.shared, *slot, None),
            Expr::Local(slot) => local(*slot, None),
            Expr::SharedElement(slot, length, index, _) => {
                self.expects(index, Sort::Number, at, span)?;
                value(&self.shared, *slot, Some(*length))
            }
            Expr::LocalElement(slot, length, index, _) => {
                self.expects(index, Sort::Number, at, span)?;
                local(*slot, Some(*length))
            }
            Expr::NextShared(slot) => {
                allowed(matches!(at, Where::Constraint(_)))?;
                value(&self.shared, *slot, None)
            }
            Expr::NextLocal(slot) => {
                allowed(matches!(at, Where::Constraint(_)))?;
                local(*slot, None)
            }
            Expr::OtherLocal(slot) | Expr::NextOtherLocal(slot)
                if matches!(at, Where::Constraint(_))
                    || matches!((at, expr), (Where::Given(_), Expr::OtherLocal(_))) =>
            {
                let locals = here.map_or(&[][..], |here| &self.procedures[here].locals);
                allowed(found(locals, *slot, None).is_some_and(|variable| variable.mixed))?;
                local(*slot, None)
            }
            Expr::OtherLocal(_) => allowed(matches!(at, Where::Hint)).map(|()| Sort::Either),
            Expr::NextOtherLocal(_) => allowed(false).map(|()| Sort::Either),
            Expr::This => allowed(!matches!(at, Where::Property)).map(|()| Sort::Number),
            Expr::At(locations) => {
                allowed(matches!(at, Where::Property))?;
                allowed(locations.iter().all(|&location| location.index() < self.locations.len()))?;
                Ok(Sort::Number)
            }
            Expr::Unary(Unary::Not, part) => self.expects(part, Sort::Bool, at, span).map(|()| Sort::Bool),
            Expr::Unary(Unary::Minus | Unary::Wrap(_), part) => {
                if let Expr::Unary(Unary::Wrap(machine), _) = expr {
                    allowed((1..=64).contains(&machine.bits))?;
                }
                self.expects(part, Sort::Number, at, span).map(|()| Sort::Number)
            }
            Expr::Binary(operator, left, right, _) => {
                let (operands, result) = match operator {
                    Binary::And | Binary::Or => (Sort::Bool, Sort::Bool),
                    Binary::Equal | Binary::Unequal => {
                        let left = self.sort(left, at, span)?;
                        self.expects(right, left, at, span)?;
                        return Ok(Sort::Bool);
                    }
                    Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                        (Sort::Number, Sort::Bool)
                    }
                    _ => (Sort::Number, Sort::Number),
                };
                self.expects(left, operands, at, span)?;
                self.expects(right, operands, at, span).map(|()| result)
            }
            Expr::If(condition, then, other) => {
                self.expects(condition, Sort::Bool, at, span)?;
                let then = self.sort(then, at, span)?;
                let other = self.sort(other, at, span)?;
                ensure(then.is(other), span, || format!("two sorts in {expr:?}"))?;
                Ok(if then == Sort::Either { other } else { then })
            }
        }
    }
}

/// The variable with a slot, which is one of its elements; or the first one of so many slots, which may be those of
/// several variables if these are all numbers.
pub(super) fn found(variables: &[Variable], slot: Slot, length: Option<usize>) -> Option<&Variable> {
    let after = variables.partition_point(|variable| variable.slot <= slot);
    let variable = variables.get(after.checked_sub(1)?)?;
    let fits = match length {
        Some(length) if variable.slot == slot && variable.length == Some(length) => true,
        Some(length) => {
            let end = slot.checked_add(length)?;
            let within = variables[after - 1..].iter().take_while(|variable| variable.slot < end);
            let numbers = |variable: &Variable| matches!(variable.ty, Type::Int | Type::Range(..));
            end <= variables.last().map_or(0, |last| last.slot + last.slots())
                && within.into_iter().all(numbers)
        }
        None => slot < variable.slot + variable.slots(),
    };
    fits.then_some(variable)
}

/// Whether a step asks which thread it is.
pub(super) fn asks_who(op: &Op) -> bool {
    let mut asks = false;
    op.expressions().for_each(|expr| expr.visit(&mut |part| asks |= *part == Expr::This));
    asks
}
