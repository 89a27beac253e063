//! Loops that create, or join, more threads than can be told apart.
//!
//! `for (i = 0; i < 10000; i++) pthread_create(&t[i], 0, f, 0);` starts any number of threads. Who counts to 10,000 for that
//! has 10,000 times as many states and learns nothing: a run of the loop that is left early is one of the program in which the
//! remaining threads have not moved yet. So the loop does not count, and the numbers of the threads are not stored, if nobody looks at them. The
//! loop that joins them does not wait, which allows more than can happen, as every join with one of any number of threads.

use super::places::Target;
use super::statements::variable_of;
use super::{Lowering, Model, Result};
use crate::typed::{Binary, Expr, ExprKind, Stmt, StmtKind, Type, VariableId};
use crate::walk;
use allways_model::program::{Op, Span, Value};

/// A loop that goes through an array of threads.
struct Through<'a> {
    variable: VariableId,
    /// The value of the variable after the loop.
    last: Value,
    /// What is called in each round, and its arguments.
    called: &'a str,
    arguments: &'a [Expr],
}

impl Lowering<'_> {
    /// Lowers a loop over threads that has more rounds than this; false if it is none.
    pub(super) fn crowd(
        &mut self,
        condition: &Expr,
        step: Option<&Expr>,
        body: &Stmt,
        before: Option<&Stmt>,
        rounds: usize,
        span: Span,
    ) -> Result<bool> {
        let Some(through) = self.through(condition, step, body, before, rounds) else { return Ok(false) };
        let after = self.location(span);
        match (through.called, through.arguments) {
            ("pthread_create", [_, _, start, argument]) => {
                let head = self.location(span);
                self.jump(head, span);
                self.edge(head, Op::Skip, after, span);
                self.here = self.location(span);
                let inside = self.here;
                self.edge(head, Op::Skip, inside, span);
                self.body.loops += 1;
                self.body.branches += 1;
                self.create(None, start, argument, span)?;
                self.body.loops -= 1;
                self.body.branches -= 1;
                self.jump(head, span);
            }
            _ => {
                self.joined.push((self.here, span));
                self.skips_joins = true;
                self.jump(after, span);
            }
        }
        self.here = after;
        let place: Target = self.variable(through.variable, span)?;
        self.store(&place, Model::Constant(through.last), span)?;
        Ok(true)
    }

    fn through<'a>(
        &self,
        condition: &Expr,
        step: Option<&Expr>,
        body: &'a Stmt,
        before: Option<&Stmt>,
        rounds: usize,
    ) -> Option<Through<'a>>
    where
        Self: 'a,
    {
        let (variable, operator, limit) = self.compares(condition)?;
        let (started, first) = self.starts_with(before?)?;
        let last = match operator {
            Binary::Less | Binary::Unequal => limit,
            Binary::LessEqual => limit.checked_add(1)?,
            _ => return None,
        };
        let counts = started == variable && self.steps_by(step?, variable) == Some(1);
        let own =
            crate::pointers::is_automatic(self.unit, variable) && !self.pointers.escapes.contains(&variable);
        if !counts || !own || first < 0 || last.checked_sub(first)? <= rounds as i128 {
            return None;
        }
        let mut body = body;
        while let StmtKind::Block(inside) = &body.kind {
            let [only] = &inside[..] else { return None };
            body = only;
        }
        let StmtKind::Expr(expr) = &body.kind else { return None };
        let ExprKind::Call(callee, arguments) = &walk::through_casts(expr).kind else { return None };
        let ExprKind::Function(called) = callee.kind else { return None };
        let mentions = |expr: &Expr| {
            let mut found = false;
            walk::expression(expr, &mut |part| {
                found |= matches!(part.kind, ExprKind::Variable(other) if other == variable)
                    || matches!(part.kind, ExprKind::Call(..) | ExprKind::Assign(..) | ExprKind::Step(..));
            });
            found
        };
        let fits = match (&*self.unit.functions[called.0].name, &arguments[..]) {
            ("pthread_create", [to, attributes, start, argument]) => {
                self.is_element(walk::through_casts(to), variable, last)
                    && ![attributes, start, argument].into_iter().any(mentions)
            }
            ("pthread_join", [thread, result]) => {
                matches!(walk::through_casts(result).kind, ExprKind::Int(0))
                    && match &walk::through_casts(thread).kind {
                        ExprKind::Load(place) => match &place.kind {
                            ExprKind::Deref(pointer) => self.is_element(pointer, variable, last),
                            _ => false,
                        },
                        _ => false,
                    }
            }
            _ => false,
        };
        let called = match &*self.unit.functions[called.0].name {
            "pthread_create" => "pthread_create",
            _ => "pthread_join",
        };
        fits.then(|| Through {
            variable,
            last: Value::try_from(last).unwrap_or(Value::MAX),
            called,
            arguments,
        })
    }

    /// Whether a pointer is that to the element of an array whose index is a variable that stays below a limit.
    fn is_element(&self, pointer: &Expr, variable: VariableId, limit: i128) -> bool {
        let ExprKind::PointerAdd(array, index) = &pointer.kind else { return false };
        let ExprKind::AddressOf(place) = &walk::through_casts(array).kind else { return false };
        matches!(place.kind, ExprKind::Variable(array) if self.only_keeps_threads(array))
            && matches!(place.ty.plain(), Type::Array(_, Some(length)) if i128::from(*length) >= limit)
            && variable_of(index) == Some(variable)
    }

    /// Whether a variable is mentioned only where threads are created or joined: nobody else sees the numbers in it.
    fn only_keeps_threads(&self, variable: VariableId) -> bool {
        let count = |expr: &Expr| {
            let mut count = 0;
            walk::expression(expr, &mut |part| {
                count += usize::from(matches!(part.kind, ExprKind::Variable(other) if other == variable));
            });
            count
        };
        let (mut all, mut for_threads) = (0, 0);
        for function in &self.unit.functions {
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                all += usize::from(matches!(expr.kind, ExprKind::Variable(other) if other == variable));
                if let ExprKind::Call(callee, arguments) = &expr.kind
                    && let ExprKind::Function(called) = callee.kind
                    && matches!(&*self.unit.functions[called.0].name, "pthread_create" | "pthread_join")
                {
                    for_threads += arguments.first().map_or(0, count);
                }
            });
        }
        let initial = self.unit.variables.iter().flat_map(|other| walk::values(&other.initial));
        all == for_threads && initial.map(count).sum::<usize>() == 0
    }
}
