//! Operators on constants, at the width of their type; and expressions that must be constant.

use super::convert::wrap;
use super::{Analyser, Res};
use crate::typed::{Binary, Expr, ExprKind, Initial, Int, Stmt, StmtKind, Storage, Type, Unary};
use lang_c::ast::Expression;
use lang_c::span::Node;

/// The result of an operator on integers of a type, before it wraps around. None if there is none: division by zero, or a
/// shift by too much.
pub(super) fn binary(operator: Binary, a: i128, b: i128, ty: Int) -> Option<i128> {
    let truth = |value: bool| Some(i128::from(value));
    match operator {
        // Factors have 64 bits at most; what wraps around here is beyond what the type keeps.
        Binary::Times => Some(a.wrapping_mul(b)),
        Binary::Divide => a.checked_div(b),
        Binary::Remainder => a.checked_rem(b),
        Binary::Plus => a.checked_add(b),
        Binary::Minus => a.checked_sub(b),
        Binary::ShiftLeft => {
            let amount = u32::try_from(b).ok().filter(|&amount| amount < u32::from(ty.bits))?;
            Some(wrap(a, Int { bits: 64, signed: false }) << amount)
        }
        Binary::ShiftRight => {
            let amount = u32::try_from(b).ok().filter(|&amount| amount < u32::from(ty.bits))?;
            Some(a >> amount)
        }
        Binary::BitAnd => Some(a & b),
        Binary::BitXor => Some(a ^ b),
        Binary::BitOr => Some(a | b),
        Binary::Equal => truth(a == b),
        Binary::Unequal => truth(a != b),
        Binary::Less => truth(a < b),
        Binary::LessEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterEqual => truth(a >= b),
    }
}

/// The result of an operator on floating constants: a number, or for comparisons a truth value.
pub(super) fn float_binary(operator: Binary, a: f64, b: f64) -> Option<Result<f64, bool>> {
    Some(match operator {
        Binary::Times => Ok(a * b),
        Binary::Divide => Ok(a / b),
        Binary::Plus => Ok(a + b),
        Binary::Minus => Ok(a - b),
        Binary::Equal => Err(a == b),
        Binary::Unequal => Err(a != b),
        Binary::Less => Err(a < b),
        Binary::LessEqual => Err(a <= b),
        Binary::Greater => Err(a > b),
        Binary::GreaterEqual => Err(a >= b),
        _ => return None,
    })
}

/// The truth of a constant.
pub(super) fn truth(expr: &Expr) -> Option<bool> {
    match &expr.kind {
        ExprKind::Int(value) => Some(*value != 0),
        ExprKind::Float(value) => Some(*value != 0.0),
        _ => None,
    }
}

