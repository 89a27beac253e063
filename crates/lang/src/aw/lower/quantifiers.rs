//! `forall`, `exists` and `count`: what is said of each value of a range, written out for all of them.
//!
//! The name takes one value after the other, as a constant; `forall` is then a row of `&&`, `exists` one of `||`, `count` a sum.
//! Rows are made as trees of small height, since expressions are walked by recursion; both evaluate from left to right and
//! only as far as needed, so that a violation in one of them is one of the row, and nothing else.

use super::super::ast::{self, Binder, Quantifier};
use super::super::names::Sort;
use super::Lowering;
use super::expressions::Typed;
use allways_model::program::{Binary, Expr, Span, Value};

/// How many expressions all quantifiers of a program may become.
const MAX_INSTANCES: usize = 1 << 20;

impl<'a> Lowering<'a, '_> {
    pub(super) fn quantified(
        &mut self,
        quantifier: Quantifier,
        binder: &'a Binder<'a>,
        body: &'a ast::Expr<'a>,
        span: Span,
    ) -> Option<Typed> {
        let (low, high) = self.range_of(&binder.low, &binder.high)?;
        self.each(quantifier, binder.name, (low, high), None, body, span)
    }

    /// What is said of each value of a range, which may be the numbers of threads.
    pub(super) fn each(
        &mut self,
        quantifier: Quantifier,
        name: ast::Name<'a>,
        (low, high): (Value, Value),
        threads: Option<usize>,
        body: &'a ast::Expr<'a>,
        span: Span,
    ) -> Option<Typed> {
        let mut parts = Vec::new();
        for value in low..=high {
            self.bound.push((name.text, value, threads));
            let part = self.of_sort(body, Sort::Bool, "after `:`");
            self.bound.pop();
            let part = part?;
            parts.push(match quantifier {
                Quantifier::Count => number(part),
                Quantifier::Forall | Quantifier::Exists => part,
            });
        }
        let (operator, sort) = match quantifier {
            Quantifier::Forall => (Binary::And, Sort::Bool),
            Quantifier::Exists => (Binary::Or, Sort::Bool),
            Quantifier::Count => (Binary::Plus, Sort::Number),
        };
        if parts.is_empty() {
            return Some((Expr::Constant(Value::from(quantifier == Quantifier::Forall)), sort));
        }
        Some((row(operator, parts, span), sort))
    }

    /// Counts an expression that is written out by quantifiers. `None` if they become too many.
    pub(super) fn written_out(&mut self, span: Span) -> Option<()> {
        if self.bound.is_empty() {
            return Some(());
        }
        self.instances += 1;
        if self.instances <= MAX_INSTANCES {
            return Some(());
        }
        let message =
            format!("expected quantifiers over at most {MAX_INSTANCES} expressions in all, found more");
        self.none(span, message, None)
    }
}

/// 1 if it is true, else 0.
fn number(part: Expr) -> Expr {
    match part {
        Expr::Constant(_) => part,
        part => Expr::If(Box::new(part), Box::new(Expr::Constant(1)), Box::new(Expr::Constant(0))),
    }
}

/// At least one expression, connected by an operator. What is constant is computed, if that ends nothing early.
fn row(operator: Binary, mut parts: Vec<Expr>, span: Span) -> Expr {
    if parts.len() > 1 {
        let right = row(operator, parts.split_off(parts.len() / 2), span);
        let left = row(operator, parts, span);
        return match (operator, left, right) {
            (Binary::Plus, Expr::Constant(left), Expr::Constant(right)) => Expr::Constant(left + right),
            (Binary::And, Expr::Constant(1), right) | (Binary::Or, Expr::Constant(0), right) => right,
            (Binary::And, Expr::Constant(0), _) => Expr::Constant(0),
            (Binary::Or, Expr::Constant(1), _) => Expr::Constant(1),
            (operator, left, right) => Expr::Binary(operator, Box::new(left), Box::new(right), span),
        };
    }
    parts.pop().unwrap_or(Expr::Constant(0))
}
