//! Loops that create, or join, more threads than can be told apart.
//!
//! `for (i = 0; i < 10000; i++) pthread_create(&t[i], 0, f, 0);` starts any number of threads. Who counts to 10,000 for that
//! has 10,000 times as many states and learns nothing: a run of the loop that is left early is one of the program in which the
//! remaining threads have not moved yet. So the loop does not count, and the numbers of the threads are not stored, if nobody looks at them. The
//! loop that joins them does not wait, which allows more than can happen, as every join with one of any number of threads.

use super::places::Target;
use super::statements::variable_of;
use super::{Crowds, Lowering, Model, Result, refuse};
use crate::typed::{Binary, Expr, ExprKind, Stmt, StmtKind, Type, VariableId};
use crate::walk;
use allways_model::program::{Op, Span, Value};
use std::ops::Range;

/// What is known of the threads that are there, where every loop creates any number of them.
///
/// Joins do not wait there. But where `main`, one statement after the other, has created all threads in loops through arrays and joined
/// them in loops through the same elements, none is left. So mutexes that it destroys then are there for all others; if
/// `main` does not use any from there on, it need not be known which are destroyed.
#[derive(Default)]
pub(super) struct Known {
    /// The elements of arrays for which there may be threads that are not joined.
    created: Vec<(VariableId, Range<i128>)>,
    /// Whether the thread that is created now is one of them.
    in_loop: bool,
    /// The variable of the loop that is lowered, and its values in the rounds.
    counting: Option<(VariableId, Range<i128>)>,
    /// Whether a thread is created elsewhere, its number is lost, or mutexes were destroyed before.
    elsewhere: bool,
    /// Whether all threads are joined, and no mutex was used since then.
    all_joined: bool,
    /// Whether it was forgotten that mutexes are destroyed.
    forgot: bool,
}

impl Known {
    /// There may be threads for these elements now. Who was there before, and is not joined, is lost.
    fn keep(&mut self, array: VariableId, elements: Range<i128>) {
        let is_lost = |(known, others): &(VariableId, Range<i128>)| {
            *known == array && others.start < elements.end && elements.start < others.end
        };
        self.elsewhere |= self.created.iter().any(is_lost);
        self.created.push((array, elements));
    }
}

