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
use crate::library::{Flow, flow, is_of_the_function};
use crate::pointers::{Class, Pointers, Site};
use crate::slots;
use crate::typed::{Expr, ExprKind, FunctionId, Initial, Int, Stmt, StmtKind, Type, Unit, VariableId};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Slot, Span, Value};
use std::collections::{HashMap, HashSet};

/// How many objects a call gives out to one thread.
const POOL: usize = 8;

/// How many, if an object has more slots than [`LARGE`].
const FEW: usize = 2;

/// See [`FEW`].
const LARGE: usize = 128;

/// How the names of objects from the heap start; the line follows.
pub const HEAP: &str = "#malloc@";

/// What the slot before an object holds while the object is there; and, of one that may have more room than was asked for, as much more as
/// it has slots that were asked for.
pub(super) const THERE: Value = 1 << 52;

/// More than an object has slots.
const ROOM: Value = 2 * slots::MOST_SLOTS as Value;

/// How many elements an object has if it is not known how many are asked for.
const ELEMENTS: i128 = 16;

/// The objects of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    object: ObjectId,
    /// How many objects there are, and how many slots each has.
    objects: usize,
    size: usize,
    /// How many have been given out.
    next: Slot,
    /// If it is not known how many bytes are asked for.
    asked: Option<Asked>,
}

