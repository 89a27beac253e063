//! Channels: queues of a fixed capacity, and the steps that send and receive.
//!
//! A channel is an array of values, the next one to be received first, and the number of those that are there. What is
//! received makes the others move up, and places without a value hold the first value of the type: a queue with the same
//! values in it is the same state, however it came about.

use super::super::ast;
use super::super::names::{Meaning, Sort};
use super::super::suggest::quote;
use super::Lowering;
use super::builtins::{Builtin, Gives, Update};
use super::declarations::sort_of;
use super::expressions::Typed;
use allways_model::program::{Binary, Expr, Place, Slot, Span, Target, Type, Value, Variable};

/// The expression for how many values there are.
const LENGTH: &str = "len";

/// The largest capacity: each step writes all places of a channel.
const MAX_CAPACITY: usize = 64;

/// A channel.
#[derive(Clone, Copy)]
pub(super) struct Channel {
    ty: Type,
    capacity: usize,
    /// The slot of the value that is received next.
    first: Slot,
    /// The slot of the number of values.
    count: Slot,
}

impl<'a> Lowering<'a, '_> {
    pub(super) fn declare_channel(&mut self, channel: &'a ast::Channel<'a>) {
        let name = channel.name;
        let names = self.names_of(&channel.ty);
        let capacity = self.capacity(&channel.capacity);
        let (Some(ty), Some(capacity)) = (self.type_of(&channel.ty), capacity) else { return };
        let initial = vec![Some(ty.default_value()); capacity];
        let first = self.program.shared_slots();
        let Some(values) = self.new_variable(name, ty, Some(capacity), initial, first) else { return };
        self.program.shared.push(Variable { names, ..values });
        let (slot, counts) = (self.program.shared_slots(), Type::Range(0, capacity as Value));
        let Some(count) = self.new_variable(name, counts, None, vec![Some(0)], slot) else { return };
        self.program.shared.push(Variable { name: format!("{LENGTH}({})", name.text), ..count });
        self.globals.settle(name, Meaning::Channel(self.channels.len()));
        self.channels.push(Channel { ty, capacity, first, count: slot });
    }

    fn capacity(&mut self, capacity: &'a ast::Expr<'a>) -> Option<usize> {
        let value = self.constant_number(capacity, "the capacity of a channel")?;
        let fits = usize::try_from(value).ok().filter(|capacity| (1..=MAX_CAPACITY).contains(capacity));
        if fits.is_none() {
            let message = format!("expected a capacity from 1 to {MAX_CAPACITY}, found {value}");
            self.error(capacity.span, message, None);
        }
        fits
    }

    /// Whether a call asks how many values a channel holds.
    pub(super) fn is_length(&self, name: ast::Name<'a>) -> bool {
        name.text == LENGTH && self.globals.get(name.text).is_none()
    }

    /// `len(c)`
    pub(super) fn length_of_channel(&mut self, arguments: &'a [ast::Expr<'a>], span: Span) -> Option<Typed> {
        let [channel] = arguments else {
            let help = "how many values a channel holds is written `len(c)`".to_string();
            return self.none(
                span,
                format!("expected 1 argument for `len`, found {}", arguments.len()),
                Some(help),
            );
        };
        let channel = self.channel(channel, "`len(c)`")?;
        if self.mode == super::Mode::Constant {
            return self.none(span, "expected a constant, found the length of a channel", None);
        }
        Some((Expr::Shared(channel.count), Sort::Number))
    }

    /// The channel that an argument names.
    fn channel(&mut self, argument: &'a ast::Expr<'a>, usage: &str) -> Option<Channel> {
        let ast::ExprKind::Name(name) = argument.kind else {
            return self.none(
                argument.span,
                "expected the name of a channel",
                Some(format!("write {usage}")),
            );
        };
        let meaning = match self.body.local(name.text) {
            Some(_) => Meaning::Shared(0),
            None if self.body.alias(name.text).is_some() => Meaning::Shared(0),
            None => self.global(name, "a channel")?,
        };
        let Meaning::Channel(number) = meaning else {
            self.misfit(name, "a channel", meaning, Some("a channel is declared by `chan c[4] of 0..9;`"));
            return None;
        };
        self.globals.touch(name.text);
        Some(self.channels[number])
    }

    /// `send(c, value)` or `try_send(c, value)`
    pub(super) fn send(
        &mut self,
        builtin: Builtin,
        channel: &'a ast::Expr<'a>,
        value: &'a ast::Expr<'a>,
    ) -> Option<Update> {
        let (span, usage) = (channel.span, builtin.usage());
        let channel = self.channel(channel, usage)?;
        let value = self.stored(value, channel.ty)?;
        let count = || Expr::Shared(channel.count);
        let ready = compare(Binary::Less, count(), channel.capacity as Value, span);
        let mut places = vec![channel.count_place(span)];
        let next = Expr::Binary(Binary::Plus, Box::new(count()), Box::new(Expr::Constant(1)), span);
        let mut values = vec![if_ready(&ready, next, 0)];
        for index in 0..channel.capacity {
            let slot = channel.first + index;
            let here = compare(Binary::Equal, count(), index as Value, span);
            let stored = Expr::If(Box::new(here), Box::new(value.clone()), Box::new(Expr::Shared(slot)));
            places.push(Place { target: Target::Shared(slot), ty: channel.ty, span });
            values.push(stored);
        }
        Some(Update { places, values, gives: gives(builtin, ready) })
    }

    /// `recv(c, x)` or `try_recv(c, x)`
    pub(super) fn receive(
        &mut self,
        builtin: Builtin,
        channel: &'a ast::Expr<'a>,
        variable: &'a ast::Expr<'a>,
    ) -> Option<Update> {
        let (span, usage) = (channel.span, builtin.usage());
        let channel = self.channel(channel, usage)?;
        let Some((name, mut place)) = self.argument_place(variable)? else {
            let help = Some(format!("write {usage}"));
            return self.none(variable.span, "expected a variable for what is received", help);
        };
        let (found, wanted) = (sort_of(channel.ty), sort_of(place.ty));
        if found != wanted {
            let message = format!(
                "expected {} for {}, found {}, which the channel has",
                wanted.words(),
                quote(name.text),
                found.words()
            );
            return self.none(variable.span, message, None);
        }
        let ready = compare(Binary::Greater, Expr::Shared(channel.count), 0, span);
        if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &mut place.target {
            *index = if_ready(&ready, index.clone(), 0);
        }
        let received = if_ready(&ready, Expr::Shared(channel.first), place.ty.default_value());
        let last = channel.first + channel.capacity - 1;
        let (mut places, mut values) = (vec![place], vec![received]);
        for slot in channel.first..=last {
            places.push(Place { target: Target::Shared(slot), ty: channel.ty, span });
            values.push(match slot == last {
                true => Expr::Constant(channel.ty.default_value()),
                false => Expr::Shared(slot + 1),
            });
        }
        let rest = Expr::Binary(
            Binary::Minus,
            Box::new(Expr::Shared(channel.count)),
            Box::new(Expr::Constant(1)),
            span,
        );
        places.push(channel.count_place(span));
        values.push(if_ready(&ready, rest, 0));
        Some(Update { places, values, gives: gives(builtin, ready) })
    }
}

impl Channel {
    fn count_place(self, span: Span) -> Place {
        let ty = Type::Range(0, self.capacity as Value);
        Place { target: Target::Shared(self.count), ty, span }
    }
}

fn gives(builtin: Builtin, ready: Expr) -> Gives {
    match builtin {
        Builtin::Send => Gives::Nothing(ready, "send"),
        Builtin::Receive => Gives::Nothing(ready, "recv"),
        _ => Gives::Success(ready),
    }
}

fn compare(operator: Binary, left: Expr, right: Value, span: Span) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(Expr::Constant(right)), span)
}

/// What a step stores that can be taken if a condition is true. It is evaluated before the condition is, so where that is false
/// it must not go wrong.
fn if_ready(ready: &Expr, value: Expr, otherwise: Value) -> Expr {
    Expr::If(Box::new(ready.clone()), Box::new(value), Box::new(Expr::Constant(otherwise)))
}
