//! Variables that hold a thread: `shared worker owner;`, which is `none` or one of the threads `worker`, however many there are.
//!
//! Nothing can be done with such a value but to store it and to ask whether it is `none` or the thread that asks. So a variable
//! says whether it holds somebody, and each of these threads has a bit of its own that says whether it is the one. Whoever
//! stores `self` clears the bits of the others in the same step. Whoever stores `none` need not: a bit counts only while the
//! variable holds somebody.
//!
//! Invariant: of all threads at most one has its bit, and one has if the variable holds somebody.

use super::super::ast::{self, ExprKind, Name, Reference, Threads};
use super::super::names::{Meaning, Sort};
use super::super::suggest::quote;
use super::builtins::{Gives, Update};
use super::expressions::Typed;
use super::{Lowering, Mode};
use crate::cursor::join;
use allways_model::program::{Binary, Expr, Op, Place, Slot, Span, Target, Type, Unary, Variable};
use std::collections::HashSet;

/// A variable that holds a thread.
#[derive(Clone, Copy)]
pub(super) struct Identity<'a> {
    name: Name<'a>,
    /// Its number among the shared variables, and its slot: whether it holds somebody.
    number: usize,
    slot: Slot,
    /// The body of the threads, and where each has its bit.
    procedure: usize,
    bit: Slot,
}

/// What can be stored in such a variable, or compared with it.
enum Value<'a> {
    None,
    This,
    Of(Identity<'a>),
}

/// Places, and what is stored there.
type Stored = Vec<(Place, Expr)>;

