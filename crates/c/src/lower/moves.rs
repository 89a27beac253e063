//! Arithmetic on pointers, where memory is not an array of what they point to.
//!
//! Addresses count slots, whatever their sizes are. So a pointer may move within a *run* of slots that are as many elements of its
//! type, and to the end of that, which is what C defines; and who moves it further, through members of other types, would
//! find another member than in a run of the machine. That is not followed. It depends on the objects in a region whether there is
//! such a way, so that the moves are marked, and looked at when all objects are known ([`super::layout`]).

use super::expressions::{chooses, reads};
use super::layout::{between, beyond, device};
use super::places::{address_number, binary, sum};
use super::{Lowering, Model, Part, Result};
use crate::pointers::Class;
use crate::slots;
use crate::typed::{Expr, Int, Type, Unit};
use allways_model::program::{Binary, Slot, Span};
use std::rc::Rc;

/// Marks the number of a move, in the place of a condition.
pub(super) const MOVE: usize = 1 << 40;

/// In an object with more runs, pointers are not moved.
const MOST_RUNS: usize = 32;

/// A pointer to this type in a class is moved.
pub(super) struct Move {
    class: Class,
    ty: Type,
}

/// Where a pointer may be moved from, and to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// From the first slot to the one before the last.
    from: (Slot, Slot),
    /// To one of these; nowhere, if there is none.
    to: (Slot, Slot),
}

/// Whether there are objects that are no arrays of scalars.
pub(super) fn has_records(unit: &Unit) -> bool {
    fn is_record(ty: &Type) -> bool {
        match ty.plain() {
            Type::Record(_) => true,
            Type::Array(element, _) => is_record(element),
            _ => false,
        }
    }
    unit.variables.iter().any(|variable| match variable.ty.plain() {
        Type::Pointer(ty) => is_record(ty),
        ty => is_record(ty),
    })
}

impl Lowering<'_> {
    /// The address that a pointer is moved to, from a base.
    pub(super) fn way(&mut self, pointer: &Expr, base: Model, span: Span, by: Model) -> Result<Model> {
        if !self.has_records || by == Model::Constant(0) {
            return Ok(sum(base, by));
        }
        let base = match base {
            Model::Local(_) | Model::Constant(_) | Model::NextShared(_) => base,
            base => self.kept(base, span)?,
        };
        // It is looked at more than once.
        let by = if chooses(&by) || reads(&by) > 0 { self.kept(by, span)? } else { by };
        let mark = self.mark_move(pointer);
        Ok(guarded(mark, base.clone(), sum(base, by)))
    }

    /// The address that a pointer to anything is moved to by so many bytes: only in the memory of a device these are slots.
    pub(super) fn moved_in_device(&mut self, pointer: &Expr, base: Model, by: Model) -> Model {
        let class = self.pointers.target(pointer);
        self.moves.push(Move { class, ty: device() });
        let mark = MOVE | (self.moves.len() - 1);
        guarded(Some(mark), base.clone(), sum(base, by))
    }

    /// Marks a move of a pointer.
    pub(super) fn mark_move(&mut self, pointer: &Expr) -> Option<usize> {
        let Type::Pointer(ty) = pointer.ty.plain() else { return None };
        let ty = (**ty).clone();
        if !self.has_records {
            return None;
        }
        let class = self.pointers.target(pointer);
        self.moves.push(Move { class, ty });
        Some(MOVE | (self.moves.len() - 1))
    }

    /// The ways of each move: none, if all objects in its class are arrays.
    pub(super) fn ways(
        &mut self,
        regions: &std::collections::BTreeMap<usize, Vec<usize>>,
        first: &[Slot],
    ) -> Vec<Rc<[Way]>> {
        let mut known: Vec<(usize, Type, Rc<[Way]>)> = Vec::new();
        let mut all = Vec::new();
        for number in 0..self.moves.len() {
            let class = self.pointers.find_class(self.moves[number].class).0;
            let ty = &self.moves[number].ty;
            if let Some((.., ways)) = known.iter().find(|(other, seen, _)| *other == class && seen == ty) {
                all.push(ways.clone());
                continue;
            }
            let pattern: Vec<Type> = match *ty == device() {
                true => vec![device()],
                false => slots::leaves(self.unit, ty).into_iter().map(|leaf| leaf.ty).collect(),
            };
            let objects = regions.get(&class).map_or(&[][..], |objects| objects);
            let mut ways = Vec::new();
            for &object in objects {
                ways_in(
                    &self.objects[object].parts,
                    self.objects[object].stride,
                    &pattern,
                    first[object],
                    &mut ways,
                );
            }
            let ways: Rc<[Way]> = ways.into();
            known.push((class, ty.clone(), ways.clone()));
            all.push(ways);
        }
        all
    }
}

