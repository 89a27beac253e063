//! Statements that are one step: assignments, calls, locks, events, threads and tasks that are started.

use super::super::ast::{self, ExprKind, Name, Reference, StatementKind};
use super::super::foreign;
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::declarations::sort_of;
use super::{Call, Found, Lowering};
use crate::cursor::range;
use crate::diagnostic::Severity;
use allways_model::program::{EventId, Expr, LockPlace, Op, Place, ProcedureId, Span, Target, Type};
use std::collections::HashSet;

impl<'a> Lowering<'a, '_> {
    /// A statement that is one step and goes on to the next.
    pub(super) fn simple(&mut self, kind: &'a StatementKind<'a>, span: Span) -> Option<Op> {
        match kind {
            StatementKind::Assign(targets, values) => self.assignment(targets, values, span),
            StatementKind::Call(name, arguments) => self.call(*name, arguments, Vec::new()),
            StatementKind::Assert(condition) => {
                Some(Op::Assert(self.of_sort(condition, Sort::Bool, "after `assert`")?))
            }
            StatementKind::Error => Some(Op::Error),
            StatementKind::Acquire(lock) => Some(Op::Acquire(self.lock(lock)?)),
            StatementKind::Release(lock) => Some(Op::Release(self.lock(lock)?)),
            StatementKind::Spawn(name) => {
                self.only_in(false, "spawn", span);
                self.no_place_in_atomic("spawn", span);
                let Meaning::Thread(number) = self.routine_named(*name, "a thread")? else { return None };
                let template = self.heads[number].template?;
                self.program.templates[template].spawned = true;
                self.spawns.push((template, *name));
                Some(Op::Spawn(template, Vec::new()))
            }
            StatementKind::Post(name, arguments) => {
                self.only_in(true, "post", span);
                self.no_place_in_atomic("post", span);
                let Meaning::Task(number) = self.routine_named(*name, "a task")? else { return None };
                let (_, arguments) = self.arguments(*name, number, arguments)?;
                Some(Op::Spawn(self.heads[number].template?, arguments))
            }
            StatementKind::Wait(name) => {
                self.only_in(false, "wait", span);
                self.no_place_in_atomic("wait", span);
                Some(Op::Wait(self.event(*name)?))
            }
            StatementKind::Signal(name) => {
                self.only_in(false, "signal", span);
                self.no_place_in_atomic("signal", span);
                Some(Op::Signal(self.event(*name)?))
            }
            StatementKind::Broadcast(name) => {
                self.only_in(false, "broadcast", span);
                self.no_place_in_atomic("broadcast", span);
                Some(Op::Broadcast(self.event(*name)?))
            }
            // The rest are not simple, but for this one.
            _ => Some(Op::Skip),
        }
    }

    fn assignment(
        &mut self,
        targets: &'a [Reference<'a>],
        values: &'a [ast::Expr<'a>],
        span: Span,
    ) -> Option<Op> {
        if let Some(op) = self.assignment_of_threads(targets, values) {
            return op;
        }
        let places: Vec<Option<Place>> = targets.iter().map(|target| self.place(target)).collect();
        if let ([value], [_]) = (values, targets)
            && let ExprKind::Call(name, arguments) = &value.kind
            && !self.is_length(*name)
        {
            let operands = self.callee(*name, arguments);
            let place = places.into_iter().next()??;
            let (callee, arguments) = operands?;
            self.result_fits(*name, callee, place.ty)?;
            return Some(Op::Call(ProcedureId(callee), arguments, vec![place]));
        }
        if targets.len() != values.len() {
            let count =
                |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let message =
                format!("expected {}, found {}", count(targets.len(), "value"), count(values.len(), "value"));
            let help = "each variable on the left gets one of the values on the right".to_string();
            return self.none(span, message, Some(help));
        }
        let mut lowered = Vec::new();
        for (place, value) in places.iter().zip(values) {
            lowered.push(match place {
                Some(place) => self.stored(value, place.ty),
                None => self.expression(value).map(|(expr, _)| expr),
            });
        }
        let places: Vec<Place> = places.into_iter().collect::<Option<_>>()?;
        let mut seen = HashSet::new();
        for (place, target) in places.iter().zip(targets) {
            let key = match place.target {
                Target::Shared(slot) => (true, slot),
                Target::Local(slot) => (false, slot),
                _ => continue,
            };
            if !seen.insert(key) {
                let message =
                    format!("expected different variables, found {} twice", quote(target.name.text));
                self.error(target.span, message, None);
            }
        }
        Some(Op::Assign(places, lowered.into_iter().collect::<Option<_>>()?, None))
    }

    fn call(&mut self, name: Name<'a>, arguments: &'a [ast::Expr<'a>], places: Vec<Place>) -> Option<Op> {
        let (callee, arguments) = self.callee(name, arguments)?;
        Some(Op::Call(ProcedureId(callee), arguments, places))
    }

    /// The procedure that is called, and its arguments.
    pub(super) fn callee(
        &mut self,
        name: Name<'a>,
        arguments: &'a [ast::Expr<'a>],
    ) -> Option<(usize, Vec<Expr>)> {
        if self.globals.get(name.text).is_none() {
            let (diagnostics, globals) = (&mut *self.diagnostics, &self.globals);
            diagnostics.add(Severity::Error, range(name.span), || {
                let procedures =
                    globals.iter().filter(|global| matches!(global.meaning, Meaning::Procedure(_)));
                let help = foreign::procedure(name.text).map(str::to_string);
                let help =
                    help.or_else(|| did_you_mean(name.text, procedures.map(|global| global.name.text)));
                (format!("unknown procedure {}", quote(name.text)), help)
            });
            return None;
        }
        let Meaning::Procedure(callee) = self.routine_named(name, "a procedure")? else { return None };
        let atomic = self.body.atomic.is_some();
        let lowered = self.arguments(name, callee, arguments);
        // The procedure that is called may be one for these references.
        let callee = lowered.as_ref().map_or(callee, |(callee, _)| *callee);
        self.body.summary.calls.push(Call { callee, name: name.span, atomic });
        lowered
    }

    /// A routine of the kind that is expected.
    fn routine_named(&mut self, name: Name<'a>, expected: &str) -> Option<Meaning> {
        let meaning = self.global(name, expected)?;
        let help = match (expected, meaning) {
            ("a procedure", Meaning::Procedure(_)) | ("a thread", Meaning::Thread(_)) => {
                self.globals.touch(name.text);
                return Some(meaning);
            }
            ("a task", Meaning::Task(number)) if self.is_task(number) => {
                self.globals.touch(name.text);
                return Some(meaning);
            }
            (_, Meaning::Procedure(_)) => Some("a procedure is called by `f(…);`"),
            (_, Meaning::Thread(_)) => Some("a thread is started by `spawn name;`"),
            (_, Meaning::Task(_)) => Some("a task is started by `post name(…);`"),
            _ => None,
        };
        self.misfit(name, expected, meaning, help);
        None
    }

    /// The values that a routine is called with; and which one it is, if some of its parameters are references.
    fn arguments(
        &mut self,
        name: Name<'a>,
        callee: usize,
        arguments: &'a [ast::Expr<'a>],
    ) -> Option<(usize, Vec<Expr>)> {
        let kinds = self.kinds.get(callee).cloned().unwrap_or_default();
        let expected = kinds.len();
        if expected != arguments.len() {
            let plural = if expected == 1 { "" } else { "s" };
            let message = format!(
                "expected {expected} argument{plural} for {}, found {}",
                quote(name.text),
                arguments.len()
            );
            return self.none(name.span, message, None);
        }
        let (mut lowered, mut references) = (Vec::new(), Vec::new());
        for (argument, reference) in arguments.iter().zip(kinds) {
            if reference {
                references.push(argument);
                continue;
            }
            lowered.push(match self.heads[callee].parameters[lowered.len()] {
                Some(ty) => self.stored(argument, ty),
                None => self.expression(argument).map(|(expr, _)| expr),
            });
        }
        if references.is_empty() {
            return Some((callee, lowered.into_iter().collect::<Option<_>>()?));
        }
        let (callee, indices) = self.specialise(name, callee, &references)?;
        lowered.extend(indices.into_iter().map(Some));
        Some((callee, lowered.into_iter().collect::<Option<_>>()?))
    }

    /// Whether the result of a procedure can be stored in something of a type.
    pub(super) fn result_fits(&mut self, name: Name<'a>, callee: usize, ty: Type) -> Option<()> {
        let head = &self.heads[callee];
        if !head.has_result {
            let message =
                format!("expected a procedure with a result, found {}, which has none", quote(name.text));
            let help = "a procedure with a result is declared by `proc f() : int { … }`".to_string();
            return self.none(name.span, message, Some(help));
        }
        let (found, wanted) = (sort_of(head.result?), sort_of(ty));
        if found != wanted {
            let message = format!(
                "expected {}, found {}, the result of {}",
                wanted.words(),
                found.words(),
                quote(name.text)
            );
            return self.none(name.span, message, None);
        }
        Some(())
    }

    fn event(&mut self, name: Name<'a>) -> Option<EventId> {
        let meaning = self.global(name, "an event")?;
        let Meaning::Event(number) = meaning else {
            self.misfit(name, "an event", meaning, Some("an event is declared by `event e;`"));
            return None;
        };
        self.globals.touch(name.text);
        Some(EventId(number))
    }

    fn lock(&mut self, lock: &'a Reference<'a>) -> Option<LockPlace> {
        let (name, span) = (lock.name, lock.span);
        let found = match (self.body.local(name.text), self.body.alias(name.text)) {
            (Some(local), _) => Found::Local(local),
            (None, Some(alias)) => Found::Alias(alias),
            (None, None) => match self.global(name, "a lock")? {
                Meaning::Lock(number) | Meaning::Shared(number) => Found::Shared(number),
                meaning => {
                    self.misfit(name, "a lock", meaning, Some(A_LOCK));
                    return None;
                }
            },
        };
        self.note_read(name);
        let base = self.base(found);
        if !self.has_locks(&base.shape.of) {
            self.misfit(name, "a lock", Meaning::Shared(0), Some(A_LOCK));
            return None;
        }
        let base = self.select(name, base, &lock.selectors)?;
        let part = self.part(name, base, "a lock")?;
        if part.ty != Type::Lock {
            let message = format!("expected a lock, found a variable of {}", quote(name.text));
            return self.none(span, message, Some(A_LOCK.to_string()));
        }
        Some(part.lock(span))
    }

    /// Complains about a statement that belongs to the other kind of program.
    pub(super) fn only_in(&mut self, asynchronous: bool, word: &str, span: Span) {
        if self.asynchronous != asynchronous {
            let (here, help) = match asynchronous {
                true => {
                    ("a program of threads", "tasks, `post` and `yield` belong to programs with a `main`")
                }
                false => {
                    ("an asynchronous program", "in a program with a `main`, use `post`, `yield` and `await`")
                }
            };
            self.error(span, format!("expected no `{word}` in {here}, found one"), Some(help.to_string()));
        }
    }
}

const A_LOCK: &str = "a lock is declared by `lock m;`";
