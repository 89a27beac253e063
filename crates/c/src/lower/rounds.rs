//! How many rounds a loop has that creates threads: a guess, from what it counts and up to where.

use super::statements::{MOST_ROUNDS, variable_of};
use super::{Crowds, FEW, Lowering};
use crate::typed::{Binary, Expr, ExprKind, Initial, Stmt, StmtKind, VariableId};
use crate::walk;

/// Whether there are labels in a body; each would be there once for each round.
fn has_labels(body: &Stmt) -> bool {
    let mut labels = false;
    walk::each_statement(std::slice::from_ref(body), &mut |stmt| {
        labels |= matches!(stmt.kind, StmtKind::Label(..));
    });
    labels
}

impl Lowering<'_> {
    /// How many rounds a loop seems to have that counts to a constant. The condition is looked at in every round, so a guess
    /// does no harm.
    pub(super) fn rounds(
        &self,
        condition: &Expr,
        step: Option<&Expr>,
        body: &Stmt,
        before: Option<&Stmt>,
    ) -> Option<usize> {
        let (variable, operator, limit) = self
            .compares(condition)
            .or_else(|| self.likely(condition))
            .or_else(|| self.restricted(condition))
            .filter(|_| !has_labels(body))?;
        let first = before
            .and_then(|before| self.starts_with(before))
            .filter(|(started, _)| *started == variable)
            .map_or(0, |(_, first)| first);
        let mut by = step.and_then(|step| self.steps_by(step, variable));
        walk::statement(body, &mut |expr| by = by.or_else(|| self.steps_by(expr, variable)));
        let by = by?;
        let holds = |value: i128| match operator {
            Binary::Less => value < limit,
            Binary::LessEqual => value <= limit,
            Binary::Greater => value > limit,
            Binary::GreaterEqual => value >= limit,
            Binary::Unequal => value != limit,
            _ => false,
        };
        (0..=MOST_ROUNDS).find(|&round| !holds(first + by * round as i128))
    }

    /// How many rounds of a loop are followed that creates any number of threads, if few are asked for.
    pub(super) fn few_rounds(&self, body: &Stmt) -> Option<usize> {
        (self.crowds == Crowds::Few && !has_labels(body)).then_some(FEW)
    }

    pub(super) fn starts_with(&self, stmt: &Stmt) -> Option<(VariableId, i128)> {
        match &stmt.kind {
            StmtKind::Declare(variable, Some(initial)) => match &initial[..] {
                [Initial { path, value }] if path.is_empty() => {
                    Some((*variable, self.constant_value(value)?))
                }
                _ => None,
            },
            StmtKind::Expr(expr) => match &walk::through_casts(expr).kind {
                ExprKind::Assign(to, value) => match to.kind {
                    ExprKind::Variable(variable) => Some((variable, self.constant_value(value)?)),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        }
    }

    /// The variable that a condition compares with a constant.
    pub(super) fn compares(&self, condition: &Expr) -> Option<(VariableId, Binary, i128)> {
        let ExprKind::Binary(operator, left, right) = &walk::through_casts(condition).kind else {
            return None;
        };
        Some((variable_of(left)?, *operator, self.constant_value(right)?))
    }

    /// The same with a variable that nothing but input changes: its initial value.
    fn likely(&self, condition: &Expr) -> Option<(VariableId, Binary, i128)> {
        let ExprKind::Binary(operator, left, right) = &walk::through_casts(condition).kind else {
            return None;
        };
        Some((variable_of(left)?, *operator, *self.likely.get(&variable_of(right)?)?))
    }

    /// The same with a variable that the program says to be at most some constant, by an assumption or by leaving otherwise.
    fn restricted(&self, condition: &Expr) -> Option<(VariableId, Binary, i128)> {
        let ExprKind::Binary(operator, left, right) = &walk::through_casts(condition).kind else {
            return None;
        };
        let limited = variable_of(right)?;
        let mut most = None;
        let mut note = |expr: &Expr, beyond: bool| {
            walk::expression(expr, &mut |part| {
                let limit = self.compares(part).filter(|(variable, ..)| *variable == limited);
                let limit = match limit {
                    Some((_, Binary::Less, limit)) if !beyond => limit.checked_sub(1),
                    Some((_, Binary::LessEqual, limit)) if !beyond => Some(limit),
                    Some((_, Binary::GreaterEqual, limit)) if beyond => limit.checked_sub(1),
                    Some((_, Binary::Greater, limit)) if beyond => Some(limit),
                    _ => None,
                };
                most = most.max(limit);
            });
        };
        for function in &self.unit.functions {
            let body = function.body.as_deref().unwrap_or_default();
            walk::statements(body, &mut |expr| {
                if let ExprKind::Call(callee, arguments) = &expr.kind
                    && let ExprKind::Function(called) = callee.kind
                    && self.unit.functions[called.0].name.contains("assume")
                {
                    arguments.iter().for_each(|argument| note(argument, false));
                }
            });
            walk::each_statement(body, &mut |stmt| {
                if let StmtKind::If(condition, ..) = &stmt.kind {
                    note(condition, true);
                }
            });
        }
        Some((variable_of(left)?, *operator, most?))
    }

    pub(super) fn steps_by(&self, step: &Expr, variable: VariableId) -> Option<i128> {
        let is = |to: &Expr| matches!(to.kind, ExprKind::Variable(other) if other == variable);
        match &walk::through_casts(step).kind {
            ExprKind::Step(to, by, _) if is(to) => Some((*by).into()),
            ExprKind::AssignOp(Binary::Plus, to, value, _) if is(to) => self.constant_value(value),
            ExprKind::AssignOp(Binary::Minus, to, value, _) if is(to) => Some(-self.constant_value(value)?),
            ExprKind::Assign(to, value) if is(to) => match &walk::through_casts(value).kind {
                ExprKind::Binary(Binary::Plus, left, right) if variable_of(left) == Some(variable) => {
                    self.constant_value(right)
                }
                ExprKind::Binary(Binary::Minus, left, right) if variable_of(left) == Some(variable) => {
                    Some(-self.constant_value(right)?)
                }
                _ => None,
            },
            _ => None,
        }
    }
}
