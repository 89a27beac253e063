//! Values of expressions that depend on inputs, as formulas over bit-vectors.
//!
//! A value is known, or a row of bits that is a signed number within bounds, or a truth value that stands for 0 and 1. Rows
//! are as wide as their bounds need, so that no sum or product is lost; where the program brings a number back into the range
//! of a machine's type, it is computed with the bits of that type and no others. What is known is computed as the
//! [reference](allways_model::program::expression) does.
//!
//! An evaluation does not branch: what goes wrong is noted with its condition ([`Evaluation::wrong`]), and what is not followed
//! any further, a number of more than 64 bits or an index into a large array, makes [`Evaluation::fine`] false.
//!
//! Invariant: under every example in which `fine` and no condition of `wrong` is true, the value is that of the reference.

use allways_model::program::expression::{OPEN, apply_wide};
use allways_model::program::{
    Binary, Expr, LocationId, Machine, Slot, Span, Type, Unary, Value, Violation, Wrong,
};
use allways_smt::bits::{Bit, Bits, Example, Operator, signed};

/// A value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// One that is known.
    Known(Value),
    /// A number.
    Number(Number),
    /// 1 if it is true, else 0.
    Truth(Bit),
}

/// A signed number within bounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Number {
    bit: Bit,
    low: i128,
    high: i128,
}

impl Val {
    /// The value in an example.
    pub fn in_example(self, bits: &Bits, example: &mut Example) -> Value {
        match self {
            Val::Known(value) => value,
            Val::Number(number) => signed(example.value(bits, number.bit), bits.width(number.bit)) as Value,
            Val::Truth(bit) => Value::from(example.value(bits, bit) != 0),
        }
    }

    /// A variable with these bounds, which are a condition unless all its bits are within them.
    pub fn variable(bits: &mut Bits, bit: Bit, low: Value, high: Value) -> (Val, Bit) {
        let value = Number { bit, low: low.into(), high: high.into() };
        let width = bits.width(bit);
        let (least, most) = (bits.number(low.into(), width), bits.number(high.into(), width));
        let below = bits.apply(Operator::Less, bit, least);
        let above = bits.apply(Operator::Less, most, bit);
        let outside = bits.either(below, above);
        let full = (i128::from(low), i128::from(high)) == (-(1 << (width - 1)), (1 << (width - 1)) - 1);
        let within = if full { bits.truth(true) } else { bits.not(outside) };
        (Val::Number(value), within)
    }
}

/// How many bits a signed number within these bounds needs.
pub fn width_of(low: i128, high: i128) -> u32 {
    let bits = |value: i128| 129 - if value < 0 { !value } else { value }.leading_zeros();
    bits(low).max(bits(high)).min(128)
}

/// What an expression is evaluated in.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The values of the shared variables.
    pub shared: &'a [Val],
    /// The values of the local variables.
    pub locals: &'a [Val],
    /// Which thread of its template this is.
    pub this: Value,
    /// The values after the assignment.
    pub next: Option<(&'a [Val], &'a [Val])>,
    /// Where the threads are, in properties.
    pub control: &'a [LocationId],
}

/// The longest array whose elements are told apart by an index that is not known.
const MOST_ELEMENTS: usize = 4096;

/// An evaluation under way.
pub struct Evaluation<'e> {
    /// The terms.
    pub bits: &'e mut Bits,
    /// Gives the variable for a choice, and adds its bounds to what is assumed.
    pub choose: &'e mut dyn FnMut(&mut Bits, &Expr) -> (Val, Bit),
    /// Where it is followed to.
    pub fine: Bit,
    /// What goes wrong, and when.
    pub wrong: Vec<(Bit, Violation)>,
    /// When the part that is evaluated now is evaluated at all.
    guard: Bit,
}

