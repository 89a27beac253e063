//! Conversions: lvalues to values, arrays to pointers, promotions, and between types.

use super::{Analyser, CError, DOUBLE, INT, Res, int, plain, pointer};
use crate::typed::{Expr, ExprKind, Field, Int, RecordId, Span, StmtKind, Type};

/// Whether an expression denotes an object.
pub(super) fn is_lvalue(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) | ExprKind::Deref(_) => true,
        ExprKind::Member(inner, _) => is_lvalue(inner),
        _ => false,
    }
}

/// The value that an integer type has for a number: it wraps around.
pub(super) fn wrap(value: i128, to: Int) -> i128 {
    if to.bits == 1 && !to.signed {
        return i128::from(value != 0);
    }
    let modulus = 1_i128 << to.bits;
    let value = value.rem_euclid(modulus);
    if to.signed && value >= modulus / 2 { value - modulus } else { value }
}

/// Whether a type is a number or a pointer.
pub(super) fn is_scalar(ty: &Type) -> bool {
    matches!(plain(ty), Type::Int(_) | Type::Float(_) | Type::Pointer(_))
}

/// Whether a type is a number.
pub(super) fn is_arithmetic(ty: &Type) -> bool {
    matches!(plain(ty), Type::Int(_) | Type::Float(_))
}

