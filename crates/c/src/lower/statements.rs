//! Statements.

use super::expressions::{acts, not};
use super::places::{Target, binary};
use super::{Crowds, FEW, Lowering, Model, Result, refuse};
use crate::slots;
use crate::typed::{Expr, ExprKind, Initial, Stmt, StmtKind, Type, VariableId};
use crate::walk;
use allways_model::program::{Binary as Operator, LocationId, Op, Span, Value};

/// A loop that creates threads is unrolled for so many rounds at most.
pub(super) const MOST_ROUNDS: usize = 256;

impl Lowering<'_> {
    /// Statements, one after the other.
    pub(super) fn block_of(&mut self, body: &[Stmt]) -> Result<()> {
        for (index, stmt) in body.iter().enumerate() {
            let before = body[..index].iter().rev().find(|before| !walk::is_stated(self.unit, before));
            self.statement(stmt, before)?;
        }
        Ok(())
    }

    /// A statement expression: the values of its last statement.
    pub(super) fn statement_expression(&mut self, body: &[Stmt]) -> Result<Vec<Model>> {
        let Some((last, rest)) = body.split_last() else { return Ok(Vec::new()) };
        self.block_of(rest)?;
        match &last.kind {
            StmtKind::Expr(value) if value.ty != Type::Void => {
                let values = self.values(value)?;
                let mut kept = Vec::new();
                for value in values {
                    // Variables of the block are read before others can reuse their names.
                    kept.push(self.kept(value, last.span)?);
                }
                Ok(kept)
            }
            _ => {
                self.statement(last, rest.last())?;
                Ok(Vec::new())
            }
        }
    }

    /// A statement. One that cannot be followed becomes a step that leads beyond.
    fn statement(&mut self, stmt: &Stmt, before: Option<&Stmt>) -> Result<()> {
        let (loops, branches, exits) = (self.body.loops, self.body.branches, self.body.exits.clone());
        let (atomic, cases) = (self.body.atomic, self.body.cases.clone());
        let (cleanups, rounds) = (self.body.cleanups.clone(), self.body.rounds);
        match self.lower_statement(stmt, before) {
            Err(error) if self.locations.len() <= super::MOST_LOCATIONS => {
                self.lowered.left_out.push((error.span, error.message));
                let here = self.here;
                self.edge(here, Op::Beyond, here, stmt.span);
                self.nowhere(stmt.span);
                (self.body.loops, self.body.branches, self.body.exits) = (loops, branches, exits);
                (self.body.atomic, self.body.cases) = (atomic, cases);
                (self.body.cleanups, self.body.rounds) = (cleanups, rounds);
                Ok(())
            }
            done => done,
        }
    }

    /// Labels of statements that were not lowered lead beyond.
    pub(super) fn close_labels(&mut self) {
        let Some(call) = self.body.calls.last() else { return };
        let missing: Vec<LocationId> =
            call.labels.values().filter(|(_, placed)| !placed).map(|(location, _)| *location).collect();
        for location in missing {
            let span = self.locations[location].span;
            self.edge(location, Op::Beyond, location, span);
        }
    }

    fn lower_statement(&mut self, stmt: &Stmt, before: Option<&Stmt>) -> Result<()> {
        let used = self.body.used;
        let span = stmt.span;
        if let Some(&role) = self.thread_arrays.get(&std::ptr::from_ref(stmt)) {
            return self.about_threads(role, span);
        }
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Beyond(why) => return refuse(span, *why),
            StmtKind::Expr(expr) => self.effect(expr)?,
            StmtKind::Declare(variable, initial) => self.declare(*variable, initial.as_deref(), span)?,
            StmtKind::Block(body) => self.block_of(body)?,
            StmtKind::If(condition, then, other) => {
                let (yes, no, after) = (self.location(span), self.location(span), self.location(span));
                self.branch(condition, yes, no)?;
                let atomic = self.body.atomic;
                self.here = yes;
                self.body.branches += 1;
                self.statement(then, None)?;
                let then_atomic = self.is_reached().then_some(self.body.atomic);
                self.jump(after, span);
                self.here = no;
                self.body.atomic = atomic;
                if let Some(other) = other {
                    self.statement(other, None)?;
                }
                self.body.branches -= 1;
                // A way that does not come here has left its sections.
                self.body.atomic = then_atomic.unwrap_or(self.body.atomic);
                self.jump(after, span);
                self.here = after;
            }
            StmtKind::While(condition, body) => {
                self.repeat(Some(condition), None, body, true, before, span)?
            }
            StmtKind::DoWhile(body, condition) => {
                self.repeat(Some(condition), None, body, false, before, span)?;
            }
            StmtKind::For(condition, step, body) => {
                if self.join_crew(stmt, span)? {
                    return Ok(());
                }
                self.repeat(condition.as_ref(), step.as_ref(), body, true, before, span)?;
            }
            StmtKind::Switch(value, body) => self.switch(value, body, span)?,
            StmtKind::Case(_, _, body) | StmtKind::Default(body) => {
                if let Some(&location) = self.body.cases.get(&std::ptr::from_ref(stmt).addr()) {
                    self.open_as_at(location);
                    self.jump(location, span);
                    self.here = location;
                }
                self.statement(body, None)?;
            }
            StmtKind::Label(name, _) if name.starts_with("__CPROVER_ASYNC") => {
                return refuse(span, "a label that starts a thread in another tool is not followed");
            }
            StmtKind::Label(name, body) => {
                let location = self.label(name, true, span);
                self.open_as_at(location);
                self.jump(location, span);
                self.here = location;
                self.statement(body, None)?;
            }
            StmtKind::Goto(_)
                if self.body.cleanups.iter().any(|cleanup| cleanup.depth == self.body.calls.len()) =>
            {
                return refuse(span, "`goto` between `pthread_cleanup_push` and `pthread_cleanup_pop`");
            }
            StmtKind::Goto(name) => {
                let location = self.label(name, false, span);
                self.jump(location, span);
            }
            StmtKind::Break => match self.body.exits.after.last() {
                Some(&after) => self.jump(after, span),
                None => return refuse(span, "`break` outside of a loop"),
            },
            StmtKind::Continue => match self.body.exits.again.last() {
                Some(&again) => self.jump(again, span),
                None => return refuse(span, "`continue` outside of a loop"),
            },
            StmtKind::Return(value) => self.return_with(value.as_ref(), span)?,
            StmtKind::Asm(outputs, reading) => match (&outputs[..], reading) {
                ([], _) => _ = self.lowered.externals.insert("asm".to_string()),
                ([output], Some(reading)) => self.read_outside(output, reading, span)?,
                _ => return refuse(span, "inline assembly that writes variables is not followed"),
            },
        }
        self.body.used = used;
        Ok(())
    }

    fn declare(&mut self, variable: VariableId, initial: Option<&[Initial]>, span: Span) -> Result<()> {
        let unit = self.unit;
        let ty = &unit.variables[variable.0].ty;
        let Some(initial) = initial else {
            // Any value; `indeterminate` takes it out where nobody reads it.
            if let Type::Int(int) = ty.plain()
                && !self.pointers.escapes.contains(&variable)
            {
                let place = self.variable(variable, span)?;
                self.declarations.push(self.here);
                self.store(&place, super::input::any_of(*int), span)?;
            }
            return Ok(());
        };
        if matches!(ty.plain(), Type::Float(_)) {
            walk::values(initial).try_for_each(|value| self.effect(value))?;
            return self.overwrite(&Expr { kind: ExprKind::Variable(variable), ty: ty.clone(), span }, false);
        }
        if let [Initial { path, value }] = initial
            && path.is_empty()
        {
            let expr = Expr { kind: ExprKind::Variable(variable), ty: ty.clone(), span };
            self.assign(&expr, value, false, span)?;
            return Ok(());
        }
        let Some(count) = slots::count(unit, ty) else {
            return refuse(span, "an object is too large, or its size is not known");
        };
        let place = self.variable(variable, span)?;
        let mut values: Vec<Model> = vec![Model::Constant(0); count];
        for (number, one) in initial.iter().enumerate() {
            let Some((offset, part)) = self.part_at(ty, &one.path) else {
                let kind = self.constant_value(&one.value).and_then(super::mutexes::of_kind);
                match (kind, super::mutexes::kind_part(unit, ty, &one.path)) {
                    (Some(0), _) => {}
                    (Some(kind), Some(part)) => values[part] = Model::Constant(kind),
                    _ => return refuse(span, "what kind of mutex this is"),
                }
                continue;
            };
            if matches!(part, Type::Float(_)) {
                self.effect(&one.value)?;
                continue;
            }
            let parts = self.values(&one.value)?;
            // What comes later may use the variables that a call has left its result in, or change what was read.
            let acts_later = initial[number + 1..].iter().any(|later| acts(&later.value));
            for (offset, value) in (offset..).zip(parts) {
                let span = one.value.span;
                let value = if acts_later { self.kept(value, span)? } else { self.settled(value, span)? };
                values[offset] = value;
            }
        }
        for (offset, value) in values.into_iter().enumerate() {
            let slot = self.next_slot(&place, offset);
            self.store(&slot, value, span)?;
        }
        Ok(())
    }

    /// Whether what is lowered next can be reached.
    pub(super) fn is_reached(&self) -> bool {
        self.reached[self.here.index()]
    }

    fn label(&mut self, name: &str, placed: bool, span: Span) -> LocationId {
        let known = self.body.calls.last().and_then(|call| call.labels.get(name)).copied();
        let location = known.map_or_else(|| self.location(span), |(location, _)| location);
        if let Some(call) = self.body.calls.last_mut() {
            let placed = placed || known.is_some_and(|(_, placed)| placed);
            call.labels.insert(name.to_string(), (location, placed));
        }
        location
    }

    /// A loop.
    fn repeat(
        &mut self,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        first: bool,
        before: Option<&Stmt>,
        span: Span,
    ) -> Result<()> {
        let all = self.crowds == Crowds::All;
        let most = if all { FEW } else { MOST_ROUNDS };
        if first
            && let Some(condition) = condition
            && self.crowd(condition, step, body, before, most, span)?
        {
            return Ok(());
        }
        if first
            && let Some(condition) = condition
            && self.creates_threads(body)
            && let plain = walk::without_stated(self.unit, condition)
            && let Some(rounds) = self.rounds(plain, step, body, before).or_else(|| self.few_rounds(body))
            && (rounds <= FEW || !all)
        {
            self.lowered.rounds = self.lowered.rounds.max(rounds);
            return self.unroll(condition, step, body, rounds, span);
        }
        let (head, again, inside, after) =
            (self.location(span), self.location(span), self.location(span), self.location(span));
        self.counts(condition, step, body, before);
        self.body.loops += 1;
        self.body.branches += 1;
        self.jump(if first { head } else { inside }, span);
        self.here = head;
        match condition {
            Some(condition) => self.branch(condition, inside, after)?,
            None => self.edge(head, Op::Skip, inside, span),
        }
        self.here = inside;
        self.body.exits.after.push(after);
        self.body.exits.again.push(again);
        self.statement(body, None)?;
        self.body.exits.after.pop();
        self.body.exits.again.pop();
        self.jump(again, span);
        self.here = again;
        if let Some(step) = step {
            let used = self.body.used;
            self.effect(step)?;
            self.body.used = used;
        }
        self.jump(head, span);
        self.here = after;
        self.body.loops -= 1;
        self.body.branches -= 1;
        Ok(())
    }

    /// A loop, round by round; more rounds are not followed.
    fn unroll(
        &mut self,
        condition: &Expr,
        step: Option<&Expr>,
        body: &Stmt,
        rounds: usize,
        span: Span,
    ) -> Result<()> {
        let after = self.location(span);
        let outer = std::mem::replace(&mut self.body.rounds, rounds);
        for _ in 0..rounds {
            let (inside, again) = (self.location(span), self.location(span));
            self.branch(condition, inside, after)?;
            self.here = inside;
            self.body.exits.after.push(after);
            self.body.exits.again.push(again);
            self.statement(body, None)?;
            self.body.exits.after.pop();
            self.body.exits.again.pop();
            self.jump(again, span);
            self.here = again;
            if let Some(step) = step {
                self.effect(step)?;
            }
        }
        self.body.rounds = outer;
        let more = self.location(span);
        self.branch(condition, more, after)?;
        self.edge(more, Op::Beyond, more, span);
        self.here = after;
        Ok(())
    }

    fn switch(&mut self, value: &Expr, body: &Stmt, span: Span) -> Result<()> {
        let found = self.value(value)?;
        let found = self.kept(found, span)?;
        let mut cases: Vec<(usize, Option<(i128, i128)>)> = Vec::new();
        each_case(body, &mut |stmt, range| cases.push((std::ptr::from_ref(stmt).addr(), range)));
        let after = self.location(span);
        let here = self.here;
        let mut other = Model::Constant(1);
        let mut default = after;
        let outer = self.body.cases.clone();
        for (stmt, range) in cases {
            let location = self.location(span);
            self.open.insert(location, self.body.atomic);
            self.body.cases.insert(stmt, location);
            let Some((low, high)) = range else {
                default = location;
                continue;
            };
            let bound = |value: i128| Model::Constant(Value::try_from(value).unwrap_or(Value::MAX));
            let inside = if low == high {
                binary(Operator::Equal, found.clone(), bound(low))
            } else {
                binary(
                    Operator::And,
                    binary(Operator::LessEqual, bound(low), found.clone()),
                    binary(Operator::LessEqual, found.clone(), bound(high)),
                )
            };
            self.edge(here, Op::Guard(inside.clone(), true), location, span);
            other = match other {
                Model::Constant(1) => not(inside),
                other => binary(Operator::And, other, not(inside)),
            };
        }
        match other {
            Model::Constant(_) => self.edge(here, Op::Skip, default, span),
            other => self.edge(here, Op::Guard(other, true), default, span),
        }
        self.nowhere(span);
        self.body.exits.after.push(after);
        self.body.branches += 1;
        self.statement(body, None)?;
        self.body.branches -= 1;
        self.body.exits.after.pop();
        self.jump(after, span);
        self.here = after;
        self.body.cases = outer;
        Ok(())
    }

    fn return_with(&mut self, value: Option<&Expr>, span: Span) -> Result<()> {
        let Some(call) = self.body.calls.last().cloned() else {
            return refuse(span, "`return` outside of a function");
        };
        if self.body.cleanups.iter().any(|cleanup| cleanup.depth == self.body.calls.len()) {
            return refuse(span, "`return` between `pthread_cleanup_push` and `pthread_cleanup_pop`");
        }
        let values = match value {
            Some(value) if matches!(value.ty.plain(), Type::Void) => {
                self.effect(value)?;
                Vec::new()
            }
            Some(value) if call.result.is_empty() => {
                self.effect(value)?;
                Vec::new()
            }
            Some(value) => self.values(value)?,
            None => Vec::new(),
        };
        for (&slot, value) in call.result.iter().zip(values) {
            self.store(&Target::Local(slot), value, span)?;
        }
        let atomic = self.body.atomic;
        if atomic > 0 && self.body.calls.len() == 1 {
            // The thread ends there.
            return match self.body.number {
                0 => self.end_process(span),
                _ => refuse(span, "a thread ends inside an atomic section"),
            };
        }
        if let Some(call) = self.body.calls.last_mut() {
            call.atomic = Some(atomic);
        }
        self.jump(call.back, span);
        Ok(())
    }

    /// Whether a thread may be created in a statement, or in what it calls.
    fn creates_threads(&mut self, stmt: &Stmt) -> bool {
        let mut todo = Vec::new();
        walk::statement(stmt, &mut |expr| {
            if let ExprKind::Call(callee, _) = &expr.kind {
                todo.extend(self.pointers.callees(callee));
            }
        });
        let mut seen = std::collections::HashSet::new();
        while let Some(function) = todo.pop() {
            if !seen.insert(function) {
                continue;
            }
            let function = &self.unit.functions[function.0];
            if matches!(crate::library::flow(&function.name), crate::library::Flow::StartsThread { .. }) {
                return true;
            }
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                if let ExprKind::Call(callee, _) = &expr.kind {
                    todo.extend(self.pointers.callees(callee));
                }
            });
        }
        false
    }

    /// A step that can be taken only if a condition holds.
    pub(super) fn assume(&mut self, condition: Model, span: Span) -> Result<()> {
        match condition {
            // A run that is not to be looked at is as good as one that has ended.
            Model::Constant(0) => self.end_process(span),
            Model::Constant(_) => Ok(()),
            condition if self.over.is_some() => {
                let (here, fine, over) = (self.here, self.location(span), self.location(span));
                self.edge(here, Op::Guard(condition.clone(), true), fine, span);
                self.edge(here, Op::Guard(condition, false), over, span);
                self.here = over;
                self.end_process(span)?;
                self.here = fine;
                Ok(())
            }
            condition => self.emit(Op::Guard(condition, true), span),
        }
    }
}

/// Calls a function with each case of a `switch`, not with those of switches inside.
fn each_case<'a>(stmt: &'a Stmt, see: &mut dyn FnMut(&'a Stmt, Option<(i128, i128)>)) {
    match &stmt.kind {
        StmtKind::Case(low, high, body) => {
            see(stmt, Some((*low, *high)));
            each_case(body, see);
        }
        StmtKind::Default(body) => {
            see(stmt, None);
            each_case(body, see);
        }
        StmtKind::Block(body) => body.iter().for_each(|stmt| each_case(stmt, see)),
        StmtKind::If(_, then, other) => {
            each_case(then, see);
            other.iter().for_each(|other| each_case(other, see));
        }
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For(_, _, body)
        | StmtKind::Label(_, body) => each_case(body, see),
        _ => {}
    }
}

pub(super) fn variable_of(expr: &Expr) -> Option<VariableId> {
    match &walk::through_casts(expr).kind {
        ExprKind::Load(place) => match place.kind {
            ExprKind::Variable(variable) => Some(variable),
            _ => None,
        },
        _ => None,
    }
}
