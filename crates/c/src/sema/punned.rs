//! Reading a part of a struct as a number of another type, `*((unsigned long *)s + 3)`; reading and writing a variable as one,
//! `*(unsigned long *)&x`.
//!
//! Tools that print C after they have read it write members in this way. Where a part of the struct lies there that is an integer or
//! a pointer of the same size, what is read is the value of that part, converted: its bits are the same.

use super::Analyser;
use crate::typed::{Expr, ExprKind, Int, Span, Type};

impl Analyser<'_> {
    /// The part that a pointer to a number points to, if it is one to a struct that was converted, as a value of the number's type.
    pub(super) fn punned(&self, pointer: &Expr, ty: &Type, span: Span) -> Option<Expr> {
        let Type::Int(int) = ty else { return None };
        let (cast, by) = match &pointer.kind {
            ExprKind::PointerAdd(cast, by) => match by.kind {
                ExprKind::Int(by) => (&**cast, by),
                _ => return None,
            },
            _ => (pointer, 0),
        };
        if let Some(object) = self.same_object(pointer, ty) {
            return self.number_at(object, 0, *int);
        }
        let ExprKind::Cast(inner) = &cast.kind else { return None };
        let (Type::Pointer(whole), Type::Pointer(_)) = (&inner.ty, &cast.ty) else { return None };
        let byte = u64::try_from(by).ok()?.checked_mul(self.size(ty)?)?;
        if !matches!(**whole, Type::Record(_)) || self.starts_with(whole, ty) {
            return None;
        }
        let object = Expr { kind: ExprKind::Deref(inner.clone()), ty: (**whole).clone(), span };
        self.number_at(object, byte, *int)
    }

    /// Of `*(T *)&x`: the object `x`, if it is a number or a pointer of the size of a `T`, but none.
    pub(super) fn same_object(&self, pointer: &Expr, ty: &Type) -> Option<Expr> {
        let ExprKind::Cast(inner) = &pointer.kind else { return None };
        let ExprKind::AddressOf(object) = &inner.kind else { return None };
        let numbers =
            matches!((&object.ty, ty), (Type::Int(_) | Type::Pointer(_), Type::Int(_) | Type::Pointer(_)));
        let fits = numbers && self.size(&object.ty)? == self.size(ty)? && object.ty != *ty;
        let pointers = matches!((&object.ty, ty), (Type::Pointer(_), Type::Pointer(_)));
        let bool = matches!(&object.ty, Type::Int(Int { bits: 1, .. }))
            || matches!(ty, Type::Int(Int { bits: 1, .. }));
        (fits && !pointers && !bool).then(|| (**object).clone())
    }

    /// Whether the first part of a type is of another type.
    fn starts_with(&self, whole: &Type, ty: &Type) -> bool {
        match whole {
            Type::Record(record) => {
                let fields = self.unit.records.get(record.0).map(|record| &record.fields);
                fields.and_then(|fields| fields.first()).is_some_and(|field| self.starts_with(&field.ty, ty))
            }
            Type::Array(element, _) => self.starts_with(element, ty),
            part => part == ty,
        }
    }

    /// The part of an object that starts at a byte, as a number of so many bits.
    fn number_at(&self, place: Expr, byte: u64, int: Int) -> Option<Expr> {
        let span = place.span;
        match place.ty.clone() {
            Type::Record(record) => {
                let record = self.unit.records.get(record.0).filter(|record| !record.union)?;
                let number = record.fields.iter().rposition(|field| field.offset <= byte)?;
                let field = record.fields.get(number).filter(|field| field.bits.is_none())?;
                let (ty, byte) = (field.ty.clone(), byte - field.offset);
                let member = Expr { kind: ExprKind::Member(Box::new(place), number), ty, span };
                self.number_at(member, byte, int)
            }
            Type::Array(element, Some(length)) => {
                let size = self.size(&element).filter(|&size| size > 0)?;
                let index = Some(byte / size).filter(|&index| index < length)?;
                let pointer = self.address(place, Type::Pointer(element.clone()));
                let elements = Type::Int(Int { bits: self.long_bits(), signed: true });
                let index = self.number(index.into(), elements, span);
                let ty = pointer.ty.clone();
                let kind = ExprKind::PointerAdd(Box::new(pointer), Box::new(index));
                let pointer = Expr { kind, ty, span };
                let place = Expr { kind: ExprKind::Deref(Box::new(pointer)), ty: *element, span };
                self.number_at(place, byte % size, int)
            }
            ty @ (Type::Int(_) | Type::Pointer(_)) => {
                let fits = byte == 0 && self.size(&ty)? * 8 == u64::from(int.bits);
                let value = Expr { kind: ExprKind::Load(Box::new(place)), ty: ty.clone(), span };
                let cast = |value| Expr { kind: ExprKind::Cast(Box::new(value)), ty: Type::Int(int), span };
                fits.then(|| if ty == Type::Int(int) { value } else { cast(value) })
            }
            _ => None,
        }
    }
}
