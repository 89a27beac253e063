//! What attributes say about layouts. They were taken out of the text before it was parsed; they are found again by the
//! place that they stood at.

use super::{Analyser, CError, Res, int};
use crate::normalise::{Attributes, normalise};
use crate::parse::parse;
use crate::typed::{ExprKind, Type};
use lang_c::ast::{ExternalDeclaration, Initializer};
use lang_c::span::Span as Range;
use std::rc::Rc;

/// What attributes of one thing say together.
#[derive(Clone, Default, Debug)]
pub(super) struct Said {
    /// `packed`
    pub(super) packed: bool,
    /// `aligned`, in bytes.
    pub(super) align: Option<u64>,
    /// `transparent_union`
    pub(super) transparent: bool,
    /// `constructor`
    pub(super) constructor: bool,
    /// `mode`: the size in bytes.
    mode: Option<u8>,
    /// `vector_size`: the size in bytes.
    vector: Option<u64>,
}

impl Analyser<'_> {
    /// Refuses attributes that make code run where none is written; `constructor` alone is followed.
    pub(super) fn refuse_attributes(&mut self) {
        for block in &self.normal.attributes {
            let hidden = |name: &str, ordered: bool| {
                matches!(name, "cleanup" | "destructor") || (name == "constructor" && ordered)
            };
            for (name, _) in block.list.iter().filter(|(name, words)| hidden(name, !words.is_empty())) {
                let span = self.map.span(block.start, block.start + "__attribute__".len());
                let message = format!("the attribute `{name}` is not supported");
                self.errors.push(CError { span, message });
            }
        }
    }

    /// The type that attributes make of another one. Vectors are structs that nothing can be done with.
    pub(super) fn attributed(&mut self, said: &Said, ty: Type) -> Type {
        let ty = match (ty, said.mode) {
            (Type::Int(old), Some(bytes)) => int(bytes * 8, old.signed),
            (Type::Float(_), Some(bytes)) => Type::Float(bytes),
            (ty, _) => ty,
        };
        let size = self.size(&ty).filter(|&size| size > 0 && matches!(ty, Type::Int(_) | Type::Float(_)));
        match (said.vector, size) {
            (Some(bytes), Some(size)) => self.opaque("vector", ty, bytes / size, bytes),
            _ => ty,
        }
    }

    /// What the attributes say that follow a part of the parser's text.
    pub(super) fn attributes_after(&mut self, range: Range) -> Said {
        let (start, end) = (self.normal.original(range.start), self.normal.original(range.end));
        // The parser may have gone on over blanks.
        let end = start + self.normal.bare.get(start..end).unwrap_or(b"").trim_ascii_end().len();
        let all = &self.normal.attributes;
        let first = all.partition_point(|block| block.start < end);
        let blank = |block: &&Attributes| {
            self.normal.bare.get(end..block.start).is_some_and(|between| between.trim_ascii().is_empty())
        };
        let blocks: Vec<_> = all.iter().skip(first).take_while(blank).cloned().collect();
        self.say(&blocks)
    }

    /// What the attributes say that follow the first token of a part: `struct __attribute__((…)) s`.
    pub(super) fn attributes_inside(&mut self, range: Range) -> Said {
        let start = self.normal.original(range.start);
        let all = &self.normal.attributes;
        let first = all.partition_point(|block| block.start < start);
        let blocks: Vec<_> =
            all.iter().skip(first).take_while(|block| block.after.0 == start).cloned().collect();
        self.say(&blocks)
    }

    /// What the attributes say that stand in front of a declarator or among the specifiers.
    pub(super) fn attributes_between(&mut self, from: usize, to: usize) -> Said {
        let (from, to) = (self.normal.original(from), self.normal.original(to));
        let all = &self.normal.attributes;
        // They may stand in front of everything.
        let front = self.normal.bare.get(..from).unwrap_or(b"").trim_ascii_end().len();
        let first = all.partition_point(|block| block.start < front);
        let inside = |block: &&Attributes| block.start < to;
        let no_type = |block: &&Attributes| {
            let token = self.normal.clean.get(block.after.0..block.after.1).unwrap_or(b"");
            block.after.0 < from || !matches!(token, b"}" | b"struct" | b"union" | b"enum" | b"{" | b",")
        };
        let blocks: Vec<_> = all.iter().skip(first).take_while(inside).filter(no_type).cloned().collect();
        self.say(&blocks)
    }

    fn say(&mut self, blocks: &[Attributes]) -> Said {
        let mut said = Said::default();
        for (name, arguments) in blocks.iter().flat_map(|block| &block.list) {
            match name.as_str() {
                "packed" => said.packed = true,
                "transparent_union" => said.transparent = true,
                "constructor" => said.constructor = true,
                "aligned" if arguments.is_empty() => said.align = Some(16),
                "aligned" => {
                    let align =
                        self.argument(arguments).filter(|align| align.is_power_of_two() && *align <= 1 << 28);
                    said.align = said.align.max(align);
                }
                "vector_size" => said.vector = self.argument(arguments),
                "mode" => {
                    said.mode = match arguments.trim().trim_matches('_') {
                        "QI" | "byte" => Some(1),
                        "HI" => Some(2),
                        "SI" | "SF" => Some(4),
                        "DI" | "DF" => Some(8),
                        "word" | "pointer" => Some(self.long_bits() / 8),
                        "TF" | "XF" => Some(self.long_double()),
                        _ => None,
                    }
                }
                _ => {}
            }
        }
        said
    }

    /// The value of an argument: an expression (or, of `_Alignas`, a type) that is parsed on its own.
    fn argument(&mut self, words: &str) -> Option<u64> {
        if let Ok(value) = words.trim().parse() {
            return Some(value);
        }
        let known =
            ["int", "char", "short", "long", "float", "double", "struct", "union", "void", "unsigned"];
        let is_type = known.iter().any(|word| words.trim_start().starts_with(word));
        let text = if is_type { format!("int x=_Alignof({words});") } else { format!("int x=({words});") };
        let normal = Rc::new(normalise(text.as_bytes()).ok()?);
        let tree = parse(&normal).ok()?;
        let ExternalDeclaration::Declaration(declaration) = &tree.0.last()?.node else { return None };
        let initializer = declaration.node.declarators.first()?.node.initializer.as_ref()?;
        let Initializer::Expression(expression) = &initializer.node else { return None };
        // Literals are read from the text that the tree was made of.
        let mut other = Analyser { normal, ..self.share() };
        let value: Res<_> = other.value(expression);
        match value.ok()?.kind {
            ExprKind::Int(value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// An analyser that knows the same names, to read an expression of another text.
    fn share(&self) -> Analyser<'_> {
        let mut other = Analyser::new(&self.normal, self.map, self.unit.model);
        other.unit.records.clone_from(&self.unit.records);
        for scope in &self.scopes {
            for (name, symbol) in &scope.names {
                other.define(name, symbol.clone());
            }
        }
        other
    }
}
