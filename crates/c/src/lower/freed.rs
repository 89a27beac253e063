//! Memory that is not freed.
//!
//! *Not freed* (`valid-memcleanup`): when `main` returns, or `exit` is called, no object from the heap is there. A process that is aborted
//! while one is there is not followed.
//!
//! *Lost* (`valid-memtrack`): when `main` returns and all threads have ended, an object from the heap is there, and no shared slot
//! holds an address in it. Variables of functions are gone by then, so that nobody can free it any more. Memory may also be lost
//! earlier, and in a process that goes on for ever; so this finds some of the violations, and proves nothing.
//!
//! Which objects there are is known when all threads are lowered; until then, the ends of the process are noted.

use super::expressions::not;
use super::layout::beyond;
use super::places::{address_of, binary};
use super::{Lowering, Model, ObjectId};
use crate::typed::{Int, Type};
use allways_model::program::{Binary as Operator, LocationId, Op, Slot, Span};

/// More comparisons than this, and lost memory is not looked for.
const MOST_COMPARISONS: usize = 4096;

/// How a process ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// `main` returns.
    Returns,
    /// `exit` is called.
    Exits,
    /// It is aborted.
    Aborts,
}

/// An end of the process: a step from one location to another looks whether memory is freed.
pub(super) struct End {
    from: LocationId,
    to: LocationId,
    how: How,
    span: Span,
}

fn all(parts: Vec<Model>, operator: Operator, none: Model) -> Model {
    let mut parts = parts;
    while parts.len() > 1 {
        let mut joined = Vec::with_capacity(parts.len().div_ceil(2));
        let mut rest = parts.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => binary(operator, left, right),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop().unwrap_or(none)
}

impl Lowering<'_> {
    /// The process is about to end here.
    pub(super) fn look_for_memory(&mut self, how: How, span: Span) {
        let asked = self.property.cleanup || self.property.leaks && how == How::Returns;
        if asked {
            let (from, to) = (self.here, self.location(span));
            self.locations[from].span = span;
            self.reached[to.index()] = true;
            self.ends.push(End { from, to, how, span });
            self.here = to;
        }
    }

    /// Makes the steps at the ends of the process, now that all memory is known.
    pub(super) fn look_at_ends(&mut self) {
        let objects = self.given_out();
        let there = |&(header, _): &(Slot, usize)| {
            binary(Operator::Unequal, Model::Shared(header), Model::Constant(0))
        };
        let some = all(objects.iter().map(there).collect(), Operator::Or, Model::Constant(0));
        for End { from, to, how, span } in std::mem::take(&mut self.ends) {
            let op = match how {
                _ if objects.is_empty() => Op::Skip,
                How::Aborts => {
                    let unless =
                        Model::If(Box::new(some.clone()), Box::new(beyond()), Box::new(Model::Constant(1)));
                    Op::Guard(unless, true)
                }
                _ if self.property.cleanup => Op::Assert(not(some.clone())),
                _ => self.lost(&objects).map_or(Op::Skip, |lost| Op::Assert(not(lost))),
            };
            self.edge(from, op, to, span);
        }
    }

    /// The objects from the heap: the slot before each, and how many it has.
    fn given_out(&self) -> Vec<(Slot, usize)> {
        let mut found = Vec::new();
        for (number, object) in self.objects.iter().enumerate() {
            let id = ObjectId(number);
            // What the environment gives is not the program's to free.
            let is_other = self.automatic.contains(&id) || self.given.contains(&id);
            if let (Some(stride), false) = (object.stride, is_other) {
                found.extend(
                    (0..object.parts.len() / stride).map(|part| (id.slot(part * stride), stride - 1)),
                );
            }
        }
        found
    }

    /// Whether memory is lost when `main` returns: nothing if that cannot be said.
    fn lost(&self, objects: &[(Slot, usize)]) -> Option<Model> {
        let threads = self.objects[self.ended.0].parts.len();
        // Of threads without numbers it is not known whether they have ended.
        if self.templates.len() != threads + 1 {
            return None;
        }
        let word = Type::Int(Int { bits: 64, signed: false });
        let mut pointers = Vec::new();
        for (number, object) in self.objects.iter().enumerate() {
            for (part, one) in object.parts.iter().enumerate() {
                let is_header = object.stride.is_some_and(|stride| part % stride == 0);
                let may_point = match one.scalar.plain() {
                    Type::Pointer(_) => true,
                    Type::Int(int) => int.bits == 64 || *one.scalar.plain() == word,
                    Type::Void => true,
                    _ => false,
                };
                if may_point && !is_header {
                    pointers.push(ObjectId(number).slot(part));
                }
            }
        }
        if objects.len() * pointers.len() > MOST_COMPARISONS {
            return None;
        }
        let ended = (0..threads).map(|thread| {
            binary(Operator::Equal, Model::Shared(self.ended.slot(thread)), Model::Constant(1))
        });
        let ended = all(ended.collect(), Operator::And, Model::Constant(1));
        let lost = objects.iter().map(|&(header, size)| {
            let outside = pointers.iter().map(|&pointer| {
                let pointer = Model::Shared(pointer);
                let below = binary(Operator::Less, pointer.clone(), address_of(header));
                let end = super::places::plus(address_of(header), size as i64 + 1);
                binary(Operator::Or, below, binary(Operator::Greater, pointer, end))
            });
            let there = binary(Operator::Unequal, Model::Shared(header), Model::Constant(0));
            binary(Operator::And, there, all(outside.collect(), Operator::And, Model::Constant(1)))
        });
        Some(binary(Operator::And, ended, all(lost.collect(), Operator::Or, Model::Constant(0))))
    }
}
