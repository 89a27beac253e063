//! Operations of one step that are written like calls: `cas`, `exchange` and `fetch_add` of variables, `send` and `recv` of channels.
//!
//! They stand where calls do: alone, or as the whole right side of an assignment or declaration. `cas`, `try_send` and
//! `try_recv`, which tell whether they did something, can be a condition as well, with `!` before it or not. Each becomes a
//! parallel assignment; those that tell, two steps, of which one can be taken. The names can be given to procedures, which are
//! then called.

use super::super::ast::{self, ExprKind, Name};
use super::super::names::Sort;
use super::super::suggest::quote;
use super::Lowering;
use super::declarations::sort_of;
use super::flow::Point;
use allways_model::program::defined::chooses;
use allways_model::program::{Binary, Edge, Expr, LocationId, Op, Place, Span, Target, Type, Unary};

/// An operation that reads and writes in one step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    CompareAndSwap,
    Exchange,
    FetchAdd,
    Send,
    Receive,
    TrySend,
    TryReceive,
}

impl Builtin {
    fn of(name: &str) -> Option<Builtin> {
        match name {
            "cas" => Some(Builtin::CompareAndSwap),
            "exchange" => Some(Builtin::Exchange),
            "fetch_add" => Some(Builtin::FetchAdd),
            "send" => Some(Builtin::Send),
            "recv" => Some(Builtin::Receive),
            "try_send" => Some(Builtin::TrySend),
            "try_recv" => Some(Builtin::TryReceive),
            _ => None,
        }
    }

    /// How it is written.
    pub fn usage(self) -> &'static str {
        match self {
            Builtin::CompareAndSwap => "`cas(x, old, new)`",
            Builtin::Exchange => "`exchange(x, new)`",
            Builtin::FetchAdd => "`fetch_add(x, number)`",
            Builtin::Send => "`send(c, value)`",
            Builtin::Receive => "`recv(c, x)`",
            Builtin::TrySend => "`try_send(c, value)`",
            Builtin::TryReceive => "`try_recv(c, x)`",
        }
    }

    /// Whether it gives whether it did something.
    fn tells(self) -> bool {
        matches!(self, Builtin::CompareAndSwap | Builtin::TrySend | Builtin::TryReceive)
    }
}

/// What is stored where, all at once.
pub(super) struct Update {
    pub places: Vec<Place>,
    pub values: Vec<Expr>,
    pub gives: Gives,
}

/// When something is stored, and what is given.
pub(super) enum Gives {
    /// Always; what a variable was, with its type.
    Old(Expr, Type),
    /// If this is true; whether it was.
    Success(Expr),
    /// When this becomes true; nothing. With the word for it.
    Nothing(Expr, &'static str),
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
        let waits = match &update {
            Some(Update { gives: Gives::Nothing(_, word), .. }) if self.asynchronous => Some(*word),
            _ => None,
        };
        let steps = update.and_then(|update| self.builtin_steps(update, result, span));
        let edge = |op| Edge { op, to: LocationId(after), span };
        let mut steps: Vec<Edge> = steps.unwrap_or(vec![Op::Skip]).into_iter().map(edge).collect();
        if let Some(word) = waits {
            // As with `await`, other tasks must be let run meanwhile.
            self.no_place_in_atomic(word, span);
            if let Some(Edge { op: Op::Assign(_, _, Some(ready)), .. }) = steps.first() {
                let (not, pause) = (Op::Guard(ready.clone(), false), self.body.flow.point());
                steps.push(Edge { op: not, to: LocationId(pause), span });
                self.until(at, pause, span);
            }
        }
        self.body.flow.steps(at, steps, span);
        after
    }

