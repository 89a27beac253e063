//! Expressions, and their evaluation.
//!
//! An expression may contain choices. It is evaluated against [`Choices`], which answers each choice and knows when all
//! answers have been tried: [`Choices::each`] runs an evaluation once for every way of choosing. Evaluation goes from
//! left to right, and `&&`, `||` and `?:` evaluate only what they need, as in C.
//!
//! Numbers are mathematical. The integers of a machine are numbers that are brought back into their range after every
//! operation, by [`Unary::Wrap`]; what it is applied to is computed with 128 bits, so that no sum or product is lost.

use super::{LocationId, Slot, Span, Value, Violation, Wrong};

/// An expression.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Expr {
    /// A constant.
    Constant(Value),
    /// A shared variable.
    Shared(Slot),
    /// A local variable.
    Local(Slot),
    /// An element of a shared array: its first slot, its length, the index.
    SharedElement(Slot, usize, Box<Expr>, Span),
    /// An element of a local array: its first slot, its length, the index.
    LocalElement(Slot, usize, Box<Expr>, Span),
    /// A shared variable after the assignment (in its constraint only).
    NextShared(Slot),
    /// A local variable after the assignment (in its constraint only).
    NextLocal(Slot),
    /// The local variable of a different thread of the same kind (in hints, in what others are given, and in constraints).
    OtherLocal(Slot),
    /// The same after the assignment (in its constraint only).
    NextOtherLocal(Slot),
    /// Which thread of its template this is.
    This,
    /// Any value from the first to the second, a new choice each time.
    Choose(Value, Value),
    /// How many threads are at one of these locations (in properties only).
    At(Vec<LocationId>),
    /// An operator before its operand.
    Unary(Unary, Box<Expr>),
    /// An operator between its operands.
    Binary(Binary, Box<Expr>, Box<Expr>, Span),
    /// The second if the first is true, else the third.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
}

/// An operator before its operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Unary {
    /// `!`
    Not,
    /// `-`
    Minus,
    /// The number of this machine integer type that differs by a multiple of its modulus.
    Wrap(Machine),
}

/// An integer type of a machine, in two's complement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Machine {
    /// How many bits it has: from 1 to 64.
    pub bits: u8,
    /// Whether it has negative numbers.
    pub signed: bool,
}

impl Machine {
    /// Its least and its greatest number.
    pub fn bounds(self) -> (i128, i128) {
        match self.signed {
            true => (-(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1),
            false => (0, (1 << self.bits) - 1),
        }
    }

    /// The number of this type that differs by a multiple of its modulus.
    pub fn wrap(self, number: i128) -> i128 {
        let (low, _) = self.bounds();
        low + (number - low).rem_euclid(1 << self.bits)
    }
}

/// An operator between its operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Binary {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `+`
    Plus,
    /// `-`
    Minus,
    /// `*`
    Times,
    /// `/`, rounding towards zero
    Divide,
    /// `%`, with the sign of the first operand
    Remainder,
    /// `&` of each bit, in two's complement
    BitAnd,
    /// `|` of each bit
    BitOr,
    /// Exclusive or of each bit
    BitXor,
    /// Times a power of two
    ShiftLeft,
    /// Divided by a power of two, rounding down
    ShiftRight,
}

/// What an expression is evaluated in.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The values of the shared variables.
    pub shared: &'a [Value],
    /// The values of the local variables.
    pub locals: &'a [Value],
    /// Which thread of its template this is.
    pub this: Value,
    /// The values after the assignment, shared and local, where there are any.
    pub next: Option<(&'a [Value], &'a [Value])>,
    /// Where the threads are, in properties.
    pub control: &'a [LocationId],
}

/// Why an expression has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoValue {
    /// Something went wrong.
    Wrong(Violation),
    /// A number is too large to be represented. The program has a meaning, but it is not followed any further.
    TooLarge(Span),
    /// The value of this shared slot is left [open](OPEN).
    Open(Slot),
}

/// Stands in a shared slot for a value that is still to be chosen. No expression has this value: who reads it is told so
/// by [`NoValue::Open`]. (It is also the least number of 64 bits, which is therefore beyond what is followed.)
pub const OPEN: Value = Value::MIN;

/// The value of a local slot, unless it was never given one. (Initially, a local slot may be [`OPEN`], too: it is not followed
/// any further when such a slot is read.)
fn defined(value: Value) -> Result<Value, NoValue> {
    if value == OPEN { Err(NoValue::TooLarge(Span::default())) } else { Ok(value) }
}

