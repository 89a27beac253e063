//! Places in which values are stored, and addresses.

use super::body::{Address, Home};
use super::expressions::chooses;
use super::{
    ADDRESSES, Access, INDETERMINATE, Lowering, Model, ObjectId, PART_BITS, Part, REGION, Result, refuse,
};
use crate::slots;
use crate::typed::{Expr, ExprKind, Storage, Type, VariableId};
use allways_model::program::expression::OPEN;
use allways_model::program::{Binary, Place, Slot, Span, Target as ModelTarget, Value};

/// The first slot of an object that an lvalue denotes.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Target {
    /// A slot of a shared object.
    Shared(Slot),
    /// A local slot.
    Local(Slot),
    /// An element of a shared object: its first slot, how many it has, which.
    SharedElement(Slot, usize, Model),
    /// An element of a local object.
    LocalElement(Slot, usize, Model),
    /// What an address points to: the number of the access, and the address.
    Region(usize, Model),
}

impl Target {
    /// So many slots further.
    fn plus(self, offset: usize) -> Target {
        match self {
            Target::Shared(slot) => Target::Shared(slot + offset),
            Target::Local(slot) => Target::Local(slot + offset),
            Target::SharedElement(slot, length, index) => {
                Target::SharedElement(slot, length, plus(index, offset as Value))
            }
            Target::LocalElement(slot, length, index) => {
                Target::LocalElement(slot, length, plus(index, offset as Value))
            }
            Target::Region(access, address) => Target::Region(access, plus(address, offset as Value)),
        }
    }

    /// The same place, as a slot where it is known which element it is. An address that is to move on through its array
    /// must not forget where the array starts.
    fn settled(self) -> Target {
        let within =
            |length: usize, index: Value| usize::try_from(index).ok().filter(|&index| index < length);
        match self {
            Target::SharedElement(slot, length, Model::Constant(index)) => match within(length, index) {
                Some(offset) => Target::Shared(slot + offset),
                None => Target::SharedElement(slot, length, Model::Constant(index)),
            },
            Target::LocalElement(slot, length, Model::Constant(index)) => match within(length, index) {
                Some(offset) => Target::Local(slot + offset),
                None => Target::LocalElement(slot, length, Model::Constant(index)),
            },
            target => target,
        }
    }

    /// Whether other threads may see it.
    pub fn is_shared(&self) -> bool {
        !matches!(self, Target::Local(_) | Target::LocalElement(..))
    }
}

/// An expression plus a constant.
pub(super) fn plus(expr: Model, offset: Value) -> Model {
    match expr {
        expr if offset == 0 => expr,
        Model::Constant(value) if value.checked_add(offset).is_some() => Model::Constant(value + offset),
        expr => binary(Binary::Plus, expr, Model::Constant(offset)),
    }
}

/// The sum of two expressions.
pub(super) fn sum(left: Model, right: Model) -> Model {
    match right {
        Model::Constant(offset) => plus(left, offset),
        right => binary(Binary::Plus, left, right),
    }
}

