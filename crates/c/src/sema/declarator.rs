//! Declarators: pointers to, arrays of, functions that return.

use super::{Analyser, INT, Res, plain, pointer};
use crate::typed::{ExprKind, FunctionType, RecordId, Type};
use lang_c::ast::{
    ArraySize, DeclarationSpecifier, Declarator, DeclaratorKind, DerivedDeclarator, Ellipsis,
    FunctionDeclarator, PointerQualifier, TypeQualifier, TypeSpecifier,
};
use lang_c::span::{Node, Span as Range};

/// A name and its type.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The name; empty if there is none.
    pub(super) name: String,
    /// Where the name stands.
    pub(super) range: Range,
    /// The type.
    pub(super) ty: Type,
    /// Whether the type is more than what the specifiers say.
    pub(super) derived: bool,
}

/// A parameter of a function.
#[derive(Clone, Debug)]
pub(super) struct Parameter {
    /// Its name; empty if there is none.
    pub(super) name: String,
    /// Where it is declared.
    pub(super) range: Range,
    /// Its type.
    pub(super) ty: Type,
}

impl Analyser<'_> {
    /// The name and type that a declarator gives to a base type.
    pub(super) fn declarator(&mut self, base: Type, node: &Node<Declarator>) -> Res<Declared> {
        let mut ty = base;
        let derived = &node.node.derived;
        let suffixes = derived.iter().position(|part| !is_pointer(&part.node)).unwrap_or(derived.len());
        let (pointers, suffixes) = derived.split_at(suffixes);
        for part in pointers {
            ty = pointer(ty);
            if let DerivedDeclarator::Pointer(qualifiers) = &part.node {
                let atomic = qualifiers.iter().any(|qualifier| match &qualifier.node {
                    PointerQualifier::TypeQualifier(qualifier) => qualifier.node == TypeQualifier::Atomic,
                    PointerQualifier::Extension(_) => false,
                });
                if atomic {
                    ty = Type::Atomic(Box::new(ty));
                }
            }
        }
        for part in suffixes.iter().rev() {
            ty = self.suffix(ty, part)?;
        }
        let more = !derived.is_empty();
        match &node.node.kind.node {
            DeclaratorKind::Abstract => {
                Ok(Declared { name: String::new(), range: node.span, ty, derived: more })
            }
            DeclaratorKind::Identifier(name) => {
                Ok(Declared { name: name.node.name.clone(), range: name.span, ty, derived: more })
            }
            DeclaratorKind::Declarator(inner) => {
                let inner = self.declarator(ty, inner)?;
                Ok(Declared { derived: inner.derived || more, ..inner })
            }
        }
    }

    fn suffix(&mut self, ty: Type, part: &Node<DerivedDeclarator>) -> Res<Type> {
        match &part.node {
            DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_) => Ok(pointer(ty)),
            DerivedDeclarator::Array(array) => {
                if let Type::Function(_) = ty {
                    return self.error(part.span, "an array of functions");
                }
                let length = match &array.node.size {
                    ArraySize::Unknown | ArraySize::VariableUnknown => None,
                    ArraySize::VariableExpression(size) | ArraySize::StaticExpression(size) => {
                        let value = self.value(size)?;
                        let value = self.settle(value);
                        match (&value.kind, &value.ty) {
                            (ExprKind::Int(length), _) => match u64::try_from(*length) {
                                Ok(length) => Some(length),
                                Err(_) => {
                                    return self.error(size.span, format!("an array of {length} elements"));
                                }
                            },
                            (_, Type::Int(_)) if !self.at_file_scope() && self.length.is_none() => {
                                self.length = Some(value);
                                None
                            }
                            _ => return self.error(size.span, "the length of an array is not constant"),
                        }
                    }
                };
                Ok(Type::Array(Box::new(ty), length))
            }
            DerivedDeclarator::Function(function) => {
                let (parameters, variadic) = self.parameters(&function.node)?;
                let parameters = parameters.into_iter().map(|parameter| parameter.ty).collect();
                self.function_type(ty, parameters, variadic, part.span)
            }
            DerivedDeclarator::KRFunction(_) => self.function_type(ty, Vec::new(), true, part.span),
        }
    }

    fn function_type(&self, result: Type, parameters: Vec<Type>, variadic: bool, range: Range) -> Res<Type> {
        if let Type::Function(_) | Type::Array(..) = result {
            return self.error(range, "a function cannot return an array or a function");
        }
        let result = plain(&result).clone();
        Ok(Type::Function(Box::new(FunctionType { result, parameters, variadic })))
    }

    /// The parameters of a function, and whether more arguments may follow.
    pub(super) fn parameters(&mut self, node: &FunctionDeclarator) -> Res<(Vec<Parameter>, bool)> {
        let mut parameters = Vec::new();
        for parameter in &node.parameters {
            let range = parameter.span;
            let spec = self.specifiers(&parameter.node.specifiers, range)?;
            let (name, range, ty) = match &parameter.node.declarator {
                None => (String::new(), range, spec.ty),
                Some(declarator) => {
                    let declared = self.parameter_declarator(spec.ty, declarator)?;
                    (declared.name, declared.range, declared.ty)
                }
            };
            parameters.push(Parameter { name, range, ty: self.adjusted(ty) });
        }
        let only_void = node.parameters.len() == 1
            && parameters.first().is_some_and(|only| only.name.is_empty() && only.ty == Type::Void);
        if only_void && node.parameters.first().is_some_and(|only| plain_void(&only.node.specifiers)) {
            parameters.clear();
            return Ok((parameters, node.ellipsis == Ellipsis::Some));
        }
        let variadic = node.ellipsis == Ellipsis::Some || node.parameters.is_empty();
        Ok((parameters, variadic))
    }

    /// A declarator of a parameter: the outermost array may have any length, constant or not.
    fn parameter_declarator(&mut self, base: Type, node: &Node<Declarator>) -> Res<Declared> {
        let derived = &node.node.derived;
        let Some(first) = derived.iter().position(|part| matches!(part.node, DerivedDeclarator::Array(_)))
        else {
            return self.declarator(base, node);
        };
        let outermost = !matches!(node.node.kind.node, DeclaratorKind::Declarator(_))
            && derived.iter().take(first).all(|part| is_pointer(&part.node));
        if !outermost {
            return self.declarator(base, node);
        }
        let mut open = node.clone();
        if let Some(part) = open.node.derived.get_mut(first) {
            part.node = DerivedDeclarator::Pointer(Vec::new());
        }
        // What was the outermost suffix is applied last: a pointer to the rest.
        let part = open.node.derived.remove(first);
        let mut declared = self.declarator(base, &open)?;
        declared.ty = self.suffix(declared.ty, &part)?;
        declared.derived = true;
        Ok(declared)
    }

    /// The type of a parameter: arrays and functions are pointers.
    pub(super) fn adjusted(&self, ty: Type) -> Type {
        match ty {
            Type::Array(element, _) => Type::Pointer(element),
            Type::Function(_) => pointer(ty),
            Type::Record(RecordId(id)) if self.transparent.contains(&RecordId(id)) => {
                let first = self.unit.records.get(id).and_then(|record| record.fields.first());
                first.map_or(INT, |field| field.ty.clone())
            }
            Type::Atomic(inner) => Type::Atomic(inner),
            other => other,
        }
    }
}

fn is_pointer(part: &DerivedDeclarator) -> bool {
    matches!(part, DerivedDeclarator::Pointer(_) | DerivedDeclarator::Block(_))
}

fn plain_void(specifiers: &[Node<DeclarationSpecifier>]) -> bool {
    !specifiers.is_empty()
        && specifiers.iter().all(|node| match &node.node {
            DeclarationSpecifier::TypeSpecifier(ty) => {
                matches!(ty.node, TypeSpecifier::Void | TypeSpecifier::TypedefName(_))
            }
            _ => false,
        })
}
