//! Keys of thread-specific data: `pthread_key_create` and what goes with it.
//!
//! Every call that creates a key has one key, whose number is its place among these calls, from 1 on; a call that is reached
//! again is not followed. A thread has a local slot for each key. When it ends, the destructors of keys whose slot is not null
//! are called, in the order of the keys as glibc does it; if one of them leaves something behind, so that there would be
//! another round, the run is not followed any further. Keys that do not exist are not followed.

use super::body::Address;
use super::places::{Target, binary};
use super::{Lowering, Model, ObjectId, Result, refuse};
use crate::typed::{Expr, ExprKind, FunctionId, Unit};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Slot, Span, Value};

/// A key.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// The call that creates it, by its place in the text.
    created: u32,
    /// What is called with the value of a thread that ends.
    destructor: Option<FunctionId>,
}

/// What a shared slot says of a key: 0 if it was never created.
const EXISTS: Value = 1;
const DELETED: Value = 2;

/// The keys of a program.
pub(super) fn find(unit: &Unit) -> Vec<Key> {
    let mut keys = Vec::new();
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Call(callee, arguments) = &expr.kind
                && let ExprKind::Function(called) = callee.kind
                && matches!(&*unit.functions[called.0].name, "pthread_key_create" | "tss_create")
            {
                let destructor = arguments.get(1).and_then(constant_function);
                keys.push(Key { created: expr.span.start, destructor });
            }
        });
    }
    keys
}

fn constant_function(expr: &Expr) -> Option<FunctionId> {
    match &walk::through_casts(expr).kind {
        ExprKind::Function(function) => Some(*function),
        ExprKind::AddressOf(place) | ExprKind::Load(place) => match place.kind {
            ExprKind::Function(function) => Some(function),
            _ => None,
        },
        _ => None,
    }
}

