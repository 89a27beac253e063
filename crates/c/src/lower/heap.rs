//! Memory from `malloc`: each call, as it is inlined, has a pool of objects, which are given out one after the other. One that
//! is made once at most has an object of its own.
//!
//! What type the objects have is what a call is converted to, or the call of the function that it is inlined into, and so on;
//! or else a type of the right size that something is converted to which may point there. If that is another type than what
//! is accessed later, the access is not followed ([`super::layout`]).
//!
//! When the pool of a call is used up, the run is not followed any further, so that "safe" cannot come out. Before each object
//! lies a slot that says whether it has been given out and not been freed: to free anything else is a violation. What was
//! freed is not given out again; accesses to it are not noticed.

use super::expressions::int;
use super::places::{Target, address_of, binary};
use super::{Access, Lowering, Model, ObjectId, Part, Result, refuse};
use crate::pointers::{Class, Pointers, Site};
use crate::slots;
use crate::typed::{Expr, ExprKind, Int, Type, Unit};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Slot, Span, Value};
use std::collections::HashMap;

/// How many objects a call gives out to one thread.
const POOL: usize = 8;

/// How the names of objects from the heap start; the line follows.
pub const HEAP: &str = "#malloc@";

/// What the slot before an object holds while the object is there.
const THERE: Value = 1 << 52;

/// How many elements an object has if it is not known how many are asked for.
const ELEMENTS: i128 = 16;

/// The objects of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    object: ObjectId,
    size: usize,
    /// How many have been given out.
    next: Slot,
    /// The most bytes that fit, if it is not known how many are asked for.
    most: Option<Value>,
}