/// A loop that goes through an array of threads.
struct Through<'a> {
    variable: VariableId,
    array: VariableId,
    elements: Range<i128>,
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
        let in_order = self.is_in_order();
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
                self.threads_known.in_loop = in_order;
                self.create(None, start, argument, span)?;
                self.threads_known.in_loop = false;
                self.body.loops -= 1;
                self.body.branches -= 1;
                self.jump(head, span);
                self.threads_known.keep(through.array, through.elements);
            }
            _ => {
                if in_order {
                    let known = &mut self.threads_known;
                    let is_joined = |(array, elements): &(VariableId, Range<i128>)| {
                        *array == through.array
                            && through.elements.start <= elements.start
                            && elements.end <= through.elements.end
                    };
                    known.created.retain(|created| !is_joined(created));
                    known.all_joined = known.created.is_empty() && !known.elsewhere;
                }
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

    /// The variable that a loop counts with, one by one, and its values in the rounds, if the body does not change it.
    fn counts_through(
        &self,
        condition: &Expr,
        step: Option<&Expr>,
        before: Option<&Stmt>,
    ) -> Option<(VariableId, Range<i128>)> {
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
        (counts && own && first >= 0).then_some((variable, first..last))
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
        let (variable, elements) = self.counts_through(condition, step, before)?;
        let last = elements.end;
        if last.checked_sub(elements.start)? <= rounds as i128 {
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
        let array = match (&*self.unit.functions[called.0].name, &arguments[..]) {
            ("pthread_create", [to, attributes, start, argument])
                if ![attributes, start, argument].into_iter().any(mentions) =>
            {
                self.element_of(walk::through_casts(to), variable, last)
            }
            ("pthread_join", [thread, result])
                if matches!(walk::through_casts(result).kind, ExprKind::Int(0)) =>
            {
                match &walk::through_casts(thread).kind {
                    ExprKind::Load(place) => match &place.kind {
                        ExprKind::Deref(pointer) => self.element_of(pointer, variable, last),
                        _ => None,
                    },
                    _ => None,
                }
            }
            _ => None,
        };
        let called = match &*self.unit.functions[called.0].name {
            "pthread_create" => "pthread_create",
            _ => "pthread_join",
        };
        Some(Through {
            variable,
            array: array?,
            elements,
            last: Value::try_from(last).unwrap_or(Value::MAX),
            called,
            arguments,
        })
    }

    /// The array that a pointer is to an element of, whose index is a variable that stays below a limit.
    fn element_of(&self, pointer: &Expr, variable: VariableId, limit: i128) -> Option<VariableId> {
        let ExprKind::PointerAdd(array, index) = &pointer.kind else { return None };
        let ExprKind::AddressOf(place) = &walk::through_casts(array).kind else { return None };
        let ExprKind::Variable(array) = place.kind else { return None };
        let fits = self.only_keeps_threads(array)
            && matches!(place.ty.plain(), Type::Array(_, Some(length)) if i128::from(*length) >= limit)
            && variable_of(index) == Some(variable);
        fits.then_some(array)
    }

    /// Whether this is a statement of `main` itself, which comes after those before it and is executed once at most.
    fn is_in_order(&self) -> bool {
        let body = &self.body;
        let is_plain = body.number == 0 && body.calls.len() == 1 && body.branches == 0 && body.loops == 0;
        self.crowds == Crowds::All
            && is_plain
            && body.calls.iter().all(|call| {
                let mut jumps = false;
                let body = self.unit.functions[call.function.0].body.as_deref().unwrap_or_default();
                walk::each_statement(body, &mut |stmt| {
                    jumps |= matches!(stmt.kind, StmtKind::Label(..) | StmtKind::Goto(_));
                });
                !jumps
            })
    }

    /// A loop begins that may create a thread in each round, for an element of an array each. (If it is left early, they are fewer.)
    pub(super) fn counts(
        &mut self,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &Stmt,
        before: Option<&Stmt>,
    ) {
        let counting = condition
            .filter(|_| self.is_in_order())
            .and_then(|condition| self.counts_through(condition, step, before))
            .filter(|(variable, _)| !super::thread_arrays::writes(body, *variable));
        self.threads_known.counting = counting;
    }

    /// A thread is created, and its number stored there.
    pub(super) fn creates(&mut self, to: Option<&Expr>) {
        let directly = self.body.number == 0 && self.body.calls.len() == 1 && self.body.loops == 1;
        let counting = self.threads_known.counting.clone().filter(|_| directly);
        let element = to.zip(counting).and_then(|(to, (variable, elements))| {
            Some((self.element_of(walk::through_casts(to), variable, elements.end)?, elements))
        });
        let known = &mut self.threads_known;
        known.elsewhere |= known.forgot || !known.in_loop && element.is_none();
        known.all_joined = false;
        if let Some((array, elements)) = element {
            known.keep(array, elements);
        }
    }

    /// Whether a mutex is destroyed where nobody else can use it any more, so that it need not be known.
    pub(super) fn forgets_to_destroy(&mut self) -> bool {
        let known = &mut self.threads_known;
        let forgets = known.all_joined && self.body.number == 0;
        known.forgot |= forgets;
        forgets
    }

    /// A mutex is used, otherwise than to be destroyed.
    pub(super) fn uses_mutex(&mut self, span: Span) -> Result<()> {
        if self.body.number == 0 {
            self.threads_known.all_joined = false;
        }
        match self.threads_known.forgot && self.body.number == 0 {
            true => refuse(span, "a mutex is used after mutexes were destroyed"),
            false => Ok(()),
        }
    }

    /// That what was forgotten does not matter: who joins a detached thread need not wait for it.
    pub(super) fn expect_all_joined(&self) -> Result<()> {
        let detaches =
            |name: &str| matches!(name, "pthread_detach" | "thrd_detach" | "pthread_attr_setdetachstate");
        let may_be_left = self.threads_known.elsewhere
            || self.unit.functions.iter().any(|function| detaches(&function.name));
        match self.threads_known.forgot && may_be_left {
            true => refuse(Span::default(), "threads may be left when mutexes are destroyed"),
            false => Ok(()),
        }
    }

    /// Whether a variable is mentioned only where threads are created or joined: nobody else sees the numbers in it.
    pub(super) fn only_keeps_threads(&self, variable: VariableId) -> bool {
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
