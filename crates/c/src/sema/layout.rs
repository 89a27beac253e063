//! Sizes and alignments as the System V ABI has them, for i386 and x86-64.

use super::Analyser;
use crate::typed::{DataModel, Field, Layout, RecordId, Type};

/// A member before it has a place.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Its name; empty for anonymous ones.
    pub(super) name: String,
    /// Its type.
    pub(super) ty: Type,
    /// Of a bit-field, its width.
    pub(super) bits: Option<u64>,
    /// Whether it is packed by an attribute.
    pub(super) packed: bool,
    /// What an attribute says about its alignment.
    pub(super) align: Option<u64>,
    /// The alignment of its type, if a typedef gives it another one.
    pub(super) natural: Option<u64>,
}

/// The first multiple of `align` from `at` on.
pub(super) fn round(at: u64, align: u64) -> u64 {
    at.div_ceil(align.max(1)).saturating_mul(align.max(1))
}

impl Analyser<'_> {
    /// The size and alignment of a type; none if it is incomplete. Those of `void` and functions are 1, as in GNU C.
    pub(super) fn layout(&self, ty: &Type) -> Option<Layout> {
        let small = self.unit.model == DataModel::Ilp32;
        let same = |size: u64| Layout { size, align: size };
        Some(match ty {
            Type::Void | Type::Function(_) => same(1),
            Type::Int(int) => match u64::from(int.bits).div_ceil(8) {
                8 if small => Layout { size: 8, align: 4 },
                size => same(size),
            },
            Type::Float(size) if small => Layout { size: u64::from(*size), align: 4 },
            Type::Float(size) => same(u64::from(*size)),
            Type::Pointer(_) => same(u64::from(self.long_bits()) / 8),
            Type::Array(element, length) => {
                let element = self.layout(element)?;
                Layout { size: element.size.checked_mul((*length)?)?, align: element.align }
            }
            Type::Record(RecordId(id)) => self.unit.records.get(*id)?.layout?,
            Type::Atomic(inner) => {
                let inner = self.layout(inner)?;
                let fits = inner.size.is_power_of_two() && inner.size <= 16;
                Layout {
                    size: inner.size,
                    align: if fits { inner.align.max(inner.size) } else { inner.align },
                }
            }
        })
    }

    /// The size of a type; none if it is incomplete.
    pub(super) fn size(&self, ty: &Type) -> Option<u64> {
        self.layout(ty).map(|layout| layout.size)
    }

    /// Lays out a struct or union. None if a member other than a last array has no size.
    pub(super) fn place(
        &self,
        union: bool,
        packed: bool,
        align: Option<u64>,
        members: &[Member],
    ) -> Option<(Vec<Field>, Layout)> {
        let mut fields = Vec::new();
        // In bits: where the next member may start, and the end so far.
        let (mut next, mut end, mut whole) = (0_u64, 0_u64, 1_u64);
        let mut apart = false;
        for member in members {
            let mut natural = match &member.ty {
                Type::Array(element, None) => Layout { size: 0, align: self.layout(element)?.align },
                ty => self.layout(ty)?,
            };
            natural.align = member.natural.unwrap_or(natural.align);
            let tight = packed || member.packed;
            let start = if union { 0 } else { next };
            let mut own = if tight { 1 } else { natural.align };
            own = own.max(member.align.unwrap_or(1));
            let (start, size) = match member.bits {
                None => (round(start, own * 8), natural.size.checked_mul(8)?),
                Some(0) => (round(start, natural.align.max(own) * 8), 0),
                Some(width) => {
                    let unit = natural.align * 8;
                    let forced = member.align.map_or(start, |align| round(start, align * 8));
                    let crosses = (forced % unit + width).div_ceil(unit) > natural.size * 8 / unit;
                    (if crosses && !tight { round(forced, unit) } else { forced }, width)
                }
            };
            apart |= member.bits == Some(0);
            let named = !member.name.is_empty() || member.bits.is_none();
            if named {
                whole = whole.max(own);
                fields.push(Field {
                    name: member.name.clone(),
                    ty: member.ty.clone(),
                    offset: start / 8,
                    bits: member.bits.and_then(|bits| u8::try_from(bits).ok()),
                    apart: std::mem::take(&mut apart),
                });
            }
            next = start.checked_add(size)?;
            end = end.max(next);
        }
        let whole = whole.max(align.unwrap_or(1));
        Some((fields, Layout { size: round(end.div_ceil(8), whole), align: whole }))
    }
}
