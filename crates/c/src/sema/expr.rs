//! Expressions, by their form.

use super::convert::{is_lvalue, is_scalar};
use super::{Analyser, INT, Res, Symbol, plain, pointer};
use crate::typed::{Expr, ExprKind, Initial, RecordId, Type};
use lang_c::ast::{
    CastExpression, Expression, GenericAssociation, GenericSelection, Identifier, MemberExpression,
    MemberOperator, OffsetMember, OffsetOfExpression, Statement,
};
use lang_c::span::{Node, Span as Range};

impl Analyser<'_> {
    /// An expression that is used for its value.
    pub(super) fn value(&mut self, node: &Node<Expression>) -> Res<Expr> {
        let expr = self.expression(node)?;
        Ok(self.decay(expr))
    }

    /// A value that is compared with zero.
    pub(super) fn condition(&mut self, node: &Node<Expression>) -> Res<Expr> {
        let expr = self.value(node)?;
        match is_scalar(&expr.ty) {
            true => Ok(expr),
            false => self.error(node.span, format!("a condition of type `{}`", self.show(&expr.ty))),
        }
    }

    /// The type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, node: &Node<Expression>) -> Res<Type> {
        if let Expression::Identifier(name) = &node.node
            && let Some(Symbol::Typedef(ty, _)) = self.lookup(&name.node.name)
        {
            return Ok(ty.clone());
        }
        Ok(self.expression(node)?.ty)
    }

    /// An expression: an lvalue, a function or a value.
    pub(super) fn expression(&mut self, node: &Node<Expression>) -> Res<Expr> {
        match &node.node {
            Expression::Identifier(name) => self.identifier(name),
            Expression::Constant(constant) => self.literal(constant.span),
            Expression::StringLiteral(string) => Ok(self.string(string.span)),
            Expression::GenericSelection(generic) => self.generic(generic),
            Expression::Member(member) => self.member_expression(member),
            Expression::Call(call) => self.call(call),
            Expression::CompoundLiteral(literal) => self.compound_literal(literal),
            Expression::SizeOfTy(name) => {
                let ty = self.type_name(&name.node.0)?;
                self.size_of(&ty, node.span)
            }
            Expression::SizeOfVal(inner) => {
                if let Some(size) = self.open_size(&inner.node.0, node.span) {
                    return Ok(size);
                }
                let ty = self.type_of(&inner.node.0)?;
                self.size_of(&ty, node.span)
            }
            Expression::AlignOf(name) => {
                let ty = self.type_name(&name.node.0)?;
                let element = match &ty {
                    Type::Array(element, None) => element,
                    ty => ty,
                };
                match self.layout(element) {
                    Some(layout) => {
                        Ok(self.number(layout.align.into(), self.unsigned_long(), self.span(node.span)))
                    }
                    None => self.error(node.span, format!("`{}` has no alignment", self.show(&ty))),
                }
            }
            Expression::UnaryOperator(unary) => self.unary(unary),
            Expression::Cast(cast) => self.cast_expression(cast),
            Expression::BinaryOperator(binary) => self.binary(binary),
            Expression::Conditional(conditional) => self.conditional(conditional),
            Expression::Comma(list) => self.comma(list, node.span),
            Expression::OffsetOf(offset) => self.offset_of(offset),
            Expression::VaArg(argument) => {
                let ty = self.type_name(&argument.node.type_name)?;
                Ok(Expr { kind: ExprKind::Unsupported("va_arg"), ty, span: self.span(node.span) })
            }
            Expression::Statement(statement) => self.statement_expression(statement),
        }
    }

    fn identifier(&mut self, node: &Node<Identifier>) -> Res<Expr> {
        let name = &node.node.name;
        let span = self.span(node.span);
        match self.lookup(name).cloned() {
            Some(Symbol::Variable(id)) => {
                let ty = self.unit.variables.get(id.0).map_or(INT, |variable| variable.ty.clone());
                Ok(Expr { kind: ExprKind::Variable(id), ty, span })
            }
            Some(Symbol::OpenArray(id, _)) => {
                let ty = self.unit.variables.get(id.0).map_or(INT, |variable| variable.ty.clone());
                let variable = Expr { kind: ExprKind::Variable(id), ty, span };
                let address = self.decay(variable);
                self.deref(address, node.span)
            }
            Some(Symbol::Function) => self.function_designator(name, node.span),
            Some(Symbol::Constant(value, ty)) => Ok(self.number(value, ty, span)),
            Some(Symbol::Typedef(..) | Symbol::AutoType) => {
                self.error(node.span, format!("`{name}` is a type"))
            }
            None if matches!(name.as_str(), "__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__") => {
                let letters = self.inside.as_ref().map_or(String::new(), |inside| inside.name.clone());
                let values: Vec<u32> = letters.bytes().map(u32::from).collect();
                Ok(self.string_variable(&letters, super::CHAR, &values, node.span))
            }
            None if name == "__null" => Ok(self.number(0, self.long(), span)),
            None if name.starts_with("__builtin_") => {
                self.declare_builtin(name, node.span);
                self.function_designator(name, node.span)
            }
            None => self.error(node.span, format!("`{name}` is not declared")),
        }
    }

    /// A function by its name.
    pub(super) fn function_designator(&mut self, name: &str, range: Range) -> Res<Expr> {
        let span = self.span(range);
        let ty = self.functions.get(name).map(|declared| declared.ty.clone());
        match (self.function_id(name), ty) {
            (Some(id), Some(ty)) => {
                Ok(Expr { kind: ExprKind::Function(id), ty: Type::Function(Box::new(ty)), span })
            }
            _ => self.error(range, format!("`{name}` is not declared")),
        }
    }

    fn size_of(&mut self, ty: &Type, range: Range) -> Res<Expr> {
        match self.size(ty) {
            Some(size) => Ok(self.number(size.into(), self.unsigned_long(), self.span(range))),
            None => self.error(range, format!("`{}` has no size", self.show(ty))),
        }
    }

    /// The size of an array whose length is computed.
    fn open_size(&self, node: &Node<Expression>, range: Range) -> Option<Expr> {
        let Expression::Identifier(name) = &node.node else { return None };
        let Some(Symbol::OpenArray(_, size)) = self.lookup(&name.node.name) else { return None };
        let kind = ExprKind::Variable(*size);
        Some(self.decay(Expr { kind, ty: self.unsigned_long(), span: self.span(range) }))
    }

    fn generic(&mut self, node: &Node<GenericSelection>) -> Res<Expr> {
        let ty = self.value(&node.node.expression)?.ty;
        let mut other = None;
        for association in &node.node.associations {
            match &association.node {
                GenericAssociation::Default(expression) => other = Some(expression),
                GenericAssociation::Type(case) => {
                    if self.type_name(&case.node.type_name)? == ty {
                        return self.expression(&case.node.expression);
                    }
                }
            }
        }
        match other {
            Some(expression) => self.expression(expression),
            None => self.error(node.span, format!("nothing is selected for `{}`", self.show(&ty))),
        }
    }

    fn member_expression(&mut self, node: &Node<MemberExpression>) -> Res<Expr> {
        let inner = &node.node.expression;
        let object = match node.node.operator.node {
            MemberOperator::Direct => self.expression(inner)?,
            MemberOperator::Indirect => {
                let address = self.value(inner)?;
                self.deref(address, inner.span)?
            }
        };
        let name = &node.node.identifier.node.name;
        let Type::Record(id) = plain(&object.ty) else {
            return self.error(node.span, format!("`{}` has no members", self.show(&object.ty)));
        };
        match self.find_member(*id, name) {
            Some(path) => {
                Ok(path.into_iter().fold(object, |object, number| self.member(object, number, node.span)))
            }
            None => {
                let message = match self.size(&object.ty) {
                    Some(_) => format!("`{}` has no member `{name}`", self.show(&object.ty)),
                    None => format!("`{}` is not complete here", self.show(&object.ty)),
                };
                self.error(node.node.identifier.span, message)
            }
        }
    }

    /// The way to a member: its number, after those of the anonymous structs and unions around it.
    pub(super) fn find_member(&self, id: RecordId, name: &str) -> Option<Vec<usize>> {
        let fields = &self.unit.records.get(id.0)?.fields;
        if let Some(number) = fields.iter().position(|field| field.name == name) {
            return Some(vec![number]);
        }
        fields.iter().enumerate().filter(|(_, field)| field.name.is_empty()).find_map(|(number, field)| {
            let Type::Record(inner) = plain(&field.ty) else { return None };
            let mut path = self.find_member(*inner, name)?;
            path.insert(0, number);
            Some(path)
        })
    }

    /// A member by its number.
    pub(super) fn member(&self, object: Expr, number: usize, range: Range) -> Expr {
        let ty = self.field(&object.ty, number).map_or(INT, |field| field.ty.clone());
        Expr { kind: ExprKind::Member(Box::new(object), number), ty, span: self.span(range) }
    }

    /// What a pointer points to.
    pub(super) fn deref(&mut self, address: Expr, range: Range) -> Res<Expr> {
        let span = self.span(range);
        let Type::Pointer(to) = &address.ty else {
            return self.error(range, format!("`{}` is no pointer", self.show(&address.ty)));
        };
        let ty = (**to).clone();
        match address.kind {
            ExprKind::AddressOf(object) if object.ty == ty => Ok(Expr { span, ..*object }),
            _ => Ok(Expr { kind: ExprKind::Deref(Box::new(address)), ty, span }),
        }
    }

    /// `&`
    pub(super) fn address_of(&mut self, node: &Node<Expression>, range: Range) -> Res<Expr> {
        let object = self.expression(node)?;
        let span = self.span(range);
        let ty = pointer(object.ty.clone());
        if let Type::Function(_) = object.ty {
            let address = self.decay(object);
            return Ok(Expr { span, ..address });
        }
        if !is_lvalue(&object) {
            return self.error(range, "`&` of something that is no object");
        }
        if self.bits(&object).is_some() {
            return self.error(range, "`&` of a bit-field");
        }
        let address = self.address(object, ty);
        Ok(Expr { span, ..address })
    }

    fn cast_expression(&mut self, node: &Node<CastExpression>) -> Res<Expr> {
        let ty = self.type_name(&node.node.type_name)?;
        let value = self.value(&node.node.expression)?;
        let span = self.span(node.span);
        let to = plain(&ty).clone();
        if to == Type::Void {
            return Ok(Expr { kind: ExprKind::Cast(Box::new(value)), ty: to, span });
        }
        if let Type::Record(RecordId(id)) = to
            && let Some(record) = self.unit.records.get(id).filter(|record| record.union && value.ty != to)
            && let Some(number) = record.fields.iter().position(|field| field.ty == value.ty)
        {
            let parts = vec![Initial { path: vec![number as u64], value }];
            return self.literal_object(to, parts, node.span);
        }
        if let Type::Array(..) | Type::Function(_) = to {
            return self.error(node.span, format!("a cast to `{}`", self.show(&to)));
        }
        let value = self.convert(value, &to)?;
        if self.bit_field(&value).is_some() {
            // It has the type already, but is not promoted like a bit-field any more.
            return Ok(Expr { kind: ExprKind::Cast(Box::new(value)), ty: to, span });
        }
        Ok(Expr { span, ..value })
    }

    fn comma(&mut self, list: &[Node<Expression>], range: Range) -> Res<Expr> {
        let span = self.span(range);
        let mut values = list.iter();
        let Some(first) = values.next() else {
            return self.error(range, "an empty expression");
        };
        let mut whole = self.value(first)?;
        for next in values {
            let next = self.value(next)?;
            let ty = next.ty.clone();
            whole = Expr { kind: ExprKind::Comma(Box::new(whole), Box::new(next)), ty, span };
        }
        Ok(whole)
    }

    fn offset_of(&mut self, node: &Node<OffsetOfExpression>) -> Res<Expr> {
        let ty = self.type_name(&node.node.type_name)?;
        let span = self.span(node.span);
        let start = self.number(0, pointer(ty), span);
        let mut object = self.deref(start, node.span)?;
        let designator = &node.node.designator;
        object = self.named_member(object, &designator.node.base)?;
        for member in &designator.node.members {
            object = match &member.node {
                OffsetMember::Member(name) => self.named_member(object, name)?,
                OffsetMember::IndirectMember(name) => {
                    let address = self.decay(object);
                    let object = self.deref(address, member.span)?;
                    self.named_member(object, name)?
                }
                OffsetMember::Index(index) => {
                    let index = self.value(index)?;
                    let base = self.decay(object);
                    let address = self.add(base, index, false, member.span)?;
                    self.deref(address, member.span)?
                }
            };
        }
        let ty = pointer(object.ty.clone());
        let address = self.address(object, ty);
        let size = self.unsigned_long();
        Ok(self.cast(address, &size))
    }

    fn named_member(&mut self, object: Expr, name: &Node<Identifier>) -> Res<Expr> {
        let path = match plain(&object.ty) {
            Type::Record(id) => self.find_member(*id, &name.node.name),
            _ => None,
        };
        match path {
            Some(path) => {
                Ok(path.into_iter().fold(object, |object, number| self.member(object, number, name.span)))
            }
            None => self
                .error(name.span, format!("`{}` has no member `{}`", self.show(&object.ty), name.node.name)),
        }
    }

    fn statement_expression(&mut self, node: &Node<Statement>) -> Res<Expr> {
        let span = self.span(node.span);
        let Statement::Compound(items) = &node.node else {
            return self.error(node.span, "a block is expected");
        };
        if self.at_file_scope() {
            return self.error(node.span, "statements outside of a function");
        }
        let list = self.block(items)?;
        let ty = match list.last().map(|last| &last.kind) {
            Some(crate::typed::StmtKind::Expr(value)) => value.ty.clone(),
            _ => Type::Void,
        };
        Ok(Expr { kind: ExprKind::Statements(list), ty, span })
    }
}
