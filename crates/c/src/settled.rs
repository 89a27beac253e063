//! Variables that have one value wherever they are read.
//!
//! Many programs let `main` set up pointers to memory and then create threads that use them. Let a variable be written by one
//! step only, which stores a constant, and which is a step of `main` if the variable is shared. Wherever that step has been
//! taken on all ways, the variable has this value; a thread runs only after a step that creates it, so it has it in all of a
//! thread if it has it wherever the thread is created. Invariant: replacing the variable by the constant there changes no
//! run. What is accessed through a pointer that is replaced so becomes a plain variable, which may show more variables of
//! this kind.

use allways_model::program::expression::apply;
use allways_model::program::{
    Binary, Count, Expr, LocationId, Op, Place, ProcedureId, Program, Slot, Span, Target, Template,
    TemplateId, Unary, Value,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How often what became plain is looked at again.
const ROUNDS: usize = 16;

/// A set of candidates, a bit for each.
type Set = Vec<u64>;

/// Variables by number: shared slots first, then the local slots of each procedure.
struct Numbers {
    locals: Vec<usize>,
}

impl Numbers {
    fn of(program: &Program) -> Numbers {
        let starts = program.procedures.iter().scan(program.shared_slots(), |next, procedure| {
            let start = *next;
            *next += procedure.slots();
            Some(start)
        });
        Numbers { locals: starts.collect() }
    }

    /// The number of what an assignment writes, if it is no element of an array.
    fn target(&self, here: ProcedureId, target: &Target) -> Option<usize> {
        match target {
            Target::Shared(slot) => Some(*slot),
            Target::Local(slot) => Some(self.locals[here.index()] + slot),
            _ => None,
        }
    }

    fn expr(&self, here: ProcedureId, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Shared(slot) => Some(*slot),
            Expr::Local(slot) => Some(self.locals[here.index()] + slot),
            _ => None,
        }
    }

    /// Whether it is a shared variable.
    fn is_shared(&self, variable: usize) -> bool {
        self.locals.first().is_none_or(|&first| variable < first)
    }
}

/// Replaces variables by their values.
pub fn replace(program: &mut Program) {
    let Some(main) = main(program) else { return };
    let numbers = Numbers::of(program);
    for _ in 0..ROUNDS {
        let arrays = Arrays::of(program, &numbers);
        let candidates = candidates(program, main, &numbers, &arrays);
        if candidates.is_empty() {
            return;
        }
        let order: HashMap<usize, usize> =
            candidates.keys().enumerate().map(|(index, &one)| (one, index)).collect();
        let written = written(program, main, &numbers, &order, &arrays);
        let mut changed = false;
        for (number, location) in program.locations.iter_mut().enumerate() {
            let here = location.procedure;
            let known = |expr: &Expr| {
                let variable = numbers.expr(here, expr)?;
                contains(&written[number], *order.get(&variable)?).then(|| candidates[&variable])
            };
            location.edges.iter_mut().for_each(|edge| changed |= rewrite(&mut edge.op, &known));
        }
        if !changed {
            return;
        }
    }
}

/// The body of `main`, if no other thread and no call runs it.
fn main(program: &Program) -> Option<ProcedureId> {
    let main = program.templates.iter().find(|template| template.name == "main" && !template.spawned)?;
    Some(main.body)
}

/// Variables that are written once, with a constant, shared ones by a step of `main`; and that constant.
fn candidates(
    program: &Program,
    main: ProcedureId,
    numbers: &Numbers,
    arrays: &Arrays,
) -> BTreeMap<usize, Value> {
    let mut written: BTreeMap<usize, Option<Value>> = BTreeMap::new();
    for (procedure, first) in program.procedures.iter().zip(&numbers.locals) {
        let parameters = procedure.locals.iter().take(procedure.parameters);
        written.extend(parameters.map(|parameter| (first + parameter.slot, None)));
    }
    for location in &program.locations {
        for edge in &location.edges {
            let values: &[Expr] = match &edge.op {
                Op::Assign(_, values, None) => values,
                _ => &[],
            };
            for (number, place) in edge.op.places().iter().enumerate() {
                let Some(variable) = numbers.target(location.procedure, &place.target) else { continue };
                let fits = !numbers.is_shared(variable) || location.procedure == main;
                let value = match values.get(number) {
                    Some(Expr::Constant(value)) if fits && !written.contains_key(&variable) => Some(*value),
                    _ => None,
                };
                written.insert(variable, value);
            }
        }
    }
    let constant = |(variable, value): (usize, Option<Value>)| {
        Some((variable, value.filter(|_| !arrays.contain(variable))?))
    };
    written.into_iter().filter_map(constant).collect()
}