/// How much room there is in an object if it is not known how many bytes are asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    /// The most bytes that fit.
    most: Value,
    /// The bytes and the slots of an element.
    element: (Value, Value),
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
        self.lowered.allocates.get_or_insert(span);
        if self.body.many {
            return refuse(span, "memory is allocated by any number of threads");
        }
        if self.outlived_memory.contains(&std::ptr::from_ref(call)) {
            return refuse(
                span,
                "an address in memory of a function may be kept when the function has returned",
            );
        }
        let once = !self.in_loop(span) && !self.body.is_procedure;
        let pool = self.pool(call, bytes, times, zero, once, span)?;
        if let ExprKind::Call(callee, _) = &call.kind
            && let ExprKind::Function(called) = walk::through_casts(callee).kind
            && is_of_the_function(&self.unit.functions[called.0].name)
        {
            self.automatic.insert(pool.object);
        }
        let mut enough = Model::Constant(1);
        let mut there = Model::Constant(THERE);
        if let Some(Asked { most, element: (size, count) }) = pool.asked {
            self.sized.insert(pool.object);
            let mut asked = self.value(bytes)?;
            if let Some(times) = times {
                let kept = self.kept(asked, span)?;
                let times = self.value(times)?;
                asked = binary(Operator::Times, kept, times);
            }
            let asked = self.kept(asked, span)?;
            enough = binary(Operator::LessEqual, asked.clone(), Model::Constant(most));
            let mut elements = asked.clone();
            if size > 1 {
                // What is asked for beside whole elements would be a part of one.
                let rest = binary(Operator::Remainder, asked.clone(), Model::Constant(size));
                let whole = binary(Operator::Equal, rest, Model::Constant(0));
                enough = binary(Operator::And, enough, whole);
                elements = binary(Operator::Divide, asked, Model::Constant(size));
            }
            if count > 1 {
                elements = binary(Operator::Times, elements, Model::Constant(count));
            }
            there = binary(Operator::Plus, elements, there);
        }
        let next = Model::Shared(pool.next);
        let within = match (once, enough) {
            (true, enough) => enough,
            (false, enough) => {
                let within = binary(Operator::Less, next.clone(), Model::Constant(pool.objects as Value));
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
            self.store(&Target::Shared(pool.object.slot(0)), there, span)?;
            return Ok(address_of(pool.object.slot(1)));
        }
        // The next one: the count goes up, and the address follows from it.
        let slot = self.temporary(span);
        let more = binary(Operator::Plus, next.clone(), Model::Constant(1));
        let stride = pool.size + 1;
        let offset = binary(Operator::Times, next.clone(), Model::Constant(stride as Value));
        let address = binary(Operator::Plus, address_of(pool.object.slot(1)), offset.clone());
        let header = Target::SharedElement(pool.object.slot(0), pool.objects * stride, offset);
        let stores = vec![(Target::Local(slot), address), (Target::Shared(pool.next), more), (header, there)];
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
        self.accesses.push(Access { class, ty: Type::Void, whole: None, span });
        let before = super::places::plus(address.clone(), -1);
        let header = Target::Region(self.accesses.len() - 1, before);
        let (some, after) = (self.location(span), self.location(span));
        let here = self.here;
        let null = binary(Operator::Equal, address, Model::Constant(0));
        self.edge(here, Op::Guard(null.clone(), true), after, span);
        self.edge(here, Op::Guard(null, false), some, span);
        self.here = some;
        let there = match self.asks_for_any_size() {
            false => binary(Operator::Equal, self.load(&header, span), Model::Constant(THERE)),
            true => {
                let room = binary(Operator::Divide, self.load(&header, span), Model::Constant(ROOM));
                binary(Operator::Equal, room, Model::Constant(THERE / ROOM))
            }
        };
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

    /// Whether memory is allocated anywhere of which it may not be known how large it is.
    fn asks_for_any_size(&self) -> bool {
        let mut found = false;
        for function in &self.unit.functions {
            walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
                if let ExprKind::Call(callee, arguments) = &expr.kind
                    && let ExprKind::Function(called) = walk::through_casts(callee).kind
                    && flow(&self.unit.functions[called.0].name) == Flow::Allocates
                {
                    found |= !arguments
                        .iter()
                        .all(|argument| matches!(walk::through_casts(argument).kind, ExprKind::Int(_)));
                }
            });
        }
        found
    }

    /// What the memory that a call allocates is used as.
    fn allocated_type(&mut self, call: &Expr, class: Class, asked: Option<i128>) -> Type {
        if let Some(ty) = self.allocated.get(&std::ptr::from_ref(call)) {
            return ty.clone();
        }
        let unit = self.unit;
        let size = |ty: &Type| slots::bytes(unit, ty).map(i128::from).filter(|&size| size > 0);
        let fits = |ty: &&Type| asked.zip(size(ty)).is_none_or(|(asked, size)| asked % size == 0);
        let has_room = |ty: &&Type| asked.zip(size(ty)).is_none_or(|(asked, size)| size <= asked);
        let outer = self.body.calls.iter().rev().find_map(|inlined| inlined.allocates.as_ref());
        if let Some(ty) = outer.filter(has_room) {
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
        once: bool,
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
        let objects_of = |size: usize| match once {
            true => 1,
            false if size > LARGE => FEW,
            false => POOL,
        };
        let fits = |size: &usize| *size > 0 && *size * objects_of(*size) <= slots::MOST_SLOTS;
        let mut whole = if element > 0 { total / element * element } else { 0 };
        let second = if whole == total { None } else { self.second(&ty, class, total - element) };
        if second.is_some() {
            whole = element;
        }
        let Some(size) = self.slots_in(&ty, whole).filter(fits) else {
            return refuse(span, "memory is allocated whose size is not one of whole objects, or too large");
        };
        let leaves = slots::leaves(self.unit, &ty);
        let most = Value::try_from(total).ok().zip(Value::try_from(element).ok());
        let most = most.filter(|_| asked.is_none());
        let asked = most.map(|(most, element)| Asked { most, element: (element, leaves.len() as Value) });
        let rest = if whole == total { Vec::new() } else { self.rest(&ty, second) };
        let (elements, size) = (size, size + rest.len());
        let objects = objects_of(size);
        let part = |slot: usize| {
            let (object, slot) = (slot / (size + 1), slot % (size + 1));
            let Some(slot) = slot.checked_sub(1) else {
                let (path, ty) =
                    (format!("[{object}]#"), slots::values(&Type::Pointer(Box::new(Type::Void))));
                let (scalar, kind) = (Type::Void, slots::Kind::Library);
                return Part { path, ty, scalar, kind, joined: false, initial: Some(Model::Constant(0)) };
            };
            let (element, leaf) = match slot.checked_sub(elements) {
                None => (slot / leaves.len(), &leaves[slot % leaves.len()]),
                Some(slot) => (elements / leaves.len(), &rest[slot]),
            };
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
        Ok(Pool { object, objects, size, next, asked })
    }

    /// Of memory that is not one of whole objects of a type: what may lie after the first of them, in so many bytes. It is the
    /// largest type that memory of this class is converted to and that nobody allocates alone, or as a part of another.
    fn second(&mut self, ty: &Type, class: Class, bytes: i128) -> Option<Type> {
        let unit = self.unit;
        let class = self.pointers.find_class(class);
        let mut second: Option<(i128, Type)> = None;
        for (pointer, other) in self.converted.clone().iter() {
            let size = slots::bytes(unit, other).map_or(0, i128::from);
            let better = second.as_ref().is_none_or(|(most, _)| size > *most);
            if self.pointers.find_class(*pointer) == class
                && matches!(other.plain(), Type::Record(_))
                && !has_part(unit, ty, other)
                && !self.own.iter().any(|own| has_part(unit, own, other))
                && size <= bytes
                && better
                && slots::count(unit, other).is_some()
            {
                second = Some((size, other.clone()));
            }
        }
        second.map(|(_, second)| second)
    }

    /// What lies after whole objects of a type: perhaps one of a second type; then bytes that are not followed.
    fn rest(&self, ty: &Type, second: Option<Type>) -> Vec<slots::Leaf> {
        let unit = self.unit;
        let mut leaves: Vec<slots::Leaf> = Vec::new();
        if let Some(second) = second {
            leaves.extend(slots::leaves(unit, &second));
        }
        // Where this is a violation to access what is past the end, as much is there as a pointer may reach into.
        let reach = if self.property.memory { slots::count(unit, ty).unwrap_or(1) } else { 1 };
        let other = |number| slots::Leaf {
            path: format!("#{number}"),
            ty: Type::Void,
            kind: slots::Kind::Library,
            joined: false,
        };
        leaves.extend((0..reach).map(other));
        leaves
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
    for function in &unit.functions {
        kept_first(function.body.as_deref().unwrap_or_default(), &mut found);
    }
    found
}

/// The same for calls whose result is kept in a variable first, if that is converted to one type only: `t = malloc(n); p = (T *)t;`.
fn kept_first(body: &[Stmt], found: &mut HashMap<Site, Type>) {
    let mut calls: Vec<(VariableId, Site)> = Vec::new();
    let mut types: HashMap<VariableId, Option<Type>> = HashMap::new();
    walk::statements(body, &mut |expr| match &expr.kind {
        ExprKind::Assign(to, value) => {
            let value = walk::through_casts(value);
            if let (ExprKind::Variable(variable), ExprKind::Call(..)) = (&to.kind, &value.kind) {
                calls.push((*variable, value));
            }
        }
        ExprKind::Cast(part) => {
            if let (Type::Pointer(ty), ExprKind::Load(place)) = (expr.ty.plain(), &part.kind)
                && let ExprKind::Variable(variable) = place.kind
                && **ty != Type::Void
            {
                let one = types.entry(variable).or_insert(Some((**ty).clone()));
                if one.as_ref() != Some(&**ty) {
                    *one = None;
                }
            }
        }
        _ => {}
    });
    walk::each_statement(body, &mut |stmt| {
        if let StmtKind::Declare(variable, Some(initial)) = &stmt.kind
            && let [Initial { path, value }] = &initial[..]
            && path.is_empty()
            && let value = walk::through_casts(value)
            && matches!(value.kind, ExprKind::Call(..))
        {
            calls.push((*variable, value));
        }
    });
    for (variable, site) in calls {
        if let Some(Some(ty)) = types.get(&variable) {
            found.entry(site).or_insert(ty.clone());
        }
    }
}

/// Whether a type is another, or has it as a part.
fn has_part(unit: &Unit, whole: &Type, part: &Type) -> bool {
    whole == part
        || match whole.plain() {
            Type::Array(element, _) => has_part(unit, element, part),
            Type::Record(record) => {
                unit.records[record.0].fields.iter().any(|field| has_part(unit, &field.ty, part))
            }
            _ => false,
        }
}

/// The types that memory is allocated for.
pub(super) fn own_types(unit: &Unit, allocated: &HashMap<Site, Type>) -> HashSet<Type> {
    let calls = |body: &Option<Vec<Stmt>>, to: &dyn Fn(FunctionId) -> bool| {
        let mut found = false;
        walk::statements(body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Call(callee, _) = &expr.kind
                && let ExprKind::Function(function) = callee.kind
            {
                found |= to(function);
            }
        });
        found
    };
    let mut allocates: Vec<bool> =
        unit.functions.iter().map(|one| one.body.is_none() && flow(&one.name) == Flow::Allocates).collect();
    loop {
        let more: Vec<usize> = (0..allocates.len())
            .filter(|&one| !allocates[one] && calls(&unit.functions[one].body, &|called| allocates[called.0]))
            .collect();
        if more.is_empty() {
            break;
        }
        more.into_iter().for_each(|function| allocates[function] = true);
    }
    let mut own = HashSet::new();
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Call(callee, _) = &expr.kind
                && matches!(callee.kind, ExprKind::Function(function) if allocates[function.0])
            {
                own.extend(allocated.get(&std::ptr::from_ref(expr)).cloned());
            }
        });
    }
    own
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
