//! The places of shared objects: the last step of the lowering.
//!
//! Objects of one class lie next to each other, each with a slot after it that nobody may access, so that a pointer that
//! runs past the end of an object hits it, which is a violation. An address of memory outside of the region where the analysis
//! of pointers expects it (far past an end, or a slip of that analysis) leads beyond what is followed; so does an address of
//! something else than is accessed, where objects of several types lie in a region. Symbolic slots become slots, regions
//! become ranges of slots, addresses become numbers.

use super::expressions::chooses;
use super::lifetimes::Mortal;
use super::moves::{MOVE, Way, along};
use super::places::{address_number, binary, plus};
use super::{ADDRESSES, Access, Lowered, Lowering, Model, PART_BITS, Part, REGION, Result, refuse};
use crate::concurrent::{Concurrent, locations_of};
use crate::slots::{self, Kind};
use crate::typed::Type;
use allways_model::program::{
    Binary, Count, LocationId, Op, Place, Program, Slot, Span, Target, TemplateId, Type as Values, Value,
    Variable,
};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Where everything shared is.
struct Layout {
    /// The first slot of each object.
    first: Vec<Slot>,
    lengths: Vec<usize>,
    /// The first slot and the length of each region.
    regions: HashMap<usize, (Slot, usize)>,
    /// The slots of each region that nobody may access.
    gaps: HashMap<usize, Vec<Gap>>,
    /// The objects of each region that may end.
    mortals: HashMap<usize, Vec<Mortal>>,
    /// How many slots there are.
    end: Slot,
    /// For each access, the slots of its region that hold something else than is accessed.
    misfits: Vec<Rc<[Gap]>>,
    /// For each move of a pointer, where it may go from where.
    ways: Vec<Rc<[Way]>>,
    /// For each conversion of a pointer to an integer, whether it may be the address of an object.
    integers: Vec<bool>,
    /// Whether accesses outside of every object are violations; or else not followed.
    violations: bool,
    /// The same of divisions by zero.
    divisions: bool,
}

/// In an object with more runs of slots of other types, nothing is accessed as something that only some of them are.
const MOST_RUNS: usize = 32;

/// Slots that are not to be accessed: so many, once or again after so many slots up to a length.
struct Gap {
    first: Slot,
    length: usize,
    every: Option<(usize, usize)>,
}

/// What an access takes a part of an object for.
#[derive(Debug)]
struct Accessed {
    ty: Type,
    /// Whether it is an atomic one, if that matters: an atomic object that is accessed otherwise is part of races that its type does not
    /// show.
    atomic: Option<bool>,
}

impl Accessed {
    fn is(&self, part: &Part) -> bool {
        same(&part.scalar, &self.ty) && self.atomic.is_none_or(|atomic| atomic == (part.kind == Kind::Atomic))
    }
}

/// Why a step is not followed that has another meaning on another way.
const OUTSIDE: &str = "whether this is in an atomic section depends on how control comes here";