    fn builtin_steps(&mut self, update: Update, result: Option<Place>, span: Span) -> Option<Vec<Op>> {
        let Update { places, values, gives } = update;
        if let Some(result) = &result {
            let found = match &gives {
                Gives::Old(_, ty) => sort_of(*ty),
                Gives::Success(_) => Sort::Bool,
                Gives::Nothing(..) => {
                    let help = "`try_send` and `try_recv` give whether they did something".to_string();
                    return self.none(
                        span,
                        "expected an operation with a result, found one without",
                        Some(help),
                    );
                }
            };
            let wanted = sort_of(result.ty);
            if found != wanted {
                let message = format!("expected {} for the result, found {}", wanted.words(), found.words());
                return self.none(span, message, None);
            }
            if places.iter().any(|place| same(&result.target, &place.target)) {
                let help = "what was read would be lost, or what was stored".to_string();
                return self.none(span, "expected different variables, found one twice", Some(help));
            }
        }
        Some(match gives {
            Gives::Old(read, _) => {
                let (places, values) = with(result, read, places, values);
                vec![Op::Assign(places, values, None)]
            }
            Gives::Nothing(ready, _) => vec![Op::Assign(places, values, Some(ready))],
            Gives::Success(succeeds) => {
                let (places, values) = with(result.clone(), Expr::Constant(1), places, values);
                let fails = match result {
                    None => Op::Guard(succeeds.clone(), false),
                    Some(result) => {
                        let not = Expr::Unary(Unary::Not, Box::new(succeeds.clone()));
                        Op::Assign(vec![result], vec![Expr::Constant(0)], Some(not))
                    }
                };
                vec![Op::Assign(places, values, Some(succeeds)), fails]
            }
        })
    }

    /// If a condition is an operation that tells whether it did something, perhaps with `!`: the steps if it is true, and if it
    /// is false. The outer `None`: it is none.
    pub(super) fn telling_condition(&mut self, condition: &'a ast::Expr<'a>) -> Option<Option<(Op, Op)>> {
        let (negated, call) = match &condition.kind {
            ExprKind::Unary(Unary::Not, part) => (true, call_of(part)?),
            _ => (false, call_of(condition)?),
        };
        if !Builtin::of(call.0.text).is_some_and(Builtin::tells) || !self.is_builtin(call.0) {
            return None;
        }
        let Some(Update { places, values, gives: Gives::Success(succeeds) }) = self.update(call) else {
            return Some(None);
        };
        let stores = Op::Assign(places, values, Some(succeeds.clone()));
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
        match builtin {
            Builtin::Send | Builtin::TrySend => return self.send(builtin, &arguments[0], &arguments[1]),
            Builtin::Receive | Builtin::TryReceive => {
                return self.receive(builtin, &arguments[0], &arguments[1]);
            }
            _ => {}
        }
        if let Some(update) = self.swap_of_threads(arguments, builtin == Builtin::CompareAndSwap, name.span) {
            return update;
        }
        let Some((variable, place)) = self.argument_place(&arguments[0])? else {
            return self.none(arguments[0].span, "expected a variable that is read and written", usage());
        };
        self.note_read(variable);
        let (ty, span) = (place.ty, arguments[0].span);
        let old = read(&place);
        match builtin {
            Builtin::FetchAdd => {
                if sort_of(ty) != Sort::Number {
                    return self.none(span, "expected a number that is added to, found a Boolean", None);
                }
                let added = self.of_sort(&arguments[1], Sort::Number, "that is added")?;
                let value = Expr::Binary(Binary::Plus, Box::new(old.clone()), Box::new(added), name.span);
                Some(Update { places: vec![place], values: vec![value], gives: Gives::Old(old, ty) })
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
                Some(Update { places: vec![place], values: vec![value], gives: Gives::Success(succeeds) })
            }
            _ => {
                let values = vec![self.stored(&arguments[1], ty)?];
                Some(Update { places: vec![place], values, gives: Gives::Old(old, ty) })
            }
        }
    }

    /// A variable or a part of one that is an argument; the inner `None`: it is something else.
    pub(super) fn argument_place(
        &mut self,
        argument: &'a ast::Expr<'a>,
    ) -> Option<Option<(Name<'a>, Place)>> {
        let (name, selectors) = match &argument.kind {
            ExprKind::Name(name) => (*name, &[][..]),
            ExprKind::Part(name, selectors) => (*name, &selectors[..]),
            _ => return Some(None),
        };
        Some(Some((name, self.place_of(name, selectors, argument.span)?)))
    }
}

/// An assignment of values to places, after the result.
fn with(
    result: Option<Place>,
    shown: Expr,
    places: Vec<Place>,
    values: Vec<Expr>,
) -> (Vec<Place>, Vec<Expr>) {
    match result {
        Some(result) => {
            (std::iter::once(result).chain(places).collect(), std::iter::once(shown).chain(values).collect())
        }
        None => (places, values),
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
