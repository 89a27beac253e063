//! Crews: threads that one loop creates and another one joins.
//!
//! `for (i = 0; i < n; i++) pthread_create(&t[i], 0, f, 0);` and, later, `for (i = 0; i < n; i++) pthread_join(t[i], 0);`: nothing tells
//! which of these threads is which, if they are [alike](super::threads) and nobody else looks at `t`. With a number for each, a
//! program has as many times more states as there are orders of them. So a crew is one template, with two counters: how
//! many were created, and how many have ended. Between one join and the next, `main` does nothing; so the loop waits once, until both are the
//! same.
//!
//! Invariant: where `main` comes to the loop that joins, a thread has been created for each of the first elements, as many as the
//! first counter says, and for no other. For both loops are statements of `main` itself, which it comes to once at most; in each round, the first one
//! creates a thread for the next element before it can be left. That the second one joins just these is looked at when it is
//! reached: the number of its rounds is that counter, or what comes after is not followed.

use super::expressions::int;
use super::places::binary;
use super::statements::variable_of;
use super::thread_arrays::{mentions, mentions_in};
use super::{Crowds, FEW, Lowering, Model, Result};
use crate::library::{self, Flow};
use crate::typed::{Binary, Expr, ExprKind, FunctionId, Stmt, StmtKind, Type, VariableId};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Slot, Span, Value};

/// Two loops over the same array.
pub(super) struct Crew<'u> {
    array: VariableId,
    /// The loop that joins.
    joins: &'u Stmt,
    /// Its variable, and what that is compared with.
    variable: VariableId,
    limit: &'u Expr,
    /// What the variable is in the first round.
    first: Value,
    /// What has to be added to the limit for what the variable is after the last one.
    more: Value,
    /// What each join returns is stored there.
    returned: Option<VariableId>,
    /// How many threads were created and how many have ended, once there are some.
    counters: Option<Counters>,
}

/// The counters of a crew.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Counters {
    pub(super) created: Slot,
    pub(super) ended: Slot,
}

/// A loop that goes through an array from an index on, one by one.
struct Through<'u> {
    variable: VariableId,
    first: i128,
    operator: Binary,
    limit: &'u Expr,
    body: Vec<&'u Stmt>,
}

/// A loop, and the statement before it.
type Loop<'u> = (&'u Stmt, Option<&'u Stmt>);

