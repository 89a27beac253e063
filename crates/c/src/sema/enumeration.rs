//! Enumerations: gcc gives them `unsigned int` unless a value asks for more.

use super::{Analyser, INT, Res, Symbol, Tag, UNSIGNED, int};
use crate::typed::Type;
use lang_c::ast::EnumType;
use lang_c::span::Node;

impl Analyser<'_> {
    pub(super) fn enum_type(&mut self, node: &Node<EnumType>) -> Res<Type> {
        let name = node.node.identifier.as_ref().map_or("", |name| &name.node.name);
        if node.node.enumerators.is_empty() {
            if let Some(Tag::Enum(ty)) = self.lookup_tag(name) {
                return Ok(ty.clone());
            }
            self.define_tag(name, Tag::Enum(UNSIGNED));
            return Ok(UNSIGNED);
        }
        let mut next = 0_i128;
        let mut values = Vec::new();
        for enumerator in &node.node.enumerators {
            if let Some(expression) = &enumerator.node.expression {
                next = self.constant(expression)?;
            }
            let fits = i32::try_from(next).is_ok();
            let ty =
                if fits { INT } else { int(if u32::try_from(next).is_ok() { 32 } else { 64 }, next < 0) };
            self.define(&enumerator.node.identifier.node.name, Symbol::Constant(next, ty));
            values.push((enumerator.node.identifier.node.name.clone(), next));
            next += 1;
        }
        let least = values.iter().map(|(_, value)| *value).min().unwrap_or(0);
        let most = values.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let said = self.attributes_after(node.span);
        let inside = self.attributes_inside(node.span);
        let sizes: &[u8] = if said.packed || inside.packed { &[8, 16, 32, 64] } else { &[32, 64] };
        let signed = least < 0;
        let fits = |bits: u8| {
            let (low, high) = bounds(bits, signed);
            low <= least && most <= high
        };
        let bits = sizes.iter().copied().find(|&bits| fits(bits)).unwrap_or(64);
        let ty = int(bits, signed);
        for (name, value) in values {
            if i32::try_from(value).is_err() {
                self.define(&name, Symbol::Constant(value, ty.clone()));
            }
        }
        if !name.is_empty() {
            self.define_tag(name, Tag::Enum(ty.clone()));
        }
        Ok(ty)
    }
}

/// The least and the greatest value of an integer type.
pub(super) fn bounds(bits: u8, signed: bool) -> (i128, i128) {
    match signed {
        true => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        false => (0, (1 << bits) - 1),
    }
}
