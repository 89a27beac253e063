//! Reading and writing a variable in one step: `cas`, `exchange` and `fetch_add`.
//!
//! They are written like calls, and stand where calls do: alone, or as the whole right side of an assignment or declaration.
//! `cas(x, old, new)`, which tells whether it stored something, can be a condition as well, with `!` before it or not.
//! Each becomes an assignment to two variables; `cas` two steps, of which one can be taken. The names can be given to
//! procedures, which are then called.

use super::super::ast::{self, ExprKind, Name};
use super::super::names::Sort;
use super::super::suggest::quote;
use super::Lowering;
use super::declarations::sort_of;
use super::flow::Point;
use allways_model::program::defined::chooses;
use allways_model::program::{Binary, Edge, Expr, LocationId, Op, Place, Span, Target, Unary};

/// An operation that reads and writes in one step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Builtin {
    CompareAndSwap,
    Exchange,
    FetchAdd,
}

impl Builtin {
    fn of(name: &str) -> Option<Builtin> {
        match name {
            "cas" => Some(Builtin::CompareAndSwap),
            "exchange" => Some(Builtin::Exchange),
            "fetch_add" => Some(Builtin::FetchAdd),
            _ => None,
        }
    }

    /// How it is written.
    fn usage(self) -> &'static str {
        match self {
            Builtin::CompareAndSwap => "`cas(x, old, new)`",
            Builtin::Exchange => "`exchange(x, new)`",
            Builtin::FetchAdd => "`fetch_add(x, number)`",
        }
    }
}

/// A variable that is read and written, and what is stored in it.
pub(super) struct Update {
    place: Place,
    /// Of `cas`, whether it stores something.
    succeeds: Option<Expr>,
    value: Expr,
}

/// A call in the text.
pub(super) type CallOf<'a> = (Name<'a>, &'a [ast::Expr<'a>]);

/// The call that an expression is.
pub(super) fn call_of<'a>(expr: &'a ast::Expr<'a>) -> Option<CallOf<'a>> {
    if let ExprKind::Call(name, arguments) = &expr.kind { Some((*name, arguments)) } else { None }
}

