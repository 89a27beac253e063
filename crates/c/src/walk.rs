//! Walks over typed programs: every expression of a statement, every part of an expression.

use crate::typed::{Expr, ExprKind, Initial, Reading, Stmt, StmtKind, Unit};

/// Calls a function with every expression in a list of statements, outer ones first.
pub fn statements<'a>(body: &'a [Stmt], see: &mut dyn FnMut(&'a Expr)) {
    for stmt in body {
        statement(stmt, see);
    }
}

/// Calls a function with every expression in a statement, outer ones first.
pub fn statement<'a>(stmt: &'a Stmt, see: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) => expression(expr, see),
        StmtKind::Declare(_, initial) => initial.iter().flatten().for_each(|one| expression(&one.value, see)),
        StmtKind::Block(body) => statements(body, see),
        StmtKind::If(condition, then, other) => {
            expression(condition, see);
            statement(then, see);
            other.iter().for_each(|other| statement(other, see));
        }
        StmtKind::While(condition, body) | StmtKind::DoWhile(body, condition) => {
            expression(condition, see);
            statement(body, see);
        }
        StmtKind::For(condition, step, body) => {
            condition.iter().chain(step).for_each(|expr| expression(expr, see));
            statement(body, see);
        }
        StmtKind::Switch(value, body) => {
            expression(value, see);
            statement(body, see);
        }
        StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
            statement(body, see)
        }
        StmtKind::Return(value) => value.iter().for_each(|value| expression(value, see)),
        StmtKind::Asm(outputs, reading) => {
            outputs.iter().for_each(|output| expression(output, see));
            if let Some(Reading::Memory(place)) = reading {
                expression(place, see);
            }
        }
        StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Empty | StmtKind::Beyond(_) => {}
    }
}

/// Calls a function with an expression and every part of it, statements inside included.
pub fn expression<'a>(expr: &'a Expr, see: &mut dyn FnMut(&'a Expr)) {
    see(expr);
    if let ExprKind::Statements(body) = &expr.kind {
        statements(body, see);
    }
    for part in parts(expr) {
        expression(part, see);
    }
}

/// The operands of an expression, in their order.
pub fn parts(expr: &Expr) -> Vec<&Expr> {
    match &expr.kind {
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Variable(_)
        | ExprKind::Function(_)
        | ExprKind::Statements(_)
        | ExprKind::Unsupported(_) => Vec::new(),
        ExprKind::Deref(part)
        | ExprKind::Member(part, _)
        | ExprKind::Load(part)
        | ExprKind::AddressOf(part)
        | ExprKind::Unary(_, part)
        | ExprKind::Cast(part)
        | ExprKind::Step(part, _, _) => vec![part],
        ExprKind::Binary(_, left, right)
        | ExprKind::PointerAdd(left, right)
        | ExprKind::PointerDifference(left, right)
        | ExprKind::And(left, right)
        | ExprKind::Or(left, right)
        | ExprKind::Assign(left, right)
        | ExprKind::AssignOp(_, left, right, _)
        | ExprKind::AssignPointerAdd(left, right)
        | ExprKind::Comma(left, right) => vec![left, right],
        ExprKind::Conditional(condition, then, other) => {
            std::iter::once(condition).chain(then).chain([other]).map(AsRef::as_ref).collect()
        }
        ExprKind::Call(callee, arguments) => std::iter::once(callee.as_ref()).chain(arguments).collect(),
    }
}

/// Calls a function with every statement of a list and everything inside, statement expressions not included.
pub fn each_statement<'a>(body: &'a [Stmt], see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        see(stmt);
        match &stmt.kind {
            StmtKind::Block(body) => each_statement(body, see),
            StmtKind::If(_, then, other) => {
                each_statement(std::slice::from_ref(then), see);
                other.iter().for_each(|other| each_statement(std::slice::from_ref(other), see));
            }
            StmtKind::While(_, body)
            | StmtKind::DoWhile(body, _)
            | StmtKind::For(_, _, body)
            | StmtKind::Switch(_, body)
            | StmtKind::Case(_, _, body)
            | StmtKind::Default(body)
            | StmtKind::Label(_, body) => each_statement(std::slice::from_ref(body), see),
            _ => {}
        }
    }
}

/// Whether an expression is a call of a function that no program can name.
fn is_hook(unit: &Unit, expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Call(callee, _)
        if matches!(callee.kind, ExprKind::Function(called) if unit.functions[called.0].name.starts_with('#')))
}

/// Whether a statement only states something beside the program.
pub fn is_stated(unit: &Unit, stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Expr(expr) if is_hook(unit, expr))
}

/// The condition of a loop, without what is stated about it.
pub fn without_stated<'a>(unit: &Unit, condition: &'a Expr) -> &'a Expr {
    match &condition.kind {
        ExprKind::Comma(first, rest) if is_hook(unit, first) => without_stated(unit, rest),
        _ => condition,
    }
}

/// Whether something is stated about a part of these statements.
pub fn states_something(unit: &Unit, body: &[Stmt]) -> bool {
    let mut found = false;
    statements(body, &mut |expr| found |= is_hook(unit, expr));
    found
}

/// The expression, without the conversions around it that keep the value of an address.
pub fn through_casts(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(part) => through_casts(part),
        _ => expr,
    }
}

/// The values of an initialiser.
pub fn values(initial: &[Initial]) -> impl Iterator<Item = &Expr> {
    initial.iter().map(|one| &one.value)
}
