//! Arguments of calls that [`lower`](crate::lower) follows by their meaning, evaluated first and once.
//!
//! The step of `pthread_cond_wait(c, next_mutex())` needs the mutex twice, that of `sem_timedwait(s, deadline())` does not need
//! the deadline at all. So an argument that does something (it assigns, or calls) is stored in a variable of its own before the
//! call: `(#argument = next_mutex(), pthread_cond_wait(c, #argument))`. What is left are arguments that only read.

use crate::library::{evaluates_once, is_of_threads};
use crate::lower::acts;
use crate::typed::{
    Expr, ExprKind, FunctionId, Initial, Reading, Stmt, StmtKind, Storage, Type, Unit, Variable, VariableId,
};

/// Stores arguments that do something before the calls.
pub fn evaluate_first(unit: &mut Unit) {
    for function in 0..unit.functions.len() {
        let Some(mut body) = unit.functions[function].body.take() else { continue };
        let mut pass = Pass { unit, function: FunctionId(function) };
        body.iter_mut().for_each(|stmt| pass.statement(stmt));
        unit.functions[function].body = Some(body);
    }
}

struct Pass<'a> {
    unit: &'a mut Unit,
    function: FunctionId,
}

impl Pass<'_> {
    fn statement(&mut self, stmt: &mut Stmt) {
        match &mut stmt.kind {
            StmtKind::Expr(expr) => self.expression(expr),
            StmtKind::Declare(_, initial) => {
                initial.iter_mut().flatten().for_each(|Initial { value, .. }| self.expression(value));
            }
            StmtKind::Block(body) => body.iter_mut().for_each(|stmt| self.statement(stmt)),
            StmtKind::If(condition, then, other) => {
                self.expression(condition);
                self.statement(then);
                other.iter_mut().for_each(|other| self.statement(other));
            }
            StmtKind::While(condition, body)
            | StmtKind::DoWhile(body, condition)
            | StmtKind::Switch(condition, body) => {
                self.expression(condition);
                self.statement(body);
            }
            StmtKind::For(condition, step, body) => {
                condition.iter_mut().chain(step).for_each(|expr| self.expression(expr));
                self.statement(body);
            }
            StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => {
                self.statement(body);
            }
            StmtKind::Return(value) => value.iter_mut().for_each(|value| self.expression(value)),
            StmtKind::Asm(outputs, reading) => {
                outputs.iter_mut().for_each(|output| self.expression(output));
                if let Some(Reading::Memory(place)) = reading {
                    self.expression(place);
                }
            }
            StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Empty
            | StmtKind::Beyond(_) => {}
        }
    }

    fn expression(&mut self, expr: &mut Expr) {
        match &mut expr.kind {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::Unsupported(_) => {}
            ExprKind::Statements(body) => body.iter_mut().for_each(|stmt| self.statement(stmt)),
            ExprKind::Deref(part)
            | ExprKind::Member(part, _)
            | ExprKind::Load(part)
            | ExprKind::AddressOf(part)
            | ExprKind::Unary(_, part)
            | ExprKind::Cast(part)
            | ExprKind::Step(part, _, _) => self.expression(part),
            ExprKind::Binary(_, left, right)
            | ExprKind::PointerAdd(left, right)
            | ExprKind::PointerDifference(left, right)
            | ExprKind::And(left, right)
            | ExprKind::Or(left, right)
            | ExprKind::Assign(left, right)
            | ExprKind::AssignOp(_, left, right, _)
            | ExprKind::AssignPointerAdd(left, right)
            | ExprKind::Comma(left, right) => {
                self.expression(left);
                self.expression(right);
            }
            ExprKind::Conditional(condition, then, other) => {
                self.expression(condition);
                then.iter_mut().for_each(|then| self.expression(then));
                self.expression(other);
            }
            ExprKind::Call(callee, arguments) => {
                self.expression(callee);
                arguments.iter_mut().for_each(|argument| self.expression(argument));
                if let ExprKind::Function(function) = callee.kind {
                    self.call(expr, function);
                }
            }
        }
    }

    /// A call whose parts are done.
    fn call(&mut self, call: &mut Expr, function: FunctionId) {
        let called = &self.unit.functions[function.0];
        let name = called.name.clone();
        if called.body.is_some() || !is_of_threads(&name) {
            return;
        }
        let ExprKind::Call(_, arguments) = &mut call.kind else { return };
        let mut first: Option<Expr> = None;
        for (position, argument) in arguments.iter_mut().enumerate() {
            let scalar = matches!(argument.ty.plain(), Type::Int(_) | Type::Pointer(_));
            if !scalar || evaluates_once(&name, position) || !acts(argument) {
                continue;
            }
            let (ty, span) = (argument.ty.clone(), argument.span);
            let variable = VariableId(self.unit.variables.len());
            self.unit.variables.push(Variable {
                name: "#argument".to_string(),
                ty: ty.clone(),
                storage: Storage::Automatic(self.function),
                initial: Vec::new(),
                external: false,
                span,
            });
            let expr = |kind| Expr { kind, ty: ty.clone(), span };
            let place = expr(ExprKind::Variable(variable));
            let load = expr(ExprKind::Load(Box::new(place.clone())));
            let value = std::mem::replace(argument, load);
            let stored = expr(ExprKind::Assign(Box::new(place), Box::new(value)));
            first = Some(match first {
                Some(before) => expr(ExprKind::Comma(Box::new(before), Box::new(stored))),
                None => stored,
            });
        }
        if let Some(first) = first {
            let (ty, span) = (call.ty.clone(), call.span);
            let kind = std::mem::replace(&mut call.kind, ExprKind::Int(0));
            let second = Expr { kind, ty, span };
            call.kind = ExprKind::Comma(Box::new(first), Box::new(second));
        }
    }
}
