//! Operators: which types they work on, and what they convert.

use super::constant::truth;
use super::convert::{is_arithmetic, is_lvalue, is_scalar};
use super::{Analyser, INT, Res, plain, pointer};
use crate::normalise::OMITTED;
use crate::typed::{Binary, Expr, ExprKind, Type, Unary};
use lang_c::ast::{
    BinaryOperator, BinaryOperatorExpression, ConditionalExpression, Expression, UnaryOperator,
    UnaryOperatorExpression,
};
use lang_c::span::{Node, Span as Range};

/// The operator of a binary expression, or of a compound assignment.
fn operator(of: &BinaryOperator) -> Option<(Binary, bool)> {
    Some(match of {
        BinaryOperator::Multiply => (Binary::Times, false),
        BinaryOperator::Divide => (Binary::Divide, false),
        BinaryOperator::Modulo => (Binary::Remainder, false),
        BinaryOperator::Plus => (Binary::Plus, false),
        BinaryOperator::Minus => (Binary::Minus, false),
        BinaryOperator::ShiftLeft => (Binary::ShiftLeft, false),
        BinaryOperator::ShiftRight => (Binary::ShiftRight, false),
        BinaryOperator::Less => (Binary::Less, false),
        BinaryOperator::Greater => (Binary::Greater, false),
        BinaryOperator::LessOrEqual => (Binary::LessEqual, false),
        BinaryOperator::GreaterOrEqual => (Binary::GreaterEqual, false),
        BinaryOperator::Equals => (Binary::Equal, false),
        BinaryOperator::NotEquals => (Binary::Unequal, false),
        BinaryOperator::BitwiseAnd => (Binary::BitAnd, false),
        BinaryOperator::BitwiseXor => (Binary::BitXor, false),
        BinaryOperator::BitwiseOr => (Binary::BitOr, false),
        BinaryOperator::AssignMultiply => (Binary::Times, true),
        BinaryOperator::AssignDivide => (Binary::Divide, true),
        BinaryOperator::AssignModulo => (Binary::Remainder, true),
        BinaryOperator::AssignPlus => (Binary::Plus, true),
        BinaryOperator::AssignMinus => (Binary::Minus, true),
        BinaryOperator::AssignShiftLeft => (Binary::ShiftLeft, true),
        BinaryOperator::AssignShiftRight => (Binary::ShiftRight, true),
        BinaryOperator::AssignBitwiseAnd => (Binary::BitAnd, true),
        BinaryOperator::AssignBitwiseXor => (Binary::BitXor, true),
        BinaryOperator::AssignBitwiseOr => (Binary::BitOr, true),
        BinaryOperator::Index
        | BinaryOperator::LogicalAnd
        | BinaryOperator::LogicalOr
        | BinaryOperator::Assign => {
            return None;
        }
    })
}

fn is_shift(operator: Binary) -> bool {
    matches!(operator, Binary::ShiftLeft | Binary::ShiftRight)
}

/// Whether an operator works on integers only.
fn is_integral(operator: Binary) -> bool {
    is_shift(operator)
        || matches!(operator, Binary::Remainder | Binary::BitAnd | Binary::BitXor | Binary::BitOr)
}