impl Lowering<'_> {
    pub(super) fn finish(mut self) -> Result<Lowered> {
        self.wake_one();
        self.look_at_ends();
        self.let_go();
        self.expect_all_joined()?;
        let mut shared: Vec<Variable> = Vec::new();
        let mut layout = Layout {
            first: vec![0; self.objects.len()],
            lengths: Vec::new(),
            regions: HashMap::new(),
            gaps: HashMap::new(),
            mortals: HashMap::new(),
            end: 0,
            misfits: Vec::new(),
            ways: Vec::new(),
            integers: Vec::new(),
            violations: self.property.memory,
            divisions: self.property.divisions,
        };
        layout.lengths = self.objects.iter().map(|object| object.parts.len()).collect();
        // Classes that were told apart when an object was made may be one by now.
        let mut regions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, object) in self.objects.iter().enumerate() {
            if let Some(class) = object.class {
                regions.entry(self.pointers.find_class(class).0).or_default().push(number);
            }
        }
        layout.integers = (0..self.integers.len())
            .map(|number| regions.contains_key(&self.pointers.find_class(self.integers[number]).0))
            .collect();
        let mut order: Vec<(usize, Option<usize>)> = (0..self.objects.len())
            .filter(|&number| self.objects[number].class.is_none())
            .map(|number| (number, None))
            .collect();
        for (class, objects) in &regions {
            order.extend(objects.iter().map(|&number| (number, Some(*class))));
        }
        let mut slot = 0;
        // Where every address is wrong, there must be a slot that it misses.
        shared.push(gap(slot, Span::default()));
        let mut cells = vec![(Kind::Library, slot)];
        slot += 1;
        for &(number, class) in &order {
            layout.first[number] = slot;
            let object = &self.objects[number];
            let start = slot;
            for part in &object.parts {
                let name = format!("{}{}", object.name, part.path);
                shared.push(Variable {
                    name,
                    ty: part.ty,
                    slot,
                    length: None,
                    initial: vec![None],
                    mixed: false,
                    names: None,
                    span: object.span,
                });
                let location = if part.joined { cells[slot - 1].1 } else { slot };
                cells.push((part.kind, location));
                slot += 1;
            }
            if let Some(class) = class {
                let region = layout.regions.entry(class).or_insert((start, 0));
                shared.push(gap(slot, object.span));
                cells.push((Kind::Library, slot));
                layout.gaps.entry(class).or_default().push(Gap { first: slot, length: 1, every: None });
                if let Some(stride) = object.stride {
                    layout.gaps.entry(class).or_default().push(Gap {
                        first: start,
                        length: 1,
                        every: Some((stride, slot - start)),
                    });
                }
                slot += 1;
                region.1 = slot - region.0;
            }
        }
        layout.end = slot;
        layout.mortals = self.mortals(&regions, &layout.first);
        layout.misfits = self.misfits(&regions, &layout.first);
        layout.ways = self.ways(&regions, &layout.first);
        // Initial values may be addresses.
        for &(number, _) in &order {
            for (part, slot) in self.objects[number].parts.iter().zip(layout.first[number]..) {
                let variable = &mut shared[slot];
                variable.initial = vec![match &part.initial {
                    None => None,
                    Some(value) => Some(constant(layout.expr(value, &self)?, object_span(&self, number))?),
                }];
            }
        }
        one_name_each(&mut shared);
        let outside = self.outside_of_sections();
        let mut program = Program {
            shared: arrays(shared, &layout, &self),
            procedures: std::mem::take(&mut self.procedures),
            locations: std::mem::take(&mut self.locations),
            templates: std::mem::take(&mut self.templates),
            claims: self.property.claims(),
            ..Program::default()
        };
        for location in 0..program.locations.len() {
            for edge in 0..program.locations[location].edges.len() {
                let op = program.locations[location].edges[edge].op.clone();
                let procedure = program.locations[location].procedure;
                if let Some((span, why)) = layout.not_followed(&op) {
                    self.lowered.left_out.push((span, why));
                    program.locations[location].edges[edge].op = Op::Beyond;
                    continue;
                }
                let mut op = layout.op(op, &self)?;
                if self.property.races
                    && let Some(&class) = self.frees.get(&LocationId(location))
                {
                    let objects = regions.get(&self.pointers.find_class(class).0);
                    self.write_all(&mut op, objects.map_or(&[][..], |objects| objects), &layout.first);
                }
                let op = typed(op, &program.shared, &program.procedures[procedure].locals);
                program.locations[location].edges[edge].op = op;
            }
        }
        for location in outside {
            let here = &mut program.locations[location];
            here.edges.iter_mut().for_each(|edge| edge.op = Op::Beyond);
            self.lowered.left_out.push((here.span, OUTSIDE.to_string()));
        }
        for procedure in &mut program.procedures {
            one_name_each_local(&mut procedure.locals);
        }
        self.judge_weak_orders(&mut program);
        self.judge_plain_accesses(&mut program);
        self.judge_fields(&mut program);
        crate::indeterminate::forget_unread(&mut program);
        crate::indeterminate::choose_when_read(&mut program, &self.declarations);
        if (self.skips_joins || !self.many.is_empty()) && !self.joined.is_empty() {
            let mut exact = program.clone();
            for &(location, span) in &self.joined {
                let why = "a join with one of any number of threads does not wait";
                self.lowered.widened.push((span, why));
                exact.locations[location].edges.iter_mut().for_each(|edge| edge.op = Op::Beyond);
            }
            self.lowered.exact = Some(exact);
        }
        let special = std::mem::take(&mut self.special);
        for (location, (target, kind)) in special {
            let place = self.model_place(&target, Span::default());
            let place = layout.place(place, &self)?;
            self.lowered.special.insert(location, (place.target, kind));
        }
        let given = self
            .given
            .iter()
            .map(|&object| (address_number(layout.slot(object.slot(1))), self.objects[object.0].span));
        self.lowered.given = given.collect();
        self.lowered.cells = cells;
        self.lowered.program = program;
        Ok(self.lowered)
    }

    /// Has a step that marks an object from the heap as freed write all of it: `free` may modify what it deallocates (C11,
    /// 7.22.3), which makes it part of data races.
    fn write_all(&self, op: &mut Op, objects: &[usize], first: &[Slot]) {
        let Op::Assign(places, values, _) = op else { return };
        let pools: Vec<(Slot, usize, usize)> = objects
            .iter()
            .filter_map(|&number| {
                let object = &self.objects[number];
                Some((first[number], object.parts.len(), object.stride?))
            })
            .collect();
        let most = pools.iter().map(|&(.., stride)| stride).max().unwrap_or(0);
        let Some(header) = places.first().cloned() else { return };
        for offset in 1..most {
            let target = match &header.target {
                Target::Shared(slot) => {
                    let within = |&(first, length, stride): &(Slot, usize, usize)| {
                        (first..first + length).contains(slot) && offset < stride
                    };
                    if !pools.iter().any(within) {
                        continue;
                    }
                    Target::Shared(slot + offset)
                }
                Target::SharedElement(from, length, index) => {
                    // Of a smaller object, only as much as there is; what marks it is then written once more.
                    let mut place = index.clone();
                    for &(first, length, _) in pools.iter().filter(|&&(.., stride)| offset < stride) {
                        let low = Model::Constant(first as Value - *from as Value);
                        let high = Model::Constant((first + length) as Value - *from as Value);
                        let inside = binary(
                            Binary::And,
                            binary(Binary::GreaterEqual, index.clone(), low),
                            binary(Binary::Less, index.clone(), high),
                        );
                        let next = plus(index.clone(), offset as Value);
                        place = Model::If(Box::new(inside), Box::new(next), Box::new(place));
                    }
                    Target::SharedElement(*from, *length, place)
                }
                _ => return,
            };
            places.push(Place { target, ..header.clone() });
            values.push(Model::Constant(0));
        }
    }

    /// Where `main` is alone, all memory orders are the same, and where threads share one memory location. Elsewhere a weak one is noted; it may not order the accesses
    /// around it, and since races that are there for this reason only would not be seen, it is then not followed.
    fn judge_weak_orders(&mut self, program: &mut Program) {
        let weak = std::mem::take(&mut self.weak);
        if !self.property.races && is_about_one_location(program) {
            return;
        }
        let concurrent = (!weak.is_empty()).then(|| Concurrent::of(program));
        for (locations, span, order) in weak {
            if locations.iter().all(|&location| concurrent.as_ref().is_some_and(|one| one.is_alone(location)))
            {
                continue;
            }
            self.lowered.weak.get_or_insert((span, order));
            if self.property.races {
                let why = format!("{order}, which may not order other accesses");
                self.lowered.left_out.push((span, why));
                program.locations[locations[0]].edges.iter_mut().for_each(|edge| edge.op = Op::Beyond);
            }
        }
    }

    /// Where others can see it, an access to all of something with an atomic part is not followed: it is not atomic.
    fn judge_plain_accesses(&mut self, program: &mut Program) {
        let plain = std::mem::take(&mut self.plain);
        if plain.is_empty() {
            return;
        }
        let concurrent = Concurrent::of(program);
        for (location, span) in plain {
            if !concurrent.is_alone(location) {
                let why = "an atomic object is accessed as a part of another, which is not atomic";
                self.lowered.left_out.push((span, why.to_string()));
                program.locations[location].edges.iter_mut().for_each(|edge| edge.op = Op::Beyond);
            }
        }
    }

    /// For each access, the slots of its region that hold something else than is accessed.
    fn misfits(&mut self, regions: &BTreeMap<usize, Vec<usize>>, first: &[Slot]) -> Vec<Rc<[Gap]>> {
        type Seen = (usize, String, Option<(Type, usize)>);
        let races = self.property.races;
        let mut known: HashMap<Seen, Rc<[Gap]>> = HashMap::new();
        let mut all = Vec::new();
        for access in 0..self.accesses.len() {
            let class = self.pointers.find_class(self.accesses[access].class).0;
            let mut seen: Vec<Accessed> = Vec::new();
            for leaf in slots::leaves(self.unit, &self.accesses[access].ty) {
                let atomic = races.then_some(leaf.kind == Kind::Atomic);
                if !seen.iter().any(|one| same(&one.ty, &leaf.ty) && one.atomic == atomic) {
                    seen.push(Accessed { ty: leaf.ty, atomic });
                }
            }
            if self.accesses[access].ty == device() {
                seen = vec![Accessed { ty: device(), atomic: None }];
            }
            let objects = regions.get(&class).map_or(&[][..], |objects| objects);
            let found = known
                .entry((class, format!("{seen:?}"), self.accesses[access].whole.clone()))
                .or_insert_with(|| self.unlike(&seen, &self.accesses[access], objects, first));
            all.push(found.clone());
        }
        all
    }

    /// The slots of these objects that hold something else than what is seen there.
    fn unlike(&self, seen: &[Accessed], access: &Access, objects: &[usize], first: &[Slot]) -> Rc<[Gap]> {
        let mut found = Vec::new();
        for &number in objects.iter().filter(|_| !seen.is_empty()) {
            let object = &self.objects[number];
            let length = object.parts.len();
            let whole = Gap { first: first[number], length, every: None };
            // All that the access may reach must be there.
            if !seen.iter().all(|one| object.parts.iter().any(|part| one.is(part))) {
                found.push(whole);
                continue;
            }
            // The slot before an object from the heap is out of bounds already.
            let (start, period) = object.stride.map_or((0, length), |stride| (1, stride));
            let mut runs = Vec::new();
            let mut from = start;
            while from < period {
                let other = |part: &&Part| !seen.iter().any(|one| one.is(part));
                let run = object.parts[from..period].iter().take_while(other).count();
                if run > 0 {
                    let every = object.stride.map(|stride| (stride, length));
                    runs.push(Gap { first: first[number] + from, length: run, every });
                }
                from += run.max(1);
            }
            if runs.len() > MOST_RUNS {
                let every = object.stride.map(|stride| (stride, length));
                let around = self.around(access, &object.parts[start..period]);
                runs = around
                    .into_iter()
                    .flatten()
                    .map(|(from, length)| Gap { first: first[number] + start + from, length, every })
                    .collect();
                if runs.is_empty() {
                    runs = vec![whole];
                }
            }
            found.extend(runs);
        }
        found.into()
    }

    /// In an object with many runs of slots of other types: the runs of slots between those where a member is, if the whole
    /// that it is part of is found in a few places: each as its first slot and its length.
    fn around(&self, access: &Access, parts: &[Part]) -> Option<Vec<(usize, usize)>> {
        let (whole, before) = access.whole.as_ref()?;
        let pattern: Vec<Type> = slots::leaves(self.unit, whole).into_iter().map(|leaf| leaf.ty).collect();
        let length = slots::count(self.unit, &access.ty).filter(|&length| length > 0)?;
        let is_there = |at: &usize| {
            let fits = |(part, ty): (&Part, &Type)| same(&part.scalar, ty);
            parts[*at..].iter().zip(&pattern).all(fits)
        };
        let places: Vec<usize> =
            (0..(parts.len() + 1).checked_sub(pattern.len())?).filter(is_there).collect();
        if places.len() > MOST_RUNS {
            return None;
        }
        let mut gaps = Vec::new();
        let mut from = 0;
        for place in places {
            let member = place + before;
            if member > from {
                gaps.push((from, member - from));
            }
            from = from.max(member + length);
        }
        if from < parts.len() {
            gaps.push((from, parts.len() - from));
        }
        Some(gaps)
    }
}

