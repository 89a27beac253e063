//! Statements to steps between points.
//!
//! A simple statement and a condition are steps. `goto`, `break`, `continue`, `loop`, `choose` and blocks take none. A label
//! is at the point before its statement; of a loop, that is where each round begins. The label of a loop or a block is
//! that of the first statement inside. What would hand control on from there without a step takes one that does nothing,
//! so that there is a place where the label is. A declaration at the start of a body with a constant value takes no step:
//! it is the initial value of the variable.

use super::super::ast::{self, Binder, Name, Statement, StatementKind};
use super::super::names::Sort;
use super::super::suggest::{did_you_mean, quote};
use super::Lowering;
use super::body::{BodyLabel, Loop};
use super::builtins::call_of;
use super::flow::Point;
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{Binary, Edge, Expr, LocationId, Op, Span, Type};

impl<'a> Lowering<'a, '_> {
    /// Statements from a point on. Gives the point after them.
    pub(super) fn statements(&mut self, statements: &'a [Statement<'a>], mut at: Point) -> Point {
        for statement in statements {
            at = self.statement(statement, at, false);
        }
        at
    }

    fn block(&mut self, block: &'a ast::Block<'a>, at: Point) -> Point {
        self.block_at(block, at, false)
    }

    /// A block from a point on, which may be one with a label.
    fn block_at(&mut self, block: &'a ast::Block<'a>, at: Point, labelled: bool) -> Point {
        let opened = self.body.open();
        let after = match block.statements.split_first() {
            Some((first, rest)) => {
                let at = self.statement(first, at, labelled);
                self.statements(rest, at)
            }
            None if labelled => self.body.flow.step(at, Op::Skip, block.close),
            None => at,
        };
        self.body.close(opened);
        after
    }

    /// A statement from a point on, which has a label of its own, or may be that of a label around it. From a point with
    /// a label, control goes on by a step: one that does nothing, if the statement begins with none.
    fn statement(&mut self, statement: &'a Statement<'a>, mut at: Point, labelled: bool) -> Point {
        let labelled = labelled || !statement.labels.is_empty();
        let span = statement.span;
        for name in &statement.labels {
            if let Some(&BodyLabel { point, .. }) = self.body.labels.get(name.text) {
                self.body.flow.pass(at, vec![point], span);
                at = point;
            }
        }
        self.body.starts.push((at, span));
        let declares = matches!(statement.kind, StatementKind::Declare(..));
        self.body.leading &= declares && statement.labels.is_empty();
        if labelled && hands_on(&statement.kind) {
            at = self.body.flow.step(at, Op::Skip, span);
        }
        match &statement.kind {
            StatementKind::Declare(ty, declarators) => {
                let of = self.of_type(ty);
                for declarator in declarators {
                    at = self.declaration(of.clone(), declarator, at, span);
                }
                at
            }
            StatementKind::If(branches, otherwise) => self.branches(branches, otherwise.as_ref(), at),
            StatementKind::While(condition, body) => {
                let (inside, after) = (self.body.flow.point(), self.body.flow.point());
                self.fork(at, condition, "as the condition of `while`", [inside, after], span);
                self.looped(body, at, inside, after, false);
                after
            }
            StatementKind::For(binder, body) => self.for_(binder, body, at, span),
            StatementKind::Loop(body) => {
                let after = self.body.flow.point();
                self.looped(body, at, at, after, labelled);
                after
            }
            StatementKind::Choose(branches) => {
                let after = self.body.flow.point();
                let starts: Vec<Point> = branches.iter().map(|_| self.body.flow.point()).collect();
                self.body.flow.pass(at, starts.clone(), span);
                for (branch, start) in branches.iter().zip(starts) {
                    let end = self.block(branch, start);
                    self.body.flow.pass(end, vec![after], branch.close);
                }
                after
            }
            StatementKind::Block(block) => self.block_at(block, at, labelled),
            StatementKind::Atomic(block) => self.atomic(block, at, span),
            StatementKind::Break | StatementKind::Continue => self.leave_loop(&statement.kind, at, span),
            StatementKind::Goto(labels) => self.goto(labels, at, span),
            StatementKind::Return(value) => self.return_(value.as_ref(), at, span),
            StatementKind::Await(condition) => self.await_(condition, at, span),
            StatementKind::Assume(condition) => self.assume(condition, "after `assume`", at, span),
            StatementKind::Call(name, arguments) if self.is_builtin(*name) => {
                let update = self.update((*name, arguments));
                self.builtin(update, None, at, span)
            }
            StatementKind::Assign(targets, values)
                if let ([target], [value]) = (&targets[..], &values[..])
                    && let Some(call) = call_of(value).filter(|call| self.is_builtin(call.0)) =>
            {
                let (result, update) = (self.place(target), self.update(call));
                self.builtin(update.filter(|_| result.is_some()), result, at, span)
            }
            StatementKind::Yield => {
                self.only_in(true, "yield", span);
                self.no_place_in_atomic("yield", span);
                self.pause_and_resume(at, span)
            }
            kind => {
                let op = self.simple(kind, span);
                self.body.flow.step(at, op.unwrap_or(Op::Skip), span)
            }
        }
    }

    /// Two steps: one if the condition is true, one if it is false.
    fn fork(
        &mut self,
        at: Point,
        condition: &'a ast::Expr<'a>,
        place: &str,
        [yes, no]: [Point; 2],
        span: Span,
    ) {
        let (is_true, is_false) = match self.telling_condition(condition) {
            Some(steps) => steps.unwrap_or((Op::Skip, Op::Skip)),
            None => {
                let condition = self.of_sort(condition, Sort::Bool, place).unwrap_or(Expr::Choose(0, 1));
                (Op::Guard(condition.clone(), true), Op::Guard(condition, false))
            }
        };
        let steps = vec![
            Edge { op: is_true, to: LocationId(yes), span },
            Edge { op: is_false, to: LocationId(no), span },
        ];
        self.body.flow.steps(at, steps, span);
    }

    /// A loop whose variable takes all values of a range: a step for the first; after each round one for the next, or one that
    /// leaves.
    fn for_(&mut self, binder: &'a Binder<'a>, body: &'a ast::Block<'a>, at: Point, span: Span) -> Point {
        let range = self.range_of(&binder.low, &binder.high);
        let opened = self.body.open();
        let (low, high) = range.unwrap_or_default();
        let ty = Type::Range(low, high);
        let Some(number) = self.declare_local(binder.name, ty, None, vec![Some(low)]) else { return at };
        self.body.fixed[number] = true;
        let place = self.local_place(number, binder.name.span);
        let variable = || Box::new(Expr::Local(self.body.locals[number].slot));
        let more = Expr::Binary(Binary::Less, variable(), Box::new(Expr::Constant(high)), span);
        let next = Expr::Binary(Binary::Plus, variable(), Box::new(Expr::Constant(1)), span);
        // The value is looked at before the condition is, and must be one of the range in any case.
        let next = Expr::If(Box::new(more.clone()), Box::new(next), variable());
        let start = Op::Assign(vec![place.clone()], vec![Expr::Constant(low)], None);
        let inside = self.body.flow.step(at, start, span);
        let (round_ends, after) = (self.body.flow.point(), self.body.flow.point());
        let again = Op::Assign(vec![place], vec![next], Some(more.clone()));
        let steps = vec![
            Edge { op: again, to: LocationId(inside), span },
            Edge { op: Op::Guard(more, false), to: LocationId(after), span },
        ];
        self.body.flow.steps(round_ends, steps, span);
        self.looped(body, round_ends, inside, after, false);
        self.body.close(opened);
        after
    }

    fn branches(
        &mut self,
        branches: &'a [ast::Branch<'a>],
        otherwise: Option<&'a ast::Block<'a>>,
        mut at: Point,
    ) -> Point {
        let after = self.body.flow.point();
        for branch in branches {
            let (yes, no) = (self.body.flow.point(), self.body.flow.point());
            self.fork(at, &branch.condition, "as the condition of `if`", [yes, no], branch.span);
            let end = self.block(&branch.body, yes);
            self.body.flow.pass(end, vec![after], branch.body.close);
            at = no;
        }
        let (end, close) = match otherwise {
            Some(block) => (self.block(block, at), block.close),
            None => (at, branches.last().map_or(Span::default(), |branch| branch.body.close)),
        };
        self.body.flow.pass(end, vec![after], close);
        after
    }

    /// The body of a loop, from `inside` on, which may be a point with a label, and then again.
    fn looped(
        &mut self,
        body: &'a ast::Block<'a>,
        again: Point,
        inside: Point,
        after: Point,
        labelled: bool,
    ) {
        let atomic = self.body.atomic;
        self.body.loops.push(Loop { again, after, atomic });
        let end = self.block_at(body, inside, labelled);
        self.body.loops.pop();
        self.body.flow.pass(end, vec![again], body.close);
    }

    fn leave_loop(&mut self, kind: &StatementKind<'a>, at: Point, span: Span) -> Point {
        let word = if let StatementKind::Break = kind { "break" } else { "continue" };
        match self.body.loops.last() {
            None => self.error(span, format!("expected a loop around `{word}`, found none"), None),
            Some(inner) => {
                let (to, atomic) = (if word == "break" { inner.after } else { inner.again }, inner.atomic);
                let to = self.on_the_way_to(to, atomic, span);
                self.body.flow.pass(at, vec![to], span);
            }
        }
        self.body.flow.point()
    }

    fn goto(&mut self, labels: &'a [Name<'a>], at: Point, span: Span) -> Point {
        let mut to = Vec::new();
        for name in labels {
            match self.body.labels.get_mut(name.text) {
                None => {
                    let (diagnostics, known) = (&mut *self.diagnostics, &self.body.labels);
                    diagnostics.add(Severity::Error, range(name.span), || {
                        let help = did_you_mean(name.text, known.keys().copied());
                        (format!("unknown label {} in this body", quote(name.text)), help)
                    });
                }
                Some(label) => {
                    label.used = true;
                    let (point, atomic) = (label.point, label.atomic);
                    if atomic.is_some() && atomic != self.body.atomic {
                        let help = "an `atomic` block is entered at its start".to_string();
                        self.error(name.span, "`goto` cannot enter `atomic`".to_string(), Some(help));
                    }
                    to.push(self.on_the_way_to(point, atomic, span));
                }
            }
        }
        self.body.flow.pass(at, to, span);
        self.body.flow.point()
    }

    fn return_(&mut self, value: Option<&'a ast::Expr<'a>>, at: Point, span: Span) -> Point {
        match (value, self.body.has_result) {
            (None, false) => {
                let end = self.on_the_way_to(self.body.end, None, span);
                self.body.flow.pass(at, vec![end], span);
            }
            (None, true) => {
                self.error(span, "expected a value after `return`, found none".to_string(), None);
            }
            (Some(value), true) => {
                if let Some(ty) = self.body.result
                    && let Some(value) = self.stored(value, ty)
                {
                    let (at, value) = self.out_of_atomic(at, value, ty, span);
                    let step = Edge { op: Op::Return(vec![value]), to: LocationId(at), span };
                    self.body.flow.steps(at, vec![step], span);
                }
            }
            (Some(value), false) => {
                let (message, help) = match self.body.procedure {
                    true => (
                        "expected `return;`, found a value, though the procedure has no result",
                        "a procedure with a result is declared by `proc f() : int { … }`",
                    ),
                    false => ("expected `return;`, found a value", "only procedures return values"),
                };
                self.error(value.span, message.to_string(), Some(help.to_string()));
            }
        }
        self.body.flow.point()
    }

    /// Where control goes to get to a point. If that is not inside the `atomic` at hand, which ends then: to its end first.
    fn on_the_way_to(&mut self, to: Point, atomic: Option<u32>, span: Span) -> Point {
        if self.body.atomic.is_none() || self.body.atomic == atomic {
            return to;
        }
        let end = self.body.flow.point();
        self.body.flow.steps(end, vec![Edge { op: Op::AtomicEnd, to: LocationId(to), span }], span);
        end
    }

    /// A value that is returned. Inside `atomic` it is computed and kept, and the block ends; to return is the next step.
    fn out_of_atomic(&mut self, at: Point, value: Expr, ty: Type, span: Span) -> (Point, Expr) {
        if self.body.atomic.is_none() {
            return (at, value);
        }
        let number = self.body.kept.or_else(|| {
            let name = Name { text: "#result", span };
            let number = self.declare_local(name, ty, None, vec![Some(ty.default_value())])?;
            self.body.read[number] = true;
            Some(number)
        });
        self.body.kept = number;
        let Some(number) = number else { return (at, value) };
        let place = self.local_place(number, span);
        let kept = Expr::Local(self.body.locals[number].slot);
        let stored = self.body.flow.step(at, Op::Assign(vec![place], vec![value], None), span);
        (self.body.flow.step(stored, Op::AtomicEnd, span), kept)
    }

    fn await_(&mut self, condition: &'a ast::Expr<'a>, at: Point, span: Span) -> Point {
        if !self.asynchronous {
            return self.assume(condition, "after `await`", at, span);
        }
        // Tasks do not run at the same time: others must be let run for the condition to become true.
        self.no_place_in_atomic("await", span);
        let (pause, after) = (self.body.flow.point(), self.body.flow.point());
        self.fork(at, condition, "after `await`", [after, pause], span);
        self.until(at, pause, span);
        after
    }

    /// Lets other tasks run, from a point on, and goes back.
    pub(super) fn until(&mut self, at: Point, pause: Point, span: Span) {
        let resumed = self.pause_and_resume(pause, span);
        self.body.flow.pass(resumed, vec![at], span);
    }

    /// A step that can be taken if the condition is true.
    fn assume(&mut self, condition: &'a ast::Expr<'a>, place: &str, at: Point, span: Span) -> Point {
        let op = match self.telling_condition(condition) {
            Some(steps) => steps.map(|(is_true, _)| is_true),
            None => self.of_sort(condition, Sort::Bool, place).map(|condition| Op::Guard(condition, true)),
        };
        self.body.flow.step(at, op.unwrap_or(Op::Skip), span)
    }

    fn pause_and_resume(&mut self, at: Point, span: Span) -> Point {
        let (pause, resume) = (self.pause(span), self.resume(span));
        let paused = self.body.flow.step(at, pause, span);
        self.body.flow.step(paused, resume, span)
    }

    fn atomic(&mut self, block: &'a ast::Block<'a>, at: Point, span: Span) -> Point {
        self.body.summary.unfit.get_or_insert("atomic");
        if self.body.atomic.is_some() {
            return self.block(block, at);
        }
        self.body.atomic = Some(span.start);
        let inside = self.body.flow.step(at, Op::AtomicBegin, span);
        let end = self.block(block, inside);
        self.body.atomic = None;
        self.body.flow.step(end, Op::AtomicEnd, block.close)
    }

    /// Complains about a statement inside `atomic`, and remembers it for those who call this body from inside one.
    pub(super) fn no_place_in_atomic(&mut self, word: &'static str, span: Span) {
        self.body.summary.unfit.get_or_insert(word);
        if self.body.atomic.is_some() {
            let help = "an `atomic` block is one step of one thread".to_string();
            self.error(span, format!("expected no `{word}` inside `atomic`, found one"), Some(help));
        }
    }
}

/// Whether a statement that is neither a loop nor a block may hand control on before any step of its own.
fn hands_on(kind: &StatementKind<'_>) -> bool {
    match kind {
        StatementKind::Goto(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(None) => true,
        StatementKind::Choose(blocks) => !blocks.iter().all(starts_with_step),
        _ => false,
    }
}

/// Whether control is in a block until its first step.
fn starts_with_step(block: &ast::Block<'_>) -> bool {
    block.statements.first().is_some_and(|first| match &first.kind {
        _ if !first.labels.is_empty() => true,
        StatementKind::Loop(block) | StatementKind::Block(block) => starts_with_step(block),
        kind => !hands_on(kind),
    })
}