impl<'a> Lowering<'a, '_> {
    /// The threads that a type names.
    pub(super) fn threads_named(&self, ty: &ast::TypeName<'a>) -> Option<usize> {
        let ast::TypeName::Named(name) = ty else { return None };
        match self.globals.get(name.text)?.meaning {
            Meaning::Thread(procedure) => Some(procedure),
            _ => None,
        }
    }

    pub(super) fn declare_identity(&mut self, procedure: usize, declarator: &'a ast::Declarator<'a>) {
        let (name, slot) = (declarator.name, self.program.shared_slots());
        if let Some(length) = declarator.lengths.first() {
            let help = "arrays hold numbers and Booleans".to_string();
            let message =
                format!("expected one variable that holds a thread, found the array {}", quote(name.text));
            return self.error(length.span, message, Some(help));
        }
        let initial = declarator.initial.as_ref();
        if let Some(initial) =
            initial.filter(|initial| !matches!(initial, ast::Initial::One(value) if is_none(value)))
        {
            let span = match initial {
                ast::Initial::One(value) => value.span,
                ast::Initial::Each(_, span) | ast::Initial::All(_, span) => *span,
            };
            return self.error(
                span,
                format!("expected `none`, with which {} starts", quote(name.text)),
                None,
            );
        }
        let Some(variable) = self.new_variable(name, Type::Bool, None, vec![Some(0)], slot) else { return };
        let number = self.program.shared.len();
        self.program.shared.push(variable);
        self.globals.settle(name, Meaning::Shared(number));
        let bit = self.identities.iter().filter(|other| other.procedure == procedure).count();
        self.identities.push(Identity { name, number, slot, procedure, bit });
    }

    /// Gives a thread at the start of its body the bits of the variables that may hold it.
    pub(super) fn declare_bits(&mut self, procedure: usize) {
        let own = self.identities.iter().filter(|identity| identity.procedure == procedure);
        for identity in own.copied().collect::<Vec<_>>() {
            let slot = self.body.slots();
            debug_assert_eq!(slot, identity.bit);
            let variable = self.new_variable(identity.name, Type::Bool, None, vec![Some(0)], slot);
            if let Some(variable) = variable {
                let name = Variable::bit_of(identity.name.text);
                self.body.add_part(identity.name.span, Variable { name, mixed: true, ..variable });
            }
        }
    }

    /// Whether a shared variable holds a thread.
    pub(super) fn holds_thread(&self, number: usize) -> bool {
        self.identities.iter().any(|identity| identity.number == number)
    }

    /// Says that a variable that holds a thread stands where it cannot.
    pub(super) fn misplaced_identity<T>(&mut self, name: Name<'a>, expected: &str) -> Option<T> {
        let message = format!("expected {expected}, found {}, which holds a thread", quote(name.text));
        let help =
            "it is compared with `self` or `none`, and assigned `self`, `none` or another such variable";
        self.none(name.span, message, Some(help.to_string()))
    }

    /// The variable that a name means, if it holds a thread.
    fn identity(&self, name: Name<'a>) -> Option<Identity<'a>> {
        let hidden = self.bound.iter().any(|(bound, ..)| *bound == name.text)
            || self.body.local(name.text).is_some()
            || self.body.alias(name.text).is_some();
        let global =
            self.globals.get(name.text).filter(|global| !hidden && global.ready <= name.span.start)?;
        let Meaning::Shared(number) = global.meaning else { return None };
        self.identities.iter().find(|identity| identity.number == number).copied()
    }

    fn identity_of(&self, expr: &ast::Expr<'a>) -> Option<Identity<'a>> {
        if let ExprKind::Name(name) = expr.kind { self.identity(name) } else { None }
    }

    /// `owner == self` and the like. The outer `None`: it is something else.
    pub(super) fn comparison_of_threads(
        &mut self,
        operator: Binary,
        (left, right): (&'a ast::Expr<'a>, &'a ast::Expr<'a>),
        span: Span,
    ) -> Option<Option<Typed>> {
        let (identity, other) = match (self.identity_of(left), self.identity_of(right)) {
            (Some(identity), _) => (identity, right),
            (None, Some(identity)) => (identity, left),
            (None, None) => return None,
        };
        let test = self.is_held_by(identity, other, span);
        let negate = |test| Expr::Unary(Unary::Not, Box::new(test));
        Some(test.map(|test| (if operator == Binary::Unequal { negate(test) } else { test }, Sort::Bool)))
    }

    /// Whether a variable holds what is written.
    fn is_held_by(&mut self, identity: Identity<'a>, other: &'a ast::Expr<'a>, span: Span) -> Option<Expr> {
        if self.mode == Mode::Constant {
            let message = format!("expected a constant, found the variable {}", quote(identity.name.text));
            return self.none(span, message, None);
        }
        self.globals.touch(identity.name.text);
        let held = Expr::Shared(identity.slot);
        match self.value_of(identity, other)? {
            Value::None => Some(Expr::Unary(Unary::Not, Box::new(held))),
            Value::This => {
                Some(Expr::Binary(Binary::And, Box::new(held), Box::new(Expr::Local(identity.bit)), span))
            }
            Value::Of(_) => {
                let help = "each thread can say whether it is the one that a variable holds: `owner == self`";
                let message = "expected `self` or `none`, found another variable that holds a thread";
                self.none(other.span, message, Some(help.to_string()))
            }
        }
    }

    /// What is stored in a variable, or compared with it.
    fn value_of(&mut self, identity: Identity<'a>, value: &'a ast::Expr<'a>) -> Option<Value<'a>> {
        let here = self.body.threads.filter(|_| self.mode == Mode::Body);
        let inside = here.is_some_and(|(procedure, _)| procedure == identity.procedure);
        if is_none(value) {
            return Some(Value::None);
        }
        let other = self.identity_of(value);
        if let Some(other) = other.filter(|other| other.procedure != identity.procedure) {
            let message = format!("expected one of the same threads, found {}", quote(other.name.text));
            return self.none(value.span, message, None);
        }
        match (&value.kind, other) {
            (ExprKind::This, _) | (_, Some(_)) if !inside => {
                let message = format!(
                    "expected `none` here, outside of the body of the threads that {} holds",
                    quote(identity.name.text)
                );
                let template = self.heads.get(identity.procedure).and_then(|head| head.template);
                let threads = template.map(|template| quote(&self.program.templates[template].name));
                let help = threads.map(|threads| {
                    format!("only {threads} can store itself there, or ask whether it is the one")
                });
                self.none(value.span, message, help)
            }
            (ExprKind::This, _) => Some(Value::This),
            (_, Some(other)) => {
                self.globals.touch(other.name.text);
                Some(Value::Of(other))
            }
            _ => {
                let message = format!(
                    "expected `self`, `none` or another variable that holds a thread, since {} is one",
                    quote(identity.name.text)
                );
                self.none(value.span, message, None)
            }
        }
    }

    /// What is stored where, when a variable gets what is written.
    fn holds_from_now(
        &mut self,
        identity: Identity<'a>,
        value: &'a ast::Expr<'a>,
        span: Span,
    ) -> Option<Stored> {
        let value = self.value_of(identity, value)?;
        let place = |target| Place { target, ty: Type::Bool, span };
        let held = place(Target::Shared(identity.slot));
        let (own, others) = (place(Target::Local(identity.bit)), place(Target::Others(identity.bit)));
        let constant = |value: bool| Expr::Constant(value.into());
        let inside = self.body.threads.is_some_and(|(procedure, _)| procedure == identity.procedure);
        Some(match value {
            Value::None if inside => vec![(held, constant(false)), (own, constant(false))],
            Value::None => vec![(held, constant(false))],
            Value::This => vec![(held, constant(true)), (own, constant(true)), (others, constant(false))],
            Value::Of(other) => vec![
                (held, Expr::Shared(other.slot)),
                (own, Expr::Local(other.bit)),
                (others, Expr::OtherLocal(other.bit)),
            ],
        })
    }

    /// An assignment to variables of which some hold threads. The outer `None`: none does.
    pub(super) fn assignment_of_threads(
        &mut self,
        targets: &'a [Reference<'a>],
        values: &'a [ast::Expr<'a>],
    ) -> Option<Option<Op>> {
        let plain = |target: &Reference<'a>| target.selectors.is_empty().then_some(target.name);
        let identities: Vec<_> =
            targets.iter().map(|target| plain(target).and_then(|name| self.identity(name))).collect();
        if identities.iter().all(Option::is_none) || targets.len() != values.len() {
            return None;
        }
        let mut stored = Some(Vec::new());
        let mut seen = HashSet::new();
        for ((target, value), identity) in targets.iter().zip(values).zip(identities) {
            let parts = match identity {
                Some(identity) => self.holds_from_now(identity, value, target.span),
                None => self.place(target).and_then(|place| {
                    let value = self.stored(value, place.ty)?;
                    Some(vec![(place, value)])
                }),
            };
            let twice = match parts.as_ref().and_then(|parts| parts.first()) {
                Some((Place { target: Target::Shared(slot), .. }, _)) => !seen.insert((true, *slot)),
                Some((Place { target: Target::Local(slot), .. }, _)) => !seen.insert((false, *slot)),
                _ => false,
            };
            if twice {
                let message =
                    format!("expected different variables, found {} twice", quote(target.name.text));
                self.error(target.span, message, None);
            }
            stored = stored.zip(parts).map(|(mut stored, parts): (Stored, Stored)| {
                stored.extend(parts);
                stored
            });
        }
        Some(stored.map(|stored| {
            let (places, values) = stored.into_iter().unzip();
            Op::Assign(places, values, None)
        }))
    }

    /// `cas(owner, none, self)`. The outer `None`: the variable holds no thread.
    pub(super) fn swap_of_threads(
        &mut self,
        arguments: &'a [ast::Expr<'a>],
        compares: bool,
        span: Span,
    ) -> Option<Option<Update>> {
        let identity = self.identity_of(&arguments[0])?;
        if !compares {
            return Some(self.misplaced_identity(identity.name, "a variable with a number or a Boolean"));
        }
        let succeeds = self.is_held_by(identity, &arguments[1], join(arguments[0].span, arguments[1].span));
        let stored = self.holds_from_now(identity, &arguments[2], span);
        Some(succeeds.zip(stored).map(|(succeeds, stored)| {
            let (places, values) = stored.into_iter().unzip();
            Update { places, values, gives: Gives::Success(succeeds) }
        }))
    }

    /// Complains about calls beside variables that hold threads: the bits are in the bodies, where no procedure finds them.
    pub(super) fn check_identities(&mut self) {
        let Some(identity) = self.identities.first().copied() else { return };
        let calls = self.summaries.iter().flat_map(|summary| &summary.calls).map(|call| call.name);
        if let Some(call) = calls.min_by_key(|call| call.start) {
            let message = "expected no call in a program with a variable that holds a thread, found one";
            let help = format!(
                "{}, declared in line {}, is such a variable; write what the procedure does in the body",
                quote(identity.name.text),
                identity.name.span.line
            );
            self.error(call, message.to_string(), Some(help));
        }
    }

    /// Why `self` has no value in threads of which there are any number, and what can be done instead.
    pub(super) fn without_numbers(routine: &ast::Routine<'a>) -> Option<String> {
        let ast::RoutineKind::Thread(Threads::Any) = routine.kind else { return None };
        let name = routine.name.text;
        Some(format!(
            "{}; `shared {name} x;` holds a thread, `x = self;` and `x == self`",
            super::callers::ANY_NUMBER
        ))
    }
}

/// `none`
fn is_none(expr: &ast::Expr<'_>) -> bool {
    matches!(expr.kind, ExprKind::Name(name) if name.text == "none")
}