/// The type of memory that is not the program's, of which nothing is known.
pub(super) fn device() -> Type {
    Type::Array(Box::new(Type::Void), None)
}

/// Whether a part of an object may be accessed as this type.
pub(super) fn same(left: &Type, right: &Type) -> bool {
    matches!((left, right), (Type::Pointer(_), Type::Pointer(_))) || left == right
}

/// Gives places the types of their slots.
fn typed(mut op: Op, shared: &[Variable], locals: &[Variable]) -> Op {
    let of = |variables: &[Variable], slot: Slot, length: usize| {
        let after = variables.partition_point(|variable| variable.slot <= slot);
        let found = variables[after - 1..].iter().take_while(|variable| variable.slot < slot + length);
        let bounds = found.filter_map(|variable| variable.ty.bounds());
        let hull = bounds.reduce(|(low, high), (least, most)| (low.min(least), high.max(most)));
        hull.map_or(Values::Int, |(low, high)| Values::Range(low, high))
    };
    if let Op::Assign(places, ..) | Op::Call(_, _, places) = &mut op {
        for place in places {
            place.ty = match place.target {
                Target::Shared(slot) => of(shared, slot, 1),
                Target::SharedElement(slot, length, _) => of(shared, slot, length),
                Target::Local(slot) | Target::Others(slot) => of(locals, slot, 1),
                Target::LocalElement(slot, length, _) => of(locals, slot, length),
            };
        }
    }
    op
}