impl<'e> Evaluation<'e> {
    /// One that starts.
    pub fn new(
        bits: &'e mut Bits,
        choose: &'e mut dyn FnMut(&mut Bits, &Expr) -> (Val, Bit),
    ) -> Evaluation<'e> {
        let guard = bits.truth(true);
        Evaluation { bits, choose, fine: guard, wrong: Vec::new(), guard }
    }

    /// From here on it is only looked at where this is true.
    fn require(&mut self, condition: Bit) {
        let never = self.bits.not(condition);
        let broken = self.bits.both(self.guard, never);
        let kept = self.bits.not(broken);
        self.fine = self.bits.both(self.fine, kept);
    }

    /// Goes wrong where this is true.
    fn fail(&mut self, condition: Bit, kind: Wrong, span: Span) {
        let here = self.bits.both(self.guard, condition);
        let when = self.bits.both(self.fine, here);
        if self.bits.known(when) != Some(false) {
            self.wrong.push((when, Violation::at(kind, span)));
        }
        let not = self.bits.not(condition);
        self.require(not);
    }

    /// Is not followed any further.
    fn beyond(&mut self) -> Val {
        let never = self.bits.truth(false);
        self.require(never);
        Val::Known(0)
    }

    /// The value as a number.
    fn number(&mut self, value: Val) -> Number {
        match value {
            Val::Known(value) => {
                let value = i128::from(value);
                Number { bit: self.bits.number(value, width_of(value, value)), low: value, high: value }
            }
            Val::Number(number) => number,
            Val::Truth(bit) => {
                let (one, zero) = (self.bits.number(1, 2), self.bits.number(0, 2));
                Number { bit: self.bits.choice(bit, one, zero), low: 0, high: 1 }
            }
        }
    }

    /// A number as a value, if it is one of 64 bits.
    fn fitting(&mut self, mut number: Number) -> Val {
        let (least, most) = (i128::from(Value::MIN) + 1, i128::from(Value::MAX));
        if number.low < least || number.high > most {
            let width = self.bits.width(number.bit);
            let (low, high) = (self.bits.number(least, width.max(64)), self.bits.number(most, width.max(64)));
            let wide = self.bits.signs(number.bit, width.max(64));
            let below = self.bits.apply(Operator::Less, wide, low);
            let above = self.bits.apply(Operator::Less, high, wide);
            let outside = self.bits.either(below, above);
            let inside = self.bits.not(outside);
            self.require(inside);
            number = Number { bit: wide, low: number.low.max(least), high: number.high.min(most) };
            if number.low > number.high {
                return self.beyond();
            }
        }
        self.settled(number)
    }

    /// A number as a value, with no more bits than it needs.
    fn settled(&mut self, number: Number) -> Val {
        if number.low == number.high {
            return Val::Known(number.low as Value);
        }
        let width = width_of(number.low, number.high).min(self.bits.width(number.bit));
        let bit = self.bits.low(number.bit, width);
        match self.bits.constant(bit) {
            Some(value) => Val::Known(signed(value, width) as Value),
            None => Val::Number(Number { bit, ..number }),
        }
    }

    /// Whether a value is not 0.
    pub fn truth(&mut self, value: Val) -> Bit {
        match value {
            Val::Known(value) => self.bits.truth(value != 0),
            Val::Truth(bit) => bit,
            Val::Number(number) if number.low > 0 || number.high < 0 => self.bits.truth(true),
            Val::Number(number) => {
                let zero = self.bits.number(0, self.bits.width(number.bit));
                let is_zero = self.bits.equal(number.bit, zero);
                self.bits.not(is_zero)
            }
        }
    }

    /// A truth value as a value.
    fn of_truth(&self, bit: Bit) -> Val {
        self.bits.known(bit).map_or(Val::Truth(bit), |value| Val::Known(value.into()))
    }

    /// One value or another.
    pub fn choice(&mut self, condition: Bit, then: Val, other: Val) -> Val {
        match self.bits.known(condition) {
            Some(true) => return then,
            Some(false) => return other,
            None if then == other => return then,
            None => {}
        }
        let truth = |bits: &mut Bits, value| match value {
            Val::Known(value @ (0 | 1)) => Some(bits.truth(value != 0)),
            Val::Truth(bit) => Some(bit),
            _ => None,
        };
        if let (Some(then), Some(other)) = (truth(self.bits, then), truth(self.bits, other)) {
            let bit = self.bits.choice(condition, then, other);
            return self.of_truth(bit);
        }
        let (then, other) = (self.number(then), self.number(other));
        let width = self.bits.width(then.bit).max(self.bits.width(other.bit));
        let (left, right) = (self.bits.signs(then.bit, width), self.bits.signs(other.bit, width));
        let bit = self.bits.choice(condition, left, right);
        Val::Number(Number { bit, low: then.low.min(other.low), high: then.high.max(other.high) })
    }

    /// The value of an expression.
    pub fn value(&mut self, expr: &Expr, scope: &Scope<'_>) -> Val {
        match expr {
            Expr::Constant(value) => Val::Known(*value),
            Expr::Shared(slot) => self.read(scope.shared[*slot]),
            Expr::Local(slot) => self.read(scope.locals[*slot]),
            Expr::SharedElement(slot, length, index, span) => {
                self.element(scope.shared, *slot, *length, index, *span, scope)
            }
            Expr::LocalElement(slot, length, index, span) => {
                self.element(scope.locals, *slot, *length, index, *span, scope)
            }
            Expr::NextShared(slot) => self.read(scope.next.map_or(scope.shared, |next| next.0)[*slot]),
            Expr::NextLocal(slot) => scope.next.map_or(scope.locals, |next| next.1)[*slot],
            Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => Val::Known(0),
            Expr::This => Val::Known(scope.this),
            Expr::Choose(low, high) if low >= high => Val::Known(*low),
            Expr::Choose(..) => {
                let (value, within) = (self.choose)(self.bits, expr);
                self.fine = self.bits.both(self.fine, within);
                value
            }
            Expr::At(locations) => Val::Known(
                scope.control.iter().filter(|location| locations.contains(location)).count() as Value,
            ),
            Expr::Unary(Unary::Not, operand) => {
                let operand = self.value(operand, scope);
                let truth = self.truth(operand);
                let not = self.bits.not(truth);
                self.of_truth(not)
            }
            Expr::Unary(Unary::Minus, operand) => {
                let operand = self.value(operand, scope);
                let exact = self.exact(Binary::Minus, Val::Known(0), operand, Span::default());
                self.fitting_or_known(exact)
            }
            Expr::Unary(Unary::Wrap(machine), operand) => self.wrapped(*machine, operand, scope),
            Expr::Binary(Binary::And, left, right, _) => {
                let left = self.value(left, scope);
                let condition = self.truth(left);
                let right = self.under(condition, right, scope);
                self.choice(condition, right, Val::Known(0))
            }
            Expr::Binary(Binary::Or, left, right, _) => {
                let left = self.value(left, scope);
                let condition = self.truth(left);
                let not = self.bits.not(condition);
                let right = self.under(not, right, scope);
                self.choice(condition, Val::Known(1), right)
            }
            Expr::Binary(operator, left, right, span) => {
                let (left, right) = (self.value(left, scope), self.value(right, scope));
                let exact = self.exact(*operator, left, right, *span);
                self.fitting_or_known(exact)
            }
            Expr::If(condition, then, other) => {
                let condition = self.value(condition, scope);
                let condition = self.truth(condition);
                let then = self.under(condition, then, scope);
                let not = self.bits.not(condition);
                let other = self.under(not, other, scope);
                self.choice(condition, then, other)
            }
        }
    }

    /// The value of a variable, unless it never got one.
    fn read(&mut self, value: Val) -> Val {
        if value == Val::Known(OPEN) { self.beyond() } else { value }
    }

    /// The value of a part that is evaluated only where a condition is true.
    fn under(&mut self, condition: Bit, expr: &Expr, scope: &Scope<'_>) -> Val {
        let outer = self.guard;
        self.guard = self.bits.both(outer, condition);
        let value = match self.bits.known(self.guard) {
            Some(false) => Val::Known(0),
            _ => self.value(expr, scope),
        };
        self.guard = outer;
        value
    }

    /// The result of an operator before it is brought back into any range: known with more bits, or a number.
    fn exact(&mut self, operator: Binary, left: Val, right: Val, span: Span) -> Result<i128, Number> {
        if let (Val::Known(left), Val::Known(right)) = (left, right) {
            let division = matches!(operator, Binary::Divide | Binary::Remainder);
            return match apply_wide(operator, left, right, span) {
                Ok(value) => Ok(value),
                Err(_) if division => {
                    let always = self.bits.truth(true);
                    self.fail(always, Wrong::Division, span);
                    Ok(0)
                }
                Err(_) => {
                    self.beyond();
                    Ok(0)
                }
            };
        }
        if let Some(truth) = self.comparison(operator, left, right) {
            return match self.of_truth(truth) {
                Val::Known(value) => Ok(value.into()),
                value => Err(self.number(value)),
            };
        }
        let (left, right) = (self.number(left), self.number(right));
        Err(self.computed(operator, left, right, span))
    }

    /// The truth value of a comparison.
    fn comparison(&mut self, operator: Binary, left: Val, right: Val) -> Option<Bit> {
        if matches!(operator, Binary::Equal | Binary::Unequal) {
            let truth = |value| match value {
                Val::Known(value @ (0 | 1)) => Some(Ok(value)),
                Val::Truth(bit) => Some(Err(bit)),
                _ => None,
            };
            if let (Some(Err(bit)), Some(Ok(value))) | (Some(Ok(value)), Some(Err(bit))) =
                (truth(left), truth(right))
            {
                let same = (operator == Binary::Equal) == (value == 1);
                return Some(if same { bit } else { self.bits.not(bit) });
            }
        }
        let (operator, swap, negate) = match operator {
            Binary::Equal => (Operator::Equal, false, false),
            Binary::Unequal => (Operator::Equal, false, true),
            Binary::Less => (Operator::Less, false, false),
            Binary::Greater => (Operator::Less, true, false),
            Binary::LessEqual => (Operator::Less, true, true),
            Binary::GreaterEqual => (Operator::Less, false, true),
            _ => return None,
        };
        let (left, right) = if swap { (right, left) } else { (left, right) };
        let (left, right) = (self.number(left), self.number(right));
        let decided = match operator {
            Operator::Equal if left.high < right.low || right.high < left.low => Some(false),
            Operator::Less if left.high < right.low => Some(true),
            Operator::Less if left.low >= right.high => Some(false),
            _ => None,
        };
        let result = match decided {
            Some(value) => self.bits.truth(value),
            None => {
                let width = self.bits.width(left.bit).max(self.bits.width(right.bit));
                let (left, right) = (self.bits.signs(left.bit, width), self.bits.signs(right.bit, width));
                self.bits.apply(operator, left, right)
            }
        };
        Some(if negate { self.bits.not(result) } else { result })
    }

    /// The result of an operator on numbers, with as many bits as it needs.
    fn computed(&mut self, operator: Binary, left: Number, right: Number, span: Span) -> Number {
        let corners = |of: &dyn Fn(i128, i128) -> i128, right: (i128, i128)| {
            let all = [
                of(left.low, right.0),
                of(left.low, right.1),
                of(left.high, right.0),
                of(left.high, right.1),
            ];
            (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
        };
        let both = (right.low, right.high);
        let own = self.bits.width(left.bit).max(self.bits.width(right.bit));
        let whole = (-(1 << (own - 1)), (1 << (own - 1)) - 1);
        let positive = left.low >= 0 && right.low >= 0;
        let (operator, (low, high)) = match operator {
            Binary::Plus => (Operator::Add, (left.low + right.low, left.high + right.high)),
            Binary::Minus => (Operator::Sub, (left.low - right.high, left.high - right.low)),
            Binary::Times => (Operator::Mul, corners(&|one, other| one * other, both)),
            Binary::Divide | Binary::Remainder => {
                let is_not_zero = self.truth(Val::Number(right));
                let is_zero = self.bits.not(is_not_zero);
                self.fail(is_zero, Wrong::Division, span);
                let most = left.low.abs().max(left.high.abs());
                let least = if left.low >= 0 { 0 } else { -most };
                match operator {
                    Binary::Remainder => (Operator::Rem, (least, if left.high <= 0 { 0 } else { left.high })),
                    _ if positive => (Operator::Div, (0, left.high)),
                    _ => (Operator::Div, (-most, most)),
                }
            }
            Binary::BitAnd if left.low >= 0 || right.low >= 0 => {
                let bounds = [left, right].into_iter().filter(|part| part.low >= 0).map(|part| part.high);
                (Operator::And, (0, bounds.min().unwrap_or(0)))
            }
            Binary::BitAnd => (Operator::And, whole),
            Binary::BitOr => (Operator::Or, if positive { (0, whole.1) } else { whole }),
            Binary::BitXor => (Operator::Xor, if positive { (0, whole.1) } else { whole }),
            _ => {
                // A shift; by how far is bounded as in the reference.
                let (zero, most) = (Val::Known(0), Val::Known(63));
                for (one, other) in [(Val::Number(right), zero), (most, Val::Number(right))] {
                    if let Some(outside) = self.comparison(Binary::Less, one, other) {
                        let inside = self.bits.not(outside);
                        self.require(inside);
                    }
                }
                let by = (right.low.clamp(0, 63), right.high.clamp(0, 63));
                match operator {
                    Binary::ShiftLeft => (Operator::Shl, corners(&|one, by| one << by, by)),
                    _ => (Operator::Shr, corners(&|one, by| one >> by, by)),
                }
            }
        };
        // Divided, the least number has one bit more; a shift is told by seven bits.
        let width = (width_of(low, high).max(own) + 1).clamp(8, 128);
        let (left, right) = (self.bits.resize(left.bit, width), self.bits.resize(right.bit, width));
        Number { bit: self.bits.apply(operator, left, right), low, high }
    }

    fn fitting_or_known(&mut self, result: Result<i128, Number>) -> Val {
        match result {
            Ok(value) => match Value::try_from(value) {
                Ok(value) => Val::Known(value),
                Err(_) => self.beyond(),
            },
            Err(number) => match self.as_truth(number) {
                Some(truth) => Val::Truth(truth),
                None => self.fitting(number),
            },
        }
    }

    /// The truth value that a number was made of.
    fn as_truth(&self, number: Number) -> Option<Bit> {
        if (number.low, number.high) == (0, 1) { self.bits.chosen(number.bit) } else { None }
    }

    /// The value of an expression in the range of a machine's type.
    fn wrapped(&mut self, machine: Machine, operand: &Expr, scope: &Scope<'_>) -> Val {
        let bits = u32::from(machine.bits);
        let bounds = machine.bounds();
        let zero = Expr::Constant(0);
        let operation = match operand {
            Expr::Unary(Unary::Minus, part) => Some((Binary::Minus, &zero, &**part, Span::default())),
            Expr::Binary(operator, left, right, span) if !matches!(operator, Binary::And | Binary::Or) => {
                Some((*operator, &**left, &**right, *span))
            }
            _ => None,
        };
        let exact = match operation {
            None => match self.value(operand, scope) {
                Val::Known(value) => Ok(value.into()),
                Val::Truth(bit) => {
                    return if bits > 1 || !machine.signed { Val::Truth(bit) } else { self.beyond() };
                }
                Val::Number(number) => Err(number),
            },
            Some((operator, left, right, span)) => {
                let (left, right) = (self.value(left, scope), self.value(right, scope));
                match self.exact(operator, left, right, span) {
                    Err(number) if number.low < bounds.0 || number.high > bounds.1 => {
                        // With the bits of the type and no others.
                        let ring = match operator {
                            Binary::Plus => Some(Operator::Add),
                            Binary::Minus => Some(Operator::Sub),
                            Binary::Times => Some(Operator::Mul),
                            _ => None,
                        };
                        Err(match ring {
                            Some(ring) => {
                                let (left, right) = (self.number(left), self.number(right));
                                let left = self.bits.resize(left.bit, bits);
                                let right = self.bits.resize(right.bit, bits);
                                Number { bit: self.bits.apply(ring, left, right), ..number }
                            }
                            None => number,
                        })
                    }
                    other => other,
                }
            }
        };
        match exact {
            Ok(value) => {
                let wrapped = machine.wrap(value);
                match Value::try_from(wrapped).ok().filter(|&value| value != OPEN) {
                    Some(value) => Val::Known(value),
                    None => self.beyond(),
                }
            }
            Err(number) => {
                if let Some(truth) = self.as_truth(number).filter(|_| bits > 1 || !machine.signed) {
                    return Val::Truth(truth);
                }
                if number.low >= bounds.0 && number.high <= bounds.1 {
                    return self.fitting(number);
                }
                let low = self.bits.resize(number.bit, bits);
                let bit = if machine.signed { low } else { self.bits.zeros(low, bits + 1) };
                self.fitting(Number { bit, low: bounds.0, high: bounds.1 })
            }
        }
    }

    /// Where an index may point: the one element, or those between bounds by a number.
    pub fn index(&mut self, index: Val, length: usize, span: Span) -> Index {
        let length = length as i128;
        let number = match index {
            Val::Known(value) => {
                return match usize::try_from(value).ok().filter(|&index| (index as i128) < length) {
                    Some(index) => Index::At(index),
                    None => {
                        let always = self.bits.truth(true);
                        self.fail(always, Wrong::Index, span);
                        Index::Nowhere
                    }
                };
            }
            other => self.number(other),
        };
        let value = Val::Number(number);
        let below = self.comparison(Binary::Less, value, Val::Known(0));
        let above = self.comparison(Binary::GreaterEqual, value, Val::Known(length as Value));
        if let (Some(below), Some(above)) = (below, above) {
            let outside = self.bits.either(below, above);
            self.fail(outside, Wrong::Index, span);
        }
        let (low, high) = (number.low.max(0), number.high.min(length - 1));
        if low > high {
            return Index::Nowhere;
        }
        if high - low >= MOST_ELEMENTS as i128 {
            self.beyond();
            return Index::Nowhere;
        }
        Index::Between(number, low as usize, high as usize)
    }

    fn element(
        &mut self,
        values: &[Val],
        slot: Slot,
        length: usize,
        index: &Expr,
        span: Span,
        scope: &Scope<'_>,
    ) -> Val {
        let index = self.value(index, scope);
        match self.index(index, length, span) {
            Index::Nowhere => Val::Known(0),
            Index::At(index) => self.read(values[slot + index]),
            Index::Between(number, low, high) => {
                let value = self.among(&values[slot..slot + length], number, low, high);
                self.read(value)
            }
        }
    }

    /// The element that a number between bounds points to.
    fn among(&mut self, values: &[Val], index: Number, low: usize, high: usize) -> Val {
        if values[low..=high].iter().all(|value| *value == values[low]) {
            return values[low];
        }
        let middle = low + (high - low).div_ceil(2);
        let (one, other) =
            (self.among(values, index, low, middle - 1), self.among(values, index, middle, high));
        match self.comparison(Binary::Less, Val::Number(index), Val::Known(middle as Value)) {
            Some(before) => self.choice(before, one, other),
            None => one,
        }
    }

    /// Whether a number is this one.
    pub fn is(&mut self, number: Number, value: Value) -> Bit {
        let same = self.comparison(Binary::Equal, Val::Number(number), Val::Known(value));
        same.unwrap_or_else(|| self.bits.truth(false))
    }

    /// A value that is stored where values have a type: it goes wrong if it has another.
    pub fn stored(&mut self, value: Val, ty: Type, span: Span) -> Val {
        let Some((low, high)) = ty.bounds() else { return value };
        if let Val::Known(known) = value {
            if !ty.contains(known) {
                let always = self.bits.truth(true);
                self.fail(always, Wrong::Range, span);
            }
            return value;
        }
        let number = self.number(value);
        if number.low >= low.into() && number.high <= high.into() {
            return value;
        }
        let below = self.comparison(Binary::Less, value, Val::Known(low));
        let above = self.comparison(Binary::Greater, value, Val::Known(high));
        if let (Some(below), Some(above)) = (below, above) {
            let outside = self.bits.either(below, above);
            self.fail(outside, Wrong::Range, span);
        }
        let (low, high) = (number.low.max(low.into()), number.high.min(high.into()));
        if low > high { Val::Known(0) } else { self.settled(Number { low, high, ..number }) }
    }
}

/// Where an index points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// To no element.
    Nowhere,
    /// To this one.
    At(usize),
    /// To one between the second and the third.
    Between(Number, usize, usize),
}
