//! Pointers of which nobody sees the value.
//!
//! A variable without an initialiser has any value. A pointer with any value is followed nowhere, although programs copy such pointers, as
//! when a queue moves to a larger array and takes along the cells that are not in use. What a program can do with a pointer, other
//! than to copy it, is to access what it points to, or to *see* its value: compare it, compute with it, convert it to an integer, pass
//! it to a function without a body.
//!
//! Invariant: if no pointer to objects of a class is ever seen, then runs do not depend on what value such a pointer has as long as it
//! points to no object, up to where it is used for an access, which is an error whatever the value is. So one value,
//! [`INDETERMINATE`](crate::lower::INDETERMINATE), stands for all that a variable may hold that was never given one.

use crate::library::{self, Flow};
use crate::pointers::{Class, Pointers};
use crate::typed::{Expr, ExprKind, Stmt, StmtKind, Type, Unit};
use crate::walk;
use std::collections::HashSet;

/// The classes of objects to which pointers are seen.
pub fn seen(unit: &Unit, pointers: &mut Pointers) -> HashSet<Class> {
    let mut search = Search { unit, pointers, seen: HashSet::new() };
    for function in &unit.functions {
        search.statements(function.body.as_deref().unwrap_or_default());
    }
    search.seen
}

struct Search<'a> {
    unit: &'a Unit,
    pointers: &'a mut Pointers,
    seen: HashSet<Class>,
}

impl Search<'_> {
    fn statements(&mut self, body: &[Stmt]) {
        walk::each_statement(body, &mut |stmt| match &stmt.kind {
            StmtKind::Expr(expr) => self.expression(expr, false),
            StmtKind::Declare(_, initial) => {
                walk::values(initial.as_deref().unwrap_or_default())
                    .for_each(|one| self.expression(one, false));
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.expression(value, false)),
            StmtKind::If(value, ..)
            | StmtKind::While(value, _)
            | StmtKind::DoWhile(_, value)
            | StmtKind::Switch(value, _) => self.expression(value, true),
            StmtKind::For(condition, step, _) => {
                condition.iter().for_each(|condition| self.expression(condition, true));
                step.iter().for_each(|step| self.expression(step, false));
            }
            StmtKind::Asm(..) => walk::statement(stmt, &mut |part| self.all_of(part)),
            StmtKind::Block(_)
            | StmtKind::Case(..)
            | StmtKind::Default(_)
            | StmtKind::Label(..)
            | StmtKind::Goto(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Empty
            | StmtKind::Beyond(_) => {}
        });
    }

    /// An expression whose value is seen, or else is at most copied or used for an access.
    fn expression(&mut self, expr: &Expr, seen: bool) {
        let is_address = matches!(expr.kind, ExprKind::AddressOf(_) | ExprKind::Int(_));
        if seen && !is_address && is_pointer(&expr.ty) {
            let class = self.pointers.target(expr);
            self.seen.insert(class);
        }
        match &expr.kind {
            ExprKind::Load(place) | ExprKind::Member(place, _) | ExprKind::Deref(place) => {
                self.expression(place, false);
            }
            ExprKind::AddressOf(place) => {
                // An address behind a pointer is computed from its value.
                let mut place = place;
                while let ExprKind::Member(object, _) = &place.kind {
                    place = object;
                }
                match &place.kind {
                    ExprKind::Deref(pointer) => self.expression(pointer, true),
                    _ => self.expression(place, false),
                }
            }
            ExprKind::Assign(place, value) => {
                self.expression(place, false);
                self.expression(value, false);
            }
            ExprKind::Comma(first, second) => {
                self.expression(first, false);
                self.expression(second, seen);
            }
            ExprKind::Conditional(condition, then, other) => {
                self.expression(condition, true);
                then.iter().for_each(|then| self.expression(then, seen));
                self.expression(other, seen);
            }
            ExprKind::Cast(part) => {
                self.converted(part, &expr.ty);
                self.expression(part, seen || !(is_pointer(&expr.ty) || expr.ty == Type::Void));
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments),
            ExprKind::Statements(body) => self.statements(body),
            _ => walk::parts(expr).into_iter().for_each(|part| self.expression(part, true)),
        }
    }

    fn call(&mut self, callee: &Expr, arguments: &[Expr]) {
        let ExprKind::Function(function) = callee.kind else {
            self.expression(callee, true);
            return arguments.iter().for_each(|argument| self.all_of(argument));
        };
        let function = &self.unit.functions[function.0];
        let looks = !(library::is_of_threads(&function.name) && !function.name.starts_with("__")
            || library::flow(&function.name) == Flow::Allocates);
        for argument in arguments {
            self.expression(argument, function.body.is_none());
            if function.body.is_none() && looks {
                self.all_of(argument);
            }
        }
    }

    /// The value of an expression is seen, and whatever can be found from there.
    fn all_of(&mut self, expr: &Expr) {
        self.expression(expr, true);
        if is_pointer(&expr.ty) {
            let class = self.pointers.target(expr);
            self.contents(class);
        }
    }

    /// A pointer becomes one to another type: pointers that lie there may be read as something else.
    fn converted(&mut self, part: &Expr, to: &Type) {
        let (Type::Pointer(from), Type::Pointer(to)) = (part.ty.plain(), to.plain()) else { return };
        let new = match &part.kind {
            ExprKind::Int(_) => true,
            ExprKind::Call(callee, _) => match callee.kind {
                ExprKind::Function(function) => {
                    library::flow(&self.unit.functions[function.0].name) == Flow::Allocates
                }
                _ => false,
            },
            _ => false,
        };
        if from.plain() != to.plain() && *to.plain() != Type::Void && !new {
            let class = self.pointers.target(part);
            self.contents(class);
        }
    }

    /// The pointers that objects of a class hold are seen, and those that lie where they point to.
    fn contents(&mut self, class: Class) {
        let mut todo = vec![class];
        let mut done = HashSet::new();
        while let Some(class) = todo.pop() {
            if done.insert(class) {
                let held = self.pointers.held_by(class);
                self.seen.extend(held.iter().copied());
                todo.extend(held);
            }
        }
    }
}

fn is_pointer(ty: &Type) -> bool {
    matches!(ty.plain(), Type::Pointer(_))
}
