//! Expressions in C and in Boogie, which differ in little.

use super::super::variables::{Sort, Variables, sort_of};
use super::bounds;
use allways_model::program::{Binary, Expr, Place, Target, Type, Unary, Value};
use std::cell::Cell;

/// Which of the two languages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    C,
    Boogie,
}

/// How expressions are written.
pub struct Speaker<'a> {
    dialect: Dialect,
    shared: &'a Variables,
    /// Whether a number may need more than 64 bits.
    pub wide: Cell<bool>,
    /// Whether something is divided.
    pub divides: Cell<bool>,
}

impl<'a> Speaker<'a> {
    pub fn new(dialect: Dialect, shared: &'a Variables) -> Speaker<'a> {
        Speaker { dialect, shared, wide: Cell::new(false), divides: Cell::new(false) }
    }

    /// An expression of a sort.
    pub fn expression(&self, expr: &Expr, sort: Sort, locals: &Variables) -> String {
        let text = self.operand(expr, sort, locals);
        let outer = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        outer.filter(|inner| balanced(inner)).map_or(text.clone(), str::to_string)
    }

    /// The arguments of a call.
    pub fn arguments(&self, arguments: &[(Expr, Type)], locals: &Variables) -> String {
        let one = |(argument, ty): &(Expr, Type)| self.expression(argument, sort_of(*ty), locals);
        arguments.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// What is assigned.
    pub fn place(&self, place: &Place, locals: &Variables) -> String {
        let element =
            |array: &String, index| format!("{array}[{}]", self.expression(index, Sort::Number, locals));
        match &place.target {
            Target::Shared(slot) => self.shared.slots[*slot].clone(),
            Target::Local(slot) | Target::Others(slot) => locals.slots[*slot].clone(),
            Target::SharedElement(slot, _, index) => element(&self.shared.arrays[slot], index),
            Target::LocalElement(slot, _, index) => element(&locals.arrays[slot], index),
        }
    }

    /// A value of a type.
    pub fn constant(&self, value: Value, sort: Sort) -> String {
        match (sort, value) {
            (Sort::Bool, value) => (value != 0).to_string(),
            // In C, its opposite is no number.
            (Sort::Number, Value::MIN) if self.dialect == Dialect::C => format!("({} - 1)", Value::MIN + 1),
            (Sort::Number, value) if value < 0 => format!("({value})"),
            (Sort::Number, value) => value.to_string(),
        }
    }

    /// An expression that can stand next to any operator.
    fn operand(&self, expr: &Expr, sort: Sort, locals: &Variables) -> String {
        let part = |expr, sort| self.operand(expr, sort, locals);
        let fits = |expr| bounds(expr, self.shared, locals).is_some();
        match expr {
            Expr::Constant(value) => self.constant(*value, sort),
            Expr::Shared(slot) => self.shared.slots[*slot].clone(),
            Expr::Local(slot) => locals.slots[*slot].clone(),
            Expr::SharedElement(slot, _, index, _) => {
                format!("{}[{}]", self.shared.arrays[slot], self.expression(index, Sort::Number, locals))
            }
            Expr::LocalElement(slot, _, index, _) => {
                format!("{}[{}]", locals.arrays[slot], self.expression(index, Sort::Number, locals))
            }
            Expr::Unary(Unary::Not, operand) => format!("!{}", part(operand, Sort::Bool)),
            // Machine integers were refused before.
            Expr::Unary(Unary::Minus | Unary::Wrap(_), operand) => {
                self.fitting(fits(expr), "0", "-", &part(operand, Sort::Number))
            }
            Expr::Binary(operator, left, right, _) => {
                let sort = Sort::of_binary(*operator)
                    .unwrap_or_else(|| Sort::of_operands(left, right, self.shared, locals));
                // Next to a comparison, compilers warn of `!`.
                let apart = |text: String| if text.starts_with('!') { format!("({text})") } else { text };
                let text = (apart(part(left, sort)), apart(part(right, sort)));
                match operator {
                    // It was asserted that this is not evaluated.
                    Binary::Divide | Binary::Remainder if **right == Expr::Constant(0) => "0".to_string(),
                    Binary::Divide | Binary::Remainder if self.dialect == Dialect::Boogie => {
                        self.divides.set(true);
                        let name = if *operator == Binary::Divide { DIVIDE } else { REMAINDER };
                        format!("{name}({}, {})", text.0, text.1)
                    }
                    Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => {
                        self.fitting(fits(expr), &text.0, symbol(*operator), &text.1)
                    }
                    _ => format!("({} {} {})", text.0, symbol(*operator), text.1),
                }
            }
            Expr::If(condition, then, other) => {
                let condition = part(condition, Sort::Bool);
                let (then, other) = (part(then, sort), part(other, sort));
                match self.dialect {
                    // Two literals would be of the smaller type.
                    Dialect::C if sort == Sort::Number => {
                        format!("({condition} ? (long long) {then} : (long long) {other})")
                    }
                    Dialect::C => format!("({condition} ? {then} : {other})"),
                    Dialect::Boogie => format!("(if {condition} then {then} else {other})"),
                }
            }
            // Lowering leaves none of these.
            Expr::This
            | Expr::Choose(..)
            | Expr::At(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_)
            | Expr::NextShared(_)
            | Expr::NextLocal(_) => "0".to_string(),
        }
    }

    /// Arithmetic; in C, with a test if the value is not sure to fit.
    fn fitting(&self, fits: bool, left: &str, symbol: &str, right: &str) -> String {
        if fits || self.dialect == Dialect::Boogie {
            return format!("({left} {symbol} {right})");
        }
        self.wide.set(true);
        format!("{NUMBER}((__int128) {left} {symbol} {right})")
    }
}

/// The function that tests whether a number fits into 64 bits, in C.
pub const NUMBER: &str = "number";

/// The functions that round towards zero, in Boogie.
pub const DIVIDE: &str = "divide";
pub const REMAINDER: &str = "remainder";

fn balanced(text: &str) -> bool {
    let mut depth = 0;
    text.chars().all(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth >= 0
    })
}

fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::And => "&&",
        Binary::Or => "||",
        Binary::Equal => "==",
        Binary::Unequal => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
        Binary::Plus => "+",
        Binary::Minus => "-",
        Binary::Times => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::BitAnd => "&",
        Binary::BitOr => "|",
        Binary::BitXor => "^",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
    }
}
