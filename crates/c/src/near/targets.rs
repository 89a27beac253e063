//! Where assertions are, and on which variables and members they depend directly.

use super::Calls;
use crate::pointers::array_of;
use crate::typed::{Expr, ExprKind, FunctionId, RecordId, Stmt, StmtKind, Storage, Type, Unit, VariableId};
use crate::walk;
use std::collections::HashSet;

/// What assertions depend on.
#[derive(Default)]
pub(super) struct Targets {
    variables: HashSet<VariableId>,
    members: HashSet<(RecordId, usize)>,
}

/// Something in memory that a place is, or is part of.
enum Root {
    Variable(VariableId),
    Member(RecordId, usize),
}

/// Functions whose call is a violation.
fn fails(name: &str) -> bool {
    matches!(
        name,
        "reach_error" | "__VERIFIER_error" | "__assert_fail" | "__assert" | "__assert_func" | "__assert_rtn"
    )
}

/// Functions without a body whose call is a violation if the argument is zero.
fn asserts(name: &str) -> bool {
    matches!(
        name,
        "assert"
            | "__VERIFIER_assert"
            | "__ESBMC_assert"
            | "__CPROVER_assert"
            | "klee_assert"
            | "__goblint_check"
            | "__goblint_assert"
    )
}

impl Targets {
    pub(super) fn of(unit: &Unit, calls: &Calls) -> Targets {
        let mut search = Search { unit, calls, targets: Targets::default(), seen: HashSet::new() };
        for (number, function) in unit.functions.iter().enumerate() {
            let body = function.body.as_deref().unwrap_or_default();
            body.iter().for_each(|stmt| search.statement(FunctionId(number), stmt, &mut Vec::new()));
        }
        search.targets
    }

    /// Whether an expression, without its parts, is an assertion, or writes something that one depends on.
    pub(super) fn is_here(&self, unit: &Unit, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(to, _)
            | ExprKind::AssignOp(_, to, _, _)
            | ExprKind::AssignPointerAdd(to, _)
            | ExprKind::Step(to, _, _) => match root(to) {
                Some(Root::Variable(variable)) => self.variables.contains(&variable),
                Some(Root::Member(record, member)) => self.members.contains(&(record, member)),
                None => false,
            },
            ExprKind::Call(callee, _) => is_violation(unit, callee),
            _ => false,
        }
    }
}

/// Whether a call of a function may be a violation.
fn is_violation(unit: &Unit, callee: &Expr) -> bool {
    let ExprKind::Function(function) = callee.kind else { return false };
    let function = &unit.functions[function.0];
    fails(&function.name) || asserts(&function.name) && function.body.is_none()
}

fn root(place: &Expr) -> Option<Root> {
    match &place.kind {
        ExprKind::Variable(variable) => Some(Root::Variable(*variable)),
        ExprKind::Member(object, member) => match object.ty.plain() {
            Type::Record(record) => Some(Root::Member(*record, *member)),
            _ => None,
        },
        ExprKind::Deref(pointer) => root(array_of(pointer)?),
        _ => None,
    }
}

struct Search<'a> {
    unit: &'a Unit,
    calls: &'a Calls,
    targets: Targets,
    seen: HashSet<VariableId>,
}

impl<'a> Search<'a> {
    /// Looks for assertions in a statement, which is reached under conditions.
    fn statement(&mut self, function: FunctionId, stmt: &'a Stmt, conditions: &mut Vec<&'a Expr>) {
        match &stmt.kind {
            StmtKind::If(condition, then, other) => {
                conditions.push(condition);
                self.statement(function, then, conditions);
                other.iter().for_each(|other| self.statement(function, other, conditions));
                conditions.pop();
            }
            StmtKind::Block(body) => {
                body.iter().for_each(|stmt| self.statement(function, stmt, conditions));
            }
            StmtKind::While(_, body)
            | StmtKind::DoWhile(body, _)
            | StmtKind::For(_, _, body)
            | StmtKind::Switch(_, body)
            | StmtKind::Case(_, _, body)
            | StmtKind::Default(body)
            | StmtKind::Label(_, body) => self.statement(function, body, conditions),
            _ => {
                let mut found: Vec<&Expr> = Vec::new();
                walk::statement(stmt, &mut |expr| {
                    if let ExprKind::Call(callee, arguments) = &expr.kind
                        && is_violation(self.unit, callee)
                    {
                        found.extend(arguments.first());
                        found.extend(conditions.iter().copied());
                    }
                });
                found.into_iter().for_each(|expr| self.reads(function, expr));
            }
        }
    }

    /// An assertion depends on what an expression of a function reads.
    fn reads(&mut self, function: FunctionId, expr: &Expr) {
        let mut places = Vec::new();
        walk::expression(expr, &mut |part| {
            if let ExprKind::Load(place) = &part.kind {
                places.extend(root(place));
            }
        });
        for place in places {
            match place {
                Root::Member(record, member) => _ = self.targets.members.insert((record, member)),
                Root::Variable(variable) => self.variable(function, variable),
            }
        }
    }

    /// An assertion depends on a variable; if that is a local one, on what it is given.
    fn variable(&mut self, function: FunctionId, variable: VariableId) {
        if !self.seen.insert(variable) {
            return;
        }
        if !matches!(self.unit.variables[variable.0].storage, Storage::Automatic(_)) {
            self.targets.variables.insert(variable);
            return;
        }
        let unit = self.unit;
        let own = &unit.functions[function.0];
        let mut given: Vec<(FunctionId, &Expr)> = Vec::new();
        let body = own.body.as_deref().unwrap_or_default();
        walk::statements(body, &mut |expr| {
            if let ExprKind::Assign(to, value) = &expr.kind
                && matches!(root(to), Some(Root::Variable(other)) if other == variable)
            {
                given.push((function, value));
            }
        });
        walk::each_statement(body, &mut |stmt| {
            if let StmtKind::Declare(other, Some(initial)) = &stmt.kind
                && *other == variable
            {
                given.extend(walk::values(initial).map(|value| (function, value)));
            }
        });
        if let Some(position) = own.parameters.iter().position(|&parameter| parameter == variable) {
            for (number, caller) in unit.functions.iter().enumerate() {
                if !self.calls.called[number].contains(&function) {
                    continue;
                }
                walk::statements(caller.body.as_deref().unwrap_or_default(), &mut |expr| {
                    if let ExprKind::Call(callee, arguments) = &expr.kind
                        && matches!(callee.kind, ExprKind::Function(other) if other == function)
                    {
                        given.extend(arguments.get(position).map(|value| (FunctionId(number), value)));
                    }
                });
            }
        }
        given.into_iter().for_each(|(function, value)| self.reads(function, value));
    }
}