impl Lowering<'_> {
    /// The shared slots that say which keys exist.
    fn key_states(&mut self) -> ObjectId {
        if let Some(states) = self.key_states {
            return states;
        }
        let states = self.hidden("#keys");
        for _ in 0..self.keys.len() {
            self.part(states, super::expressions::int(), 0);
        }
        self.key_states = Some(states);
        states
    }

    /// The local slots of this thread's values.
    fn specific(&mut self, span: Span) -> Result<Slot> {
        if self.body.is_procedure {
            return refuse(span, "thread-specific data in a recursive function is not followed");
        }
        if let Some(first) = self.body.specific {
            return Ok(first);
        }
        let first = self.block(self.keys.len(), span);
        self.body.specific = Some(first);
        Ok(first)
    }

    /// `pthread_key_create(to, destructor)`.
    pub(super) fn create_key(&mut self, to: &Expr, destructor: &Expr, span: Span) -> Result<Vec<Model>> {
        let Some(number) = self.keys.iter().position(|key| key.created == span.start) else {
            return refuse(span, "a key is created in a way that is not followed");
        };
        let none = matches!(walk::through_casts(destructor).kind, ExprKind::Int(0));
        if !none && self.keys[number].destructor.is_none() {
            return refuse(span, "the destructor of a key is computed, which is not followed");
        }
        let state = Target::Shared(self.key_states().slot(number));
        let new = binary(Operator::Equal, self.load(&state, span), Model::Constant(0));
        self.beyond_unless(new, span);
        self.store(&state, Model::Constant(EXISTS), span)?;
        let to = self.target_of(to)?;
        self.store(&to, Model::Constant(number as Value + 1), span)?;
        Ok(vec![Model::Constant(0)])
    }

    /// `pthread_key_delete(key)`.
    pub(super) fn delete_key(&mut self, key: &Expr, span: Span) -> Result<Vec<Model>> {
        let index = self.key(key, span)?;
        let state = Target::SharedElement(self.key_states().slot(0), self.keys.len(), index);
        self.store(&state, Model::Constant(DELETED), span)?;
        Ok(vec![Model::Constant(0)])
    }

    /// `pthread_setspecific(key, value)`.
    pub(super) fn set_specific(&mut self, key: &Expr, value: &Expr, span: Span) -> Result<Vec<Model>> {
        let index = self.key(key, span)?;
        let value = self.value(value)?;
        let place = Target::LocalElement(self.specific(span)?, self.keys.len(), index);
        self.store(&place, value, span)?;
        Ok(vec![Model::Constant(0)])
    }

    /// `pthread_getspecific(key)`.
    pub(super) fn get_specific(&mut self, key: &Expr, span: Span) -> Result<Vec<Model>> {
        let index = self.key(key, span)?;
        let place = Target::LocalElement(self.specific(span)?, self.keys.len(), index);
        let value = self.load(&place, span);
        Ok(vec![self.kept(value, span)?])
    }

    /// The index of a key that exists.
    fn key(&mut self, key: &Expr, span: Span) -> Result<Model> {
        if self.keys.is_empty() {
            return refuse(span, "thread-specific data without a key is not followed");
        }
        let key = self.value(key)?;
        let key = self.kept(key, span)?;
        let count = Model::Constant(self.keys.len() as Value);
        let within = binary(
            Operator::And,
            binary(Operator::LessEqual, Model::Constant(1), key.clone()),
            binary(Operator::LessEqual, key.clone(), count),
        );
        self.beyond_unless(within, span);
        let index = binary(Operator::Minus, key, Model::Constant(1));
        let index = self.kept(index, span)?;
        let state = Target::SharedElement(self.key_states().slot(0), self.keys.len(), index.clone());
        let exists = binary(Operator::Equal, self.load(&state, span), Model::Constant(EXISTS));
        self.beyond_unless(exists, span);
        Ok(index)
    }

    /// Calls the destructors of a thread that ends.
    pub(super) fn run_destructors(&mut self, span: Span) -> Result<()> {
        if self.keys.iter().all(|key| key.destructor.is_none()) {
            return Ok(());
        }
        let first = self.specific(span)?;
        let states = self.key_states();
        for (number, key) in self.keys.clone().into_iter().enumerate() {
            let Some(destructor) = key.destructor else { continue };
            let (slot, state) = (Target::Local(first + number), Target::Shared(states.slot(number)));
            let some = binary(Operator::Unequal, self.load(&slot, span), Model::Constant(0));
            let exists = binary(Operator::Equal, self.load(&state, span), Model::Constant(EXISTS));
            let (call, after) = (self.location(span), self.location(span));
            let due = binary(Operator::And, some, exists);
            let here = self.here;
            self.edge(here, Op::Guard(due.clone(), true), call, span);
            self.edge(here, Op::Guard(due, false), after, span);
            self.here = call;
            let value = self.block(1, span);
            let stores = vec![(Target::Local(value), self.load(&slot, span)), (slot, Model::Constant(0))];
            self.store_at_once(stores, None, span)?;
            let destroyed = &self.unit.functions[destructor.0];
            if destroyed.body.is_none() && destroyed.name == "free" {
                let class = self.pointers.target_of_keys();
                self.free_at(Model::Local(value), class, span)?;
            } else {
                self.call_with(destructor, Address::Value(Model::Local(value)), span)?;
            }
            self.jump(after, span);
            self.here = after;
        }
        for (number, _) in self.keys.clone().iter().enumerate().filter(|(_, key)| key.destructor.is_some()) {
            let null = binary(Operator::Equal, Model::Local(first + number), Model::Constant(0));
            let state = self.load(&Target::Shared(states.slot(number)), span);
            let gone = binary(Operator::Unequal, state, Model::Constant(EXISTS));
            self.beyond_unless(binary(Operator::Or, null, gone), span);
        }
        Ok(())
    }

    /// Goes on where a condition holds; elsewhere the run is not followed any further.
    pub(super) fn beyond_unless(&mut self, condition: Model, span: Span) {
        let (yes, no) = (self.location(span), self.location(span));
        let here = self.here;
        self.edge(here, Op::Guard(condition.clone(), true), yes, span);
        self.edge(here, Op::Guard(condition, false), no, span);
        self.edge(no, Op::Beyond, no, span);
        self.here = yes;
    }
}