/// Whether there is at most one slot that several threads access and someone writes, those aside by which threads are created and
/// joined, which order what is before and after. Then every execution that a memory model of C allows is an interleaving: the
/// accesses to one location are ordered as each thread makes them and as threads are created and joined (C11, 5.1.2.4,
/// 15 to 18), whatever their memory orders, and all other accesses are ordered by happening before each other.
fn is_about_one_location(program: &Program) -> bool {
    let slots = program.shared_slots();
    let (mut users, mut written) = (vec![0_usize; slots], vec![false; slots]);
    for (number, template) in program.templates.iter().enumerate() {
        let is_one = !template.spawned && template.count == Count::Fixed(1) && !template.vanishes;
        let mut used = vec![false; slots];
        for location in locations_of(program, TemplateId(number)) {
            for edge in &program.locations[location].edges {
                edge.op.shared_accesses(&mut |slot, length, writes| {
                    used[slot..slot + length].fill(true);
                    written[slot..slot + length].iter_mut().for_each(|written| *written |= writes);
                });
            }
        }
        for (users, _) in users.iter_mut().zip(used).filter(|(_, used)| *used) {
            *users += if is_one { 1 } else { 2 };
        }
    }
    // A gap between objects is nothing that can be accessed.
    let orders = |name: &str| {
        ["#ended", "#returned", "#created", "#crew", "#argument", "#gap"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    };
    let contested = |variable: &Variable| {
        let slots = variable.slot..variable.slot + variable.slots();
        slots.filter(|&slot| users[slot] > 1 && written[slot]).count()
    };
    program.shared.iter().filter(|variable| !orders(&variable.name)).map(contested).sum::<usize>() <= 1
}

fn object_span(lowering: &Lowering<'_>, object: usize) -> Span {
    lowering.objects[object].span
}

/// A slot that nobody may access.
fn gap(slot: Slot, span: Span) -> Variable {
    Variable::counter("#gap", 0, slot, span)
}

/// Gives variables of one name numbers.
fn one_name_each(variables: &mut [Variable]) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    for variable in variables {
        let count = seen.entry(variable.name.clone()).or_default();
        *count += 1;
        if *count > 1 {
            variable.name = format!("{}'{count}", variable.name);
        }
    }
}

