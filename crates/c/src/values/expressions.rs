//! What expressions may be, and what conditions say of variables, where it is known what these hold.

use super::{Held, Here, Values};
use crate::bounds::{EVERYTHING, combined};
use crate::strides::Stride;
use allways_model::program::{Binary, Expr, ProcedureId, Unary};

impl Values<'_> {
    /// Whether an expression may read a variable that was never given a value.
    pub(super) fn may_be_open(&self, procedure: ProcedureId, expr: &Expr, here: &Here) -> bool {
        let mut open = false;
        expr.visit(&mut |part| {
            open |= match part {
                Expr::Shared(slot) => self.slot(here, *slot).open,
                Expr::Local(slot) => here.locals[*slot].open,
                Expr::SharedElement(slot, length, ..) => {
                    here.shared[self.numbers.all(*slot..slot + length)].iter().any(|held| held.open)
                }
                Expr::LocalElement(slot, length, ..) => {
                    let known = &self.local_elements[procedure.index()];
                    known[*slot..slot + length].iter().any(|held| held.open)
                }
                _ => false,
            };
        });
        open
    }

    /// The values that an expression may have; nothing if it has none.
    pub(super) fn value(&self, procedure: ProcedureId, expr: &Expr, here: &Here) -> Option<Stride> {
        let of = |expr: &Expr| self.value(procedure, expr, here);
        let all = |held: &[Held]| held.iter().filter_map(|held| held.values).reduce(Stride::join);
        let value = match expr {
            Expr::Constant(value) => Stride::constant(i128::from(*value)),
            Expr::Choose(low, high) => Stride::range((i128::from(*low), i128::from(*high))),
            Expr::Shared(slot) => self.slot(here, *slot).values?,
            Expr::Local(slot) => here.locals[*slot].values?,
            Expr::SharedElement(slot, length, ..) => {
                all(&here.shared[self.numbers.all(*slot..slot + length)])?
            }
            Expr::LocalElement(slot, length, ..) => {
                all(&self.local_elements[procedure.index()][*slot..slot + length])?
            }
            Expr::Unary(Unary::Not, part) => of(part).map(|_| Stride::range((0, 1)))?,
            Expr::Unary(Unary::Minus, part) => Stride::constant(0).minus(of(part)?),
            Expr::Unary(Unary::Wrap(machine), part) => {
                let values = of(part)?;
                if values.is_within(machine.bounds()) { values } else { Stride::range(machine.bounds()) }
            }
            Expr::If(_, then, other) => match (of(then), of(other)) {
                (Some(then), Some(other)) => then.join(other),
                (then, other) => then.or(other)?,
            },
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                of(left)?;
                // What is on the right may not be looked at.
                let right = of(right).map_or((0, 1), |right| (right.low, right.high));
                Stride::range(combined(*operator, (0, 1), right))
            }
            Expr::Binary(operator, left, right, _) => {
                let (left, right) = (of(left)?, of(right)?);
                let exact = match operator {
                    Binary::Plus => Some(left.plus(right)),
                    Binary::Minus => Some(left.minus(right)),
                    Binary::Times => left.times(right),
                    _ => None,
                };
                let bounds = || combined(*operator, (left.low, left.high), (right.low, right.high));
                exact.unwrap_or_else(|| Stride::range(bounds()))
            }
            Expr::This
            | Expr::At(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_)
            | Expr::NextShared(_)
            | Expr::NextLocal(_) => Stride::range(EVERYTHING),
        };
        // Room for more operations.
        Some(if value.is_within(EVERYTHING) { value } else { Stride::range(EVERYTHING) })
    }

    /// Restricts what is known to where a condition is as expected; false if it never is.
    pub(super) fn restrict(
        &self,
        procedure: ProcedureId,
        expr: &Expr,
        expected: bool,
        here: &mut Here,
    ) -> bool {
        match (expr, expected) {
            (Expr::Unary(Unary::Not, part), _) => self.restrict(procedure, part, !expected, here),
            (Expr::Binary(Binary::And, left, right, _), true)
            | (Expr::Binary(Binary::Or, left, right, _), false) => {
                self.restrict(procedure, left, expected, here)
                    && self.restrict(procedure, right, expected, here)
            }
            (Expr::Binary(operator, left, right, _), _) => {
                let Some(operator) = comparison(*operator, expected) else { return true };
                let (Some(of_left), Some(of_right)) =
                    (self.value(procedure, left, here), self.value(procedure, right, here))
                else {
                    return false;
                };
                self.compare(procedure, left, operator, of_right, here)
                    && self.compare(procedure, right, turned(operator), of_left, here)
            }
            (Expr::Constant(value), _) => (*value != 0) == expected,
            (Expr::Shared(_) | Expr::Local(_), _) => {
                let operator = if expected { Binary::Unequal } else { Binary::Equal };
                self.compare(procedure, expr, operator, Stride::constant(0), here)
            }
            _ => true,
        }
    }

    /// Restricts a variable, if the expression is one with something added, to where it compares so with one of these.
    fn compare(
        &self,
        procedure: ProcedureId,
        expr: &Expr,
        operator: Binary,
        with: Stride,
        here: &mut Here,
    ) -> bool {
        let Some((variable, added)) = self.sum(procedure, expr, here) else { return true };
        let held = match variable {
            Expr::Shared(slot) => {
                let number = self.numbers.of[*slot];
                if self.numbers.slots[number].1 {
                    // Another one may be meant.
                    return true;
                }
                &mut here.shared[number]
            }
            Expr::Local(slot) => &mut here.locals[*slot],
            _ => return true,
        };
        let Some(values) = held.values else { return false };
        let (low, high) = (with.low - added, with.high - added);
        let restricted = match operator {
            Binary::Equal => values.between((low, high)),
            Binary::Unequal if low == high => values.except(low),
            Binary::Less => values.at_most(high - 1),
            Binary::LessEqual => values.at_most(high),
            Binary::Greater => values.at_least(low + 1),
            Binary::GreaterEqual => values.at_least(low),
            _ => Some(values),
        };
        // Who reads a variable that was never given a value is not followed.
        *held = Held { values: restricted, open: held.open };
        restricted.is_some()
    }

    /// A variable, and what is added to it, if that is all that an expression does.
    fn sum<'e>(&self, procedure: ProcedureId, expr: &'e Expr, here: &Here) -> Option<(&'e Expr, i128)> {
        match expr {
            Expr::Shared(_) | Expr::Local(_) => Some((expr, 0)),
            Expr::Binary(operator @ (Binary::Plus | Binary::Minus), left, right, _) => {
                let (part, constant) = match (&**left, &**right, operator) {
                    (part, Expr::Constant(value), Binary::Plus) => (part, i128::from(*value)),
                    (Expr::Constant(value), part, Binary::Plus) => (part, i128::from(*value)),
                    (part, Expr::Constant(value), _) => (part, -i128::from(*value)),
                    _ => return None,
                };
                let (variable, added) = self.sum(procedure, part, here)?;
                Some((variable, added + constant))
            }
            Expr::Unary(Unary::Wrap(machine), part) => {
                let fits = self.value(procedure, part, here)?.is_within(machine.bounds());
                self.sum(procedure, part, here).filter(|_| fits)
            }
            _ => None,
        }
    }
}

/// A comparison that holds, if it is one that is as expected.
fn comparison(operator: Binary, expected: bool) -> Option<Binary> {
    let not = match operator {
        Binary::Equal => Binary::Unequal,
        Binary::Unequal => Binary::Equal,
        Binary::Less => Binary::GreaterEqual,
        Binary::LessEqual => Binary::Greater,
        Binary::Greater => Binary::LessEqual,
        Binary::GreaterEqual => Binary::Less,
        _ => return None,
    };
    Some(if expected { operator } else { not })
}

/// The same comparison with the sides exchanged.
fn turned(operator: Binary) -> Binary {
    match operator {
        Binary::Less => Binary::Greater,
        Binary::LessEqual => Binary::GreaterEqual,
        Binary::Greater => Binary::Less,
        Binary::GreaterEqual => Binary::LessEqual,
        same => same,
    }
}
