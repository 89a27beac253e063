//! Objects that end before the program does: memory that is freed, and variables of functions that have returned.
//!
//! An access to such an object through a pointer that was kept is a violation, like one past its end. A slot says whether an
//! object is there; an access looks at it in the same step. Objects that cannot be accessed too late are left alone, so that
//! programs without them have nothing more in their states:
//!
//! - memory of a class of which nothing is freed, and of which it is known how much is asked for;
//! - a variable, unless something that may hold its address can outlive it: something static or on the heap, a variable of a
//!   function that is not called by the one that declares it, of a thread, or what the function returns. Variables of `main`
//!   live as long as the process.
//!
//! Of memory of which it is not known how much is asked for, there is some, and what it holds before it says how much of that was asked
//! for: all that comes after is not there either.
//!
//! Memory is not given out again after it was freed, so that an address is never that of something else later. A variable lies
//! where it lay when its function was called before; an address that was kept since then is taken for the new one.

use super::heap::THERE;
use super::places::{Target, address_number, binary, plus};
use super::{Lowering, Model, Object, ObjectId, Result};
use crate::library::{self, Flow};
use crate::pointers::{Class, Pointers, Site};
use crate::slots;
use crate::typed::{Expr, ExprKind, FunctionId, Storage, Type, Unit, VariableId};
use crate::walk;
use allways_model::program::{Binary, Slot, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// An object that may end: its slots from the first to the one before the last, and the slot that is 0 unless it is there.
pub(super) struct Mortal {
    first: Slot,
    last: Slot,
    there: Slot,
    /// Whether that slot says how many slots are there.
    sized: bool,
}

impl Mortal {
    /// Whether the object has a slot.
    pub fn contains(&self, slot: Slot) -> bool {
        (self.first..self.last).contains(&slot)
    }

    /// Whether a slot of the object is not there.
    pub fn is_over(&self, slot: Slot) -> Model {
        self.lacks(&Model::Constant(address_number(slot)))
    }

    /// Whether an address, which is one of the object, is not one of what is there.
    fn lacks(&self, address: &Model) -> Model {
        let there = Model::Shared(self.there);
        if self.sized {
            let last = plus(address.clone(), THERE - address_number(self.first));
            return binary(Binary::LessEqual, there, last);
        }
        binary(Binary::Equal, there, Model::Constant(0))
    }

    /// Whether an address is one of the object, and the object is not there.
    pub fn is_hit(&self, address: &Model) -> Model {
        let compare =
            |operator, slot| binary(operator, address.clone(), Model::Constant(address_number(slot)));
        let inside = if self.last == self.first + 1 {
            compare(Binary::Equal, self.first)
        } else {
            let first = compare(Binary::GreaterEqual, self.first);
            binary(Binary::And, first, compare(Binary::Less, self.last))
        };
        binary(Binary::And, inside, self.lacks(address))
    }
}

/// The variables of each function that something may outlive which holds their address.
pub(super) fn outlived(unit: &Unit, pointers: &mut Pointers) -> HashMap<FunctionId, Vec<VariableId>> {
    let mut owners: BTreeMap<FunctionId, Vec<VariableId>> = BTreeMap::new();
    for &variable in &pointers.escapes {
        if let Storage::Automatic(function) = unit.variables[variable.0].storage
            && unit.functions[function.0].name != "main"
        {
            owners.entry(function).or_default().push(variable);
        }
    }
    if owners.is_empty() {
        return HashMap::new();
    }
    let (calls, started) = calls(unit, pointers);
    let mut found = HashMap::new();
    for (function, mut variables) in owners {
        let inner = called_by(function, &calls, &started);
        variables.retain(|&variable| {
            let class = pointers.class_of(variable);
            outlives(unit, pointers, class, function, &inner)
        });
        variables.sort_unstable();
        if !variables.is_empty() {
            found.insert(function, variables);
        }
    }
    found
}

/// The calls of `alloca` whose memory something may outlive that holds its address. (Memory of `main` lives as long as the process.)
pub(super) fn outlived_memory(unit: &Unit, pointers: &mut Pointers) -> HashSet<Site> {
    let mut sites: Vec<(FunctionId, &Expr)> = Vec::new();
    for (number, function) in unit.functions.iter().enumerate().filter(|(_, one)| one.name != "main") {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::Call(callee, _) = &expr.kind
                && let ExprKind::Function(called) = walk::through_casts(callee).kind
                && library::is_of_the_function(&unit.functions[called.0].name)
            {
                sites.push((FunctionId(number), expr));
            }
        });
    }
    if sites.is_empty() {
        return HashSet::new();
    }
    let (calls, started) = calls(unit, pointers);
    let outlived = sites.into_iter().filter(|&(function, site)| {
        let class = pointers.class_of_site(site);
        outlives(unit, pointers, class, function, &called_by(function, &calls, &started))
    });
    outlived.map(|(_, site)| std::ptr::from_ref(site)).collect()
}