impl<'u> Lowering<'u> {
    /// The pairs of loops that may be those of a crew.
    pub(super) fn find_crews(&self, main: FunctionId) -> Vec<Crew<'u>> {
        let unit = self.unit;
        let body = unit.functions[main.0].body.as_deref().unwrap_or_default();
        let mut called = false;
        for function in &unit.functions {
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |part| {
                called |= matches!(part.kind, ExprKind::Function(function) if function == main);
            });
        }
        let is_once = !called && !jumps(body, false);
        let looks_at_ends = self.property.leaks || self.property.cleanup;
        let told_apart = self.kinds || self.property.owners() || looks_at_ends;
        if !matches!(self.crowds, Crowds::Followed | Crowds::Few) || !is_once || told_apart {
            return Vec::new();
        }
        let mut loops: Vec<Loop<'u>> = Vec::new();
        loops_of(body, &mut loops);
        let pairs = loops.iter().enumerate().filter_map(|(index, &creates)| {
            let (array, created) = self.creates_each(creates)?;
            let mut later = loops[index + 1..].iter();
            later.find_map(|&joins| self.joins_each(joins, array, &created, main))
        });
        let is_only_there = |crew: &Crew<'_>| {
            let bodies = unit.functions.iter().filter_map(|function| function.body.as_deref());
            let mentioned: usize = bodies.map(|body| mentions(body, crew.array)).sum();
            mentioned == 2 && self.only_keeps_threads(crew.array) && self.is_array(crew.array, body)
        };
        pairs.filter(is_only_there).collect()
    }

    /// The loop, if it counts one by one with a variable that nothing else changes.
    fn loop_through(&self, (stmt, before): Loop<'u>) -> Option<Through<'u>> {
        let StmtKind::For(Some(condition), Some(step), body) = &stmt.kind else { return None };
        let ExprKind::Binary(operator, left, limit) = &walk::through_casts(condition).kind else {
            return None;
        };
        let variable = variable_of(left).filter(|_| is_wide(left))?;
        let (started, first) = self.starts_with(before?)?;
        let counts = started == variable && self.steps_by(step, variable) == Some(1) && first >= 0;
        let is_own = self.is_own(variable) && !super::thread_arrays::writes(body, variable);
        let mut statements = Vec::new();
        flatten(body, &mut statements);
        let through = Through { variable, first, operator: *operator, limit, body: statements };
        (counts && is_own).then_some(through)
    }

    /// Whether a variable is an array, or points to memory of its own from where it is declared on.
    fn is_array(&self, variable: VariableId, main: &[Stmt]) -> bool {
        let allocates = |value: &Expr| match &walk::through_casts(value).kind {
            ExprKind::Call(callee, _) => matches!(callee.kind, ExprKind::Function(called)
                if library::flow(&self.unit.functions[called.0].name) == Flow::Allocates),
            _ => false,
        };
        let is_allocated = |stmt: &Stmt| match &stmt.kind {
            StmtKind::Declare(declared, Some(initial)) if *declared == variable => {
                matches!(&initial[..], [one] if one.path.is_empty() && allocates(&one.value))
            }
            _ => false,
        };
        matches!(self.unit.variables[variable.0].ty.plain(), Type::Array(..)) || main.iter().any(is_allocated)
    }

    /// Whether nobody but `main` changes a variable.
    fn is_of_main(&self, variable: VariableId, main: FunctionId) -> bool {
        let changes = |stmt: &Stmt| {
            let mut taken = false;
            walk::statement(stmt, &mut |part| {
                taken |= matches!(&part.kind, ExprKind::AddressOf(place)
                    if crate::pointers::root(place) == Some(variable));
            });
            taken || super::thread_arrays::writes(stmt, variable)
        };
        let functions = self.unit.functions.iter().enumerate().filter(|&(function, _)| function != main.0);
        let mut others = functions.flat_map(|(_, function)| function.body.iter().flatten());
        let is_known = !self.pointers.escapes.contains(&variable) || self.likely.contains_key(&variable);
        is_known && !others.any(changes)
    }

    /// Whether nobody else changes a variable of `main`.
    fn is_own(&self, variable: VariableId) -> bool {
        crate::pointers::is_automatic(self.unit, variable) && !self.pointers.escapes.contains(&variable)
    }

    /// A loop that creates a thread for an element of an array in each round, whatever else it does after that.
    fn creates_each(&self, loop_: Loop<'u>) -> Option<(VariableId, Through<'u>)> {
        let through = self.loop_through(loop_)?;
        for &stmt in &through.body {
            let expr = match &stmt.kind {
                StmtKind::Expr(expr) | StmtKind::If(expr, ..) => Some(expr),
                StmtKind::Declare(_, Some(initial)) => match &initial[..] {
                    [one] => Some(&one.value),
                    _ => None,
                },
                _ => None,
            };
            if let Some(arguments) = expr.and_then(|expr| self.called(expr, "pthread_create")) {
                let [to, attributes, start, argument] = arguments else { return None };
                let others = [attributes, start, argument];
                let is_same = !others.into_iter().any(|other| mentions_in(other, through.variable) > 0);
                let array = self.element(walk::through_casts(to), through.variable)?;
                return is_same.then_some((array, through));
            }
            if jumps(std::slice::from_ref(stmt), true) {
                return None;
            }
        }
        None
    }

    /// The crew of a loop that does nothing but join the threads of an array.
    fn joins_each(
        &self,
        loop_: Loop<'u>,
        array: VariableId,
        created: &Through<'u>,
        main: FunctionId,
    ) -> Option<Crew<'u>> {
        let through = self.loop_through(loop_)?;
        let (StmtKind::Expr(call) | StmtKind::If(call, _, None)) = &through.body[..].first()?.kind else {
            return None;
        };
        let (arguments, returned) = self.joins_in(call)?;
        let [thread, result] = arguments else { return None };
        let ExprKind::Load(place) = &walk::through_casts(thread).kind else { return None };
        let ExprKind::Deref(pointer) = &place.kind else { return None };
        let is_join = through.body.len() == 1
            && self.element(pointer, through.variable) == Some(array)
            && matches!(walk::through_casts(result).kind, ExprKind::Int(0))
            && returned.is_none_or(|returned| returned != through.variable && self.is_own(returned));
        // Where it is known that the loops have different numbers of rounds, threads keep their numbers.
        let is_same = match (self.last(&through), self.last(created)) {
            (Some(last), Some(created)) => last == created,
            (None, None) => variable_of(through.limit).is_some_and(|limit| {
                let known = variable_of(created.limit) == Some(limit) || limit == created.variable;
                known && limit != through.variable && self.is_of_main(limit, main)
            }),
            _ => false,
        };
        let more = more(through.operator)?;
        (is_join && is_same && through.first == created.first).then_some(Crew {
            array,
            joins: loop_.0,
            variable: through.variable,
            limit: through.limit,
            first: Value::try_from(through.first).ok()?,
            more,
            returned,
            counters: None,
        })
    }

    /// What the variable of a loop is after it, if that is a constant.
    fn last(&self, through: &Through<'u>) -> Option<i128> {
        Some(self.constant_value(through.limit)? + i128::from(more(through.operator)?))
    }

    /// The arguments of a join, in an expression that is 0 if it returns 0, and the variable in which that is stored.
    fn joins_in(&self, expr: &'u Expr) -> Option<(&'u [Expr], Option<VariableId>)> {
        let is_zero = |expr: &Expr| matches!(walk::through_casts(expr).kind, ExprKind::Int(0));
        match &expr.kind {
            ExprKind::Call(..) => Some((self.called(expr, "pthread_join")?, None)),
            ExprKind::Cast(part) => self.joins_in(part),
            ExprKind::Assign(to, part) => match (&to.kind, self.joins_in(part)?) {
                (ExprKind::Variable(to), (arguments, None)) => Some((arguments, Some(*to))),
                _ => None,
            },
            ExprKind::Binary(Binary::Unequal, left, right) if is_zero(right) => self.joins_in(left),
            ExprKind::Binary(Binary::Unequal, left, right) if is_zero(left) => self.joins_in(right),
            _ => None,
        }
    }

    /// The arguments of the call of a function that an expression always evaluates, once.
    fn called(&self, expr: &'u Expr, name: &str) -> Option<&'u [Expr]> {
        match &expr.kind {
            ExprKind::Call(callee, arguments) => match callee.kind {
                ExprKind::Function(called) if self.unit.functions[called.0].name == name => Some(arguments),
                _ => None,
            },
            ExprKind::Cast(part) | ExprKind::Assign(_, part) | ExprKind::Unary(_, part) => {
                self.called(part, name)
            }
            ExprKind::Binary(
                Binary::Equal | Binary::Unequal | Binary::Less | Binary::Greater,
                left,
                right,
            ) => self.called(left, name).or_else(|| self.called(right, name)),
            _ => None,
        }
    }

    /// The array that a pointer is to an element of, with this index.
    fn element(&self, pointer: &Expr, index: VariableId) -> Option<VariableId> {
        let ExprKind::PointerAdd(_, offset) = &pointer.kind else { return None };
        array_of(pointer).filter(|_| variable_of(offset) == Some(index) && is_wide(offset))
    }

    /// The counters of the crew to which a thread belongs whose number is to be stored there, in a loop with so many rounds.
    pub(super) fn crew_of(&mut self, to: Option<&Expr>) -> Option<Counters> {
        let array = array_of(walk::through_casts(to?))?;
        let index = self.crews.iter().position(|crew| crew.array == array)?;
        if self.body.rounds <= FEW {
            return None;
        }
        if self.crews[index].counters.is_none() {
            let name = self.unit.variables[array.0].name.clone();
            let (created, ended) =
                (self.hidden(&format!("#crew {name}")), self.hidden(&format!("#ended {name}")));
            let created = self.part(created, int(), 0);
            let ended = self.part(ended, int(), 0);
            self.crews[index].counters = Some(Counters { created, ended });
        }
        self.crews[index].counters
    }

    /// Lowers the loop that joins a crew; false if it is none.
    pub(super) fn join_crew(&mut self, stmt: &Stmt, span: Span) -> Result<bool> {
        let Some(crew) = self.crews.iter().find(|crew| std::ptr::eq(crew.joins, stmt)) else {
            return Ok(false);
        };
        let Some(Counters { created, ended }) = crew.counters else { return Ok(false) };
        let (variable, limit, returned) = (crew.variable, crew.limit, crew.returned);
        let (first, more) = (crew.first, crew.more);
        let limit = self.value(limit)?;
        let limit = self.kept(limit, span)?;
        let created = Model::Shared(created);
        let rounds = binary(Operator::Minus, limit, Model::Constant(first - more));
        self.beyond_unless(binary(Operator::Equal, rounds, created.clone()), span);
        let all = binary(Operator::Equal, Model::Shared(ended), created.clone());
        self.emit(Op::Guard(all, true), span)?;
        if let Some(returned) = returned {
            let place = self.variable(returned, span)?;
            let some = Box::new(binary(Operator::Greater, created.clone(), Model::Constant(0)));
            let before = Box::new(self.load(&place, span));
            self.store(&place, Model::If(some, Box::new(Model::Constant(0)), before), span)?;
        }
        let last = binary(Operator::Plus, created, Model::Constant(first));
        let place = self.variable(variable, span)?;
        self.store(&place, last, span)?;
        Ok(true)
    }
}