fn one_name_each_local(variables: &mut [Variable]) {
    one_name_each(variables);
}

/// Puts the elements of plain arrays together, for people.
fn arrays(shared: Vec<Variable>, layout: &Layout, lowering: &Lowering<'_>) -> Vec<Variable> {
    let mut length_of: HashMap<Slot, usize> = HashMap::new();
    for (number, object) in lowering.objects.iter().enumerate() {
        let plain = object.parts.len() > 1
            && object.parts.iter().enumerate().all(|(index, part)| {
                part.ty == object.parts[0].ty
                    && (part.path == format!("[{index}]") || index == 0 && part.path.is_empty())
            });
        if plain {
            length_of.insert(layout.first[number], object.parts.len());
        }
    }
    let mut made: Vec<Variable> = Vec::new();
    let mut skip = 0;
    for variable in shared {
        if skip > 0 {
            skip -= 1;
            if let Some(array) = made.last_mut() {
                array.initial.extend(variable.initial);
            }
            continue;
        }
        let mut variable = variable;
        if let Some(&length) = length_of.get(&variable.slot) {
            variable.length = Some(length);
            variable.name = variable.name.split('[').next().unwrap_or_default().to_string();
            skip = length - 1;
        }
        made.push(variable);
    }
    made
}

fn constant(expr: Model, span: Span) -> Result<Value> {
    let mut choices = allways_model::program::expression::Choices::default();
    let scope = allways_model::program::expression::Scope {
        shared: &[],
        locals: &[],
        this: 0,
        next: None,
        control: &[],
    };
    let mut plain = true;
    expr.visit(&mut |part| {
        plain &= matches!(part, Model::Constant(_) | Model::Unary(..) | Model::Binary(..))
    });
    match expr {
        Model::Constant(value) => Ok(value),
        expr if plain => {
            expr.value(&scope, &mut choices).or_else(|_| refuse(span, "an initial value is too large"))
        }
        _ => refuse(span, "an initial value that is not constant"),
    }
}

