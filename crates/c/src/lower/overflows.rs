//! Signed overflow, where it is asked for (`no-overflow`): what is computed in a signed type is in its range.
//!
//! An operation that may overflow is a step of its own, and the next one asserts that the result is in range; otherwise it would wrap
//! around. That holds of types of 32 bits; overflow of 64 bits, of constants and of quotients is not looked for, so that nothing is proved.
//! What is shifted to the left out of the range is not followed, since standards differ about it. Atomic operations wrap around
//! (C11, 7.17.7.5), and so do conversions.

use super::expressions::{arithmetic, converted};
use super::places::{Target, binary};
use super::{Lowering, Model, Result};
use crate::slots;
use crate::typed::{Binary, Expr, ExprKind, Int, Type, Unary};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Span, Value};

/// An update of a variable: `to operator= operand`.
pub(super) struct Update<'a> {
    pub to: &'a Expr,
    pub operator: Binary,
    pub operand: Model,
    /// The type in which it is computed.
    pub computed: Int,
    /// The type of the variable.
    pub own: Int,
    /// Whether the value of the expression is the one before.
    pub before: bool,
}

fn is_wide(int: Int) -> bool {
    int.signed && int.bits == 32
}

impl Lowering<'_> {
    /// Whether an operation may leave the range of its type, and that matters.
    pub(super) fn overflows(&self, operator: Binary, int: Int) -> bool {
        let leaves = matches!(operator, Binary::Plus | Binary::Minus | Binary::Times | Binary::ShiftLeft);
        self.property.overflows && is_wide(int) && leaves
    }

    /// Whether a part of an expression may do so: then it takes steps to evaluate it.
    pub(super) fn may_overflow(&self, expr: &Expr) -> bool {
        let mut found = false;
        walk::expression(expr, &mut |part| {
            let Type::Int(int) = part.ty.plain() else { return };
            found |= match &part.kind {
                ExprKind::Binary(operator, ..) => self.overflows(*operator, *int),
                ExprKind::Unary(Unary::Minus, _) => self.overflows(Binary::Minus, *int),
                _ => false,
            };
        });
        found
    }

    /// The result of an operation, which is asserted to be in range.
    pub(super) fn in_range(&mut self, operator: Binary, int: Int, value: Model, span: Span) -> Result<Model> {
        let slot = self.temporary(span);
        self.store(&Target::Local(slot), value, span)?;
        let value = Model::Local(slot);
        let (low, high) = slots::machine(int).bounds();
        let (Ok(low), Ok(high)) = (Value::try_from(low), Value::try_from(high)) else { return Ok(value) };
        let fits = binary(
            Operator::And,
            binary(Operator::GreaterEqual, value.clone(), Model::Constant(low)),
            binary(Operator::LessEqual, value.clone(), Model::Constant(high)),
        );
        if operator == Binary::ShiftLeft {
            let (here, fine, over) = (self.here, self.location(span), self.location(span));
            self.edge(here, Op::Guard(fits.clone(), true), fine, span);
            self.edge(here, Op::Guard(fits, false), over, span);
            self.edge(over, Op::Beyond, over, span);
            self.here = fine;
        } else {
            self.emit(Op::Assert(fits), span)?;
        }
        Ok(value)
    }

    /// Reads a place, computes a value that is asserted to be in range, and stores it: the value of the expression.
    pub(super) fn update_in_range(
        &mut self,
        update: Update<'_>,
        bits: Option<u8>,
        span: Span,
    ) -> Result<Model> {
        let Update { to, operator, operand, computed, own, before } = update;
        let place = self.place(to)?;
        let old = self.load(&place, span);
        let old = self.kept(old, span)?;
        let left = converted(old.clone(), own, computed);
        let value = Model::Binary(arithmetic(operator), Box::new(left), Box::new(operand), span);
        let value = self.in_range(operator, computed, value, span)?;
        let value = super::assignments::narrowed(converted(value, computed, own), own, bits);
        if place.is_shared() {
            self.store_field(to, place, value.clone(), span)?;
        } else {
            self.store(&place, value.clone(), span)?;
        }
        Ok(if before { old } else { value })
    }
}
