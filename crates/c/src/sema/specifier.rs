//! Specifiers: what stands in front of declarators. Basic types, structs, unions, enumerations, `typeof`.

use super::attributes::Said;
use super::layout::Member;
use super::{Analyser, BOOL, CHAR, INT, Res, Symbol, Tag, int, plain};
use crate::typed::{DataModel, Field, Layout, Record, RecordId, Type};
use lang_c::ast::{
    DeclarationSpecifier, SpecifierQualifier, StorageClassSpecifier, StructDeclaration, StructField,
    StructKind, StructType, TypeName, TypeOf, TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span as Range};

/// What specifiers say.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    pub(super) ty: Type,
    /// The type is that of the initialiser.
    pub(super) auto: bool,
    pub(super) typedef: bool,
    pub(super) external: bool,
    pub(super) fixed: bool,
    pub(super) thread: bool,
    pub(super) constant: bool,
    /// The alignment of a typedef.
    pub(super) align: Option<u64>,
}

/// The words for basic types, counted.
#[derive(Default)]
struct Words {
    long: usize,
    short: bool,
    signed: bool,
    unsigned: bool,
    complex: bool,
    base: Option<&'static str>,
}

impl Analyser<'_> {
    /// The specifiers of a declaration.
    pub(super) fn specifiers(&mut self, list: &[Node<DeclarationSpecifier>], range: Range) -> Res<Spec> {
        let mut types = Vec::new();
        let mut qualifiers = Vec::new();
        let (mut typedef, mut external, mut fixed, mut thread) = (false, false, false, false);
        for node in list {
            match &node.node {
                DeclarationSpecifier::TypeSpecifier(ty) => types.push(ty),
                DeclarationSpecifier::TypeQualifier(qualifier) => qualifiers.push(&qualifier.node),
                DeclarationSpecifier::StorageClass(class) => match class.node {
                    StorageClassSpecifier::Typedef => typedef = true,
                    StorageClassSpecifier::Extern => external = true,
                    StorageClassSpecifier::Static => fixed = true,
                    StorageClassSpecifier::ThreadLocal => thread = true,
                    StorageClassSpecifier::Auto | StorageClassSpecifier::Register => {}
                },
                DeclarationSpecifier::Function(_)
                | DeclarationSpecifier::Alignment(_)
                | DeclarationSpecifier::Extension(_) => {}
            }
        }
        let (ty, auto, align) = self.base_type(&types, &qualifiers, range)?;
        let constant = qualifiers.contains(&&TypeQualifier::Const);
        Ok(Spec { ty, auto, typedef, external, fixed, thread, constant, align })
    }

    /// The specifiers of a member or of a type name.
    fn qualified(&mut self, list: &[Node<SpecifierQualifier>], range: Range) -> Res<(Type, Option<u64>)> {
        let mut types = Vec::new();
        let mut qualifiers = Vec::new();
        for node in list {
            match &node.node {
                SpecifierQualifier::TypeSpecifier(ty) => types.push(ty),
                SpecifierQualifier::TypeQualifier(qualifier) => qualifiers.push(&qualifier.node),
                SpecifierQualifier::Extension(_) => {}
            }
        }
        let (ty, _, align) = self.base_type(&types, &qualifiers, range)?;
        Ok((ty, align))
    }

    /// A type name: `sizeof(T)`, casts and such.
    pub(super) fn type_name(&mut self, node: &Node<TypeName>) -> Res<Type> {
        let (base, _) = self.qualified(&node.node.specifiers, node.span)?;
        match &node.node.declarator {
            None => Ok(base),
            Some(declarator) => {
                let ty = self.declarator(base, declarator)?.ty;
                match self.length.take() {
                    None => Ok(ty),
                    Some(_) => self.error(node.span, "the length of an array is not constant"),
                }
            }
        }
    }

    /// A type, whether it is that of an initialiser, and the alignment of a typedef.
    fn base_type(
        &mut self,
        list: &[&Node<TypeSpecifier>],
        qualifiers: &[&TypeQualifier],
        range: Range,
    ) -> Res<(Type, bool, Option<u64>)> {
        let mut words = Words::default();
        let mut whole = None;
        let (mut auto, mut align) = (false, None);
        for node in list {
            match &node.node {
                TypeSpecifier::Void => words.base = Some("void"),
                TypeSpecifier::Char => words.base = Some("char"),
                TypeSpecifier::Int => words.base = words.base.or(Some("int")),
                TypeSpecifier::Float => words.base = Some("float"),
                TypeSpecifier::Double => words.base = Some("double"),
                TypeSpecifier::Bool => words.base = Some("_Bool"),
                TypeSpecifier::Short => words.short = true,
                TypeSpecifier::Long => words.long += 1,
                TypeSpecifier::Signed => words.signed = true,
                TypeSpecifier::Unsigned => words.unsigned = true,
                TypeSpecifier::Complex => words.complex = true,
                TypeSpecifier::Atomic(name) => {
                    let inner = self.type_name(name)?;
                    whole = Some(Type::Atomic(Box::new(plain(&inner).clone())));
                }
                TypeSpecifier::Struct(record) => whole = Some(self.record_type(record)?),
                TypeSpecifier::Enum(list) => whole = Some(self.enum_type(list)?),
                TypeSpecifier::TypedefName(name) => match self.builtin_type(&name.node.name) {
                    Some(ty) => whole = Some(ty),
                    None => match self.lookup(&name.node.name) {
                        Some(Symbol::Typedef(ty, given)) => {
                            align = *given;
                            whole = Some(ty.clone());
                        }
                        Some(Symbol::AutoType) => {
                            auto = true;
                            whole = Some(INT);
                        }
                        _ => return self.error(name.span, format!("`{}` is no type", name.node.name)),
                    },
                },
                TypeSpecifier::TypeOf(of) => {
                    whole = Some(match &of.node {
                        TypeOf::Expression(expression) => self.type_of(expression)?,
                        TypeOf::Type(name) => self.type_name(name)?,
                    });
                }
                TypeSpecifier::TS18661Float(_) => {
                    return self.error(node.span, "this floating type is not supported");
                }
            }
        }
        let mut ty = match whole {
            Some(ty) => ty,
            None => self.basic(&words, range)?,
        };
        if qualifiers.contains(&&TypeQualifier::Atomic) && !matches!(ty, Type::Atomic(_)) {
            ty = Type::Atomic(Box::new(ty));
        }
        Ok((ty, auto, align))
    }

    /// The type that the words for basic types say.
    fn basic(&mut self, words: &Words, range: Range) -> Res<Type> {
        let signed = !words.unsigned;
        let ty = match words.base {
            Some("void") => Type::Void,
            Some("_Bool") => BOOL,
            Some("char") => int(8, signed),
            Some("float") => Type::Float(4),
            Some("double") if words.long > 0 => Type::Float(self.long_double()),
            Some("double") => Type::Float(8),
            _ if words.complex => Type::Float(8),
            _ if words.short => int(16, signed),
            _ => match words.long {
                0 => int(32, signed),
                1 => int(self.long_bits(), signed),
                2 => int(64, signed),
                _ => return self.error(range, "`long long long`"),
            },
        };
        if !words.complex {
            return Ok(ty);
        }
        let align = self.layout(&ty).map_or(8, |layout| layout.align);
        Ok(self.opaque("_Complex", ty, 2, align))
    }

    /// Types that the compiler knows without a declaration.
    fn builtin_type(&mut self, name: &str) -> Option<Type> {
        match name {
            "__int128" | "__int128_t" | "__uint128_t" => {
                if self.wide.is_none() {
                    self.wide = Some(self.opaque("__int128", int(64, true), 2, 16));
                }
                self.wide.clone()
            }
            "__builtin_va_list" => {
                if self.va_list.is_none() {
                    self.va_list = Some(match self.unit.model {
                        DataModel::Ilp32 => Type::Pointer(Box::new(CHAR)),
                        DataModel::Lp64 => {
                            let tag = self.opaque("__va_list_tag", int(64, false), 3, 8);
                            Type::Array(Box::new(tag), Some(1))
                        }
                    });
                }
                self.va_list.clone()
            }
            _ => None,
        }
    }

    /// A struct of a few numbers whose use in arithmetic is an error.
    pub(super) fn opaque(&mut self, name: &str, part: Type, count: u64, align: u64) -> Type {
        let layout = self.layout(&part).unwrap_or(Layout { size: 8, align: 8 });
        let field = |number: u64| Field {
            name: format!("part{number}"),
            ty: part.clone(),
            offset: number * layout.size,
            bits: None,
            apart: false,
        };
        let fields = (0..count).map(field).collect();
        let layout = Some(Layout { size: layout.size * count, align });
        self.unit.records.push(Record { name: name.to_string(), union: false, fields, layout });
        Type::Record(RecordId(self.unit.records.len() - 1))
    }

    fn record_type(&mut self, node: &Node<StructType>) -> Res<Type> {
        let union = node.node.kind.node == StructKind::Union;
        let name = node.node.identifier.as_ref().map_or("", |name| &name.node.name);
        let here = self.scopes.last().and_then(|scope| scope.tags.get(name));
        let known = if node.node.declarations.is_some() { here } else { self.lookup_tag(name) };
        let id = match known {
            Some(Tag::Record(id)) if !name.is_empty() => *id,
            _ => {
                self.unit.records.push(Record {
                    name: name.to_string(),
                    union,
                    fields: Vec::new(),
                    layout: None,
                });
                let id = RecordId(self.unit.records.len() - 1);
                if !name.is_empty() {
                    self.define_tag(name, Tag::Record(id));
                }
                id
            }
        };
        let Some(declarations) = &node.node.declarations else { return Ok(Type::Record(id)) };
        if self.unit.records.get(id.0).is_some_and(|record| record.layout.is_some()) {
            return self.error(node.span, format!("`{name}` is defined a second time"));
        }
        let mut said = self.attributes_inside(node.span);
        let after = self.attributes_after(node.span);
        said.packed |= after.packed;
        said.align = said.align.max(after.align);
        if said.transparent || after.transparent {
            self.transparent.insert(id);
        }
        let mut members = Vec::new();
        for declaration in declarations {
            if let StructDeclaration::Field(field) = &declaration.node {
                self.members(field, &mut members)?;
            }
        }
        match self.place(union, said.packed, said.align, &members) {
            None => self.error(node.span, "a member has a type without a size"),
            Some((fields, layout)) => {
                if let Some(record) = self.unit.records.get_mut(id.0) {
                    record.fields = fields;
                    record.layout = Some(layout);
                }
                Ok(Type::Record(id))
            }
        }
    }

    /// The members that one declaration in a struct declares.
    fn members(&mut self, node: &Node<StructField>, members: &mut Vec<Member>) -> Res<()> {
        let (base, given) = self.qualified(&node.node.specifiers, node.span)?;
        let first = node.node.declarators.first().map_or(node.span.end, |declarator| declarator.span.start);
        let front = self.attributes_between(node.span.start, first);
        if node.node.declarators.is_empty() {
            let anonymous = matches!(&base, Type::Record(_)) && anonymous(&node.node.specifiers);
            if anonymous {
                let (packed, align) = (front.packed, front.align);
                members.push(Member {
                    name: String::new(),
                    ty: base,
                    bits: None,
                    packed,
                    align,
                    natural: given,
                });
            }
            return Ok(());
        }
        for declarator in &node.node.declarators {
            let (mut name, mut ty) = (String::new(), base.clone());
            let mut natural = given;
            if let Some(inner) = &declarator.node.declarator {
                let declared = self.declarator(base.clone(), inner)?;
                if declared.derived {
                    natural = None;
                }
                if self.length.take().is_some() {
                    return self.error(inner.span, "the length of an array is not constant");
                }
                (name, ty) = (declared.name, declared.ty);
            }
            let bits = match &declarator.node.bit_width {
                None => None,
                Some(width) => Some(self.width(width, &ty)?),
            };
            let end = declarator.node.bit_width.as_ref().map(|width| width.span);
            let end = end
                .or(declarator.node.declarator.as_ref().map(|inner| inner.span))
                .unwrap_or(declarator.span);
            let after: Said = self.attributes_after(end);
            ty = self.attributed(&front, ty);
            ty = self.attributed(&after, ty);
            if let Type::Function(_) = ty {
                return self.error(declarator.span, "a member cannot be a function");
            }
            let packed = front.packed || after.packed;
            let align = front.align.max(after.align);
            members.push(Member { name, ty, bits, packed, align, natural });
        }
        Ok(())
    }

    /// The width of a bit-field.
    fn width(&mut self, node: &Node<lang_c::ast::Expression>, ty: &Type) -> Res<u64> {
        let Type::Int(int) = plain(ty) else {
            return self.error(node.span, "a bit-field has an integer type");
        };
        let most = i128::from(int.bits);
        match self.constant(node)? {
            value if (0..=most).contains(&value) => Ok(value as u64),
            value => self.error(node.span, format!("a bit-field of {value} bits")),
        }
    }
}

/// Whether a struct in a struct has no tag, or its members are given: then they are members of the outer one.
fn anonymous(list: &[Node<SpecifierQualifier>]) -> bool {
    list.iter().any(|node| match &node.node {
        SpecifierQualifier::TypeSpecifier(ty) => match &ty.node {
            TypeSpecifier::Struct(record) => record.node.identifier.is_none(),
            TypeSpecifier::TypedefName(_) => true,
            _ => false,
        },
        _ => false,
    })
}
