//! Bit-fields that share a storage unit: who stores one of them reads the unit, changes some bits of it, and writes it back, so
//! that what others store into the fields beside it meanwhile is lost (C11, 3.14: they are one memory location).
//!
//! Fields that nobody ever stores keep their values either way, and are left out. So are all, where `main` is alone. Where data
//! races are looked for, such a store is one, and found before it is followed.

use super::body::Address;
use super::places::{Target, plus};
use super::{Access, Lowering, Model, Result};
use crate::concurrent::Concurrent;
use crate::slots;
use crate::typed::{Expr, ExprKind, Field, Type, Unit};
use crate::walk;
use allways_model::program::{LocationId, Op, Program, Span, Value};
use std::collections::HashSet;

/// The bit-fields that are stored by name: the numbers of their structs, and theirs.
pub(super) fn stored(unit: &Unit) -> HashSet<(usize, usize)> {
    let mut found = HashSet::new();
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Assign(to, _) | ExprKind::AssignOp(_, to, _, _) | ExprKind::Step(to, _, _) =
                &expr.kind
            {
                found.extend(field(to));
            }
        });
    }
    found
}

/// The numbers of a struct and of its member that a place is.
fn field(place: &Expr) -> Option<(usize, usize)> {
    let ExprKind::Member(object, number) = &place.kind else { return None };
    let Type::Record(record) = object.ty.plain() else { return None };
    Some((record.0, *number))
}

impl Lowering<'_> {
    /// Stores a value into a place, which may be a bit-field.
    pub(super) fn store_field(&mut self, to: &Expr, place: Target, value: Model, span: Span) -> Result<()> {
        let beside = match place.is_shared() && self.body.atomic == 0 && !self.property.races {
            true => self.beside(to),
            false => Vec::new(),
        };
        if beside.is_empty() {
            return self.store(&place, value, span);
        }
        let Address::Known(place) = self.fixed(Address::Known(place), span)? else {
            return Ok(());
        };
        let (mut loads, mut stores) = (Vec::new(), vec![(place.clone(), value)]);
        for (offset, ty) in beside {
            let other = self.field_beside(&place, offset, ty);
            let slot = self.temporary(span);
            loads.push((Target::Local(slot), self.load(&other, span)));
            stores.push((other, Model::Local(slot)));
        }
        let before = self.here;
        self.store_at_once(loads, None, span)?;
        self.rewritten.push([before, self.here]);
        self.store_at_once(stores, None, span)
    }

    /// The fields in the storage unit of a bit-field that are stored anywhere: how many slots further they are, and their types.
    fn beside(&self, to: &Expr) -> Vec<(Value, Type)> {
        let Some((record, number)) = field(to) else { return Vec::new() };
        let fields = &self.unit.records[record].fields;
        if fields.get(number).is_none_or(|field| field.bits.is_none()) || self.unit.records[record].union {
            return Vec::new();
        }
        let unit = |field: &Field| {
            let size = slots::bytes(self.unit, &field.ty).unwrap_or(1).max(1);
            let start = field.offset / size * size;
            (start, start + size)
        };
        let (start, end) = unit(&fields[number]);
        let shares = |other: &usize| {
            let (from, to) = unit(&fields[*other]);
            fields[*other].bits.is_some() && from < end && start < to
        };
        // What comes before one without bits is written apart from what comes after it.
        let from = (0..=number).rev().find(|&first| fields[first].apart).unwrap_or(0);
        let to = (number + 1..fields.len()).find(|&next| fields[next].apart).unwrap_or(fields.len());
        let before = (from..number).rev().take_while(shares);
        let others = before.chain((number + 1..to).take_while(shares));
        others
            .filter(|&other| self.stored_fields.contains(&(record, other)))
            .map(|other| (other as Value - number as Value, fields[other].ty.clone()))
            .collect()
    }

    /// The place of another member of the same struct, so many slots further.
    fn field_beside(&mut self, place: &Target, offset: Value, ty: Type) -> Target {
        match place.clone() {
            Target::Shared(slot) => Target::Shared((slot as Value + offset) as usize),
            Target::Local(slot) => Target::Local((slot as Value + offset) as usize),
            Target::SharedElement(slot, length, index) => {
                Target::SharedElement(slot, length, plus(index, offset))
            }
            Target::LocalElement(slot, length, index) => {
                Target::LocalElement(slot, length, plus(index, offset))
            }
            Target::Region(access, address) => {
                let Access { class, span, whole, .. } = &self.accesses[access];
                let beside = |(whole, before): &(Type, usize)| {
                    Some((whole.clone(), usize::try_from(*before as Value + offset).ok()?))
                };
                let whole = whole.as_ref().and_then(beside);
                let access = Access { class: *class, ty, whole, span: *span };
                self.accesses.push(access);
                Target::Region(self.accesses.len() - 1, plus(address, offset))
            }
        }
    }

    /// Where `main` is alone, only the field itself is stored.
    pub(super) fn judge_fields(&mut self, program: &mut Program) {
        let rewritten: Vec<[LocationId; 2]> = std::mem::take(&mut self.rewritten);
        let concurrent = (!rewritten.is_empty()).then(|| Concurrent::of(program));
        for [before, middle] in rewritten {
            let alone = |location| concurrent.as_ref().is_some_and(|one| one.is_alone(location));
            if !alone(before) || !alone(middle) {
                continue;
            }
            program.locations[before].edges.iter_mut().for_each(|edge| edge.op = Op::Skip);
            for edge in &mut program.locations[middle].edges {
                if let Op::Assign(places, values, _) = &mut edge.op {
                    places.truncate(1);
                    values.truncate(1);
                }
            }
        }
    }
}
