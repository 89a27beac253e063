//! Conditions of C: comparisons, `&&`, `||`, `!` and `?:`, of which only what is needed is evaluated, and what branches on them.

use super::body::Address;
use super::expressions::{acts, not, number, truth};
use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::slots::{self};
use crate::typed::{Binary, Expr, ExprKind, Type, Unary};
use crate::walk;
use allways_model::program::{Binary as Operator, LocationId, Op, Value};

impl Lowering<'_> {
    pub(super) fn conditional(
        &mut self,
        expr: &Expr,
        condition: &Expr,
        then: Option<&Expr>,
        other: &Expr,
    ) -> Result<Model> {
        let span = expr.span;
        let Some(then) = then else {
            let value = self.value(condition)?;
            let value = self.kept(value, span)?;
            if acts(other) || self.may_overflow(other) {
                return refuse(span, "`?:` without a middle and with effects is not followed");
            }
            let right = self.value(other)?;
            return Ok(Model::If(Box::new(truth(value.clone())), Box::new(value), Box::new(right)));
        };
        let simple = |lowering: &Self, part: &Expr| {
            !acts(part) && !lowering.may_read_shared(part) && !lowering.may_overflow(part)
        };
        if simple(self, then) && simple(self, other) {
            let condition = self.condition(condition)?;
            let (then, other) = (self.value(then)?, self.value(other)?);
            return Ok(Model::If(Box::new(condition), Box::new(then), Box::new(other)));
        }
        let slot = self.block(1, span);
        self.split(
            condition,
            |lowering| {
                let value = lowering.value(then)?;
                lowering.store(&Target::Local(slot), value, span)
            },
            |lowering| {
                let value = lowering.value(other)?;
                lowering.store(&Target::Local(slot), value, span)
            },
        )?;
        Ok(Model::Local(slot))
    }

    /// The pointer that is converted to an integer which has room for it.
    fn address_in<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let room = slots::bytes(self.unit, &Type::Pointer(Box::new(Type::Void)))? * 8;
        match (&expr.kind, expr.ty.plain()) {
            (ExprKind::Cast(part), Type::Int(int)) if u64::from(int.bits) >= room => match part.ty.plain() {
                Type::Pointer(_) => Some(part),
                _ => self.address_in(part),
            },
            _ => None,
        }
    }

    /// What is compared: whether two addresses as integers are equal is whether the pointers are.
    pub(super) fn as_addresses<'e>(
        &self,
        operator: Binary,
        left: &'e Expr,
        right: &'e Expr,
    ) -> (&'e Expr, &'e Expr) {
        let null = |expr: &Expr| matches!(walk::through_casts(expr).kind, ExprKind::Int(0));
        match (self.address_in(left), self.address_in(right)) {
            _ if !matches!(operator, Binary::Equal | Binary::Unequal) => (left, right),
            (Some(left), Some(right)) => (left, right),
            (Some(left), None) if null(right) => (left, right),
            (None, Some(right)) if null(left) => (left, right),
            _ => (left, right),
        }
    }

    /// A comparison whose result is known without looking: that of the address of an object with the null pointer, or of an
    /// address as an integer with the least or greatest one of its type.
    pub(super) fn compared(&mut self, operator: Binary, left: &Expr, right: &Expr) -> Result<Option<Model>> {
        if let (Some(_), Type::Int(int), Some(bound)) =
            (self.address_in(left), left.ty.plain(), self.constant_value(right))
            && !acts(left)
        {
            let (low, high) = slots::machine(*int).bounds();
            let known = match operator {
                Binary::Greater if bound >= high => Some(0),
                Binary::LessEqual if bound >= high => Some(1),
                Binary::Less if bound <= low => Some(0),
                Binary::GreaterEqual if bound <= low => Some(1),
                _ => None,
            };
            return Ok(known.map(Model::Constant));
        }
        let null = |expr: &Expr| matches!(walk::through_casts(expr).kind, ExprKind::Int(0));
        let pointer = match (null(left), null(right)) {
            (true, false) => right,
            (false, true) => left,
            _ => return Ok(None),
        };
        if !matches!(pointer.ty.plain(), Type::Pointer(_)) {
            return Ok(None);
        }
        if let ExprKind::Load(place) = &walk::through_casts(pointer).kind
            && let ExprKind::Variable(variable) = place.kind
            && let Some(Address::Known(_)) = self.body.bound.get(&variable)
        {
            return Ok(Some(Model::Constant(Value::from(operator == Binary::Unequal))));
        }
        Ok(None)
    }

    /// Whether an expression is true.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Model> {
        match &expr.kind {
            ExprKind::Unary(Unary::Not, part) => Ok(not(self.condition(part)?)),
            ExprKind::And(left, right) | ExprKind::Or(left, right) => {
                let simple = !acts(right)
                    && (self.body.atomic > 0
                        || !self.may_read_shared(right)
                        || !acts(left) && !self.may_read_shared(left));
                if simple && !self.needs_steps(right) {
                    let operator =
                        if matches!(expr.kind, ExprKind::And(..)) { Operator::And } else { Operator::Or };
                    let left = self.condition(left)?;
                    let right = self.condition(right)?;
                    return Ok(match (operator, left, right) {
                        (Operator::And, Model::Constant(0), _) => Model::Constant(0),
                        (Operator::And, Model::Constant(_), right) => right,
                        (Operator::Or, Model::Constant(0), right) => right,
                        (Operator::Or, Model::Constant(_), _) => Model::Constant(1),
                        (operator, left, right) => binary(operator, left, right),
                    });
                }
                let span = expr.span;
                let slot = self.block(1, span);
                let both = matches!(expr.kind, ExprKind::And(..));
                let decided = move |lowering: &mut Self| {
                    lowering.store(&Target::Local(slot), Model::Constant(Value::from(!both)), span)
                };
                let other = |lowering: &mut Self| {
                    let condition = lowering.condition(right)?;
                    lowering.store(&Target::Local(slot), number(condition), span)
                };
                if both {
                    self.split(left, other, decided)?;
                } else {
                    self.split(left, decided, other)?;
                }
                Ok(truth(Model::Local(slot)))
            }
            ExprKind::Cast(part)
                if matches!(expr.ty.plain(), Type::Int(int) if int.bits >= 32)
                    && matches!(part.ty.plain(), Type::Int(int) if int.bits <= 32) =>
            {
                // Widening or turning the sign keeps what is not zero.
                self.condition(part)
            }
            ExprKind::Cast(part) if matches!(part.ty.plain(), Type::Pointer(_)) => self.condition(part),
            ExprKind::Load(place)
                if matches!(&place.kind, ExprKind::Variable(variable)
                    if matches!(self.body.bound.get(variable), Some(Address::Known(_)))) =>
            {
                Ok(Model::Constant(1))
            }
            _ => Ok(truth(self.value(expr)?)),
        }
    }

    /// Whether evaluating an expression takes steps even if it only reads: it reads more than one shared slot, or may overflow.
    fn needs_steps(&self, expr: &Expr) -> bool {
        if self.may_overflow(expr) {
            return true;
        }
        if self.body.atomic > 0 {
            return false;
        }
        let mut count = 0;
        walk::expression(expr, &mut |part| {
            count += usize::from(match &part.kind {
                ExprKind::Load(_) => self.may_read_shared(part),
                ExprKind::Conditional(..) => true,
                _ => false,
            });
        });
        count > 1
    }

    /// Goes to one location if an expression is true, to another if not.
    pub(super) fn branch(&mut self, expr: &Expr, yes: LocationId, no: LocationId) -> Result<()> {
        match &expr.kind {
            ExprKind::Unary(Unary::Not, part) => self.branch(part, no, yes),
            ExprKind::And(left, right) => {
                let middle = self.location(right.span);
                self.branch(left, middle, no)?;
                self.here = middle;
                self.branch(right, yes, no)
            }
            ExprKind::Or(left, right) => {
                let middle = self.location(right.span);
                self.branch(left, yes, middle)?;
                self.here = middle;
                self.branch(right, yes, no)
            }
            ExprKind::Comma(first, second) => {
                self.effect(first)?;
                self.branch(second, yes, no)
            }
            _ => {
                let used = self.body.used;
                let condition = self.condition(expr)?;
                let here = self.here;
                self.locations[here].span = expr.span;
                match condition {
                    Model::Constant(0) => self.edge(here, Op::Skip, no, expr.span),
                    Model::Constant(_) => self.edge(here, Op::Skip, yes, expr.span),
                    condition => {
                        self.edge(here, Op::Guard(condition.clone(), true), yes, expr.span);
                        self.edge(here, Op::Guard(condition, false), no, expr.span);
                    }
                }
                self.body.used = used;
                Ok(())
            }
        }
    }
}