/// The value of a shared slot, if it has one.
fn known(shared: &[Value], slot: Slot) -> Result<Value, NoValue> {
    if shared[slot] == OPEN { Err(NoValue::Open(slot)) } else { Ok(shared[slot]) }
}

impl Expr {
    /// Whether it reads variables of other threads.
    pub fn is_about_others(&self) -> bool {
        let mut others = false;
        self.visit(&mut |part| others |= matches!(part, Expr::OtherLocal(_) | Expr::NextOtherLocal(_)));
        others
    }

    /// The same expression for one of the other threads, whose local variables have these values before and after a step.
    #[must_use]
    pub fn for_other(&self, before: &[Value], after: &[Value]) -> Expr {
        let part = |expr: &Expr| Box::new(expr.for_other(before, after));
        match self {
            Expr::OtherLocal(slot) => Expr::Constant(before[*slot]),
            Expr::NextOtherLocal(slot) => Expr::Constant(after[*slot]),
            Expr::Unary(operator, operand) => Expr::Unary(*operator, part(operand)),
            Expr::Binary(operator, left, right, span) => {
                Expr::Binary(*operator, part(left), part(right), *span)
            }
            Expr::If(condition, then, other) => Expr::If(part(condition), part(then), part(other)),
            Expr::SharedElement(slot, length, index, span) => {
                Expr::SharedElement(*slot, *length, part(index), *span)
            }
            Expr::LocalElement(slot, length, index, span) => {
                Expr::LocalElement(*slot, *length, part(index), *span)
            }
            _ => self.clone(),
        }
    }

    /// The value of the expression.
    pub fn value(&self, scope: &Scope<'_>, choices: &mut Choices) -> Result<Value, NoValue> {
        Ok(match self {
            Expr::Constant(value) => *value,
            Expr::Shared(slot) => known(scope.shared, *slot)?,
            Expr::Local(slot) => defined(scope.locals[*slot])?,
            Expr::SharedElement(slot, length, index, span) => {
                known(scope.shared, slot + element(index, *length, *span, scope, choices)?)?
            }
            Expr::LocalElement(slot, length, index, span) => {
                defined(scope.locals[slot + element(index, *length, *span, scope, choices)?])?
            }
            Expr::NextShared(slot) => known(scope.next.map_or(scope.shared, |next| next.0), *slot)?,
            Expr::NextLocal(slot) => scope.next.map_or(scope.locals, |next| next.1)[*slot],
            // Hints are for abstractions; nothing evaluates them. What is about others is evaluated for each of them.
            Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => 0,
            Expr::This => scope.this,
            Expr::Choose(low, high) => choices.choose(*low, *high),
            Expr::At(locations) => {
                scope.control.iter().filter(|location| locations.contains(location)).count() as Value
            }
            Expr::Unary(Unary::Not, operand) => Value::from(operand.value(scope, choices)? == 0),
            Expr::Unary(Unary::Minus, operand) => {
                let value = operand.value(scope, choices)?;
                value.checked_neg().ok_or(NoValue::TooLarge(Span::default()))?
            }
            Expr::Unary(Unary::Wrap(machine), operand) => {
                let wrapped = machine.wrap(operand.wide(scope, choices)?);
                let value = Value::try_from(wrapped).ok().filter(|&value| value != OPEN);
                value.ok_or(NoValue::TooLarge(Span::default()))?
            }
            Expr::Binary(Binary::And, left, right, _) => {
                if left.value(scope, choices)? == 0 {
                    0
                } else {
                    right.value(scope, choices)?
                }
            }
            Expr::Binary(Binary::Or, left, right, _) => {
                if left.value(scope, choices)? != 0 {
                    1
                } else {
                    right.value(scope, choices)?
                }
            }
            Expr::Binary(operator, left, right, span) => {
                let (left, right) = (left.value(scope, choices)?, right.value(scope, choices)?);
                apply(*operator, left, right, *span)?
            }
            Expr::If(condition, then, other) => {
                let branch = if condition.value(scope, choices)? != 0 { then } else { other };
                branch.value(scope, choices)?
            }
        })
    }

    /// The value of the expression before it is brought back into a range: with more bits, if it is a sum or the like.
    fn wide(&self, scope: &Scope<'_>, choices: &mut Choices) -> Result<i128, NoValue> {
        Ok(match self {
            Expr::Unary(Unary::Minus, operand) => -i128::from(operand.value(scope, choices)?),
            Expr::Binary(operator, left, right, span) if !matches!(operator, Binary::And | Binary::Or) => {
                let (left, right) = (left.value(scope, choices)?, right.value(scope, choices)?);
                apply_wide(*operator, left, right, *span)?
            }
            _ => i128::from(self.value(scope, choices)?),
        })
    }