/// The array that a pointer is to an element of.
fn array_of(pointer: &Expr) -> Option<VariableId> {
    let ExprKind::PointerAdd(array, _) = &pointer.kind else { return None };
    match &walk::through_casts(array).kind {
        ExprKind::AddressOf(place) => match &place.kind {
            ExprKind::Variable(array) => Some(*array),
            ExprKind::Deref(pointer) => variable_of(pointer),
            _ => None,
        },
        _ => variable_of(array),
    }
}

/// How much further than its limit a loop counts.
fn more(operator: Binary) -> Option<Value> {
    match operator {
        Binary::Less | Binary::Unequal => Some(0),
        Binary::LessEqual => Some(1),
        _ => None,
    }
}

/// The loops among statements, and what comes before each.
fn loops_of<'u>(body: &'u [Stmt], loops: &mut Vec<Loop<'u>>) {
    for (index, stmt) in body.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Block(inside) => loops_of(inside, loops),
            StmtKind::For(..) => loops.push((stmt, index.checked_sub(1).map(|before| &body[before]))),
            _ => {}
        }
    }
}

/// The statements of a body, those of its blocks among them.
fn flatten<'u>(stmt: &'u Stmt, into: &mut Vec<&'u Stmt>) {
    match &stmt.kind {
        StmtKind::Block(inside) => inside.iter().for_each(|stmt| flatten(stmt, into)),
        _ => into.push(stmt),
    }
}

/// Whether control may go elsewhere than to the statement that comes next: through labels, or in other ways, too.
fn jumps(body: &[Stmt], any: bool) -> bool {
    let mut found = false;
    walk::each_statement(body, &mut |stmt| {
        found |= match stmt.kind {
            StmtKind::Label(..) | StmtKind::Goto(_) => true,
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) => any,
            _ => false,
        };
    });
    found
}

/// Whether no value is lost by the conversions in an expression that reads a variable.
fn is_wide(expr: &Expr) -> bool {
    let mut wide = true;
    walk::expression(expr, &mut |part| {
        wide &= !matches!(part.ty.plain(), Type::Int(int) if int.bits < 32);
    });
    wide
}