/// Ranges of variables that are written as elements of arrays.
struct Arrays(BTreeSet<(usize, usize)>);

impl Arrays {
    fn of(program: &Program, numbers: &Numbers) -> Arrays {
        let mut ranges = BTreeSet::new();
        for location in &program.locations {
            for place in location.edges.iter().flat_map(|edge| edge.op.places()) {
                match &place.target {
                    Target::SharedElement(first, length, _) => _ = ranges.insert((*first, *length)),
                    Target::LocalElement(first, length, _) => {
                        ranges.insert((numbers.locals[location.procedure.index()] + first, *length));
                    }
                    _ => {}
                }
            }
        }
        Arrays(ranges)
    }

    fn contain(&self, variable: usize) -> bool {
        self.0.iter().any(|&(first, length)| (first..first + length).contains(&variable))
    }
}

fn contains(set: &Set, index: usize) -> bool {
    set[index / 64] >> (index % 64) & 1 == 1
}

/// Which candidates have been written for certain at each location.
fn written(
    program: &Program,
    main: ProcedureId,
    numbers: &Numbers,
    order: &HashMap<usize, usize>,
    arrays: &Arrays,
) -> Vec<Set> {
    let none: Set = vec![0; order.len().div_ceil(64)];
    let mut shared = none.clone();
    for (_, &index) in order.iter().filter(|(variable, _)| numbers.is_shared(**variable)) {
        shared[index / 64] |= 1 << (index % 64);
    }
    let all: Set = vec![u64::MAX; none.len()];
    // Everything at first; what is not certain is taken away until nothing changes.
    let mut at = vec![all; program.locations.len()];
    let mut created: HashMap<Slot, Vec<LocationId>> = HashMap::new();
    let mut late: BTreeSet<ProcedureId> = BTreeSet::new();
    for template in TemplateId::all(&program.templates) {
        let Template { body, spawned, count, .. } = program.templates[template];
        if let Some(slot) = waits_for(program, template, arrays) {
            created.entry(slot).or_default().push(entry(program, template));
            late.insert(body);
        } else if spawned && count == Count::Fixed(0) {
            late.insert(body);
        }
    }
    for (number, procedure) in program.procedures.iter().enumerate() {
        // Nothing is known where a thread starts by itself.
        if ProcedureId(number) == main || !late.contains(&ProcedureId(number)) {
            at[procedure.entry.index()] = none.clone();
        }
    }
    let mut todo: Vec<LocationId> = LocationId::all(&program.locations).collect();
    while let Some(here) = todo.pop() {
        for edge in &program.locations[here].edges {
            let mut after = at[here.index()].clone();
            let mut started: Vec<LocationId> = Vec::new();
            for place in edge.op.places() {
                let Some(variable) = numbers.target(program.locations[here].procedure, &place.target) else {
                    continue;
                };
                if let Some(index) = order.get(&variable) {
                    after[index / 64] |= 1 << (index % 64);
                }
                // The step with which a thread starts takes its creation back.
                started.extend(created.get(&variable).into_iter().flatten().filter(|&&entry| entry != here));
            }
            if let Op::Spawn(template, _) = edge.op {
                started.push(entry(program, template));
            }
            // Another thread has local variables of its own.
            let others: Set = after.iter().zip(&shared).map(|(after, shared)| after & shared).collect();
            let others = started.into_iter().map(|entry| (entry, &others));
            for (to, known) in others.chain([(edge.to, &after)]) {
                let old = &mut at[to.index()];
                let fewer: Set = old.iter().zip(known).map(|(old, known)| old & known).collect();
                if *old != fewer {
                    *old = fewer;
                    todo.push(to);
                }
            }
        }
    }
    at
}

fn entry(program: &Program, template: TemplateId) -> LocationId {
    program.procedures[program.templates[template].body].entry
}

