//! Assignments: what is stored where, and what the value of the expression is then.
//!
//! The right side is evaluated before the place, as gcc does without optimisation. An update such as `x += 1` reads, computes and
//! writes, in two steps unless the place is atomic.

use super::expressions::{acts, applied, chooses, converted, integer, not, number, truth, wrapped};
use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::slots;
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
                let stored = self.assign(to, value, span)?;
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
                let twice = matches!(operator, Binary::Divide | Binary::Remainder) && chooses(&operand);
                let operand =
                    if acts(to) || twice { self.kept(operand, span)? } else { self.settled(operand, span)? };
                let computed = integer(ty, span)?;
                let own = integer(&to.ty, span)?;
                let bits = self.field_bits(to);
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
                let offset = binary(Operator::Times, index, Model::Constant(size));
                self.update(to, wanted, false, span, |old| binary(Operator::Plus, old, offset.clone()))
            }
            ExprKind::Step(to, by, before) => match to.ty.plain() {
                Type::Float(_) => {
                    self.overwrite(to, true)?;
                    Ok(nothing)
                }
                Type::Pointer(_) => {
                    let size = self.pointee_size(&to.ty, span)?;
                    let by = Value::from(*by) * size;
                    self.update(to, wanted, *before, span, |old| {
                        binary(Operator::Plus, old, Model::Constant(by))
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
            self.store(&place, compute(old), span)?;
            return Ok(if before { kept } else { self.load(&place, span) });
        }
        let old = self.kept(old, span)?;
        self.store_field(to, &place, compute(old.clone()), span)?;
        Ok(if before { old } else { compute(old) })
    }

    /// `to = value`: what is stored.
    pub(super) fn assign(&mut self, to: &Expr, value: &Expr, span: Span) -> Result<Model> {
        if matches!(to.ty.plain(), Type::Record(_)) {
            let values = self.values(value)?;
            let mut kept = Vec::new();
            for value in values {
                kept.push(if acts(to) { self.kept(value, span)? } else { self.settled(value, span)? });
            }
            let place = self.place(to)?;
            for (offset, value) in kept.into_iter().enumerate() {
                let part = self.next_slot(&place, offset);
                self.store(&part, value, span)?;
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
        if local {
            self.store(&place, stored, span)?;
            return Ok(self.load(&place, span));
        }
        self.store_field(to, &place, stored.clone(), span)?;
        Ok(stored)
    }

    /// Stores a value in a place. Bit-fields next to each other are one memory location: machines read all of them, and write
    /// them again with one of them changed. (Where that matters there is a data race; who looks for those sees it before.)
    fn store_field(&mut self, to: &Expr, place: &Target, value: Model, span: Span) -> Result<()> {
        let neighbours =
            if place.is_shared() && !self.property.races { self.neighbours(to) } else { Vec::new() };
        if neighbours.is_empty() {
            return self.store(place, value, span);
        }
        let (mut reads, mut writes) = (Vec::new(), vec![(place.clone(), value)]);
        for (offset, ty) in neighbours {
            let place = self.moved_place(place, offset, ty);
            let slot = self.temporary(span);
            reads.push((Target::Local(slot), self.load(&place, span)));
            writes.push((place, Model::Local(slot)));
        }
        self.store_at_once(reads, None, span)?;
        self.store_at_once(writes, None, span)
    }

    /// The bit-fields that share the memory location of one: how many slots further each is, and its type.
    fn neighbours(&self, to: &Expr) -> Vec<(Value, Type)> {
        let ExprKind::Member(object, number) = &to.kind else { return Vec::new() };
        let Type::Record(record) = object.ty.plain() else { return Vec::new() };
        if self.field_bits(to).is_none() || self.unit.records[record.0].union {
            return Vec::new();
        }
        let Some(own) = slots::field(self.unit, *record, *number) else { return Vec::new() };
        let leaves = slots::leaves(self.unit, object.ty.plain());
        let first = (0..=own).rev().find(|&slot| !leaves[slot].joined).unwrap_or(0);
        let length = leaves[own + 1..].iter().take_while(|leaf| leaf.joined).count();
        let others = (first..own + 1 + length).filter(|&slot| slot != own);
        others.map(|slot| (slot as Value - own as Value, leaves[slot].ty.clone())).collect()
    }
}

/// A number as a bit-field of a type keeps it.
fn narrowed(value: Model, int: Int, bits: Option<u8>) -> Model {
    bits.map_or(value.clone(), |bits| wrapped(Int { bits, ..int }, value))
}
