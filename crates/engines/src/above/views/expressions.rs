//! Expressions of programs as formulas.
//!
//! The same meaning as [`Expr::value`](allways_model::program::Expr::value), for all states at once: a term for the value,
//! and the conditions under which there is none, because something goes wrong. `&&`, `||` and `?:` evaluate only what they
//! need, so what can go wrong in an operand counts only under the condition that it is evaluated. A choice is a new variable
//! within bounds. Integers have no end here, so nothing is too large. Products and quotients of two variables, and operations on
//! bits other than shifts and masks, are [functions](Function) of which little is known.

use super::steps::{Known, Unsupported};
use allways_model::program::{Binary, Expr, Span, Type, Unary, Value};
use allways_smt::{Function, Term};

/// The values of variables, as terms over what they were when the step began.
#[derive(Clone, Debug)]
pub(super) struct Values {
    pub(super) shared: Vec<Term>,
    pub(super) locals: Vec<Term>,
}

/// What comes up while expressions are translated.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// Conditions under which the evaluation goes wrong.
    pub(super) wrong: Vec<Term>,
    /// Choices: the name of a new variable, the least and the greatest value.
    pub(super) choices: Vec<(String, i128, i128)>,
    /// Under which condition the expression at hand is evaluated.
    context: Vec<Term>,
}

impl Notes {
    /// Notes that evaluation goes wrong if this is so.
    pub(super) fn goes_wrong(&mut self, condition: Term) {
        self.wrong.push(Term::and(self.context.iter().cloned().chain([condition])));
    }

    fn within<T>(&mut self, condition: Term, work: impl FnOnce(&mut Notes) -> T) -> T {
        self.context.push(condition);
        let result = work(self);
        self.context.pop();
        result
    }

    fn choose(&mut self, low: i128, high: i128) -> Term {
        let name = format!("?{}", self.choices.len());
        let variable = Term::variable(&name);
        self.choices.push((name, low, high.max(low)));
        variable
    }
}

/// What expressions are evaluated in.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) values: &'a Values,
    /// The shared and the local variables, as far as they are known: of what is forgotten, any value is read.
    pub(super) known: (&'a [Known], &'a [Known]),
    /// The values after the assignment, in its constraint.
    pub(super) next: Option<&'a Values>,
    /// Which thread of its template this is.
    pub(super) this: Option<&'a Term>,
    /// The local variables of another thread, in hints.
    pub(super) other: Option<&'a [Term]>,
}

/// The truth value of a condition.
pub(super) fn truth(expr: &Expr, scope: &Scope<'_>, notes: &mut Notes) -> Result<Term, Unsupported> {
    bounded(truth_of(expr, scope, notes)?)
}

fn truth_of(expr: &Expr, scope: &Scope<'_>, notes: &mut Notes) -> Result<Term, Unsupported> {
    Ok(match expr {
        Expr::Constant(value) => Term::truth(*value != 0),
        Expr::Unary(Unary::Not, operand) => truth(operand, scope, notes)?.negation(),
        Expr::Binary(Binary::And, left, right, _) => {
            let left = truth(left, scope, notes)?;
            let right = notes.within(left.clone(), |notes| truth(right, scope, notes))?;
            Term::and([left, right])
        }
        Expr::Binary(Binary::Or, left, right, _) => {
            let left = truth(left, scope, notes)?;
            let right = notes.within(left.negation(), |notes| truth(right, scope, notes))?;
            Term::or([left, right])
        }
        Expr::Binary(
            operator @ (Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual),
            left,
            right,
            _,
        ) => {
            let (left, right) = (number(left, scope, notes)?, number(right, scope, notes)?);
            match operator {
                Binary::Equal => left.equal(&right),
                Binary::Unequal => left.equal(&right).negation(),
                Binary::Less => left.less(&right),
                Binary::LessEqual => left.at_most(&right),
                Binary::Greater => right.less(&left),
                _ => right.at_most(&left),
            }
        }
        Expr::If(condition, then, other) => {
            let condition = truth(condition, scope, notes)?;
            let then = notes.within(condition.clone(), |notes| truth(then, scope, notes))?;
            let other = notes.within(condition.negation(), |notes| truth(other, scope, notes))?;
            Term::or([Term::and([condition.clone(), then]), Term::and([condition.negation(), other])])
        }
        _ => number(expr, scope, notes)?.equal(&Term::number(0)).negation(),
    })
}

/// A larger term than this is not worked with: parts are shared here, but written out for a solver.
const LARGEST: u64 = 1 << 14;

/// The term, if it is not too large.
pub(super) fn bounded(term: Term) -> Result<Term, Unsupported> {
    match term.size() > LARGEST {
        true => Err(Unsupported::new("an expression that becomes too large", Span::default())),
        false => Ok(term),
    }
}

