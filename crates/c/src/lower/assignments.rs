//! Assignments: what is stored where, and what the value of the expression is then.
//!
//! The right side is evaluated before the place, as gcc does without optimisation. An update such as `x += 1` reads, computes and
//! writes, in two steps unless the place is atomic.

use super::expressions::{acts, applied, chooses, converted, integer, not, number, truth, wrapped};
use super::moves::guarded;
use super::overflows::Update;
use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::typed::{Binary, Expr, ExprKind, Int, Type};
use allways_model::program::{Binary as Operator, Span, Value};

impl Lowering<'_> {
    /// An assignment of any kind. Its value, if that is asked for.
    pub(super) fn assignment(&mut self, expr: &Expr, wanted: bool) -> Result<Model> {
        let span = expr.span;
        let nothing = Model::Constant(0);
        match &expr.kind {
            ExprKind::Assign(to, value) => {
                if matches!(to.ty.plain(), Type::Float(_)) {
                    self.effect(value)?;
                    self.overwrite(to, false)?;
                    return Ok(nothing);
                }
                let stored = self.assign(to, value, wanted, span)?;
                Ok(if wanted { stored } else { nothing })
            }
            ExprKind::AssignOp(_, to, value, _) if matches!(to.ty.plain(), Type::Float(_)) => {
                self.effect(value)?;
                self.overwrite(to, true)?;
                Ok(nothing)
            }
            ExprKind::AssignOp(operator, to, value, ty) => {
                let operand = self.value(value)?;
                // A call in the place may use the variables of the one that gave the operand.
                // What is looked at twice has one value.
                let twice = super::expressions::looks_twice(*operator) && chooses(&operand);
                let operand =
                    if acts(to) || twice { self.kept(operand, span)? } else { self.settled(operand, span)? };
                let computed = integer(ty, span)?;
                let own = integer(&to.ty, span)?;
                let bits = self.field_bits(to);
                if self.overflows(*operator, computed) && !matches!(to.ty, Type::Atomic(_)) {
                    let operator = *operator;
                    let update = Update { to, operator, operand, computed, own, before: false };
                    return self.update_in_range(update, bits, span);
                }
                self.update(to, wanted, false, span, |old| {
                    let value =
                        applied(*operator, computed, converted(old, own, computed), operand.clone(), span);
                    narrowed(converted(value, computed, own), own, bits)
                })
            }
            ExprKind::AssignPointerAdd(to, index) => {
                let size = self.pointee_size(&to.ty, span)?;
                let index = self.value(index)?;
                let index = if acts(to) { self.kept(index, span)? } else { self.settled(index, span)? };
                let index = if chooses(&index) { self.kept(index, span)? } else { index };
                let offset = binary(Operator::Times, index, Model::Constant(size));
                let mark = self.mark_move(to);
                self.update(to, wanted, false, span, |old| {
                    guarded(mark, old.clone(), binary(Operator::Plus, old, offset.clone()))
                })
            }
            ExprKind::Step(to, by, before) => match to.ty.plain() {
                Type::Float(_) => {
                    self.overwrite(to, true)?;
                    Ok(nothing)
                }
                Type::Pointer(_) => {
                    let size = self.pointee_size(&to.ty, span)?;
                    let by = Value::from(*by) * size;
                    let mark = self.mark_move(to);
                    self.update(to, wanted, *before, span, |old| {
                        guarded(mark, old.clone(), binary(Operator::Plus, old, Model::Constant(by)))
                    })
                }
                Type::Int(Int { bits: 1, .. }) => {
                    let by = *by;
                    self.update(to, wanted, *before, span, |old| match by {
                        1 => Model::Constant(1),
                        _ => number(not(truth(old))),
                    })
                }
                _ => {
                    let int = integer(&to.ty, span)?;
                    let by = Value::from(*by);
                    let bits = self.field_bits(to);
                    if self.overflows(Binary::Plus, int) && !matches!(to.ty, Type::Atomic(_)) {
                        let (operator, operand) = (Binary::Plus, Model::Constant(by));
                        let update =
                            Update { to, operator, operand, computed: int, own: int, before: *before };
                        return self.update_in_range(update, bits, span);
                    }
                    self.update(to, wanted, *before, span, |old| {
                        let sum = binary(Operator::Plus, old, Model::Constant(by));
                        narrowed(wrapped(int, sum), int, bits)
                    })
                }
            },
            _ => refuse(span, "an assignment of this form is not followed"),
        }
    }

    /// A bit-field's number of bits.
    fn field_bits(&self, to: &Expr) -> Option<u8> {
        let ExprKind::Member(object, number) = &to.kind else { return None };
        let Type::Record(record) = object.ty.plain() else { return None };
        self.unit.records[record.0].fields.get(*number)?.bits
    }

    /// Reads a place, computes a value from what is there, and stores it.
    fn update(
        &mut self,
        to: &Expr,
        wanted: bool,
        before: bool,
        span: Span,
        compute: impl Fn(Model) -> Model,
    ) -> Result<Model> {
        let place = self.place(to)?;
        let old = self.load(&place, span);
        if matches!(to.ty, Type::Atomic(_)) || self.body.atomic > 0 && place.is_shared() {
            let slot = self.temporary(span);
            let new = compute(old.clone());
            self.store_at_once(vec![(Target::Local(slot), old), (place, new)], None, span)?;
            return Ok(if before { Model::Local(slot) } else { compute(Model::Local(slot)) });
        }
        if !place.is_shared() {
            let kept = if wanted && before { self.kept(old.clone(), span)? } else { Model::Constant(0) };
            let stored = self.stored_locally(&place, compute(old), wanted && !before, span)?;
            return Ok(if before { kept } else { stored });
        }
        let old = self.kept(old, span)?;
        self.store_field(to, place, compute(old.clone()), span)?;
        Ok(if before { old } else { compute(old) })
    }

    /// Stores a value in a place that no other thread sees. The value, if it is wanted: what it was computed from may have
    /// changed, and so may the index of an element.
    fn stored_locally(&mut self, place: &Target, value: Model, wanted: bool, span: Span) -> Result<Model> {
        if !wanted || matches!(place, Target::Local(_)) {
            self.store(place, value, span)?;
            return Ok(self.load(place, span));
        }
        let value = self.kept(value, span)?;
        self.store(place, value.clone(), span)?;
        Ok(value)
    }

    /// `to = value`: what is stored.
    pub(super) fn assign(&mut self, to: &Expr, value: &Expr, wanted: bool, span: Span) -> Result<Model> {
        if matches!(to.ty.plain(), Type::Record(_)) {
            let values = self.values(value)?;
            let mut kept = Vec::new();
            for value in values {
                let is_kept = acts(to) || matches!(to.ty, Type::Atomic(_));
                kept.push(if is_kept { self.kept(value, span)? } else { self.settled(value, span)? });
            }
            let place = self.place(to)?;
            if place.is_shared() {
                self.as_a_whole(&to.ty, span);
            }
            let slots = (0..kept.len()).map(|offset| self.next_slot(&place, offset));
            let stores: Vec<(Target, Model)> = slots.zip(kept).collect();
            if matches!(to.ty, Type::Atomic(_)) {
                self.store_at_once(stores, None, span)?;
            } else {
                stores.into_iter().try_for_each(|(part, value)| self.store(&part, value, span))?;
            }
            return Ok(Model::Constant(0));
        }
        let bits = self.field_bits(to);
        let mut stored = self.value(value)?;
        if let Some(bits) = bits {
            stored = narrowed(stored, integer(&to.ty, span)?, Some(bits));
        }
        let local = matches!(to.kind, ExprKind::Variable(variable)
            if crate::pointers::is_automatic(self.unit, variable) && !self.pointers.escapes.contains(&variable));
        if !local {
            stored = if acts(to) { self.kept(stored, span)? } else { self.settled(stored, span)? };
        }
        let place = self.place(to)?;
        if local || !place.is_shared() {
            return self.stored_locally(&place, stored, wanted, span);
        }
        self.store_field(to, place, stored.clone(), span)?;
        Ok(stored)
    }
}

/// A number as a bit-field of a type keeps it.
pub(super) fn narrowed(value: Model, int: Int, bits: Option<u8>) -> Model {
    bits.map_or(value.clone(), |bits| wrapped(Int { bits, ..int }, value))
}