/// A function, and those that it calls and that call others, which have returned when it returns.
fn called_by(
    function: FunctionId,
    calls: &[BTreeSet<FunctionId>],
    started: &HashSet<FunctionId>,
) -> BTreeSet<FunctionId> {
    let mut inner = BTreeSet::from([function]);
    let mut todo = vec![function];
    while let Some(next) = todo.pop() {
        todo.extend(calls[next.0].iter().filter(|&&called| inner.insert(called)));
    }
    inner.retain(|called| !started.contains(called) || *called == function);
    inner
}

/// The functions that each function calls, and those that threads start with.
fn calls(unit: &Unit, pointers: &mut Pointers) -> (Vec<BTreeSet<FunctionId>>, HashSet<FunctionId>) {
    let mut started = HashSet::new();
    let mut all = Vec::new();
    for function in &unit.functions {
        let mut calls = BTreeSet::new();
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            let ExprKind::Call(callee, arguments) = &expr.kind else { return };
            for called in pointers.callees(callee) {
                calls.insert(called);
                if let Flow::StartsThread { start, .. } = library::flow(&unit.functions[called.0].name)
                    && let Some(start) = arguments.get(start)
                {
                    started.extend(pointers.started(walk::through_casts(start)));
                }
            }
        });
        all.push(calls);
    }
    (all, started)
}

/// Whether something that may hold an address of a class can be there when a function has returned that calls the inner ones.
fn outlives(
    unit: &Unit,
    pointers: &mut Pointers,
    class: Class,
    function: FunctionId,
    inner: &BTreeSet<FunctionId>,
) -> bool {
    let holding: Vec<VariableId> = (0..unit.variables.len()).map(VariableId).collect();
    holding.into_iter().any(|variable| {
        let stays = match unit.variables[variable.0].storage {
            Storage::Automatic(owner) => !inner.contains(&owner),
            Storage::Static | Storage::Thread => true,
        };
        stays && {
            let holder = pointers.class_of(variable);
            pointers.holds(holder, class)
        }
    }) || pointers.is_returned(class, |returning| returning == function || !inner.contains(&returning))
        || pointers.is_held_elsewhere(class)
}

impl Lowering<'_> {
    /// The variables of a function begin or end, if something may outlive them.
    pub(super) fn lifetimes(&mut self, function: FunctionId, begin: bool, span: Span) -> Result<()> {
        if self.body.many || self.body.is_procedure {
            return Ok(());
        }
        let mut stores = Vec::new();
        for variable in self.outlived.get(&function).cloned().unwrap_or_default() {
            if slots::count(self.unit, &self.unit.variables[variable.0].ty).is_none() {
                continue;
            }
            if let Target::Shared(slot) = self.variable(variable, span)? {
                let object = ObjectId(slot >> super::PART_BITS);
                let there = match self.mortals.get(&object) {
                    Some(&there) => there,
                    None => {
                        let flags = self.hidden(&format!("#there {}", self.objects[object.0].name));
                        let there = self.part(flags, Type::Int(slots::INT), 0);
                        self.mortals.insert(object, there);
                        there
                    }
                };
                stores.push((Target::Shared(there), Model::Constant(i64::from(begin))));
            }
        }
        if stores.is_empty() { Ok(()) } else { self.store_at_once(stores, None, span) }
    }

    /// All functions end that are called here, with the thread.
    pub(super) fn end_lifetimes(&mut self, span: Span) -> Result<()> {
        let called: Vec<FunctionId> = self.body.calls.iter().map(|call| call.function).collect();
        called.into_iter().try_for_each(|function| self.lifetimes(function, false, span))
    }

    /// By class, the objects that may end, where the objects of each class and the slot of each object are.
    pub(super) fn mortals(
        &mut self,
        regions: &BTreeMap<usize, Vec<usize>>,
        first: &[Slot],
    ) -> HashMap<usize, Vec<Mortal>> {
        let frees: Vec<Class> = self.frees.values().copied().collect();
        let freed: HashSet<usize> =
            frees.into_iter().map(|class| self.pointers.find_class(class).0).collect();
        let mut all = HashMap::new();
        for (class, objects) in regions {
            let mut found = Vec::new();
            for &number in objects {
                let Object { stride, parts, .. } = &self.objects[number];
                let start = first[number];
                if let Some(&flag) = self.mortals.get(&ObjectId(number)) {
                    let there = first[flag >> super::PART_BITS];
                    found.push(Mortal { first: start, last: start + parts.len(), there, sized: false });
                    continue;
                }
                let sized = self.sized.contains(&ObjectId(number));
                if let Some(stride) = stride.filter(|_| sized || freed.contains(class)) {
                    found.extend((start..start + parts.len()).step_by(stride).map(|there| Mortal {
                        first: there + 1,
                        last: there + stride,
                        there,
                        sized,
                    }));
                }
            }
            if !found.is_empty() {
                all.insert(*class, found);
            }
        }
        all
    }
}