/// An operator between two expressions, at no place.
pub(super) fn binary(operator: Binary, left: Model, right: Model) -> Model {
    Model::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

impl Lowering<'_> {
    /// The object that an lvalue denotes.
    pub(super) fn place(&mut self, expr: &Expr) -> Result<Target> {
        match &expr.kind {
            ExprKind::Variable(variable) => self.variable(*variable, expr.span),
            ExprKind::Member(object, number) => {
                let Type::Record(record) = object.ty.plain() else {
                    return refuse(expr.span, "a member of something that is no struct");
                };
                if slots::opaque(self.unit, *record).is_some() {
                    return refuse(expr.span, "a part of an object of the thread library is accessed");
                }
                if self.unit.records[record.0].union {
                    let before = *self.members.entry(record.0).or_insert(*number);
                    if before != *number {
                        return refuse(expr.span, "a union is accessed by more than one of its members");
                    }
                }
                let Some(offset) = slots::field(self.unit, *record, *number) else {
                    return refuse(expr.span, "a struct is too large, or its size is not known");
                };
                let place = match &object.kind {
                    ExprKind::Variable(_) | ExprKind::Deref(_) | ExprKind::Member(..) => {
                        self.place(object)?
                    }
                    // A member of a value, such as that of a call.
                    _ => self.copy_of(object)?,
                };
                Ok(match place.plus(offset) {
                    // What is accessed is the member, whatever else is where the struct is expected.
                    Target::Region(access, address) => {
                        let Access { class, span, whole, ty } = &self.accesses[access];
                        let (whole, before) = whole.clone().unwrap_or((ty.clone(), 0));
                        let whole = Some((whole, before + offset));
                        let access = Access { class: *class, ty: expr.ty.clone(), whole, span: *span };
                        self.accesses.push(access);
                        Target::Region(self.accesses.len() - 1, address)
                    }
                    place => place,
                })
            }
            ExprKind::Deref(pointer) => {
                let address = self.address(pointer)?;
                let place = self.pointee(address, pointer)?;
                Ok(match place {
                    // An element of an array that is a member: which one, the way to the member does not say.
                    Target::Region(access, address)
                        if self.accesses[access].whole.is_some()
                            && matches!(expr.ty.plain(), Type::Record(_)) =>
                    {
                        let Access { class, span, .. } = self.accesses[access];
                        self.accesses.push(Access { class, ty: expr.ty.clone(), whole: None, span });
                        Target::Region(self.accesses.len() - 1, address)
                    }
                    place => match slots::count(self.unit, &expr.ty) {
                        Some(count) => self.with_room(place, count),
                        None => place,
                    },
                })
            }
            ExprKind::Load(inner) | ExprKind::Cast(inner) if matches!(expr.ty.plain(), Type::Record(_)) => {
                self.place(inner)
            }
            _ => self.copy_of(expr),
        }
    }

    /// A copy of a struct value in local slots.
    fn copy_of(&mut self, expr: &Expr) -> Result<Target> {
        let values = self.values(expr)?;
        let first = self.block(values.len(), expr.span);
        for (slot, value) in (first..).zip(values) {
            self.store(&Target::Local(slot), value, expr.span)?;
        }
        Ok(Target::Local(first))
    }

    /// What an address points to.
    pub(super) fn pointee(&mut self, address: Address, pointer: &Expr) -> Result<Target> {
        Ok(match address {
            Address::Known(target) => target.settled(),
            Address::Value(value) => {
                let class = self.pointers.target(pointer);
                let value = self.settled(value, pointer.span)?;
                let ty = match pointer.ty.plain() {
                    Type::Pointer(ty) => (**ty).clone(),
                    _ => Type::Void,
                };
                self.accesses.push(Access { class, ty, whole: None, span: pointer.span });
                Target::Region(self.accesses.len() - 1, value)
            }
        })
    }

    /// The address that an expression of pointer type is.
    pub(super) fn address(&mut self, expr: &Expr) -> Result<Address> {
        match &expr.kind {
            ExprKind::AddressOf(place) => match &place.kind {
                ExprKind::Function(_) => Ok(Address::Value(self.value(expr)?)),
                _ => Ok(Address::Known(self.place(place)?.settled())),
            },
            ExprKind::Cast(part) if matches!(part.ty.plain(), Type::Pointer(_)) => {
                if let Some((inner, by)) = self.counted_in_bytes(part, &expr.ty) {
                    let base = self.address(inner)?;
                    let base = self.number(base, expr.span)?;
                    return Ok(Address::Value(plus(base, by)));
                }
                self.check_cast(part, &expr.ty, expr.span)?;
                self.address(part)
            }
            ExprKind::PointerAdd(pointer, index) if is_void(&expr.ty) => {
                let base = self.address(pointer)?;
                let base = self.number(base, expr.span)?;
                let base = self.kept(base, expr.span)?;
                let index = self.value(index)?;
                let index = self.kept(index, expr.span)?;
                Ok(Address::Value(self.moved_in_device(pointer, base, index)))
            }
            ExprKind::PointerAdd(pointer, index) => {
                let size = self.pointee_size(&expr.ty, expr.span)?;
                let base = self.address(pointer)?;
                let base = match base {
                    Address::Value(value) if self.splits(&value, index) => {
                        Address::Value(self.kept(value, expr.span)?)
                    }
                    base => base,
                };
                let mut index = self.value(index)?;
                if !self.property.memory && chooses(&index) {
                    // It is looked at more than once: whether it is inside, and which element it is.
                    index = self.kept(index, expr.span)?;
                }
                // Which element of a shared array it is, is found out a step before the access.
                if matches!(&base, Address::Known(target) if target.is_shared()) {
                    index = self.settled(index, expr.span)?;
                }
                let offset = match index {
                    Model::Constant(index) => Model::Constant(index.saturating_mul(size)),
                    index if size == 1 => index,
                    index => binary(Binary::Times, index, Model::Constant(size)),
                };
                self.moved(base, offset, pointer, expr.span)
            }
            ExprKind::Load(place) => {
                if let ExprKind::Variable(variable) = place.kind
                    && let Some(bound) = self.body.bound.get(&variable)
                {
                    return Ok(bound.clone());
                }
                Ok(Address::Value(self.value(expr)?))
            }
            _ => Ok(Address::Value(self.value(expr)?)),
        }
    }

    /// An address so many slots further.
    fn moved(&mut self, base: Address, offset: Model, pointer: &Expr, span: Span) -> Result<Address> {
        Ok(match base {
            Address::Value(Model::Constant(0)) if offset == Model::Constant(0) => {
                Address::Value(Model::Constant(0))
            }
            Address::Value(value) => Address::Value(self.way(pointer, value, span, offset)?),
            Address::Known(Target::Region(class, address)) => {
                Address::Known(Target::Region(class, self.way(pointer, address, span, offset)?))
            }
            Address::Known(Target::SharedElement(first, length, index)) => {
                Address::Known(Target::SharedElement(first, length, sum(index, offset)))
            }
            Address::Known(Target::LocalElement(first, length, index)) => {
                Address::Known(Target::LocalElement(first, length, sum(index, offset)))
            }
            Address::Known(target @ (Target::Shared(first) | Target::Local(first))) => {
                let length = self.array_length(pointer, span)?;
                Address::Known(match self.with_room(target, length) {
                    Target::Shared(_) => Target::SharedElement(first, length, offset),
                    Target::Local(_) => Target::LocalElement(first, length, offset),
                    Target::SharedElement(first, length, index) => {
                        Target::SharedElement(first, length, sum(offset, index))
                    }
                    Target::LocalElement(first, length, index) => {
                        Target::LocalElement(first, length, sum(offset, index))
                    }
                    target => target,
                })
            }
        })
    }

    /// A place of which so many slots are accessed: where that are more than its object has from there on, elements of which some are
    /// not there.
    pub(super) fn with_room(&self, target: Target, count: usize) -> Target {
        let (object, shared) = match target {
            Target::Shared(slot) => {
                let object = ObjectId(slot >> PART_BITS);
                (Some((object.slot(0), self.objects[object.0].parts.len())), true)
            }
            Target::Local(slot) if count > 1 => (self.local_object(slot), false),
            _ => return target,
        };
        match (target, object) {
            (Target::Shared(slot) | Target::Local(slot), Some((first, length)))
                if slot - first + count > length =>
            {
                let index = Model::Constant((slot - first) as Value);
                match shared {
                    true => Target::SharedElement(first, length, index),
                    false => Target::LocalElement(first, length, index),
                }
            }
            (target, _) => target,
        }
    }

    /// The first slot, and the number of slots, of the local variable that has a slot.
    fn local_object(&self, slot: Slot) -> Option<(Slot, usize)> {
        self.body.homes.iter().find_map(|(variable, home)| match home {
            Home::Local(first) => {
                let length = slots::count(self.unit, &self.unit.variables[variable.0].ty)?;
                (*first..first + length).contains(&slot).then_some((*first, length))
            }
            Home::Memory(_) => None,
        })
    }

    /// How many slots the object has that a known address points into, from there on.
    fn array_length(&mut self, pointer: &Expr, span: Span) -> Result<usize> {
        let ty = match &crate::walk::through_casts(pointer).kind {
            ExprKind::AddressOf(place) => place.ty.clone(),
            ExprKind::Load(place) => match place.kind {
                // What a parameter stands for: the length is that of the argument.
                ExprKind::Variable(variable) => {
                    self.body.lengths.get(&variable).cloned().unwrap_or(Type::Void)
                }
                _ => Type::Void,
            },
            ExprKind::PointerAdd(inner, _) => return self.array_length(inner, span),
            _ => Type::Void,
        };
        match slots::count(self.unit, &ty) {
            Some(count) if count > 0 => Ok(count),
            _ => refuse(span, "an array is too large, or its length is not known"),
        }
    }

    /// The type of the object that a known address is that of.
    pub(super) fn object_type(&self, pointer: &Expr) -> Option<Type> {
        match &crate::walk::through_casts(pointer).kind {
            ExprKind::AddressOf(place) => Some(place.ty.clone()),
            ExprKind::Load(place) => match place.kind {
                ExprKind::Variable(variable) => self.body.lengths.get(&variable).cloned(),
                _ => None,
            },
            ExprKind::PointerAdd(inner, _) => self.object_type(inner),
            _ => None,
        }
    }

    /// How many slots lie between two neighbours of what a pointer points to.
    pub(super) fn pointee_size(&mut self, pointer: &Type, span: Span) -> Result<Value> {
        let Type::Pointer(ty) = pointer.plain() else {
            return refuse(span, "arithmetic on something that is no pointer");
        };
        match slots::count(self.unit, ty) {
            _ if matches!(ty.plain(), Type::Void | Type::Function(_)) => {
                refuse(span, "arithmetic on a pointer to void: addresses are not counted in bytes")
            }
            Some(count) => Ok(count as Value),
            None => refuse(span, "arithmetic on a pointer to something whose size is not known"),
        }
    }

    /// The address as a number.
    pub(super) fn number(&mut self, address: Address, span: Span) -> Result<Model> {
        let target = match address {
            Address::Value(value) => return Ok(value),
            Address::Known(target) => target.settled(),
        };
        Ok(match target {
            Target::Shared(slot) => address_of(slot),
            Target::SharedElement(slot, _, index) => sum(address_of(slot), index),
            Target::Region(_, address) => address,
            Target::Local(_) | Target::LocalElement(..) => {
                return refuse(span, "the address of a local variable is kept in a way that is not followed");
            }
        })
    }

    /// Where a variable is.
    pub(super) fn variable(&mut self, variable: VariableId, span: Span) -> Result<Target> {
        let unit = self.unit;
        let declared = &unit.variables[variable.0];
        match declared.storage {
            Storage::Static => {
                let object = match self.statics.get(&variable) {
                    Some(&object) => object,
                    None => {
                        let object = self.object(variable, None, span)?;
                        self.statics.insert(variable, object);
                        self.initialise(variable, object)?;
                        object
                    }
                };
                Ok(Target::Shared(object.slot(0)))
            }
            Storage::Thread | Storage::Automatic(_) => {
                let home = match self.body.homes.get(&variable) {
                    Some(&home) => home,
                    None => {
                        let home = self.home(variable, span)?;
                        self.body.homes.insert(variable, home);
                        home
                    }
                };
                Ok(match home {
                    Home::Local(slot) => Target::Local(slot),
                    Home::Memory(object) => Target::Shared(object.slot(0)),
                })
            }
        }
    }

    fn home(&mut self, variable: VariableId, span: Span) -> Result<Home> {
        let unit = self.unit;
        let declared = &unit.variables[variable.0];
        let zero = declared.storage == Storage::Thread;
        if self.pointers.escapes.contains(&variable) {
            if self.body.many || self.body.is_procedure {
                let whose = if self.body.many { "any number of threads" } else { "a recursive function" };
                return refuse(
                    span,
                    format!("the address of `{}` is kept, a variable of {whose}", declared.name),
                );
            }
            let object = self.object(variable, Some(self.body.number), span)?;
            if zero {
                self.initialise(variable, object)?;
            }
            return Ok(Home::Memory(object));
        }
        let Some(count) = slots::count(unit, &declared.ty) else {
            return refuse(span, format!("`{}` is too large, or its size is not known", declared.name));
        };
        if zero && self.body.is_procedure {
            let name = &declared.name;
            return refuse(
                span,
                format!("`{name}`, which every thread has of its own, in a recursive function"),
            );
        }
        let leaves = slots::leaves(unit, &declared.ty);
        let seen = self.seen.contains(&self.pointers.pointed_by(variable));
        let first = |leaf: &slots::Leaf| match leaf.ty.plain() {
            _ if zero => 0,
            Type::Pointer(_) if !seen => INDETERMINATE,
            _ => OPEN,
        };
        let mut initial: Vec<Option<Value>> = leaves.iter().map(|leaf| Some(first(leaf))).collect();
        for one in declared.initial.iter().filter(|_| zero) {
            let Some((offset, _)) = self.part_at(&declared.ty, &one.path) else { continue };
            match self.constant(&one.value)? {
                Model::Constant(value) => initial[offset] = Some(value),
                _ => return refuse(span, format!("`{}` starts with an address", declared.name)),
            }
        }
        let prefix = self.prefix(variable);
        let mut first = None;
        for (leaf, initial) in leaves.iter().zip(initial) {
            let name = format!("{prefix}{}{}", declared.name, leaf.path);
            let slot = self.local(name, slots::values(&leaf.ty), initial, declared.span);
            first.get_or_insert(slot);
        }
        debug_assert_eq!(leaves.len(), count);
        Ok(Home::Local(first.unwrap_or_default()))
    }

    /// A variable of an inlined function is shown with the function's name.
    fn prefix(&self, variable: VariableId) -> String {
        let owner = match self.unit.variables[variable.0].storage {
            Storage::Automatic(function) => Some(function),
            _ => None,
        };
        let outermost = self.body.calls.first().map(|call| call.function);
        match owner {
            Some(owner) if Some(owner) != outermost => format!("{}.", self.unit.functions[owner.0].name),
            _ => String::new(),
        }
    }

    /// A shared object for a variable.
    fn object(&mut self, variable: VariableId, body: Option<usize>, span: Span) -> Result<ObjectId> {
        let unit = self.unit;
        let declared = &unit.variables[variable.0];
        if slots::count(unit, &declared.ty).is_none() {
            return refuse(span, format!("`{}` is too large, or its size is not known", declared.name));
        }
        let is_static = body.is_none();
        let part = |leaf: slots::Leaf| Part {
            path: leaf.path,
            ty: slots::values(&leaf.ty),
            scalar: leaf.ty,
            kind: leaf.kind,
            joined: leaf.joined,
            initial: is_static.then_some(Model::Constant(0)),
        };
        let parts = slots::leaves(unit, &declared.ty).into_iter().map(part).collect();
        let class = self.pointers.escapes.contains(&variable).then(|| self.pointers.class_of(variable));
        let name = match body {
            None | Some(0) => declared.name.clone(),
            Some(body) => format!("{}#{body}", declared.name),
        };
        self.objects.push(super::Object { name, parts, class, stride: None, span: declared.span });
        Ok(ObjectId(self.objects.len() - 1))
    }

    /// The initial values of a variable that lives for the whole run.
    fn initialise(&mut self, variable: VariableId, object: ObjectId) -> Result<()> {
        let unit = self.unit;
        let declared = &unit.variables[variable.0];
        for one in &declared.initial {
            let Some((offset, ty)) = self.part_at(&declared.ty, &one.path) else {
                // Of an object of the thread library, what is not zero says what kind of mutex it is.
                let kind = self.constant_value(&one.value).and_then(super::mutexes::of_kind);
                match (kind, super::mutexes::kind_part(unit, &declared.ty, &one.path)) {
                    (Some(0), _) => {}
                    (Some(kind), Some(part)) => {
                        self.objects[object.0].parts[part].initial = Some(Model::Constant(kind));
                    }
                    _ => return refuse(declared.span, format!("what kind of mutex `{}` is", declared.name)),
                }
                continue;
            };
            if matches!(ty, Type::Float(_)) {
                continue;
            }
            let value = self.constant(&one.value)?;
            self.objects[object.0].parts[offset].initial = Some(value);
        }
        if declared.external {
            self.lowered.externals.insert(declared.name.clone());
        }
        Ok(())
    }

    /// The value of an initialiser: a number or an address.
    fn constant(&mut self, expr: &Expr) -> Result<Model> {
        let before = (self.here, self.locations.len());
        let value = match &expr.ty {
            Type::Pointer(_) => {
                let address = self.address(expr)?;
                self.number(address, expr.span)?
            }
            _ => self.value(expr)?,
        };
        if before != (self.here, self.locations.len()) {
            return refuse(expr.span, "an initialiser that is not constant");
        }
        Ok(value)
    }

    /// The slot and the type of a part of a type; none inside objects of the thread library.
    pub(super) fn part_at(&self, ty: &Type, path: &[u64]) -> Option<(usize, Type)> {
        let Some((&first, rest)) = path.split_first() else { return Some((0, ty.plain().clone())) };
        match ty.plain() {
            Type::Array(element, _) => {
                let size = slots::count(self.unit, element)?;
                let (offset, ty) = self.part_at(element, rest)?;
                Some((size * usize::try_from(first).ok()? + offset, ty))
            }
            Type::Record(record) => {
                if slots::opaque(self.unit, *record).is_some() {
                    return None;
                }
                let field = self.unit.records[record.0].fields.get(usize::try_from(first).ok()?)?;
                let before = slots::field(self.unit, *record, usize::try_from(first).ok()?)?;
                let (offset, ty) = self.part_at(&field.ty, rest)?;
                Some((before + offset, ty))
            }
            other => Some((0, other.clone())),
        }
    }

    /// The value in a slot.
    pub(super) fn load(&self, target: &Target, span: Span) -> Model {
        match target {
            Target::Shared(slot) => Model::Shared(*slot),
            Target::Local(slot) => Model::Local(*slot),
            Target::SharedElement(slot, length, index) => {
                Model::SharedElement(*slot, *length, Box::new(index.clone()), span)
            }
            Target::LocalElement(slot, length, index) => {
                Model::LocalElement(*slot, *length, Box::new(index.clone()), span)
            }
            Target::Region(access, address) => {
                Model::SharedElement(REGION | access, 1, Box::new(address.clone()), span)
            }
        }
    }

    /// The values of all slots of an object.
    pub(super) fn load_all(&self, target: &Target, count: usize, span: Span) -> Vec<Model> {
        (0..count).map(|offset| self.load(&target.clone().plus(offset), span)).collect()
    }

    /// A slot as the model writes it.
    pub(super) fn model_place(&self, target: &Target, span: Span) -> Place {
        let target = match target.clone() {
            Target::Shared(slot) => ModelTarget::Shared(slot),
            Target::Local(slot) => ModelTarget::Local(slot),
            Target::SharedElement(slot, length, index) => ModelTarget::SharedElement(slot, length, index),
            Target::LocalElement(slot, length, index) => ModelTarget::LocalElement(slot, length, index),
            Target::Region(access, address) => ModelTarget::SharedElement(REGION | access, 1, address),
        };
        // Values are converted before they are stored; the layout knows the type of a slot.
        Place { target, ty: allways_model::program::Type::Range(Value::MIN + 1, Value::MAX), span }
    }

    /// The slot after another.
    pub(super) fn next_slot(&self, target: &Target, offset: usize) -> Target {
        target.clone().plus(offset)
    }
}

/// Whether a type is that of pointers to anything.
fn is_void(ty: &Type) -> bool {
    matches!(ty.plain(), Type::Pointer(ty) if *ty.plain() == Type::Void)
}

/// The address of a symbolic slot; the layout makes it a number.
pub(super) fn address_of(slot: Slot) -> Model {
    Model::NextShared(slot)
}

/// The number that the address of a slot is.
pub(super) fn address_number(slot: Slot) -> Value {
    ADDRESSES + slot as Value
}
