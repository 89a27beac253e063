//! Inputs that nothing depends on.
//!
//! A variable is *relevant* if its value decides which steps can be taken or whether one goes wrong (it is read in a guard, an
//! assertion, an index, a divisor, …), or if it flows into one that is relevant. Invariant: two runs that differ in values of
//! irrelevant variables only take the same steps. So where a value is stored in an irrelevant variable, one choice stands for
//! all choices in it. Only choices are replaced: what is read stays read.

use crate::marks::Marks;
use allways_model::program::{Binary, Expr, Op, ProcedureId, Program, Span, Target, Value};

/// Which variables are relevant.
struct Relevant(Marks);

/// Takes choices out of values that nothing depends on.
pub fn forget(program: &mut Program) {
    if !program.never.is_empty() || !program.hints.is_empty() {
        return;
    }
    let relevant = Relevant::of(program);
    for location in &mut program.locations {
        for edge in &mut location.edges {
            let Op::Assign(places, values, None) = &mut edge.op else { continue };
            for (place, value) in places.iter().zip(values) {
                if !relevant.0.place(location.procedure, place) && !can_fail(value) {
                    settle(value);
                }
            }
        }
    }
}

/// Where one of these addresses is stored in a relevant variable, each with where it comes from.
pub fn depends(program: &Program, addresses: &[(Value, Span)]) -> Option<Span> {
    let relevant = Relevant::of(program);
    for location in &program.locations {
        for edge in &location.edges {
            let Op::Assign(places, values, _) = &edge.op else { continue };
            for (place, value) in places.iter().zip(values) {
                if let Expr::If(_, given, _) = value
                    && let Expr::Constant(given) = **given
                    && let Some((_, span)) = addresses.iter().find(|(address, _)| *address == given)
                    && relevant.0.place(location.procedure, place)
                {
                    return Some(*span);
                }
            }
        }
    }
    None
}

/// Whether evaluating an expression may be a violation.
pub fn can_fail(expr: &Expr) -> bool {
    let mut fails = false;
    expr.visit(&mut |part| {
        fails |= match part {
            Expr::SharedElement(..) | Expr::LocalElement(..) => true,
            Expr::Binary(operator, _, right, _) => {
                is_partial(*operator) && !matches!(**right, Expr::Constant(_))
            }
            _ => false,
        };
    });
    fails
}

/// Whether an operator has operands without a result.
pub fn is_partial(operator: Binary) -> bool {
    matches!(operator, Binary::Divide | Binary::Remainder | Binary::ShiftLeft | Binary::ShiftRight)
}

/// One value for each choice.
fn settle(expr: &mut Expr) {
    match expr {
        Expr::Choose(low, high) => *expr = Expr::Constant(0.clamp(*low, *high)),
        Expr::Unary(_, part) | Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) => {
            settle(part);
        }
        Expr::Binary(_, left, right, _) => {
            settle(left);
            settle(right);
        }
        Expr::If(condition, then, other) => {
            settle(condition);
            settle(then);
            settle(other);
        }
        _ => {}
    }
}

impl Relevant {
    fn of(program: &Program) -> Relevant {
        let mut relevant = Relevant(Marks::new(program));
        while relevant.0.grew() {
            for location in &program.locations {
                location.edges.iter().for_each(|edge| relevant.step(location.procedure, &edge.op));
            }
        }
        relevant
    }

    fn step(&mut self, here: ProcedureId, op: &Op) {
        let Op::Assign(places, values, constraint) = op else {
            op.expressions().for_each(|expr| self.0.used(here, expr));
            return;
        };
        constraint.iter().for_each(|constraint| self.0.used(here, constraint));
        for place in places {
            if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &place.target {
                self.0.used(here, index);
            }
        }
        for (place, value) in places.iter().zip(values) {
            if self.0.place(here, place) {
                self.0.used(here, value);
                continue;
            }
            // What may be a violation matters, wherever the value goes.
            value.visit(&mut |part| match part {
                Expr::SharedElement(_, _, index, _) | Expr::LocalElement(_, _, index, _) => {
                    self.0.used(here, index);
                }
                Expr::Binary(operator, left, right, _) if is_partial(*operator) => {
                    self.0.used(here, left);
                    self.0.used(here, right);
                }
                _ => {}
            });
        }
    }
}