/// Whether an address is that of one of the slots from the first to the one before the last.
pub(super) fn between(address: &Model, first: Slot, last: Slot) -> Model {
    let compare = |operator, slot| binary(operator, address.clone(), Model::Constant(address_number(slot)));
    if last == first + 1 {
        return compare(Binary::Equal, first);
    }
    binary(Binary::And, compare(Binary::GreaterEqual, first), compare(Binary::Less, last))
}

impl Gap {
    fn contains(&self, slot: Slot) -> bool {
        slot.checked_sub(self.first).is_some_and(|offset| match self.every {
            None => offset < self.length,
            Some((stride, length)) => offset < length && offset % stride < self.length,
        })
    }

    /// Whether an address is that of one of these slots.
    fn hit(&self, address: &Model) -> Model {
        let Some((stride, length)) = self.every else {
            return between(address, self.first, self.first + self.length);
        };
        let offset = plus(address.clone(), -address_number(self.first));
        let rest = binary(Binary::Remainder, offset, Model::Constant(stride as Value));
        let last = Model::Constant(self.length as Value);
        let hit = binary(Binary::Less, rest, last);
        binary(Binary::And, between(address, self.first, self.first + length), hit)
    }
}

impl Layout {
    /// Why a step is not followed: it takes an address for an integer.
    fn not_followed(&self, op: &Op) -> Option<(Span, String)> {
        let mut found = None;
        op.expressions().for_each(|expr| {
            expr.visit(&mut |part| match part {
                Model::OtherLocal(number) if *number < MOVE && self.integers[*number] => {
                    let why = "an address becomes an integer, and what it is depends on the machine";
                    found.get_or_insert((Span::default(), why.to_string()));
                }
                _ => {}
            });
        });
        found
    }

    fn slot(&self, symbolic: Slot) -> Slot {
        self.first[symbolic >> PART_BITS] + (symbolic & ((1 << PART_BITS) - 1))
    }

