//! When an expression has a value, as an expression.

use super::{Binary, Expr, Span, Type, Unary};

/// An operator between expressions, at no place.
pub fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

/// Both, as short as can be.
pub fn and(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Constant(1), other) | (other, Expr::Constant(1)) => other,
        (left, right) => binary(Binary::And, left, right),
    }
}

/// Either.
pub fn or(left: Expr, right: Expr) -> Expr {
    binary(Binary::Or, left, right)
}

/// The opposite.
pub fn not(expr: Expr) -> Expr {
    Expr::Unary(Unary::Not, Box::new(expr))
}

/// Whether two values are the same.
pub fn equal(left: Expr, right: Expr) -> Expr {
    binary(Binary::Equal, left, right)
}

/// Whether there is a choice in an expression.
pub fn chooses(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |part| found |= matches!(part, Expr::Choose(..)));
    found
}

/// Whether every index in an expression is one, and no divisor is zero.
pub fn defined(expr: &Expr) -> Expr {
    match expr {
        Expr::SharedElement(_, length, index, _) | Expr::LocalElement(_, length, index, _) => {
            let last = i64::try_from(*length).unwrap_or(i64::MAX) - 1;
            and(defined(index), fits(index, Type::Range(0, last)))
        }
        Expr::Unary(_, operand) => defined(operand),
        Expr::Binary(operator, left, right, _) => {
            let needed = match operator {
                Binary::Divide | Binary::Remainder => {
                    and(defined(right), binary(Binary::Unequal, (**right).clone(), Expr::Constant(0)))
                }
                // The right one is evaluated only if the left one does not decide.
                Binary::And => implies((**left).clone(), defined(right)),
                Binary::Or => implies(not((**left).clone()), defined(right)),
                _ => defined(right),
            };
            and(defined(left), needed)
        }
        Expr::If(condition, yes, no) => {
            let (yes, no) = (defined(yes), defined(no));
            let taken = match (&yes, &no) {
                (Expr::Constant(1), Expr::Constant(1)) => Expr::Constant(1),
                _ => Expr::If(condition.clone(), Box::new(yes), Box::new(no)),
            };
            and(defined(condition), taken)
        }
        _ => Expr::Constant(1),
    }
}

fn implies(premise: Expr, conclusion: Expr) -> Expr {
    match conclusion {
        Expr::Constant(1) => Expr::Constant(1),
        conclusion => or(not(premise), conclusion),
    }
}

/// Whether the value of an expression is one of a type.
pub fn fits(expr: &Expr, ty: Type) -> Expr {
    let (Type::Range(low, high), expr) = (ty, expr) else { return Expr::Constant(1) };
    match expr {
        Expr::Constant(value) if ty.contains(*value) => Expr::Constant(1),
        Expr::Choose(least, greatest) if low <= *least && *greatest <= high => Expr::Constant(1),
        expr => and(
            binary(Binary::LessEqual, Expr::Constant(low), expr.clone()),
            binary(Binary::LessEqual, expr.clone(), Expr::Constant(high)),
        ),
    }
}