impl Analyser<'_> {
    pub(super) fn unary(&mut self, node: &Node<UnaryOperatorExpression>) -> Res<Expr> {
        let operand = &node.node.operand;
        let span = self.span(node.span);
        match node.node.operator.node {
            UnaryOperator::PostIncrement => self.step(operand, 1, true, node.span),
            UnaryOperator::PostDecrement => self.step(operand, -1, true, node.span),
            UnaryOperator::PreIncrement => self.step(operand, 1, false, node.span),
            UnaryOperator::PreDecrement => self.step(operand, -1, false, node.span),
            UnaryOperator::Address => self.address_of(operand, node.span),
            UnaryOperator::Indirection => {
                let address = self.value(operand)?;
                self.deref(address, node.span)
            }
            UnaryOperator::Plus | UnaryOperator::Minus | UnaryOperator::Complement => {
                let value = self.value(operand)?;
                let complement = node.node.operator.node == UnaryOperator::Complement;
                if !is_arithmetic(&value.ty) || (complement && !matches!(value.ty, Type::Int(_))) {
                    return self.error(node.span, format!("an operand of type `{}`", self.show(&value.ty)));
                }
                let value = self.promote(value);
                let ty = value.ty.clone();
                Ok(match node.node.operator.node {
                    UnaryOperator::Plus => value,
                    UnaryOperator::Minus => self.apply(Unary::Minus, value, ty, span),
                    _ => self.apply(Unary::Complement, value, ty, span),
                })
            }
            UnaryOperator::Negate => {
                let value = self.condition(operand)?;
                Ok(self.apply(Unary::Not, value, INT, span))
            }
        }
    }

    fn step(&mut self, operand: &Node<Expression>, by: i8, before: bool, range: Range) -> Res<Expr> {
        let object = self.object(operand, range)?;
        let ty = plain(&object.ty).clone();
        if !is_scalar(&ty) {
            return self.error(range, format!("`++` or `--` of type `{}`", self.show(&ty)));
        }
        Ok(Expr { kind: ExprKind::Step(Box::new(object), by, before), ty, span: self.span(range) })
    }

    /// An operand that is assigned to.
    fn object(&mut self, node: &Node<Expression>, range: Range) -> Res<Expr> {
        let object = self.expression(node)?;
        match is_lvalue(&object) && !matches!(object.ty, Type::Array(..) | Type::Function(_) | Type::Void) {
            true => Ok(object),
            false => self.error(range, "an assignment to something that is no object"),
        }
    }

    pub(super) fn binary(&mut self, node: &Node<BinaryOperatorExpression>) -> Res<Expr> {
        let BinaryOperatorExpression { operator: sign, lhs, rhs } = &node.node;
        match (&sign.node, operator(&sign.node)) {
            (BinaryOperator::Index, _) => {
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                let address = self.add(a, b, false, node.span)?;
                self.deref(address, node.span)
            }
            (BinaryOperator::Assign, _) => {
                let object = self.object(lhs, node.span)?;
                let value = self.value(rhs)?;
                let value = self.convert(value, &object.ty)?;
                let ty = plain(&object.ty).clone();
                if let ExprKind::Deref(pointer) = &object.kind
                    && let Some(other) = self.same_object(pointer, &object.ty)
                {
                    let (value, place) = (self.cast(value, &other.ty), other.ty.clone());
                    let kind = ExprKind::Assign(Box::new(other), Box::new(value));
                    let stored = Expr { ty: place, kind, span: self.span(node.span) };
                    return Ok(self.cast(stored, &ty));
                }
                let kind = ExprKind::Assign(Box::new(object), Box::new(value));
                Ok(Expr { kind, ty, span: self.span(node.span) })
            }
            (BinaryOperator::LogicalAnd, _) => self.logical(lhs, rhs, true, node.span),
            (_, None) => self.logical(lhs, rhs, false, node.span),
            (_, Some((operator, true))) => self.compound_assignment(operator, lhs, rhs, node.span),
            (_, Some((operator, false))) => {
                let (a, b) = (self.value(lhs)?, self.value(rhs)?);
                self.arithmetic(operator, a, b, node.span)
            }
        }
    }

    fn logical(
        &mut self,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        and: bool,
        range: Range,
    ) -> Res<Expr> {
        let (a, b) = (self.condition(lhs)?, self.condition(rhs)?);
        let span = self.span(range);
        match (truth(&a), truth(&b)) {
            (Some(left), _) if left != and => Ok(self.number(i128::from(left), INT, span)),
            (Some(_), Some(right)) => Ok(self.number(i128::from(right), INT, span)),
            _ => {
                let (a, b) = (Box::new(a), Box::new(b));
                let kind = if and { ExprKind::And(a, b) } else { ExprKind::Or(a, b) };
                Ok(Expr { kind, ty: INT, span })
            }
        }
    }

    fn mismatch<T>(&self, a: &Expr, b: &Expr, range: Range) -> Res<T> {
        self.error(range, format!("operands of types `{}` and `{}`", self.show(&a.ty), self.show(&b.ty)))
    }

    /// An operator on two values.
    pub(super) fn arithmetic(&mut self, operator: Binary, a: Expr, b: Expr, range: Range) -> Res<Expr> {
        let span = self.span(range);
        let pointers = matches!(a.ty, Type::Pointer(_)) || matches!(b.ty, Type::Pointer(_));
        if pointers && is_scalar(&a.ty) && is_scalar(&b.ty) {
            return match operator {
                Binary::Plus => self.add(a, b, false, range),
                Binary::Minus => match (&a.ty, &b.ty) {
                    (Type::Pointer(_), Type::Pointer(_)) => self.difference(a, b, range),
                    (Type::Pointer(_), _) => self.add(a, b, true, range),
                    _ => self.mismatch(&a, &b, range),
                },
                _ if operator.compares() => {
                    let ty = match (&a.ty, &b.ty) {
                        (Type::Pointer(to), Type::Pointer(_)) if **to == Type::Void => b.ty.clone(),
                        (Type::Pointer(_), _) => a.ty.clone(),
                        _ => b.ty.clone(),
                    };
                    let (a, b) = (self.convert(a, &ty)?, self.convert(b, &ty)?);
                    Ok(self.operate(operator, a, b, INT, span))
                }
                _ => self.mismatch(&a, &b, range),
            };
        }
        let floats = matches!(a.ty, Type::Float(_)) || matches!(b.ty, Type::Float(_));
        if !is_arithmetic(&a.ty) || !is_arithmetic(&b.ty) || (floats && is_integral(operator)) {
            return self.mismatch(&a, &b, range);
        }
        if is_shift(operator) {
            let (a, b) = (self.promote(a), self.promote(b));
            let ty = a.ty.clone();
            return Ok(self.operate(operator, a, b, ty, span));
        }
        let (a, b, ty) = self.usual(a, b);
        let ty = if operator.compares() { INT } else { ty };
        Ok(self.operate(operator, a, b, ty, span))
    }

    /// A pointer plus or minus an integer, in either order.
    pub(super) fn add(&mut self, a: Expr, b: Expr, minus: bool, range: Range) -> Res<Expr> {
        let span = self.span(range);
        let (base, index) = match (&a.ty, &b.ty) {
            (Type::Pointer(_), Type::Int(_)) => (a, b),
            (Type::Int(_), Type::Pointer(_)) if !minus => (b, a),
            _ => return self.mismatch(&a, &b, range),
        };
        let Type::Pointer(to) = &base.ty else { return self.mismatch(&base, &index, range) };
        let Some(size) = self.size(to) else {
            return self
                .error(range, format!("arithmetic with pointers to `{}`, which has no size", self.show(to)));
        };
        let index = self.offset(index, minus);
        let ty = base.ty.clone();
        if let (ExprKind::Int(start), ExprKind::Int(count)) = (&base.kind, &index.kind) {
            return Ok(self.number(start + count * i128::from(size), ty, span));
        }
        Ok(Expr { kind: ExprKind::PointerAdd(Box::new(base), Box::new(index)), ty, span })
    }

    /// A number of elements, as `ptrdiff_t`.
    fn offset(&self, index: Expr, minus: bool) -> Expr {
        let (long, span) = (self.long(), index.span);
        let index = self.cast(self.promote(index), &long);
        if minus { self.apply(Unary::Minus, index, long, span) } else { index }
    }

    fn difference(&mut self, a: Expr, b: Expr, range: Range) -> Res<Expr> {
        let (span, ty) = (self.span(range), self.long());
        let b = self.cast(b, &a.ty);
        let size = match &a.ty {
            Type::Pointer(to) => self.size(to).filter(|&size| size > 0),
            _ => None,
        };
        let Some(size) = size else {
            return self.error(range, "a difference of pointers to something without a size");
        };
        if let (ExprKind::Int(a), ExprKind::Int(b)) = (&a.kind, &b.kind) {
            return Ok(self.number((a - b) / i128::from(size), ty, span));
        }
        Ok(Expr { kind: ExprKind::PointerDifference(Box::new(a), Box::new(b)), ty, span })
    }

    fn compound_assignment(
        &mut self,
        operator: Binary,
        lhs: &Node<Expression>,
        rhs: &Node<Expression>,
        range: Range,
    ) -> Res<Expr> {
        let object = self.object(lhs, range)?;
        let value = self.value(rhs)?;
        let span = self.span(range);
        let ty = plain(&object.ty).clone();
        if let (Type::Pointer(to), Type::Int(_), Binary::Plus | Binary::Minus) = (&ty, &value.ty, operator) {
            if self.size(to).is_none() {
                return self.error(range, "arithmetic with pointers to something without a size");
            }
            let value = self.offset(value, operator == Binary::Minus);
            let kind = ExprKind::AssignPointerAdd(Box::new(object), Box::new(value));
            return Ok(Expr { kind, ty, span });
        }
        let floats = matches!(ty, Type::Float(_)) || matches!(value.ty, Type::Float(_));
        if !is_arithmetic(&ty) || !is_arithmetic(&value.ty) || (floats && is_integral(operator)) {
            return self.mismatch(&object, &value, range);
        }
        // What the object is promoted to, a bit-field included.
        let old = self.promoted(&ty, self.bits(&object));
        let value = self.promote(value);
        let (value, works) = match is_shift(operator) {
            true => (value, old),
            false => {
                let works = self.common(&old, &value.ty);
                (self.cast(value, &works), works)
            }
        };
        let kind = ExprKind::AssignOp(operator, Box::new(object), Box::new(value), works);
        Ok(Expr { kind, ty, span })
    }

    pub(super) fn conditional(&mut self, node: &Node<ConditionalExpression>) -> Res<Expr> {
        let ConditionalExpression { condition, then_expression, else_expression } = &node.node;
        let span = self.span(node.span);
        let omitted =
            matches!(&then_expression.node, Expression::Identifier(name) if name.node.name == OMITTED);
        let test = self.condition(condition)?;
        let known = truth(&test);
        let then = if omitted { test.clone() } else { self.value(then_expression)? };
        let other = self.value(else_expression)?;
        let Some(ty) = self.joint(&then, &other) else {
            return self.mismatch(&then, &other, node.span);
        };
        let then = self.convert(then, &ty)?;
        let other = self.convert(other, &ty)?;
        // A bit-field by itself would be promoted again, from its own width.
        let whole = |value: &Expr| !is_arithmetic(&value.ty) || self.promoted_type(value) == ty;
        if let Some(known) = known
            && whole(if known { &then } else { &other })
        {
            return Ok(Expr { span, ..if known { then } else { other } });
        }
        let kind = match omitted {
            true => ExprKind::Conditional(Box::new(then), None, Box::new(other)),
            false => ExprKind::Conditional(Box::new(test), Some(Box::new(then)), Box::new(other)),
        };
        Ok(Expr { kind, ty, span })
    }

    /// The type of a conditional expression.
    fn joint(&self, a: &Expr, b: &Expr) -> Option<Type> {
        let null = |expr: &Expr| matches!(expr.kind, ExprKind::Int(0));
        let void = |to: &Type| *to == Type::Void;
        Some(match (&a.ty, &b.ty) {
            (Type::Void, _) | (_, Type::Void) => Type::Void,
            (Type::Pointer(x), Type::Pointer(y)) => match () {
                () if null(a) && void(x) => b.ty.clone(),
                () if null(b) && void(y) => a.ty.clone(),
                () if void(x) || void(y) => pointer(Type::Void),
                () => a.ty.clone(),
            },
            (Type::Pointer(_), Type::Int(_)) => a.ty.clone(),
            (Type::Int(_), Type::Pointer(_)) => b.ty.clone(),
            (x, y) if x == y && !is_arithmetic(x) => x.clone(),
            (x, y) if is_arithmetic(x) && is_arithmetic(y) => {
                self.common(&self.promoted_type(a), &self.promoted_type(b))
            }
            _ => return None,
        })
    }
}