    /// The index of an address in a region.
    fn index(
        &self,
        class: usize,
        access: usize,
        own: bool,
        (first, length): (Slot, usize),
        address: Model,
    ) -> Model {
        let (start, end) = (address_number(first), address_number(first + length));
        let misfits = &self.misfits[access];
        let choose = |condition, then, other| Model::If(Box::new(condition), Box::new(then), Box::new(other));
        let mut mortals = self.mortals.get(&class).into_iter().flatten().filter(|_| !own);
        if let Model::Constant(address) = address
            && start <= address
            && address < end
        {
            let slot = (address - ADDRESSES) as Slot;
            let misfit = misfits.iter().any(|gap| gap.contains(slot));
            let index = if misfit { beyond() } else { Model::Constant(address - start) };
            let over =
                mortals.filter(|mortal| mortal.contains(slot)).map(|mortal| mortal.is_over(slot)).next();
            return match over {
                Some(over) => choose(over, self.astray(), index),
                None => index,
            };
        }
        let memory = between(&address, 0, self.end);
        let outside = choose(memory, beyond(), self.astray());
        let inside = between(&address, first, first + length);
        let mut index = choose(inside, plus(address.clone(), -start), outside);
        for gap in misfits.iter() {
            index = choose(gap.hit(&address), beyond(), index);
        }
        if let Some(first) = mortals.next() {
            let hit = |over, mortal: &Mortal| binary(Binary::Or, over, mortal.is_hit(&address));
            let over = mortals.fold(first.is_hit(&address), hit);
            index = choose(over, self.astray(), index);
        }
        for gap in self.gaps.get(&class).into_iter().flatten().filter(|_| !own) {
            index = choose(gap.hit(&address), self.astray(), index);
        }
        index
    }

    /// The slots and the index of an access to an element.
    fn element(
        &self,
        slot: Slot,
        length: usize,
        index: Model,
        lowering: &Lowering<'_>,
    ) -> (Slot, usize, Model) {
        if slot & REGION != 0 {
            let class = lowering.pointers.representative(lowering.accesses[slot & !REGION].class);
            let own = lowering.accesses[slot & !REGION].ty == Type::Void;
            // Where no object is, every address is wrong.
            let region = self.regions.get(&class.0).copied();
            let index = self.index(class.0, slot & !REGION, own, region.unwrap_or_default(), index);
            let (first, length) = region.unwrap_or((0, 1));
            return (first, length, index);
        }
        let length = if length == usize::MAX { self.lengths[slot >> PART_BITS] } else { length };
        (self.slot(slot), length, self.inside(length, index))
    }

    /// The index of an access to what is not there.
    fn astray(&self) -> Model {
        if self.violations { Model::Constant(-1) } else { beyond() }
    }

    /// An index of an array; where it is outside, nothing is followed unless that is a violation.
    fn inside(&self, length: usize, index: Model) -> Model {
        let known = matches!(index, Model::Constant(index) if (0..length as Value).contains(&index));
        if self.violations || known {
            return index;
        }
        if chooses(&index) {
            return beyond();
        }
        let above = binary(Binary::GreaterEqual, index.clone(), Model::Constant(0));
        let below = binary(Binary::Less, index.clone(), Model::Constant(length as Value));
        let inside = binary(Binary::And, above, below);
        Model::If(Box::new(inside), Box::new(index), Box::new(beyond()))
    }

    /// What something is divided by.
    fn divisor(&self, operator: Binary, by: Model) -> Model {
        let divides = matches!(operator, Binary::Divide | Binary::Remainder);
        if self.divisions || !divides || matches!(by, Model::Constant(number) if number != 0) {
            return by;
        }
        if chooses(&by) {
            return beyond();
        }
        let zero = binary(Binary::Equal, by.clone(), Model::Constant(0));
        Model::If(Box::new(zero), Box::new(beyond()), Box::new(by))
    }

