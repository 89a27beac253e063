//! Simpler expressions and steps, given the values of some variables.
//!
//! What is folded has exactly the outcomes of what it came from in every state in which the variables have those values:
//! the same values, the same violations, the same numbers that are too large. So an operator is applied to constants only
//! if that has a value; an operand is left out only if it would not be evaluated, or if it cannot go wrong and its value
//! makes no difference.

use super::super::expression::{OPEN, apply};
use super::super::{Binary, Expr, LockPlace, Op, Place, Procedure, Span, Target, Unary, Value};
use super::written;

/// What is known of a variable: its value, or nothing.
pub(super) type Known = Option<Value>;

/// What is known where an expression is evaluated.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// Of the shared variables, at any time.
    pub shared: &'a [Known],
    /// Of the local variables.
    pub locals: &'a [Known],
    /// Of the local variables after the assignment, in its constraint.
    pub next: &'a [Known],
}

/// The value of a constant.
pub(super) fn constant(expr: &Expr) -> Known {
    if let Expr::Constant(value) = expr { Some(*value) } else { None }
}

/// Simplifies an expression.
pub(super) fn fold(expr: &Expr, scope: &Scope<'_>) -> Expr {
    let known = |known: &[Known], slot: usize, otherwise: Expr| known[slot].map_or(otherwise, Expr::Constant);
    let inner = |part: &Expr| Box::new(fold(part, scope));
    match expr {
        Expr::Shared(slot) | Expr::NextShared(slot) => known(scope.shared, *slot, expr.clone()),
        Expr::Local(slot) => known(scope.locals, *slot, expr.clone()),
        Expr::NextLocal(slot) => known(scope.next, *slot, expr.clone()),
        Expr::SharedElement(slot, length, index, span) => {
            let index = inner(index);
            match inside(&index, *length) {
                Some(index) => known(scope.shared, slot + index, Expr::Shared(slot + index)),
                None => Expr::SharedElement(*slot, *length, index, *span),
            }
        }
        Expr::LocalElement(slot, length, index, span) => {
            let index = inner(index);
            match inside(&index, *length) {
                Some(index) => known(scope.locals, slot + index, Expr::Local(slot + index)),
                None => Expr::LocalElement(*slot, *length, index, *span),
            }
        }
        Expr::Unary(operator, part) => unary(*operator, inner(part)),
        Expr::Binary(operator, left, right, span) => binary(*operator, inner(left), inner(right), *span),
        Expr::If(condition, then, other) => match (inner(condition), inner(then), inner(other)) {
            (condition, then, other) if constant(&condition).is_none() => Expr::If(condition, then, other),
            (condition, _, other) if *condition == Expr::Constant(0) => *other,
            (_, then, _) => *then,
        },
        Expr::Constant(_)
        | Expr::OtherLocal(_)
        | Expr::NextOtherLocal(_)
        | Expr::This
        | Expr::Choose(..)
        | Expr::At(_) => expr.clone(),
    }
}

/// A constant index that is one of its array.
fn inside(index: &Expr, length: usize) -> Option<usize> {
    constant(index).and_then(|index| usize::try_from(index).ok()).filter(|&index| index < length)
}

fn unary(operator: Unary, part: Box<Expr>) -> Expr {
    let value = constant(&part).and_then(|value| match operator {
        Unary::Not => Some(Value::from(value == 0)),
        Unary::Minus => value.checked_neg(),
        Unary::Wrap(machine) => {
            Value::try_from(machine.wrap(value.into())).ok().filter(|&value| value != OPEN)
        }
    });
    value.map_or_else(|| Expr::Unary(operator, part), Expr::Constant)
}

fn binary(operator: Binary, left: Box<Expr>, right: Box<Expr>, span: Span) -> Expr {
    // The value of `&&` and `||` is that of the right operand wherever that is evaluated.
    match (operator, constant(&left), constant(&right)) {
        (Binary::And, Some(0), _) => Expr::Constant(0),
        (Binary::Or, Some(0), _) => *right,
        (Binary::And, Some(_), _) => *right,
        (Binary::Or, Some(_), _) => Expr::Constant(1),
        (Binary::And, None, Some(0)) if harmless(&left) => Expr::Constant(0),
        (Binary::Or, None, Some(1)) if harmless(&left) => Expr::Constant(1),
        (Binary::And | Binary::Or, ..) => Expr::Binary(operator, left, right, span),
        (_, Some(a), Some(b)) => match apply(operator, a, b, span) {
            Ok(value) => Expr::Constant(value),
            Err(_) => Expr::Binary(operator, left, right, span),
        },
        _ => Expr::Binary(operator, left, right, span),
    }
}