/// The variable that says how often a thread has been created, if its threads wait for that at their start.
fn waits_for(program: &Program, template: TemplateId, arrays: &Arrays) -> Option<Slot> {
    let [edge] = &program.locations[entry(program, template)].edges[..] else { return None };
    let Op::Assign(places, _, Some(Expr::Binary(Binary::Greater, left, right, _))) = &edge.op else {
        return None;
    };
    let ([Place { target: Target::Shared(slot), .. }], Expr::Shared(waited), Expr::Constant(0)) =
        (&places[..], &**left, &**right)
    else {
        return None;
    };
    let variable =
        program.shared.iter().find(|variable| variable.slot == *slot && variable.length.is_none())?;
    (slot == waited && variable.initial == [Some(0)] && !arrays.contain(*slot)).then_some(*slot)
}

/// Replaces variables in a step; says whether it did.
fn rewrite(op: &mut Op, known: &dyn Fn(&Expr) -> Option<Value>) -> bool {
    let mut changed = false;
    let mut each = |expr: &mut Expr| changed |= substitute(expr, known);
    match op {
        Op::Assign(_, values, constraint) => values.iter_mut().chain(constraint).for_each(&mut each),
        Op::Call(_, values, _) | Op::Return(values) | Op::Spawn(_, values) => {
            values.iter_mut().for_each(&mut each)
        }
        Op::Guard(expr, _) | Op::Assert(expr) => each(expr),
        Op::Acquire(lock) | Op::Release(lock) => lock.element.iter_mut().for_each(|(_, index)| each(index)),
        _ => {}
    }
    if let Op::Assign(places, ..) | Op::Call(_, _, places) = op {
        for place in places {
            if let Target::SharedElement(first, length, index) = &mut place.target {
                changed |= substitute(index, known);
                if let Some(slot) = element(index, *length) {
                    place.target = Target::Shared(*first + slot);
                    changed = true;
                }
            } else if let Target::LocalElement(_, _, index) = &mut place.target {
                changed |= substitute(index, known);
            }
        }
    }
    changed
}

/// Gives places that have become variables the types of these.
pub fn retype(program: &mut Program) {
    let shared = &program.shared;
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        let (Op::Assign(places, ..) | Op::Call(_, _, places)) = &mut edge.op else { continue };
        for place in places {
            if let Target::Shared(slot) = place.target {
                let after = shared.partition_point(|variable| variable.slot <= slot);
                place.ty = shared[after - 1].ty;
            }
        }
    }
}

/// An index that is known and lies within an array.
fn element(index: &Expr, length: usize) -> Option<usize> {
    let Expr::Constant(value) = index else { return None };
    usize::try_from(*value).ok().filter(|&index| index < length)
}

/// Replaces variables in an expression, and computes what is known then.
fn substitute(expr: &mut Expr, known: &dyn Fn(&Expr) -> Option<Value>) -> bool {
    let changed = match expr {
        Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => {
            substitute(part, known)
        }
        Expr::Binary(_, left, right, _) => substitute(left, known) | substitute(right, known),
        Expr::If(condition, then, other) => {
            substitute(condition, known) | substitute(then, known) | substitute(other, known)
        }
        _ => false,
    };
    let simpler = match &*expr {
        Expr::Shared(_) | Expr::Local(_) => known(expr).map(Expr::Constant),
        Expr::SharedElement(first, length, index, _) => {
            element(index, *length).map(|index| Expr::Shared(first + index))
        }
        Expr::Unary(Unary::Not, part) => match **part {
            Expr::Constant(value) => Some(Expr::Constant(Value::from(value == 0))),
            _ => None,
        },
        Expr::If(condition, then, other) => match **condition {
            Expr::Constant(value) => Some(if value != 0 { (**then).clone() } else { (**other).clone() }),
            _ => None,
        },
        Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => match **left {
            Expr::Constant(value) if (value != 0) == (*operator == Binary::And) => Some((**right).clone()),
            Expr::Constant(_) => Some(Expr::Constant(Value::from(*operator == Binary::Or))),
            _ => None,
        },
        Expr::Binary(operator, left, right, _) => match (&**left, &**right) {
            (Expr::Constant(left), Expr::Constant(right)) => {
                apply(*operator, *left, *right, Span::default()).ok().map(Expr::Constant)
            }
            _ => None,
        },
        _ => None,
    };
    let Some(simpler) = simpler else { return changed };
    *expr = simpler;
    true
}