impl<'a> Lowering<'a, '_> {
    /// Whether a call is one of these operations.
    pub(super) fn is_builtin(&self, name: Name<'a>) -> bool {
        Builtin::of(name.text).is_some() && self.globals.get(name.text).is_none()
    }

    /// One of these operations as a statement; its result goes to `result`, if there is one. Gives the point after it.
    pub(super) fn builtin(
        &mut self,
        update: Option<Update>,
        result: Option<Place>,
        at: Point,
        span: Span,
    ) -> Point {
        let after = self.body.flow.point();
        let steps = update.and_then(|update| self.builtin_steps(update, result, span));
        let edge = |op| Edge { op, to: LocationId(after), span };
        let steps = steps.unwrap_or(vec![Op::Skip]).into_iter().map(edge).collect();
        self.body.flow.steps(at, steps, span);
        after
    }

    fn builtin_steps(&mut self, update: Update, result: Option<Place>, span: Span) -> Option<Vec<Op>> {
        let Update { place, succeeds, value } = update;
        if let Some(result) = &result {
            let found = if succeeds.is_some() { Sort::Bool } else { sort_of(place.ty) };
            let wanted = sort_of(result.ty);
            if found != wanted {
                let message = format!("expected {} for the result, found {}", wanted.words(), found.words());
                return self.none(span, message, None);
            }
            if same(&result.target, &place.target) {
                let help = "what was read would be lost, or what was stored".to_string();
                return self.none(span, "expected different variables, found one twice", Some(help));
            }
        }
        let Some(succeeds) = succeeds else {
            let read = read(&place);
            let (places, values) = with(result, read, place, value);
            return Some(vec![Op::Assign(places, values, None)]);
        };
        let (places, values) = with(result.clone(), Expr::Constant(1), place, value);
        let fails = match result {
            None => Op::Guard(succeeds.clone(), false),
            Some(result) => {
                let not = Expr::Unary(Unary::Not, Box::new(succeeds.clone()));
                Op::Assign(vec![result], vec![Expr::Constant(0)], Some(not))
            }
        };
        Some(vec![Op::Assign(places, values, Some(succeeds)), fails])
    }

    /// If a condition is a `cas`, perhaps with `!`: the steps if it is true, and if it is false. The outer `None`: it is none.
    pub(super) fn cas_condition(&mut self, condition: &'a ast::Expr<'a>) -> Option<Option<(Op, Op)>> {
        let (negated, call) = match &condition.kind {
            ExprKind::Unary(Unary::Not, part) => (true, call_of(part)?),
            _ => (false, call_of(condition)?),
        };
        let is_cas = Builtin::of(call.0.text) == Some(Builtin::CompareAndSwap);
        if !is_cas || !self.is_builtin(call.0) {
            return None;
        }
        let Some(Update { place, succeeds: Some(succeeds), value }) = self.update(call) else {
            return Some(None);
        };
        let stores = Op::Assign(vec![place], vec![value], Some(succeeds.clone()));
        // A trace shows whether the condition was true, not the operation.
        Some(Some(match negated {
            true => (Op::Guard(Expr::Unary(Unary::Not, Box::new(succeeds)), true), stores),
            false => (stores, Op::Guard(succeeds, false)),
        }))
    }

    /// What one of these operations does.
    pub(super) fn update(&mut self, (name, arguments): CallOf<'a>) -> Option<Update> {
        let builtin = Builtin::of(name.text)?;
        let usage = || Some(format!("write {}", builtin.usage()));
        let count = if builtin == Builtin::CompareAndSwap { 3 } else { 2 };
        if arguments.len() != count {
            let message =
                format!("expected {count} arguments for {}, found {}", quote(name.text), arguments.len());
            return self.none(name.span, message, usage());
        }
        let (variable, place) = match &arguments[0].kind {
            ExprKind::Name(variable) => (variable, self.place_of(*variable, None, arguments[0].span)?),
            ExprKind::Element(array, index) => {
                (array, self.place_of(*array, Some(index), arguments[0].span)?)
            }
            _ => {
                return self.none(arguments[0].span, "expected a variable that is read and written", usage());
            }
        };
        self.note_read(variable.text);
        let (ty, span) = (place.ty, arguments[0].span);
        let old = read(&place);
        match builtin {
            Builtin::Exchange => {
                Some(Update { value: self.stored(&arguments[1], ty)?, succeeds: None, place })
            }
            Builtin::FetchAdd => {
                if sort_of(ty) != Sort::Number {
                    return self.none(span, "expected a number that is added to, found a Boolean", None);
                }
                let added = self.of_sort(&arguments[1], Sort::Number, "that is added")?;
                let value = Expr::Binary(Binary::Plus, Box::new(old), Box::new(added), name.span);
                Some(Update { value, succeeds: None, place })
            }
            Builtin::CompareAndSwap => {
                let expected = self.of_sort(&arguments[1], sort_of(ty), "that is compared with")?;
                if chooses(&expected) || chooses(&old) {
                    let help = "a choice is made in a step of its own, before".to_string();
                    return self.none(
                        arguments[1].span,
                        "expected a comparison without choices, found `*`",
                        Some(help),
                    );
                }
                let new = self.stored(&arguments[2], ty)?;
                let succeeds =
                    Expr::Binary(Binary::Equal, Box::new(old.clone()), Box::new(expected), name.span);
                // The value is looked at before the condition is: where nothing is stored, it must not go wrong.
                let value = Expr::If(Box::new(succeeds.clone()), Box::new(new), Box::new(old));
                Some(Update { value, succeeds: Some(succeeds), place })
            }
        }
    }
}

/// An assignment of a value to a place, after the result.
fn with(result: Option<Place>, shown: Expr, place: Place, value: Expr) -> (Vec<Place>, Vec<Expr>) {
    match result {
        Some(result) => (vec![result, place], vec![shown, value]),
        None => (vec![place], vec![value]),
    }
}

/// Whether two places are certainly one.
fn same(one: &Target, other: &Target) -> bool {
    match (one, other) {
        (Target::Shared(one), Target::Shared(other)) | (Target::Local(one), Target::Local(other)) => {
            one == other
        }
        _ => false,
    }
}

/// The value at a place.
fn read(place: &Place) -> Expr {
    match &place.target {
        Target::Shared(slot) => Expr::Shared(*slot),
        Target::SharedElement(slot, length, index) => {
            Expr::SharedElement(*slot, *length, Box::new(index.clone()), place.span)
        }
        Target::LocalElement(slot, length, index) => {
            Expr::LocalElement(*slot, *length, Box::new(index.clone()), place.span)
        }
        Target::Local(slot) | Target::Others(slot) => Expr::Local(*slot),
    }
}