impl Analyser<'_> {
    /// The value of an expression that must be an integer constant.
    pub(super) fn constant(&mut self, node: &Node<Expression>) -> Res<i128> {
        match self.constant_if(node)? {
            Some(value) => Ok(value),
            None => self.error(node.span, "this is not constant"),
        }
    }

    /// The value of an expression if it is an integer constant; variables that are `const` count.
    pub(super) fn constant_if(&mut self, node: &Node<Expression>) -> Res<Option<i128>> {
        let value = self.value(node)?;
        let value = self.settle(value);
        Ok(match value.kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        })
    }

    /// An expression with `const` variables replaced by their values.
    pub(super) fn settle(&self, expr: Expr) -> Expr {
        let Expr { kind, ty, span } = expr;
        let settle = |inner: Box<Expr>| self.settle(*inner);
        match kind {
            ExprKind::Load(object) => match &object.kind {
                ExprKind::Variable(id) if self.constants.contains_key(id) => {
                    self.constants.get(id).cloned().unwrap_or(Expr { kind: ExprKind::Int(0), ty, span })
                }
                _ => Expr { kind: ExprKind::Load(object), ty, span },
            },
            ExprKind::Statements(list) => match list.as_slice() {
                // A compound literal of one number.
                [
                    Stmt { kind: StmtKind::Declare(id, Some(parts)), .. },
                    Stmt { kind: StmtKind::Expr(value), .. },
                ] => {
                    let same = match &value.kind {
                        ExprKind::Load(object) => object.kind == ExprKind::Variable(*id),
                        _ => false,
                    };
                    match parts.as_slice() {
                        [Initial { path, value }] if same && path.is_empty() => self.settle(value.clone()),
                        _ => Expr { kind: ExprKind::Statements(list), ty, span },
                    }
                }
                _ => Expr { kind: ExprKind::Statements(list), ty, span },
            },
            ExprKind::Cast(inner) => {
                let inner = settle(inner);
                self.cast(inner, &ty)
            }
            ExprKind::Binary(operator, a, b) => self.operate(operator, settle(a), settle(b), ty, span),
            ExprKind::Unary(operator, inner) => self.apply(operator, settle(inner), ty, span),
            kind => Expr { kind, ty, span },
        }
    }

    /// A unary operator on an operand that has its type.
    pub(super) fn apply(&self, operator: Unary, inner: Expr, ty: Type, span: crate::typed::Span) -> Expr {
        match (operator, &inner.kind, &ty) {
            (Unary::Not, _, _) => match truth(&inner) {
                Some(value) => self.number(i128::from(!value), ty, span),
                None => Expr { kind: ExprKind::Unary(operator, Box::new(inner)), ty, span },
            },
            (Unary::Minus, ExprKind::Int(value), _) => self.number(-*value, ty, span),
            (Unary::Complement, ExprKind::Int(value), _) => self.number(!*value, ty, span),
            (Unary::Minus, ExprKind::Float(value), Type::Float(size)) => self.float(-*value, *size, span),
            _ => Expr { kind: ExprKind::Unary(operator, Box::new(inner)), ty, span },
        }
    }

    /// A binary operator on operands that have their types.
    pub(super) fn operate(
        &self,
        operator: Binary,
        a: Expr,
        b: Expr,
        ty: Type,
        span: crate::typed::Span,
    ) -> Expr {
        let whole = |a, b, ty| Expr { kind: ExprKind::Binary(operator, Box::new(a), Box::new(b)), ty, span };
        match (&a.kind, &b.kind) {
            (ExprKind::Int(left), ExprKind::Int(right)) => {
                let of = match &a.ty {
                    Type::Int(of) => *of,
                    _ => Int { bits: self.long_bits(), signed: false },
                };
                match binary(operator, *left, *right, of) {
                    Some(value) => self.number(value, ty, span),
                    None => whole(a, b, ty),
                }
            }
            (ExprKind::Float(left), ExprKind::Float(right)) => {
                match (float_binary(operator, *left, *right), &ty) {
                    (Some(Ok(value)), Type::Float(size)) => self.float(value, *size, span),
                    (Some(Err(value)), _) => self.number(i128::from(value), ty, span),
                    _ => whole(a, b, ty),
                }
            }
            _ => whole(a, b, ty),
        }
    }

    /// Whether an expression is constant as the initialiser of something static must be.
    pub(super) fn is_static(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => true,
            ExprKind::AddressOf(object) => self.is_static_object(object),
            ExprKind::Cast(inner) | ExprKind::Unary(_, inner) => self.is_static(inner),
            ExprKind::PointerAdd(a, b) | ExprKind::PointerDifference(a, b) | ExprKind::Binary(_, a, b) => {
                self.is_static(a) && self.is_static(b)
            }
            ExprKind::And(a, b) | ExprKind::Or(a, b) => self.is_static(a) && self.is_static(b),
            ExprKind::Conditional(a, b, c) => {
                self.is_static(a) && b.as_ref().is_none_or(|b| self.is_static(b)) && self.is_static(c)
            }
            _ => false,
        }
    }

    fn is_static_object(&self, object: &Expr) -> bool {
        match &object.kind {
            ExprKind::Variable(id) => {
                let storage = self.unit.variables.get(id.0).map(|variable| variable.storage);
                storage == Some(Storage::Static)
            }
            ExprKind::Function(_) => true,
            ExprKind::Deref(inner) => self.is_static(inner),
            ExprKind::Member(inner, _) => self.is_static_object(inner),
            _ => false,
        }
    }
}