    /// Calls a function with this expression and each part of it.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Expr)) {
        see(self);
        match self {
            Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => {
                part.visit(see);
            }
            Expr::Binary(_, left, right, _) => {
                left.visit(see);
                right.visit(see);
            }
            Expr::If(condition, then, other) => {
                condition.visit(see);
                then.visit(see);
                other.visit(see);
            }
            Expr::Constant(_)
            | Expr::Shared(_)
            | Expr::Local(_)
            | Expr::NextShared(_)
            | Expr::NextLocal(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_)
            | Expr::This
            | Expr::Choose(..)
            | Expr::At(_) => {}
        }
    }

    /// Calls a function with all parts of this expression, the inner ones first, and then with itself.
    pub fn rewrite(&mut self, with: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => {
                part.rewrite(with);
            }
            Expr::Binary(_, left, right, _) => {
                left.rewrite(with);
                right.rewrite(with);
            }
            Expr::If(condition, then, other) => {
                condition.rewrite(with);
                then.rewrite(with);
                other.rewrite(with);
            }
            _ => {}
        }
        with(self);
    }
}

/// The value of an index that must be less than a length.
pub fn element(
    index: &Expr,
    length: usize,
    span: Span,
    scope: &Scope<'_>,
    choices: &mut Choices,
) -> Result<usize, NoValue> {
    let value = index.value(scope, choices)?;
    let index = usize::try_from(value).ok().filter(|&index| index < length);
    index.ok_or(NoValue::Wrong(Violation::at(Wrong::Index, span)))
}

/// The value of an operator that needs both operands.
pub fn apply(operator: Binary, left: Value, right: Value, span: Span) -> Result<Value, NoValue> {
    let value = apply_wide(operator, left, right, span)?;
    Value::try_from(value).map_err(|_| NoValue::TooLarge(span))
}

/// The value of an operator that needs both operands, with more bits.
pub fn apply_wide(operator: Binary, left: Value, right: Value, span: Span) -> Result<i128, NoValue> {
    let (left, right) = (i128::from(left), i128::from(right));
    let divisor =
        || if right == 0 { Err(NoValue::Wrong(Violation::at(Wrong::Division, span))) } else { Ok(right) };
    // No machine has integers of more bits; what lies beyond is not followed.
    let distance = || u32::try_from(right).ok().filter(|&bits| bits < 64).ok_or(NoValue::TooLarge(span));
    Ok(match operator {
        Binary::And => i128::from(left != 0 && right != 0),
        Binary::Or => i128::from(left != 0 || right != 0),
        Binary::Equal => i128::from(left == right),
        Binary::Unequal => i128::from(left != right),
        Binary::Less => i128::from(left < right),
        Binary::LessEqual => i128::from(left <= right),
        Binary::Greater => i128::from(left > right),
        Binary::GreaterEqual => i128::from(left >= right),
        Binary::Plus => left + right,
        Binary::Minus => left - right,
        Binary::Times => left * right,
        Binary::Divide => left / divisor()?,
        Binary::Remainder => left % divisor()?,
        Binary::BitAnd => left & right,
        Binary::BitOr => left | right,
        Binary::BitXor => left ^ right,
        Binary::ShiftLeft => left << distance()?,
        Binary::ShiftRight => left >> distance()?,
    })
}

/// A choice among so many values is wide.
pub const WIDE: u64 = 1 << 16;

/// What is tried of a wide choice, with its bounds, where not all values are.
const FEW: [Value; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2];

/// Answers to choices, in the order in which they come up.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Choices {
    answers: Vec<Answer>,
    next: usize,
    /// Whether a few values of a wide choice are enough.
    few: bool,
    /// Whether values of a choice were left out.
    left_out: bool,
}

/// One of the values of a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Answer {
    value: Value,
    high: Value,
    /// What is still to be tried instead of what follows, of a choice of which not all values are tried.
    others: Option<Vec<Value>>,
}

impl Answer {
    /// Goes on to the next value, if there is one.
    fn advance(&mut self) -> bool {
        let next = match &mut self.others {
            Some(others) => others.pop(),
            None => (self.value < self.high).then_some(self.value + 1),
        };
        self.value = next.unwrap_or(self.value);
        next.is_some()
    }
}

impl Choices {
    /// Runs something once for every way of choosing, until it says to stop by `false`.
    pub fn each(run: impl FnMut(&mut Choices) -> bool) {
        Choices::default().run(run);
    }