impl Lowering<'_> {
    /// `malloc` or `calloc`, whose result is used as a pointer to this type: the address.
    pub(super) fn allocate(
        &mut self,
        call: &Expr,
        bytes: &Expr,
        times: Option<&Expr>,
        zero: bool,
    ) -> Result<Model> {
        let span = call.span;
        if self.body.many {
            return refuse(span, "memory is allocated by any number of threads");
        }
        let once = !self.in_loop(span) && !self.body.is_procedure;
        let pool = self.pool(call, bytes, times, zero, if once { 1 } else { POOL }, span)?;
        let mut enough = Model::Constant(1);
        if let Some(most) = pool.most {
            let mut asked = self.value(bytes)?;
            if let Some(times) = times {
                let kept = self.kept(asked, span)?;
                let times = self.value(times)?;
                asked = binary(Operator::Times, kept, times);
            }
            let asked = self.kept(asked, span)?;
            enough = binary(Operator::LessEqual, asked, Model::Constant(most));
        }
        let next = Model::Shared(pool.next);
        let within = match (once, enough) {
            (true, enough) => enough,
            (false, enough) => {
                let within = binary(Operator::Less, next.clone(), Model::Constant(POOL as Value));
                binary(Operator::And, enough, within)
            }
        };
        if within != Model::Constant(1) {
            let here = self.here;
            let (fits, over) = (self.location(span), self.location(span));
            self.edge(here, Op::Guard(within.clone(), true), fits, span);
            self.edge(here, Op::Guard(within, false), over, span);
            self.edge(over, Op::Beyond, over, span);
            self.here = fits;
        }
        if once {
            self.store(&Target::Shared(pool.object.slot(0)), Model::Constant(THERE), span)?;
            return Ok(address_of(pool.object.slot(1)));
        }
        // The next one: the count goes up, and the address follows from it.
        let slot = self.temporary(span);
        let more = binary(Operator::Plus, next.clone(), Model::Constant(1));
        let stride = pool.size + 1;
        let offset = binary(Operator::Times, next.clone(), Model::Constant(stride as Value));
        let address = binary(Operator::Plus, address_of(pool.object.slot(1)), offset.clone());
        let header = Target::SharedElement(pool.object.slot(0), POOL * stride, offset);
        let stores = vec![
            (Target::Local(slot), address),
            (Target::Shared(pool.next), more),
            (header, Model::Constant(THERE)),
        ];
        self.store_at_once(stores, None, span)?;
        Ok(Model::Local(slot))
    }

    /// `free`.
    pub(super) fn free(&mut self, pointer: &Expr, span: Span) -> Result<()> {
        let address = self.value(pointer)?;
        let address = self.kept(address, span)?;
        let class = self.pointers.target(pointer);
        self.free_at(address, class, span)
    }

    /// `free` of an address in a class.
    pub(super) fn free_at(&mut self, address: Model, class: Class, span: Span) -> Result<()> {
        self.accesses.push(Access { class, ty: Type::Void, span });
        let before = super::places::plus(address.clone(), -1);
        let header = Target::Region(self.accesses.len() - 1, before);
        let (some, after) = (self.location(span), self.location(span));
        let here = self.here;
        let null = binary(Operator::Equal, address, Model::Constant(0));
        self.edge(here, Op::Guard(null.clone(), true), after, span);
        self.edge(here, Op::Guard(null, false), some, span);
        self.here = some;
        let there = binary(Operator::Equal, self.load(&header, span), Model::Constant(THERE));
        if self.property.memory {
            self.emit(Op::Assert(there), span)?;
        } else {
            let (here, fine, over) = (self.here, self.location(span), self.location(span));
            self.edge(here, Op::Guard(there.clone(), true), fine, span);
            self.edge(here, Op::Guard(there, false), over, span);
            self.edge(over, Op::Beyond, over, span);
            self.here = fine;
        }
        self.frees.insert(self.here, class);
        self.store(&header, Model::Constant(0), span)?;
        self.jump(after, span);
        self.here = after;
        Ok(())
    }

    /// What the memory that a call allocates is used as.
    fn allocated_type(&mut self, call: &Expr, class: Class, asked: Option<i128>) -> Type {
        if let Some(ty) = self.allocated.get(&std::ptr::from_ref(call)) {
            return ty.clone();
        }
        let unit = self.unit;
        let size = |ty: &Type| slots::bytes(unit, ty).map(i128::from).filter(|&size| size > 0);
        let fits = |ty: &&Type| asked.zip(size(ty)).is_none_or(|(asked, size)| asked % size == 0);
        let outer = self.body.calls.iter().rev().find_map(|inlined| inlined.allocates.as_ref());
        if let Some(ty) = outer.filter(fits) {
            return ty.clone();
        }
        let class = self.pointers.find_class(class);
        let mut seen: Vec<Type> = Vec::new();
        for (pointer, ty) in self.converted.clone().iter() {
            if self.pointers.find_class(*pointer) == class {
                seen.push(ty.clone());
            }
        }
        // What nobody looks at as something may be bytes.
        let byte = Type::Int(Int { bits: 8, signed: true });
        seen.iter().filter(fits).max_by_key(|ty| size(ty)).cloned().unwrap_or(byte)
    }

    fn pool(
        &mut self,
        call: &Expr,
        bytes: &Expr,
        times: Option<&Expr>,
        zero: bool,
        objects: usize,
        span: Span,
    ) -> Result<Pool> {
        let class = self.pointers.class_of_site(call);
        let count = times.map_or(Some(1), |times| self.constant_value(times));
        let asked = count.zip(self.constant_value(bytes)).map(|(count, size)| count * size);
        let mut ty = self.allocated_type(call, class, asked);
        while let Type::Array(element, _) = ty {
            ty = *element;
        }
        let element = i128::from(slots::bytes(self.unit, &ty).unwrap_or(0));
        let total = asked.unwrap_or(ELEMENTS * element);
        let most = if asked.is_none() { Value::try_from(total).ok() } else { None };
        let fits = |size: &usize| *size > 0 && *size * objects <= slots::MOST_SLOTS;
        let Some(size) = self.slots_in(&ty, total).filter(fits) else {
            return refuse(span, "memory is allocated whose size is not one of whole objects, or too large");
        };
        let leaves = slots::leaves(self.unit, &ty);
        let part = |slot: usize| {
            let (object, slot) = (slot / (size + 1), slot % (size + 1));
            let Some(slot) = slot.checked_sub(1) else {
                let (path, ty) =
                    (format!("[{object}]#"), slots::values(&Type::Pointer(Box::new(Type::Void))));
                let (scalar, kind) = (Type::Void, slots::Kind::Library);
                return Part { path, ty, scalar, kind, joined: false, initial: Some(Model::Constant(0)) };
            };
            let (element, leaf) = (slot / leaves.len(), &leaves[slot % leaves.len()]);
            let element = if size == leaves.len() { String::new() } else { format!("[{element}]") };
            Part {
                path: format!(
                    "{}{element}{}",
                    if objects == 1 { String::new() } else { format!("[{object}]") },
                    leaf.path
                ),
                ty: slots::values(&leaf.ty),
                scalar: leaf.ty.clone(),
                kind: leaf.kind,
                joined: leaf.joined,
                initial: zero.then_some(Model::Constant(0)),
            }
        };
        let parts = (0..objects * (size + 1)).map(part);
        self.pools += 1;
        let mut name = format!("{HEAP}{}", span.line);
        let calls =
            self.objects.iter().filter(|object| object.name.split('\'').next() == Some(&name)).count();
        if calls > 0 {
            name = format!("{name}'{}", calls + 1);
        }
        let parts = parts.collect();
        self.objects.push(super::Object { name, parts, class: Some(class), stride: Some(size + 1), span });
        let object = ObjectId(self.objects.len() - 1);
        let next = self.hidden(&format!("#allocated{}", self.pools));
        let next = self.part(next, int(), 0);
        Ok(Pool { object, size, next, most })
    }
}

/// The types that what calls return is converted to.
pub(super) fn allocations(unit: &Unit) -> HashMap<Site, Type> {
    let mut found = HashMap::new();
    let mut see = |expr: &Expr| {
        if let (Type::Pointer(ty), ExprKind::Cast(part)) = (expr.ty.plain(), &expr.kind)
            && **ty != Type::Void
            && let inner = walk::through_casts(part)
            && matches!(inner.kind, ExprKind::Call(..))
        {
            found.entry(std::ptr::from_ref(inner)).or_insert((**ty).clone());
        }
    };
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut see);
    }
    found
}

/// The classes that pointers to anything point to which are converted, and the types that these are converted to.
pub(super) fn conversions(unit: &Unit, pointers: &mut Pointers) -> Vec<(Class, Type)> {
    let mut found: Vec<(Class, Type)> = Vec::new();
    let mut see = |expr: &Expr| {
        if let (Type::Pointer(ty), ExprKind::Cast(part)) = (expr.ty.plain(), &expr.kind)
            && let Type::Pointer(from) = part.ty.plain()
            && **from == Type::Void
            && **ty != Type::Void
        {
            let new = (pointers.target(part), (**ty).clone());
            if !found.contains(&new) {
                found.push(new);
            }
        }
    };
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut see);
    }
    found
}
