//! Expressions of a Boolean program, with brackets everywhere, since the dialects disagree about what binds tighter.

use super::super::{Written, refuse};
use super::Writer;
use allways_model::program::{Binary, Expr, Place, ProcedureId, Span, Target, Unary};

impl Writer<'_> {
    /// An expression of a procedure.
    pub fn expression(&self, expr: &Expr, procedure: ProcedureId, span: Span) -> Written<String> {
        let part = |expr| self.expression(expr, procedure, span);
        Ok(match expr {
            Expr::Constant(value) => i64::from(*value != 0).to_string(),
            Expr::Shared(slot) => self.shared[*slot].clone(),
            Expr::Local(slot) => self.locals[procedure.index()][*slot].clone(),
            Expr::NextShared(slot) => format!("'{}", self.shared[*slot]),
            Expr::NextLocal(slot) => format!("'{}", self.locals[procedure.index()][*slot]),
            Expr::OtherLocal(slot) => format!("{}$", self.locals[procedure.index()][*slot]),
            Expr::NextOtherLocal(slot) => format!("'{}$", self.locals[procedure.index()][*slot]),
            Expr::SharedElement(_, _, _, span) | Expr::LocalElement(_, _, _, span) => {
                return refuse(*span, "an index is not constant, and a Boolean program has no arrays");
            }
            Expr::Choose(0, 1) => "*".to_string(),
            Expr::Unary(Unary::Not, operand) => format!("!{}", part(operand)?),
            Expr::Binary(operator @ (Binary::And | Binary::Or), ..) => {
                // A long chain is not nested, lest it be too deep to be read.
                let mut operands = Vec::new();
                flatten(expr, *operator, &mut operands);
                let operands: Vec<String> = operands.into_iter().map(part).collect::<Written<_>>()?;
                format!("({})", operands.join(if *operator == Binary::And { " & " } else { " | " }))
            }
            Expr::Binary(operator @ (Binary::Equal | Binary::Unequal), left, right, _) => {
                let symbol = if *operator == Binary::Equal { "=" } else { "!=" };
                format!("({} {symbol} {})", part(left)?, part(right)?)
            }
            Expr::If(condition, then, other) => {
                format!("({} ? {} : {})", part(condition)?, part(then)?, part(other)?)
            }
            Expr::This => return refuse(span, "`self` is a number, and a Boolean program has Booleans only"),
            Expr::At(_) => {
                return refuse(span, "a Boolean program cannot say how many threads are at a label");
            }
            Expr::Choose(..) | Expr::Unary(..) | Expr::Binary(..) => {
                return refuse(
                    span,
                    "an expression is about numbers, and a Boolean program has Booleans only",
                );
            }
        })
    }

    /// Expressions with commas between them.
    pub fn expressions(&self, exprs: &[Expr], procedure: ProcedureId, span: Span) -> Written<String> {
        let exprs: Vec<String> =
            exprs.iter().map(|expr| self.expression(expr, procedure, span)).collect::<Written<_>>()?;
        Ok(exprs.join(", "))
    }

    /// What is assigned, with commas between.
    pub fn places(&self, places: &[Place], procedure: ProcedureId) -> Written<String> {
        let place = |place: &Place| {
            Ok(match &place.target {
                Target::Shared(slot) => self.shared[*slot].clone(),
                Target::Local(slot) => self.locals[procedure.index()][*slot].clone(),
                Target::Others(slot) => format!("{}$", self.locals[procedure.index()][*slot]),
                Target::SharedElement(..) | Target::LocalElement(..) => {
                    return refuse(
                        place.span,
                        "an index is not constant, and a Boolean program has no arrays",
                    );
                }
            })
        };
        Ok(places.iter().map(place).collect::<Written<Vec<String>>>()?.join(", "))
    }
}

/// The operands of a chain of one operator.
fn flatten<'e>(expr: &'e Expr, operator: Binary, operands: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Binary(found, left, right, _) if *found == operator => {
            flatten(left, operator, operands);
            flatten(right, operator, operands);
        }
        _ => operands.push(expr),
    }
}

/// With brackets around it. What starts with one ends with it, since all operators have theirs.
pub(super) fn bracketed(text: String) -> String {
    if text.starts_with('(') { text } else { format!("({text})") }
}
