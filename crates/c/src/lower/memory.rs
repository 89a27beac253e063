//! What the library does with memory: `memset`, `memcpy`; and which conversions of pointers are followed.

use super::body::Address;
use super::places::Target;
use super::{Lowering, Model, Result, refuse};
use crate::slots;
use crate::typed::{Expr, ExprKind, Type};
use crate::walk;
use allways_model::program::{Span, Value};

/// `memmove` of more slots than this is not followed.
const MOST_MOVED: usize = 64;

impl Lowering<'_> {
    /// Refuses a conversion after which memory would be seen as something else than it holds.
    pub(super) fn check_cast(&self, part: &Expr, to: &Type, span: Span) -> Result<()> {
        let (Type::Pointer(from), Type::Pointer(to)) = (part.ty.plain(), to.plain()) else { return Ok(()) };
        let inner = walk::through_casts(part);
        if matches!(inner.kind, ExprKind::Int(_)) {
            return Ok(());
        }
        if self.property.races
            && let Type::Pointer(held) = inner.ty.plain()
            && let (Some(held), Some(seen)) = (self.starts_atomic(held), self.starts_atomic(to))
            && held != seen
        {
            return refuse(span, "an atomic object is seen as one that is not, or the other way round");
        }
        if self.compatible(from, to) {
            return Ok(());
        }
        refuse(span, "memory is seen as another type than the one it holds, which is not followed")
    }

    /// Of `(S *)((char *)pointer + bytes)`: the pointer, and how many slots further that is, if a `S` has the object of the
    /// pointer as a part there, or the other way round.
    pub(super) fn counted_in_bytes<'e>(&self, part: &'e Expr, to: &Type) -> Option<(&'e Expr, Value)> {
        let ExprKind::PointerAdd(bytes, by) = &walk::through_casts(part).kind else { return None };
        let ExprKind::Cast(pointer) = &bytes.kind else { return None };
        let (Type::Pointer(byte), Type::Pointer(from), Type::Pointer(to)) =
            (bytes.ty.plain(), pointer.ty.plain(), to.plain())
        else {
            return None;
        };
        let is_byte = matches!(byte.plain(), Type::Int(int) if int.bits == 8);
        let by = self.constant_value(by).filter(|_| is_byte)?;
        let (whole, distance) = if by <= 0 { (to, -by) } else { (from, by) };
        let slot = slots::at_byte(self.unit, whole, u64::try_from(distance).ok()?)?;
        let slot = Value::try_from(slot).ok()?;
        Some((pointer, if by <= 0 { -slot } else { slot }))
    }

    /// Whether the first part of a type is atomic, if there is one.
    fn starts_atomic(&self, ty: &Type) -> Option<bool> {
        let first = match ty {
            Type::Array(element, _) => return self.starts_atomic(element),
            ty => slots::leaves(self.unit, ty).into_iter().next()?,
        };
        Some(first.kind == slots::Kind::Atomic)
    }

    /// What comes is an access to all of an object, which is none of its atomic parts.
    pub(super) fn as_a_whole(&mut self, ty: &Type, span: Span) {
        let ty = match ty.plain() {
            Type::Array(element, _) => element,
            whole => whole,
        };
        let is_atomic = |leaf: &slots::Leaf| leaf.kind == slots::Kind::Atomic;
        if self.property.races && slots::leaves(self.unit, ty).iter().any(is_atomic) {
            self.plain.push((self.here, span));
        }
    }

    /// Whether what one type says of memory is what another says.
    fn compatible(&self, from: &Type, to: &Type) -> bool {
        let (from, to) = (from.plain(), to.plain());
        match (from, to) {
            (Type::Void | Type::Function(_), _) | (_, Type::Void | Type::Function(_)) => true,
            (Type::Array(from, _), to) => self.compatible(from, to),
            (from, Type::Array(to, _)) => self.compatible(from, to),
            (Type::Pointer(_), Type::Pointer(_)) => true,
            (from, to) if from == to => true,
            // The first member lies where the struct lies.
            (Type::Record(record), to) => {
                let fields = &self.unit.records[record.0].fields;
                fields.first().is_some_and(|field| self.compatible(&field.ty, to))
                    || self.same_leaves(from, to)
            }
            (from, Type::Record(record)) => self.unit.records[record.0]
                .fields
                .first()
                .is_some_and(|field| self.compatible(from, &field.ty)),
            _ => false,
        }
    }

    /// Whether two structs have the same parts.
    fn same_leaves(&self, left: &Type, right: &Type) -> bool {
        let parts = |ty| slots::leaves(self.unit, ty).into_iter().map(|leaf| leaf.ty).collect::<Vec<_>>();
        parts(left) == parts(right)
    }

    /// The type of the object that an argument of a library function points to, whatever it was converted to.
    fn pointed(&self, pointer: &Expr) -> Option<Type> {
        let inner = walk::through_casts(pointer);
        match inner.ty.plain() {
            Type::Pointer(ty) if **ty != Type::Void => match &inner.kind {
                // An array decayed: the whole of it.
                ExprKind::AddressOf(place) => Some(place.ty.clone()),
                _ => Some((**ty).clone()),
            },
            _ => None,
        }
    }

    /// `memset(to, value, size)` with the value 0, and sizes that are those of whole objects.
    pub(super) fn set_memory(&mut self, to: &Expr, value: &Expr, size: &Expr, span: Span) -> Result<()> {
        let (ExprKind::Int(value), ExprKind::Int(size)) =
            (&walk::through_casts(value).kind, &walk::through_casts(size).kind)
        else {
            return refuse(span, "`memset` with a value or size that is not constant");
        };
        let bytes = self.pointed(to).filter(|ty| *value == 0 || self.is_bytes(ty));
        let Some(ty) = bytes else { return refuse(span, "`memset` of this form is not followed") };
        let Some(count) = self.slots_in(&ty, *size) else {
            return refuse(span, "`memset` of a part of an object is not followed");
        };
        let target = self.target_of(to)?;
        let target = self.with_room(target, count);
        self.as_a_whole(&ty, span);
        let stored = Value::try_from(*value).unwrap_or(0);
        for offset in 0..count {
            let slot = self.next_slot(&target, offset);
            self.store(&slot, Model::Constant(stored), span)?;
        }
        Ok(())
    }

    fn is_bytes(&self, ty: &Type) -> bool {
        match ty.plain() {
            Type::Array(ty, _) => self.is_bytes(ty),
            Type::Int(int) => int.bits == 8,
            _ => false,
        }
    }

    /// `memcpy(to, from, size)` with sizes that are those of whole objects; for `memmove`, which may copy within an object, all is
    /// read first.
    pub(super) fn copy_memory(
        &mut self,
        to: &Expr,
        from: &Expr,
        size: &Expr,
        moves: bool,
        span: Span,
    ) -> Result<()> {
        let ExprKind::Int(size) = walk::through_casts(size).kind else {
            return refuse(span, "`memcpy` with a size that is not constant");
        };
        let counts = (self.pointed(to), self.pointed(from));
        let (Some(into), Some(out)) = counts else {
            return refuse(span, "`memcpy` of this form is not followed");
        };
        let (Some(count), Some(same)) = (self.slots_in(&into, size), self.slots_in(&out, size)) else {
            return refuse(span, "`memcpy` of a part of an object is not followed");
        };
        if count != same {
            return refuse(span, "`memcpy` between objects of different types is not followed");
        }
        let (target, source) = (self.target_of(to)?, self.target_of(from)?);
        let (to, from) = (self.with_room(target, count), self.with_room(source, count));
        self.as_a_whole(&into, span);
        self.as_a_whole(&out, span);
        if moves && count > MOST_MOVED {
            return refuse(span, "`memmove` of so much memory is not followed");
        }
        let mut read = Vec::new();
        for offset in (0..count).filter(|_| moves) {
            let value = self.load(&self.next_slot(&from, offset), span);
            read.push(self.kept(value, span)?);
        }
        for offset in 0..count {
            let used = self.body.used;
            let value = match read.get(offset) {
                Some(value) => value.clone(),
                None => {
                    let value = self.load(&self.next_slot(&from, offset), span);
                    self.settled(value, span)?
                }
            };
            let slot = self.next_slot(&to, offset);
            self.store(&slot, value, span)?;
            self.body.used = used;
        }
        Ok(())
    }

    /// How many slots so many bytes of objects of a type are.
    pub(super) fn slots_in(&self, ty: &Type, bytes: i128) -> Option<usize> {
        let element = match ty.plain() {
            Type::Array(element, _) => element,
            ty => ty,
        };
        let size = i128::from(slots::bytes(self.unit, element)?);
        if size == 0 || bytes % size != 0 {
            return None;
        }
        usize::try_from(bytes / size).ok()?.checked_mul(slots::count(self.unit, element)?)
    }

    /// What a pointer argument points to.
    pub(super) fn target_of(&mut self, pointer: &Expr) -> Result<Target> {
        let pointer = walk::through_casts(pointer);
        let address: Address = self.address(pointer)?;
        self.pointee(address, pointer)
    }
}
