//! Between which numbers the value of an expression lies, and what it is if there is only one.

use super::super::variables::Variables;
use allways_model::program::defined::and;
use allways_model::program::{Binary, Expr, Unary, Value};

/// The least and the greatest value that an expression without choices can have, as far as types tell, if all its parts are
/// sure to fit into 64 bits.
pub fn bounds(expr: &Expr, shared: &Variables, locals: &Variables) -> Option<(Value, Value)> {
    let part = |expr| bounds(expr, shared, locals).map(|(low, high)| (i128::from(low), i128::from(high)));
    let narrow = |low: i128, high: i128| Some((Value::try_from(low).ok()?, Value::try_from(high).ok()?));
    match expr {
        Expr::Constant(value) => Some((*value, *value)),
        Expr::Shared(slot) => shared.types[*slot].bounds(),
        Expr::Local(slot) => locals.types[*slot].bounds(),
        // Indices must fit, too.
        Expr::SharedElement(slot, _, index, _) => part(index).and(shared.types[*slot].bounds()),
        Expr::LocalElement(slot, _, index, _) => part(index).and(locals.types[*slot].bounds()),
        Expr::Unary(Unary::Minus, operand) => part(operand).and_then(|(low, high)| narrow(-high, -low)),
        Expr::Unary(Unary::Wrap(_), _) => None,
        Expr::Unary(Unary::Not, operand) => part(operand).map(|(low, high)| truth(high == 0, low == 1)),
        Expr::Binary(operator, left, right, _) => {
            let ((low, high), (least, greatest)) = (part(left)?, part(right)?);
            match operator {
                Binary::Plus => narrow(low + least, high + greatest),
                Binary::Minus => narrow(low - greatest, high - least),
                Binary::Times => {
                    let corners = [low * least, low * greatest, high * least, high * greatest];
                    narrow(corners.into_iter().min()?, corners.into_iter().max()?)
                }
                // Neither gets further from zero than the left operand.
                Binary::Divide | Binary::Remainder => {
                    let most = low.abs().max(high.abs());
                    narrow(-most, most)
                }
                Binary::Less => Some(truth(high < least, low >= greatest)),
                Binary::GreaterEqual => Some(truth(low >= greatest, high < least)),
                Binary::LessEqual => Some(truth(high <= least, low > greatest)),
                Binary::Greater => Some(truth(low > greatest, high <= least)),
                Binary::Equal => {
                    Some(truth(low == greatest && high == least, high < least || low > greatest))
                }
                Binary::Unequal => {
                    Some(truth(high < least || low > greatest, low == greatest && high == least))
                }
                Binary::BitAnd | Binary::BitOr | Binary::BitXor | Binary::ShiftLeft | Binary::ShiftRight => {
                    None
                }
                Binary::And => Some(truth(low == 1 && least == 1, high == 0 || greatest == 0)),
                Binary::Or => Some(truth(low == 1 || least == 1, high == 0 && greatest == 0)),
            }
        }
        Expr::If(condition, then, other) => {
            part(condition)?;
            let ((low, high), (least, greatest)) = (part(then)?, part(other)?);
            narrow(low.min(least), high.max(greatest))
        }
        Expr::This
        | Expr::Choose(..)
        | Expr::At(_)
        | Expr::OtherLocal(_)
        | Expr::NextOtherLocal(_)
        | Expr::NextShared(_)
        | Expr::NextLocal(_) => None,
    }
}

/// An expression with the parts that can have one value only replaced by it.
pub fn folded(expr: &Expr, shared: &Variables, locals: &Variables) -> Expr {
    let part = |expr| Box::new(folded(expr, shared, locals));
    if let Some((low, high)) = bounds(expr, shared, locals)
        && low == high
    {
        return Expr::Constant(low);
    }
    match expr {
        Expr::SharedElement(slot, length, index, span) => {
            Expr::SharedElement(*slot, *length, part(index), *span)
        }
        Expr::LocalElement(slot, length, index, span) => {
            Expr::LocalElement(*slot, *length, part(index), *span)
        }
        Expr::Unary(operator, operand) => Expr::Unary(*operator, part(operand)),
        Expr::Binary(Binary::And, left, right, _) => and(*part(left), *part(right)),
        Expr::Binary(operator, left, right, span) => Expr::Binary(*operator, part(left), part(right), *span),
        Expr::If(condition, then, other) => Expr::If(part(condition), part(then), part(other)),
        _ => expr.clone(),
    }
}

/// The bounds of a Boolean that may be known to be true, or to be false.
fn truth(sure: bool, never: bool) -> (Value, Value) {
    (Value::from(sure), Value::from(!never))
}