/// The value of an expression.
pub(super) fn number(expr: &Expr, scope: &Scope<'_>, notes: &mut Notes) -> Result<Term, Unsupported> {
    bounded(number_of(expr, scope, notes)?)
}

fn number_of(expr: &Expr, scope: &Scope<'_>, notes: &mut Notes) -> Result<Term, Unsupported> {
    let missing = || Unsupported::new("a variable that is not there", Span::default());
    let variable = |values: &[Term], slot: usize| values.get(slot).cloned().ok_or_else(missing);
    let (shared, locals) = scope.known;
    let after = scope.next.unwrap_or(scope.values);
    Ok(match expr {
        Expr::Constant(value) => Term::number(*value),
        Expr::Shared(slot) | Expr::NextShared(slot) if forgotten(shared, *slot) => {
            any_of(shared, (*slot, 1), notes)?
        }
        Expr::Local(slot) | Expr::NextLocal(slot) if forgotten(locals, *slot) => {
            any_of(locals, (*slot, 1), notes)?
        }
        Expr::Shared(slot) => variable(&scope.values.shared, *slot)?,
        Expr::Local(slot) => variable(&scope.values.locals, *slot)?,
        Expr::NextShared(slot) => variable(&after.shared, *slot)?,
        Expr::NextLocal(slot) => variable(&after.locals, *slot)?,
        Expr::OtherLocal(slot) | Expr::NextOtherLocal(slot) => {
            variable(scope.other.unwrap_or_default(), *slot)?
        }
        Expr::SharedElement(slot, length, index, _) => {
            let index = element(index, *length, scope, notes)?;
            match (*slot..slot + length).any(|slot| forgotten(shared, slot)) {
                true => any_of(shared, (*slot, *length), notes)?,
                false => select(&scope.values.shared, *slot, *length, &index)?,
            }
        }
        Expr::LocalElement(slot, length, index, _) => {
            let index = element(index, *length, scope, notes)?;
            match (*slot..slot + length).any(|slot| forgotten(locals, slot)) {
                true => any_of(locals, (*slot, *length), notes)?,
                false => select(&scope.values.locals, *slot, *length, &index)?,
            }
        }
        Expr::This => scope.this.cloned().ok_or_else(|| Unsupported::new("`self` here", Span::default()))?,
        Expr::Choose(low, high) => notes.choose((*low).into(), (*high).into()),
        Expr::At(_) => return Err(Unsupported::new("`at` in arithmetic", Span::default())),
        Expr::Unary(Unary::Minus, operand) => number(operand, scope, notes)?.times(-1),
        Expr::Unary(Unary::Wrap(machine), operand) => {
            // Terms round down, so the remainder is never negative.
            let (low, high) = machine.bounds();
            let value = number(operand, scope, notes)?;
            let wrapped = value.minus(&Term::number(low)).remainder(high - low + 1).plus(&Term::number(low));
            let inside = Term::and([Term::number(low).at_most(&value), value.at_most(&Term::number(high))]);
            Term::choice(&inside, &value, &wrapped)
        }
        Expr::Binary(
            operator @ (Binary::BitAnd
            | Binary::BitOr
            | Binary::BitXor
            | Binary::ShiftLeft
            | Binary::ShiftRight),
            left,
            right,
            _,
        ) => {
            let (left, right) = (number(left, scope, notes)?, number(right, scope, notes)?);
            bits(*operator, &left, &right, notes)
        }
        Expr::Binary(Binary::Plus, left, right, _) => {
            if matches!((&**left, &**right), (Expr::Constant(Value::MAX), Expr::Constant(1))) {
                // So programs say that they are not followed.
                notes.goes_wrong(Term::truth(true));
            }
            number(left, scope, notes)?.plus(&number(right, scope, notes)?)
        }
        Expr::Binary(Binary::Minus, left, right, _) => {
            number(left, scope, notes)?.minus(&number(right, scope, notes)?)
        }
        Expr::Binary(Binary::Times, left, right, _) => {
            let (left, right) = (number(left, scope, notes)?, number(right, scope, notes)?);
            Term::of(Function::Product, &left, &right)
        }
        Expr::Binary(operator @ (Binary::Divide | Binary::Remainder), left, right, _) => {
            let (left, right) = (number(left, scope, notes)?, number(right, scope, notes)?);
            match right.as_number() {
                Some(divisor) => divide(*operator, &left, divisor, notes),
                None => {
                    notes.goes_wrong(right.equal(&Term::number(0)));
                    let rest = *operator == Binary::Remainder;
                    Term::of(if rest { Function::Remainder } else { Function::Quotient }, &left, &right)
                }
            }
        }
        Expr::If(condition, then, other) => {
            let condition = truth(condition, scope, notes)?;
            let then = notes.within(condition.clone(), |notes| number(then, scope, notes))?;
            let other = notes.within(condition.negation(), |notes| number(other, scope, notes))?;
            Term::choice(&condition, &then, &other)
        }
        Expr::Unary(Unary::Not, _) | Expr::Binary(..) => {
            let truth = truth(expr, scope, notes)?;
            Term::choice(&truth, &Term::number(1), &Term::number(0))
        }
    })
}