/// Whether an expression obviously has a value in every state.
fn harmless(expr: &Expr) -> bool {
    let mut harmless = true;
    expr.visit(&mut |part| {
        harmless &= match part {
            Expr::SharedElement(..)
            | Expr::LocalElement(..)
            | Expr::Unary(Unary::Minus | Unary::Wrap(_), _) => false,
            Expr::Binary(operator, ..) => !matches!(
                operator,
                Binary::Plus
                    | Binary::Minus
                    | Binary::Times
                    | Binary::Divide
                    | Binary::Remainder
                    | Binary::ShiftLeft
                    | Binary::ShiftRight
            ),
            _ => true,
        }
    });
    harmless
}

/// Simplifies a step of a procedure.
pub(super) fn fold_step(op: &Op, procedure: &Procedure, scope: &Scope<'_>) -> Op {
    let expr = |expr: &Expr| fold(expr, scope);
    let exprs = |exprs: &[Expr]| exprs.iter().map(expr).collect();
    let places = |places: &[Place]| places.iter().map(|place| fold_place(place, scope)).collect::<Vec<_>>();
    match op {
        Op::Assign(to, values, constraint) => {
            let (to, values): (_, Vec<Expr>) = (places(to), exprs(values));
            let constraint = constraint.as_ref().map(|expr| {
                let mut next = scope.locals.to_vec();
                store(&to, &values, procedure, &mut next);
                fold(expr, &Scope { next: &next, ..*scope })
            });
            Op::Assign(to, values, constraint)
        }
        Op::Guard(condition, expected) => Op::Guard(expr(condition), *expected),
        Op::Assert(condition) => Op::Assert(expr(condition)),
        // The places are found when the call returns; the local variables still have their values then.
        Op::Call(callee, arguments, to) => Op::Call(*callee, exprs(arguments), places(to)),
        Op::Return(results) => Op::Return(exprs(results)),
        Op::Spawn(template, arguments) => Op::Spawn(*template, exprs(arguments)),
        Op::Acquire(lock) => Op::Acquire(fold_lock(lock, scope)),
        Op::Release(lock) => Op::Release(fold_lock(lock, scope)),
        Op::Skip
        | Op::Error
        | Op::NoResult
        | Op::Beyond
        | Op::AtomicBegin
        | Op::AtomicEnd
        | Op::Fork(_)
        | Op::Wait(_)
        | Op::Broadcast(_)
        | Op::Signal(_) => op.clone(),
    }
}

fn fold_place(place: &Place, scope: &Scope<'_>) -> Place {
    let target = match &place.target {
        Target::SharedElement(slot, length, index) => {
            let index = fold(index, scope);
            match inside(&index, *length) {
                Some(index) => Target::Shared(slot + index),
                None => Target::SharedElement(*slot, *length, index),
            }
        }
        Target::LocalElement(slot, length, index) => {
            let index = fold(index, scope);
            match inside(&index, *length) {
                Some(index) => Target::Local(slot + index),
                None => Target::LocalElement(*slot, *length, index),
            }
        }
        Target::Shared(_) | Target::Local(_) | Target::Others(_) => place.target.clone(),
    };
    Place { target, ..*place }
}

fn fold_lock(lock: &LockPlace, scope: &Scope<'_>) -> LockPlace {
    let element = lock.element.as_ref().map(|(length, index)| (*length, fold(index, scope)));
    match element {
        Some((length, index)) => match inside(&index, length) {
            Some(index) => LockPlace { slot: lock.slot + index, element: None, ..*lock },
            None => LockPlace { element: Some((length, index)), ..*lock },
        },
        None => lock.clone(),
    }
}

/// Changes what is known of the local variables of a procedure to what is known after values are stored in places. A
/// place without a value gets one that is not known.
pub(super) fn store(places: &[Place], values: &[Expr], procedure: &Procedure, locals: &mut [Known]) {
    for (index, place) in places.iter().enumerate() {
        let Some((false, slots)) = written(place) else { continue };
        let variable = procedure.locals.partition_point(|local| local.slot <= slots.start) - 1;
        let value = values.get(index).and_then(constant).filter(|_| !procedure.locals[variable].mixed);
        let certain = matches!(place.target, Target::Local(_));
        for slot in slots {
            // Of an array, one element is written and the others keep their values.
            locals[slot] = if certain || locals[slot] == value { value } else { None };
        }
    }
}