    /// The same with a few values of each [wide](WIDE) choice; says whether any were left out.
    pub fn each_of_few(run: impl FnMut(&mut Choices) -> bool) -> bool {
        Choices { few: true, ..Choices::default() }.run(run)
    }

    fn run(mut self, mut run: impl FnMut(&mut Choices) -> bool) -> bool {
        loop {
            if !run(&mut self) {
                return self.left_out;
            }
            self.answers.truncate(self.next);
            self.next = 0;
            // Like counting: the last digit that is not yet at its greatest goes up, those after it start anew.
            while self.answers.last_mut().is_some_and(|answer| !answer.advance()) {
                self.answers.pop();
            }
            if self.answers.is_empty() {
                return self.left_out;
            }
        }
    }

    /// What was chosen so far, in order.
    pub fn taken(&self) -> Vec<Value> {
        self.answers[..self.next].iter().map(|answer| answer.value).collect()
    }

    /// A value from `low` to `high`.
    pub fn choose(&mut self, low: Value, high: Value) -> Value {
        if self.next == self.answers.len() {
            let high = high.max(low);
            let mut answer = Answer { value: low, high, others: None };
            if self.few && low.abs_diff(high) >= WIDE {
                self.left_out = true;
                let few = FEW.iter().rev().copied().filter(|&value| low < value && value < high);
                answer.others = Some([high].into_iter().chain(few).collect());
            }
            self.answers.push(answer);
        }
        self.next += 1;
        self.answers[self.next - 1].value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(expr: &Expr, shared: &[Value]) -> Vec<Result<Value, NoValue>> {
        let mut values = Vec::new();
        let scope = Scope { shared, locals: &[], this: 0, next: None, control: &[] };
        Choices::each(|choices| {
            values.push(expr.value(&scope, choices));
            true
        });
        values
    }

    fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
        Expr::Binary(operator, Box::new(left), Box::new(right), Span::default())
    }

    #[test]
    fn every_way_of_choosing_is_tried_once() {
        let star = || Expr::Choose(0, 1);
        assert_eq!(all(&star(), &[]), [Ok(0), Ok(1)]);
        // The second choice comes up only if the first was true.
        assert_eq!(all(&binary(Binary::And, star(), star()), &[]), [Ok(0), Ok(0), Ok(1)]);
        let sum = binary(Binary::Plus, Expr::Choose(0, 2), binary(Binary::Times, Expr::Constant(10), star()));
        assert_eq!(all(&sum, &[]), [Ok(0), Ok(10), Ok(1), Ok(11), Ok(2), Ok(12)]);
    }

    #[test]
    fn a_few_values_of_a_wide_choice_are_tried_and_that_others_were_left_out_is_said() {
        let tried = |low, high| {
            let mut values = Vec::new();
            let left_out = Choices::each_of_few(|choices| {
                let pair = (choices.choose(0, 1), choices.choose(low, high));
                assert_eq!(choices.taken(), [pair.0, pair.1]);
                values.push(pair.1);
                true
            });
            // Once for each value of the first choice.
            let (first, second) = values.split_at(values.len() / 2);
            assert_eq!(first, second);
            (first.to_vec(), left_out)
        };
        assert_eq!(tried(-1, 3), (vec![-1, 0, 1, 2, 3], false));
        let (values, left_out) = tried(5, Value::MAX);
        assert_eq!((values, left_out), (vec![5, 6, 7, 8, 9, Value::MAX], true));
        assert_eq!(tried(0, WIDE as Value - 1).0.len(), WIDE as usize);
        assert!(tried(0, WIDE as Value).1);
    }

    #[test]
    fn what_is_not_needed_is_not_evaluated() {
        let fault = binary(Binary::Divide, Expr::Constant(1), Expr::Shared(0));
        assert!(matches!(all(&fault, &[0])[..], [Err(NoValue::Wrong(_))]));
        assert_eq!(all(&binary(Binary::And, Expr::Shared(0), fault.clone()), &[0]), [Ok(0)]);
        assert_eq!(all(&fault, &[1]), [Ok(1)]);
    }

    #[test]
    fn large_numbers_are_no_values() {
        for operator in [Binary::Plus, Binary::Times] {
            let large = binary(operator, Expr::Constant(Value::MAX), Expr::Constant(2));
            assert!(matches!(all(&large, &[])[..], [Err(NoValue::TooLarge(_))]));
        }
        let least = binary(Binary::Divide, Expr::Constant(Value::MIN), Expr::Constant(-1));
        assert!(matches!(all(&least, &[])[..], [Err(NoValue::TooLarge(_))]));
    }
}