/// Whether a slot is part of an array that is too long for formulas.
pub(super) fn forgotten(known: &[Known], slot: usize) -> bool {
    known.get(slot).is_some_and(|known| known.forgotten)
}

/// Any value that one of some variables may have.
fn any_of(known: &[Known], (slot, length): (usize, usize), notes: &mut Notes) -> Result<Term, Unsupported> {
    let missing = || Unsupported::new("an array that is not there", Span::default());
    let (mut low, mut high) = (i128::MAX, i128::MIN);
    for known in known.get(slot..slot + length).ok_or_else(missing)? {
        if known.ty == Type::Lock {
            return Err(Unsupported::new("a lock beside a long array", Span::default()));
        }
        let bounds = known.ty.bounds().map(|(low, high)| (low.into(), high.into()));
        let (least, most) = bounds.unwrap_or((-MOST_PRODUCT, MOST_PRODUCT));
        (low, high) = (low.min(least), high.max(most));
    }
    Ok(notes.choose(low, high))
}

/// Beyond all products of two numbers of 64 bits.
const MOST_PRODUCT: i128 = 1 << 126;

/// Shifts by a constant and masks of the lowest bits are arithmetic; the others are functions.
fn bits(operator: Binary, left: &Term, right: &Term, notes: &mut Notes) -> Term {
    if matches!(operator, Binary::ShiftLeft | Binary::ShiftRight) {
        let within = Term::and([Term::number(0).at_most(right), right.less(&Term::number(64))]);
        if within.as_truth() != Some(true) {
            // It is not followed then, and must not be.
            notes.goes_wrong(within.negation());
        }
        return match right.as_number().filter(|distance| (0..64).contains(distance)) {
            Some(distance) if operator == Binary::ShiftLeft => left.times(1 << distance),
            Some(distance) => left.quotient(1 << distance),
            None if operator == Binary::ShiftLeft => Term::of(Function::ShiftLeft, left, right),
            None => Term::of(Function::ShiftRight, left, right),
        };
    }
    let mask = match (left.as_number(), right.as_number()) {
        (_, Some(mask)) if mask >= 0 => Some((left, mask)),
        (Some(mask), _) if mask >= 0 => Some((right, mask)),
        _ => None,
    };
    match (operator, mask) {
        (Binary::BitAnd, Some((term, mask))) if mask & (mask + 1) == 0 => term.remainder(mask + 1),
        (Binary::BitAnd, _) => Term::of(Function::And, left, right),
        (Binary::BitOr, _) => Term::of(Function::Or, left, right),
        _ => Term::of(Function::Xor, left, right),
    }
}

/// Programs round towards zero, terms round down.
fn divide(operator: Binary, left: &Term, divisor: i128, notes: &mut Notes) -> Term {
    if divisor == 0 {
        notes.goes_wrong(Term::truth(true));
        return Term::number(0);
    }
    let size = divisor.saturating_abs();
    let negative = left.less(&Term::number(0));
    let opposite = left.times(-1);
    if operator == Binary::Divide {
        let quotient = Term::choice(&negative, &opposite.quotient(size).times(-1), &left.quotient(size));
        quotient.times(divisor.signum())
    } else {
        Term::choice(&negative, &opposite.remainder(size).times(-1), &left.remainder(size))
    }
}

/// An index, which goes wrong outside its array.
pub(super) fn element(
    index: &Expr,
    length: usize,
    scope: &Scope<'_>,
    notes: &mut Notes,
) -> Result<Term, Unsupported> {
    let index = number(index, scope, notes)?;
    let inside = Term::and([Term::number(0).at_most(&index), index.less(&Term::number(length as i128))]);
    if inside.as_truth() != Some(true) {
        notes.goes_wrong(inside.negation());
    }
    Ok(index)
}

/// The element of an array at an index that is inside.
pub(super) fn select(values: &[Term], slot: usize, length: usize, index: &Term) -> Result<Term, Unsupported> {
    let missing = || Unsupported::new("an array that is not there", Span::default());
    let elements = values.get(slot..slot + length).ok_or_else(missing)?;
    let Some((last, rest)) = elements.split_last() else { return Ok(Term::number(0)) };
    let each = rest.iter().enumerate().rev();
    Ok(each.fold(last.clone(), |otherwise, (at, value)| {
        Term::choice(&index.equal(&Term::number(at as i128)), value, &otherwise)
    }))
}

/// Longer arrays make formulas that no solver likes; what they hold is forgotten.
pub(super) const MOST_ELEMENTS: usize = 64;