impl Analyser<'_> {
    /// The value of an expression: of an lvalue its content, of an array or function its address.
    pub(super) fn decay(&self, expr: Expr) -> Expr {
        let span = expr.span;
        match &expr.ty {
            Type::Array(element, _) => {
                let ty = Type::Pointer(element.clone());
                self.address(expr, ty)
            }
            Type::Function(_) => match expr.kind {
                ExprKind::Deref(inner) => *inner,
                _ => {
                    let ty = pointer(expr.ty.clone());
                    Expr { kind: ExprKind::AddressOf(Box::new(expr)), ty, span }
                }
            },
            ty if is_lvalue(&expr) => {
                let ty = plain(ty).clone();
                self.load(expr, ty)
            }
            _ => expr,
        }
    }

    /// The content of an lvalue. Of a compound literal, which is `*({ declaration; &literal; })`, the load moves inside.
    fn load(&self, expr: Expr, ty: Type) -> Expr {
        let span = expr.span;
        match expr.kind {
            ExprKind::Deref(inner) => match *inner {
                Expr { kind: ExprKind::Statements(mut list), ty: outer, span: place } => {
                    let literal = list.last_mut().and_then(|last| match &mut last.kind {
                        StmtKind::Expr(value) => Some(value),
                        _ => None,
                    });
                    match literal {
                        Some(value) if matches!(value.kind, ExprKind::AddressOf(_)) => {
                            if let ExprKind::AddressOf(object) =
                                std::mem::replace(&mut value.kind, ExprKind::Int(0))
                            {
                                value.kind = ExprKind::Load(object);
                                value.ty = ty.clone();
                            }
                            Expr { kind: ExprKind::Statements(list), ty, span: place }
                        }
                        _ => {
                            let inner = Expr { kind: ExprKind::Statements(list), ty: outer, span: place };
                            let object =
                                Expr { kind: ExprKind::Deref(Box::new(inner)), ty: ty.clone(), span };
                            Expr { kind: ExprKind::Load(Box::new(object)), ty, span }
                        }
                    }
                }
                inner => {
                    if let Some(part) = self.punned(&inner, &ty, span) {
                        return part;
                    }
                    let object = Expr { kind: ExprKind::Deref(Box::new(inner)), ty: expr.ty, span };
                    Expr { kind: ExprKind::Load(Box::new(object)), ty, span }
                }
            },
            _ => Expr { kind: ExprKind::Load(Box::new(expr)), ty, span },
        }
    }

    /// The address of an object, as a pointer of the given type. Addresses that are numbers are computed.
    pub(super) fn address(&self, expr: Expr, ty: Type) -> Expr {
        let span = expr.span;
        if let Some(place) = self.fixed_address(&expr) {
            return self.number(place, ty, span);
        }
        match expr.kind {
            ExprKind::Deref(inner) if inner.ty == ty => *inner,
            _ => Expr { kind: ExprKind::AddressOf(Box::new(expr)), ty, span },
        }
    }

    /// The address of an object that lies at a number: `((struct s *)0)->m`.
    fn fixed_address(&self, expr: &Expr) -> Option<i128> {
        match &expr.kind {
            ExprKind::Deref(inner) => match inner.kind {
                ExprKind::Int(value) => Some(value),
                _ => None,
            },
            ExprKind::Member(inner, number) => {
                let base = self.fixed_address(inner)?;
                Some(base + i128::from(self.field(&inner.ty, *number)?.offset))
            }
            _ => None,
        }
    }

    /// A member of a struct or union by its number.
    pub(super) fn field(&self, ty: &Type, number: usize) -> Option<&Field> {
        let Type::Record(RecordId(id)) = plain(ty) else { return None };
        self.unit.records.get(*id)?.fields.get(number)
    }

    /// The width of the bit-field that a value was loaded from.
    pub(super) fn bit_field(&self, expr: &Expr) -> Option<u8> {
        let object = match &expr.kind {
            ExprKind::Load(object) => object,
            ExprKind::Assign(object, _) | ExprKind::AssignOp(_, object, ..) | ExprKind::Step(object, ..) => {
                object
            }
            // What has the value of a bit-field is promoted like one, as gcc does it.
            ExprKind::Comma(_, last) => return self.bit_field(last),
            ExprKind::Statements(list) => {
                let StmtKind::Expr(last) = &list.last()?.kind else { return None };
                return self.bit_field(last);
            }
            _ => return None,
        };
        self.bits(object)
    }

    /// The width of a bit-field that is an lvalue.
    pub(super) fn bits(&self, object: &Expr) -> Option<u8> {
        let ExprKind::Member(base, number) = &object.kind else { return None };
        self.field(&base.ty, *number)?.bits
    }

    /// The type that the integer promotions give to a value.
    pub(super) fn promoted(&self, ty: &Type, bit_field: Option<u8>) -> Type {
        let Type::Int(from) = ty else { return ty.clone() };
        let narrow = match bit_field {
            Some(bits) => bits < 32 || (bits == 32 && from.signed),
            None => from.bits < 32,
        };
        if narrow { INT } else { ty.clone() }
    }

    /// An integer constant of a type, wrapped.
    pub(super) fn number(&self, value: i128, ty: Type, span: Span) -> Expr {
        let value = match plain(&ty) {
            Type::Int(to) => wrap(value, *to),
            _ => wrap(value, Int { bits: self.long_bits(), signed: false }),
        };
        Expr { kind: ExprKind::Int(value), ty, span }
    }

    /// The integer promotions.
    pub(super) fn promote(&self, expr: Expr) -> Expr {
        let ty = self.promoted_type(&expr);
        self.cast(expr, &ty)
    }

    /// The type of [`Analyser::promote`].
    pub(super) fn promoted_type(&self, expr: &Expr) -> Type {
        self.promoted(&expr.ty, self.bit_field(expr))
    }

    /// What arguments without a parameter's type are converted to.
    pub(super) fn promote_argument(&self, expr: Expr) -> Expr {
        match expr.ty {
            Type::Float(4) => self.cast(expr, &DOUBLE),
            _ => self.promote(expr),
        }
    }

    /// The type that the usual arithmetic conversions give to two promoted operands.
    pub(super) fn common(&self, a: &Type, b: &Type) -> Type {
        match (a, b) {
            (Type::Float(a), Type::Float(b)) => Type::Float(*a.max(b)),
            (Type::Float(size), _) | (_, Type::Float(size)) => Type::Float(*size),
            (Type::Int(a), Type::Int(b)) if a.bits == b.bits => int(a.bits, a.signed && b.signed),
            (Type::Int(a), Type::Int(b)) => Type::Int(if a.bits > b.bits { *a } else { *b }),
            _ => INT,
        }
    }

    /// The usual arithmetic conversions.
    pub(super) fn usual(&self, a: Expr, b: Expr) -> (Expr, Expr, Type) {
        let (a, b) = (self.promote(a), self.promote(b));
        let ty = self.common(&a.ty, &b.ty);
        (self.cast(a, &ty), self.cast(b, &ty), ty)
    }

    /// A cast between types that have one; constants are computed.
    pub(super) fn cast(&self, expr: Expr, to: &Type) -> Expr {
        let to = plain(to);
        if expr.ty == *to {
            return expr;
        }
        let span = expr.span;
        match (&expr.kind, to) {
            (ExprKind::Int(value), Type::Int(_) | Type::Pointer(_)) => self.number(*value, to.clone(), span),
            (ExprKind::Int(value), Type::Float(size)) => self.float(*value as f64, *size, span),
            (ExprKind::Float(value), Type::Float(size)) => self.float(*value, *size, span),
            (ExprKind::Float(value), Type::Int(Int { bits: 1, .. })) => {
                self.number(i128::from(*value != 0.0), to.clone(), span)
            }
            (ExprKind::Float(value), Type::Int(_)) => self.number(*value as i128, to.clone(), span),
            _ => Expr { kind: ExprKind::Cast(Box::new(expr)), ty: to.clone(), span },
        }
    }

    /// A constant of a floating type.
    pub(super) fn float(&self, value: f64, size: u8, span: Span) -> Expr {
        let value = if size == 4 { f64::from(value as f32) } else { value };
        Expr { kind: ExprKind::Float(value), ty: Type::Float(size), span }
    }

    /// Converts a value as an assignment does. Pointers and integers mix, as gcc only warns of that.
    pub(super) fn convert(&self, expr: Expr, to: &Type) -> Res<Expr> {
        let to = plain(to);
        if expr.ty == *to {
            return Ok(expr);
        }
        let mixes = match (&expr.ty, to) {
            (Type::Float(_), Type::Pointer(_)) | (Type::Pointer(_), Type::Float(_)) => false,
            (from, to) => is_scalar(from) && is_scalar(to),
        };
        if *to == Type::Void || mixes {
            return Ok(self.cast(expr, to));
        }
        let message = format!(
            "a value of type `{}` where one of type `{}` is needed",
            self.show(&expr.ty),
            self.show(to)
        );
        Err(CError { span: expr.span, message })
    }

    /// A type in words.
    pub(super) fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".to_string(),
            Type::Int(Int { bits: 1, .. }) => "_Bool".to_string(),
            Type::Int(kind) => {
                let name = match kind.bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    bits if bits == self.long_bits() => "long",
                    _ => "long long",
                };
                if kind.signed { name.to_string() } else { format!("unsigned {name}") }
            }
            Type::Float(4) => "float".to_string(),
            Type::Float(8) => "double".to_string(),
            Type::Float(_) => "long double".to_string(),
            Type::Pointer(to) => match &**to {
                Type::Function(_) => format!("pointer to {}", self.show(to)),
                to => format!("{} *", self.show(to)),
            },
            Type::Array(element, Some(length)) => format!("{} [{length}]", self.show(element)),
            Type::Array(element, None) => format!("{} []", self.show(element)),
            Type::Function(function) => format!("function that returns {}", self.show(&function.result)),
            Type::Record(RecordId(id)) => match self.unit.records.get(*id) {
                Some(record) if record.union => format!("union {}", record.name),
                Some(record) => format!("struct {}", record.name),
                None => "struct".to_string(),
            },
            Type::Atomic(inner) => format!("_Atomic {}", self.show(inner)),
        }
    }
}
