//! Compound literals, and what is known of constant objects.

use super::{Analyser, CError, Res, pointer};
use crate::typed::{Expr, ExprKind, Initial, Stmt, StmtKind, Storage, Type, Variable, VariableId};
use lang_c::ast::CompoundLiteral;
use lang_c::span::{Node, Span as Range};

impl Analyser<'_> {
    /// Initial values of something static must be constant.
    pub(super) fn constant_parts(&mut self, parts: Vec<Initial>) -> Res<Vec<Initial>> {
        let mut constant = Vec::new();
        for part in parts {
            let value = self.settle(part.value);
            if !self.is_static(&value) {
                return Err(CError {
                    span: value.span,
                    message: "the initial value of something static is not constant".to_string(),
                });
            }
            constant.push(Initial { path: part.path, value });
        }
        Ok(constant)
    }

    /// `(T){ … }`: a variable; in a function, `*({ its declaration; &variable; })`.
    pub(super) fn compound_literal(&mut self, node: &Node<CompoundLiteral>) -> Res<Expr> {
        let mut ty = self.type_name(&node.node.type_name)?;
        let mut parts = Vec::new();
        let length = self.list(&ty, &[], &node.node.initializer_list, &mut parts)?;
        if let Type::Array(_, open @ None) = &mut ty {
            *open = Some(length);
        }
        self.literal_object(ty, parts, node.span)
    }

    /// The object of a compound literal.
    pub(super) fn literal_object(&mut self, ty: Type, mut parts: Vec<Initial>, range: Range) -> Res<Expr> {
        let span = self.span(range);
        let id = VariableId(self.unit.variables.len());
        let name = format!("({}){{…}}", self.show(&ty));
        let storage = match &self.inside {
            Some(inside) => Storage::Automatic(inside.id),
            None => Storage::Static,
        };
        let initial = match self.inside {
            Some(_) => Vec::new(),
            None => self.constant_parts(std::mem::take(&mut parts))?,
        };
        self.remember(id, &initial);
        self.unit.variables.push(Variable { name, ty: ty.clone(), storage, initial, external: false, span });
        let literal = Expr { kind: ExprKind::Variable(id), ty: ty.clone(), span };
        if self.inside.is_none() {
            return Ok(literal);
        }
        let whole = pointer(ty.clone());
        let address = Expr { kind: ExprKind::AddressOf(Box::new(literal)), ty: whole.clone(), span };
        let list = vec![
            Stmt { kind: StmtKind::Declare(id, Some(parts)), span },
            Stmt { kind: StmtKind::Expr(address), span },
        ];
        let address = Expr { kind: ExprKind::Statements(list), ty: whole, span };
        Ok(Expr { kind: ExprKind::Deref(Box::new(address)), ty, span })
    }

    /// Remembers the value of a `const` variable.
    pub(super) fn remember(&mut self, id: VariableId, parts: &[Initial]) {
        if let [Initial { path, value }] = parts
            && path.is_empty()
            && matches!(value.kind, ExprKind::Int(_) | ExprKind::Float(_))
        {
            self.constants.insert(id, value.clone());
        }
    }
}