    fn expr(&self, expr: &Model, lowering: &Lowering<'_>) -> Result<Model> {
        let part = |expr: &Model| self.expr(expr, lowering).map(Box::new);
        Ok(match expr {
            Model::Shared(slot) => Model::Shared(self.slot(*slot)),
            Model::NextShared(slot) => Model::Constant(address_number(self.slot(*slot))),
            Model::SharedElement(slot, length, index, span) => {
                let index = self.expr(index, lowering)?;
                match self.element(*slot, *length, index, lowering) {
                    (_, 0, _) => Model::SharedElement(0, 1, Box::new(self.astray()), *span),
                    (first, length, Model::Constant(index)) if (0..length as Value).contains(&index) => {
                        Model::Shared(first + index as usize)
                    }
                    (first, length, index) => Model::SharedElement(first, length, Box::new(index), *span),
                }
            }
            Model::LocalElement(slot, length, index, span) => {
                let index = self.inside(*length, self.expr(index, lowering)?);
                Model::LocalElement(*slot, *length, Box::new(index), *span)
            }
            Model::Unary(operator, operand) => Model::Unary(*operator, part(operand)?),
            Model::Binary(operator, left, right, span) => {
                let (left, right) = (part(left)?, part(right)?);
                let right = self.divisor(*operator, *right);
                match (operator, *left, right) {
                    (Binary::Plus, Model::Constant(left), Model::Constant(right))
                        if left.checked_add(right).is_some() =>
                    {
                        Model::Constant(left + right)
                    }
                    // An address, minus the start of its region.
                    (Binary::Plus, Model::Binary(Binary::Plus, inner, by, at), Model::Constant(right)) => {
                        match *by {
                            Model::Constant(by) => plus(*inner, by + right),
                            by => match *inner {
                                Model::Constant(left) if left.checked_add(right).is_some() => {
                                    plus(by, left + right)
                                }
                                inner => binary(
                                    Binary::Plus,
                                    Model::Binary(Binary::Plus, Box::new(inner), Box::new(by), at),
                                    Model::Constant(right),
                                ),
                            },
                        }
                    }
                    (operator, left, right) => {
                        Model::Binary(*operator, Box::new(left), Box::new(right), *span)
                    }
                }
            }
            Model::If(condition, base, result) if matches!(**condition, Model::OtherLocal(mark) if mark >= MOVE) =>
            {
                let Model::OtherLocal(mark) = **condition else { return part(result).map(|part| *part) };
                let ways = &self.ways[mark - MOVE];
                match ways.is_empty() {
                    true => *part(result)?,
                    false => along(ways, &*part(base)?, *part(result)?),
                }
            }
            Model::If(condition, then, other) => Model::If(part(condition)?, part(then)?, part(other)?),
            Model::OtherLocal(_) => Model::Constant(0),
            other => other.clone(),
        })
    }

    fn place(&self, place: Place, lowering: &Lowering<'_>) -> Result<Place> {
        let target = match place.target {
            Target::Shared(slot) => Target::Shared(self.slot(slot)),
            Target::SharedElement(slot, length, index) => {
                let index = self.expr(&index, lowering)?;
                match self.element(slot, length, index, lowering) {
                    // Nothing is there: any index of one slot but the first.
                    (_, 0, _) => Target::SharedElement(0, 1, self.astray()),
                    (first, length, Model::Constant(index)) if (0..length as Value).contains(&index) => {
                        Target::Shared(first + index as usize)
                    }
                    (first, length, index) => Target::SharedElement(first, length, index),
                }
            }
            Target::LocalElement(slot, length, index) => {
                let index = self.inside(length, self.expr(&index, lowering)?);
                Target::LocalElement(slot, length, index)
            }
            Target::Local(_) | Target::Others(_) => place.target,
        };
        Ok(Place { target, ..place })
    }

    fn op(&self, op: Op, lowering: &Lowering<'_>) -> Result<Op> {
        let exprs = |exprs: Vec<Model>| {
            exprs.iter().map(|expr| self.expr(expr, lowering)).collect::<Result<Vec<_>>>()
        };
        let places = |places: Vec<Place>| {
            places.into_iter().map(|place| self.place(place, lowering)).collect::<Result<Vec<_>>>()
        };
        Ok(match op {
            Op::Assign(to, values, constraint) => {
                let constraint = constraint.map(|expr| self.expr(&expr, lowering)).transpose()?;
                Op::Assign(places(to)?, exprs(values)?, constraint)
            }
            Op::Guard(expr, expected) => Op::Guard(self.expr(&expr, lowering)?, expected),
            Op::Assert(expr) => Op::Assert(self.expr(&expr, lowering)?),
            Op::Call(procedure, arguments, to) => Op::Call(procedure, exprs(arguments)?, places(to)?),
            Op::Return(results) => Op::Return(exprs(results)?),
            Op::Spawn(template, arguments) => Op::Spawn(template, exprs(arguments)?),
            op => op,
        })
    }
}

/// A number that is too large: nothing is followed from there.
pub(super) fn beyond() -> Model {
    binary(Binary::Plus, Model::Constant(Value::MAX), Model::Constant(1))
}
