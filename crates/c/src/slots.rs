//! The scalar parts of types: an object has one slot for each.
//!
//! Offsets are counted in slots, not in bytes: a pointer to a struct points to its first slot, a member lies as many slots
//! further as there are scalars before it. A union has the slots of all its members one after the other, which is right as
//! long as only one of them is accessed; the lowering watches that. Types of the thread library are opaque: what their
//! objects hold is what [`crate::library`] says.

use crate::library;
use crate::typed::{DataModel, Int, RecordId, Type, Unit};
use allways_model::program::{Machine, Type as Values, Value};

/// An object with more slots is refused where it is used.
pub const MOST_SLOTS: usize = 1 << 16;

/// A scalar part of a type.
#[derive(Clone, PartialEq, Debug)]
pub struct Leaf {
    /// How it is reached, such as `.next` or `[3].value`.
    pub path: String,
    /// Its type.
    pub ty: Type,
    /// How accesses to it take part in data races.
    pub kind: Kind,
    /// Whether it is a bit-field that shares its memory location with the part before it.
    pub joined: bool,
}

/// How accesses to a slot take part in data races.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// As accesses of a program.
    Plain,
    /// As atomic ones: `_Atomic`.
    Atomic,
    /// Not at all: an object of the thread library, or one of the lowering's own making.
    Library,
}

/// How many slots a type takes; `None` if that is not known or too many.
pub fn count(unit: &Unit, ty: &Type) -> Option<usize> {
    let count = match ty {
        Type::Void | Type::Function(_) => 0,
        Type::Int(_) | Type::Float(_) | Type::Pointer(_) => 1,
        Type::Atomic(ty) => count(unit, ty)?,
        Type::Array(ty, length) => count(unit, ty)?.checked_mul(usize::try_from((*length)?).ok()?)?,
        Type::Record(record) => match opaque(unit, *record) {
            Some(leaves) => leaves.len(),
            None => field(unit, *record, unit.records[record.0].fields.len())?,
        },
    };
    (count <= MOST_SLOTS).then_some(count)
}

/// How many slots come before a field of a record.
pub fn field(unit: &Unit, record: RecordId, number: usize) -> Option<usize> {
    let fields = unit.records[record.0].fields.iter().take(number);
    fields.map(|field| count(unit, &field.ty)).sum()
}

/// The scalar parts of a type, in the order of their slots.
pub fn leaves(unit: &Unit, ty: &Type) -> Vec<Leaf> {
    let mut found = Vec::new();
    collect(unit, ty, "", Kind::Plain, &mut found);
    found
}

fn collect(unit: &Unit, ty: &Type, path: &str, kind: Kind, found: &mut Vec<Leaf>) {
    match ty {
        Type::Void | Type::Function(_) => {}
        Type::Int(_) | Type::Float(_) | Type::Pointer(_) => {
            found.push(Leaf { path: path.to_string(), ty: ty.clone(), kind, joined: false });
        }
        Type::Atomic(ty) => collect(unit, ty, path, Kind::Atomic, found),
        Type::Array(ty, length) => {
            for index in 0..length.unwrap_or(0) {
                collect(unit, ty, &format!("{path}[{index}]"), kind, found);
            }
        }
        Type::Record(record) => match opaque(unit, *record) {
            Some(parts) => {
                found.extend(parts.iter().map(|part| Leaf {
                    path: format!("{path}{part}"),
                    ty: Type::Int(INT),
                    kind: Kind::Library,
                    joined: false,
                }));
            }
            None => {
                let record = &unit.records[record.0];
                let mut after_bits = false;
                for field in &record.fields {
                    let dot = if field.name.is_empty() { "" } else { "." };
                    let first = found.len();
                    collect(unit, &field.ty, &format!("{path}{dot}{}", field.name), kind, found);
                    // Bit-fields next to each other are one memory location, unless one without bits is in between (C11, 3.14).
                    if after_bits && field.bits.is_some() && !field.apart && !record.union {
                        found.iter_mut().skip(first).for_each(|leaf| leaf.joined = true);
                    }
                    after_bits = field.bits.is_some();
                }
            }
        },
    }
}

/// The parts of a type of the thread library.
pub fn opaque(unit: &Unit, record: RecordId) -> Option<&'static [&'static str]> {
    library::opaque(&unit.records[record.0].name)
}

/// `int`
pub const INT: Int = Int { bits: 32, signed: true };

/// The machine's integers of a type.
pub fn machine(int: Int) -> Machine {
    Machine { bits: int.bits, signed: int.signed }
}

/// The values that a slot of a scalar type may have. (Of those above 63 bits nothing is known.)
pub fn values(ty: &Type) -> Values {
    match ty {
        Type::Int(int) => {
            let (low, high) = machine(*int).bounds();
            let least = Value::try_from(low).unwrap_or(Value::MIN).max(Value::MIN + 1);
            Values::Range(least, Value::try_from(high).unwrap_or(Value::MAX))
        }
        Type::Atomic(ty) => values(ty),
        _ => Values::Range(0, Value::MAX),
    }
}

/// The size of a type in bytes.
pub fn bytes(unit: &Unit, ty: &Type) -> Option<u64> {
    Some(match ty {
        Type::Void | Type::Function(_) => 1,
        Type::Int(int) => u64::from(int.bits.max(8)) / 8,
        Type::Float(bytes) => u64::from(*bytes),
        Type::Pointer(_) => match unit.model {
            DataModel::Ilp32 => 4,
            DataModel::Lp64 => 8,
        },
        Type::Array(ty, length) => bytes(unit, ty)?.checked_mul((*length)?)?,
        Type::Record(record) => unit.records[record.0].layout?.size,
        Type::Atomic(ty) => bytes(unit, ty)?,
    })
}

/// The slot of the part of a type that starts at a byte.
pub fn at_byte(unit: &Unit, ty: &Type, byte: u64) -> Option<usize> {
    match ty.plain() {
        _ if byte == 0 => Some(0),
        Type::Array(element, _) => {
            let size = bytes(unit, element).filter(|&size| size > 0)?;
            let before = usize::try_from(byte / size).ok()?.checked_mul(count(unit, element)?)?;
            Some(before + at_byte(unit, element, byte % size)?)
        }
        Type::Record(record) if opaque(unit, *record).is_none() => {
            let fields = &unit.records[record.0].fields;
            let number = fields.iter().rposition(|field| field.offset <= byte && field.bits.is_none())?;
            Some(
                field(unit, *record, number)?
                    + at_byte(unit, &fields[number].ty, byte - fields[number].offset)?,
            )
        }
        _ => None,
    }
}
