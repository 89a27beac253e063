//! Expressions of the `.aw` language, in which Booleans and numbers do not mix.

use super::super::variables::{Sort, Variables, sort_of};
use super::super::{Written, refuse};
use super::{Writer, constant};
use allways_model::program::{Binary, Expr, LockPlace, Place, Span, Target, Type, Unary};

/// How tightly the operands of comparisons bind.
const COMPARISON: u8 = 5;

/// How tightly an operand of `!` or `-` binds.
const TIGHTEST: u8 = 7;

impl Writer<'_> {
    /// An expression of a sort.
    pub fn expression(&self, expr: &Expr, locals: &Variables, sort: Sort, span: Span) -> Written<String> {
        self.tight(expr, locals, sort, span, 0)
    }

    /// An expression whose value is stored in something of a type.
    pub fn stored(&self, expr: &Expr, locals: &Variables, ty: Type, span: Span) -> Written<String> {
        match expr {
            Expr::Choose(low, high) if ty.bounds() == Some((*low, *high)) => Ok("*".to_string()),
            // Else it would be any value of the type.
            Expr::Choose(..) => Ok(format!("({})", self.expression(expr, locals, sort_of(ty), span)?)),
            _ => self.expression(expr, locals, sort_of(ty), span),
        }
    }

    /// What is assigned.
    pub fn place(&self, place: &Place, locals: &Variables) -> Written<String> {
        let element = |variables: &Variables, slot, index| {
            let index = self.expression(index, locals, Sort::Number, place.span)?;
            Ok(format!("{}[{index}]", variables.arrays[slot]))
        };
        match &place.target {
            Target::Shared(slot) => Ok(self.shared.slots[*slot].clone()),
            Target::Local(slot) => Ok(locals.slots[*slot].clone()),
            Target::SharedElement(slot, _, index) => element(&self.shared, slot, index),
            Target::LocalElement(slot, _, index) => element(locals, slot, index),
            Target::Others(_) => refuse(place.span, "the local variables of other threads are assigned"),
        }
    }

    /// A lock.
    pub fn lock(&self, lock: &LockPlace, locals: &Variables) -> Written<String> {
        match &lock.element {
            None => Ok(self.shared.slots[lock.slot].clone()),
            Some((_, index)) => {
                let index = self.expression(index, locals, Sort::Number, lock.span)?;
                Ok(format!("{}[{index}]", self.shared.arrays[&lock.slot]))
            }
        }
    }

    /// An expression that stands where operators bind at least so tightly.
    fn tight(&self, expr: &Expr, locals: &Variables, sort: Sort, span: Span, least: u8) -> Written<String> {
        let part = |expr, sort, least| self.tight(expr, locals, sort, span, least);
        let element = |variables: &Variables, slot, index| {
            Ok(format!("{}[{}]", variables.arrays[slot], part(index, Sort::Number, 0)?))
        };
        Ok(match expr {
            Expr::Constant(value) if sort == Sort::Bool => constant(*value, Type::Bool),
            // Next to arithmetic, a minus sign is easily misread.
            Expr::Constant(value) if *value < 0 && least > COMPARISON => {
                format!("({})", constant(*value, Type::Int))
            }
            Expr::Constant(value) => constant(*value, Type::Int),
            Expr::Shared(slot) => self.shared.slots[*slot].clone(),
            Expr::Local(slot) => locals.slots[*slot].clone(),
            Expr::SharedElement(slot, _, index, _) => element(&self.shared, slot, index)?,
            Expr::LocalElement(slot, _, index, _) => element(locals, slot, index)?,
            Expr::OtherLocal(slot) => format!("other.{}", locals.slots[*slot]),
            Expr::This => "self".to_string(),
            Expr::Choose(0, 1) if sort == Sort::Bool => "*".to_string(),
            Expr::Choose(0, 1) => "(* ? 1 : 0)".to_string(),
            Expr::Choose(..) => return refuse(span, "a number is chosen inside an expression"),
            Expr::At(locations) => {
                // Inside atomic sections no thread is ever seen.
                let seen = locations.iter().filter(|location| self.visible.contains(location));
                let counts: Vec<String> =
                    seen.map(|&location| format!("at({})", self.labels[location.index()])).collect();
                match &counts[..] {
                    [] => "0".to_string(),
                    [only] => only.clone(),
                    _ => format!("({})", counts.join(" + ")),
                }
            }
            Expr::Unary(operator, operand) => {
                let symbol = if *operator == Unary::Not { "!" } else { "-" };
                let operand = part(operand, Sort::of_unary(*operator), TIGHTEST)?;
                // Two minus signs in a row would be something else to a person.
                if operand.starts_with('-') {
                    format!("{symbol}({operand})")
                } else {
                    format!("{symbol}{operand}")
                }
            }
            Expr::Binary(operator, left, right, _) => {
                let (symbol, tightness) = symbol(*operator);
                let operands = Sort::of_binary(*operator)
                    .unwrap_or_else(|| Sort::of_operands(left, right, &self.shared, locals));
                let text = format!(
                    "{} {symbol} {}",
                    part(left, operands, tightness)?,
                    part(right, operands, tightness + 1)?
                );
                if tightness < least { format!("({text})") } else { text }
            }
            Expr::If(condition, then, other) => {
                let (condition, then, other) =
                    (part(condition, Sort::Bool, 1)?, part(then, sort, 1)?, part(other, sort, 1)?);
                format!("({condition} ? {then} : {other})")
            }
            Expr::NextShared(_) | Expr::NextLocal(_) | Expr::NextOtherLocal(_) => {
                return refuse(span, "a value afterwards, before there is one");
            }
        })
    }
}

/// How an operator is written, and how tightly it binds.
fn symbol(operator: Binary) -> (&'static str, u8) {
    match operator {
        Binary::Or => ("||", 1),
        Binary::And => ("&&", 2),
        Binary::Equal => ("==", 3),
        Binary::Unequal => ("!=", 3),
        Binary::Less => ("<", 4),
        Binary::LessEqual => ("<=", 4),
        Binary::Greater => (">", 4),
        Binary::GreaterEqual => (">=", 4),
        Binary::Plus => ("+", 5),
        Binary::Minus => ("-", 5),
        Binary::Times => ("*", 6),
        Binary::Divide => ("/", 6),
        Binary::Remainder => ("%", 6),
        // Refused before.
        Binary::BitAnd => ("&", 6),
        Binary::BitOr => ("|", 6),
        Binary::BitXor => ("^", 6),
        Binary::ShiftLeft => ("<<", 6),
        Binary::ShiftRight => (">>", 6),
    }
}