/// A result that is looked at with its base when all objects are known.
pub(super) fn guarded(mark: Option<usize>, base: Model, result: Model) -> Model {
    match mark {
        Some(mark) => Model::If(Box::new(Model::OtherLocal(mark)), Box::new(base), Box::new(result)),
        None => result,
    }
}

/// The ways in an object, unless it is an array of the pattern.
fn ways_in(parts: &[Part], stride: Option<usize>, pattern: &[Type], first: Slot, ways: &mut Vec<Way>) {
    let length = parts.len();
    // The slot before an object from the heap is no part of it, and the last object ends at the slot after it.
    let (start, period) = stride.map_or((0, length), |stride| (1, stride));
    let runs = runs(&parts[start..period], pattern);
    if let [(0, end)] = runs[..]
        && end == period - start
    {
        return;
    }
    let whole = Way { from: (first, first + length), to: (0, 0) };
    if runs.is_empty() {
        // In the memory of a device, slots are bytes; elsewhere bytes are not counted.
        let is_byte = matches!(pattern, [Type::Int(Int { bits: 8, .. })]);
        let in_device = parts.last().is_some_and(|part| part.scalar == device());
        if pattern == [device()] || in_device && !is_byte {
            ways.push(whole);
        }
        return;
    }
    for object in 0..length / period {
        let base = first + object * period + start;
        for &(from, end) in runs.iter().filter(|_| runs.len() * (length / period) <= MOST_RUNS) {
            let last = usize::from(end == period - start);
            ways.push(Way { from: (base + from, base + end + last), to: (base + from, base + end + 1) });
        }
    }
    ways.push(whole);
}

/// The runs of slots that have this pattern, from the first to the one before the last.
fn runs(parts: &[Part], pattern: &[Type]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while !pattern.is_empty() && at + pattern.len() <= parts.len() {
        let fits = parts[at..].iter().zip(pattern).all(|(part, ty)| super::layout::same(&part.scalar, ty));
        if !fits {
            at += 1;
            continue;
        }
        match found.last_mut() {
            Some(run) if run.1 == at => run.1 += pattern.len(),
            _ => found.push((at, at + pattern.len())),
        }
        at += pattern.len();
    }
    found
}

/// The result of a move, or beyond what is followed.
pub(super) fn along(ways: &[Way], base: &Model, result: Model) -> Model {
    let choose = |condition, then, other| Model::If(Box::new(condition), Box::new(then), Box::new(other));
    if let (Model::Constant(base), Model::Constant(to)) = (base, &result) {
        let within = |(first, last), address| (address_number(first)..address_number(last)).contains(address);
        let way = ways.iter().find(|way| within(way.from, base));
        let follows = way.is_none_or(|way| base == to || within(way.to, to));
        return if follows { result } else { beyond() };
    }
    let mut moved = result.clone();
    for way in ways.iter().rev() {
        let stays = binary(Binary::Equal, base.clone(), result.clone());
        let there = match way.to {
            (0, 0) => stays,
            (first, last) => binary(Binary::Or, stays, between(&result, first, last)),
        };
        let inside = choose(there, result.clone(), beyond());
        moved = choose(between(base, way.from.0, way.from.1), inside, moved);
    }
    moved
}
