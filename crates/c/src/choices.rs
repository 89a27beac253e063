//! Fewer values where any value will do.
//!
//! A program that gets any `int` has 2^32 ways to go on, but if all that ever happens to the value is that it is copied and
//! compared with constants and with other such values for equality, then most values behave alike. Variables between which
//! values are copied or compared form a group, together with the constants that values of the group are compared with;
//! [`crate::domains`] says which values suffice, and why. A group of which a value is used in any other way (in a sum, as an
//! index, in a comparison of two variables by order) is left alone.
//!
//! A choice that stays wide is left as it is: explicit search tries a few of its values, which may find a bug, and symbolic
//! methods take it as it is.

use crate::concurrent::Concurrent;
use crate::domains::{Comparisons, MOST_VALUES, chosen};
use allways_model::program::expression::OPEN;
use allways_model::program::reduction;
use allways_model::program::{
    Binary, Count, Expr, LocationId, Machine, Op, Place, ProcedureId, Program, Slot, Target, Unary, Value,
};
use std::collections::HashMap;

/// Groups of variables.
struct Groups<'p> {
    program: &'p Program,
    parent: Vec<usize>,
    /// What values are compared with.
    compared: Vec<Comparisons>,
    spoiled: Vec<bool>,
    /// How many values of a group there may be in a state and in the choices of a step, where somebody asked.
    most: Option<Vec<Option<usize>>>,
    /// Where the local variables of each procedure start, and where its results do.
    locals: Vec<usize>,
    results: Vec<usize>,
}

/// What the value of an expression is, if nothing is computed.
#[derive(Default)]
struct Sources {
    groups: Vec<usize>,
    choices: Vec<(Value, Value)>,
    constants: Vec<Value>,
    /// Whether it is computed after all.
    computed: bool,
}

/// Narrows the choices of a program.
pub fn narrow(program: &mut Program) {
    narrow_where(program, &|_| false);
}

/// Narrows the choices of a program of which only proofs are asked: while `main` is alone, the values that it chooses are also
/// those that nobody holds yet in the order of their numbers.
pub fn narrow_up_to_renaming(program: &mut Program) {
    let concurrent = Concurrent::of(program);
    narrow_where(program, &|location| concurrent.is_alone(location));
}

fn narrow_where(program: &mut Program, alone: &dyn Fn(LocationId) -> bool) {
    let mut groups = Groups::of(program);
    let mut narrowed: Vec<Vec<Op>> = Vec::with_capacity(program.locations.len());
    let live = reduction::live(program);
    for (number, location) in LocationId::each(&program.locations) {
        let ops = location.edges.iter().map(|edge| {
            let mut op = edge.op.clone();
            narrow_at_once(&mut op);
            let known = alone(number).then(|| &live[edge.to.index()][..]).filter(|_| choices(&op) == 1);
            groups.narrowed(op, location.procedure, known)
        });
        narrowed.push(ops.collect());
    }
    for (location, ops) in program.locations.iter_mut().zip(narrowed) {
        location.edges.iter_mut().zip(ops).for_each(|(edge, op)| edge.op = op);
    }
}

/// How many choices a step has.
fn choices(op: &Op) -> usize {
    let mut found = 0;
    op.expressions()
        .for_each(|expr| expr.visit(&mut |part| found += usize::from(matches!(part, Expr::Choose(..)))));
    found
}

/// Whether all choices of a program are of values that can be listed.
pub fn are_few(program: &Program) -> bool {
    let mut few = true;
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    for expr in edges.flat_map(|edge| edge.op.expressions()) {
        expr.visit(&mut |part| {
            few &= !matches!(part, Expr::Choose(low, high) if high.abs_diff(*low) >= MOST_VALUES as u64)
        });
    }
    few
}

/// Narrows choices that are compared at once with a constant, or brought into a range.
fn narrow_at_once(op: &mut Op) {
    op.rewrite(&mut |expr| {
        if let Some((low, high)) = brought_into(expr) {
            *expr = Expr::Choose(low, high);
        }
        let Expr::Binary(operator, left, right, _) = expr else { return };
        if !compares(*operator) {
            return;
        }
        if let (Expr::Choose(low, high), Expr::Constant(value))
        | (Expr::Constant(value), Expr::Choose(low, high)) = (&mut **left, &mut **right)
        {
            let (least, most) = (value.saturating_sub(1), value.saturating_add(1));
            (*low, *high) = (least.clamp(*low, *high), most.clamp(*low, *high));
        }
    });
}

/// All values of an expression that brings any number into a range, if these are all numbers of the range.
fn brought_into(expr: &Expr) -> Option<(Value, Value)> {
    match expr {
        Expr::Unary(Unary::Wrap(machine), part) => {
            let Expr::Choose(low, high) = **part else { return None };
            let (least, most) = machine.bounds();
            let (least, most) = (Value::try_from(least).ok()?, Value::try_from(most).ok()?);
            (high.abs_diff(low) >= most.abs_diff(least)).then_some((least, most))
        }
        Expr::Binary(Binary::Remainder, left, right, _) => {
            let (Expr::Choose(low, high), Expr::Constant(by)) = (&**left, &**right) else { return None };
            let most = by.checked_sub(1).filter(|&most| most >= 0)?;
            match (*low <= -most, *low >= 0, *high >= most) {
                (true, _, true) => Some((-most, most)),
                (_, true, true) if high.abs_diff(*low) >= most.unsigned_abs() => Some((0, most)),
                _ => None,
            }
        }
        _ => None,
    }
}

impl<'p> Groups<'p> {
    /// The groups of a program, once all its steps are looked at.
    fn of(program: &'p Program) -> Groups<'p> {
        let mut next = program.shared_slots();
        let mut starts = |lengths: Vec<usize>| {
            let mut starts = Vec::new();
            for length in lengths {
                starts.push(next);
                next += length;
            }
            starts
        };
        let locals = starts(program.procedures.iter().map(|procedure| procedure.slots()).collect());
        let results = starts(program.procedures.iter().map(|procedure| procedure.results.len()).collect());
        let mut groups = Groups {
            program,
            parent: (0..next).collect(),
            compared: vec![Comparisons::default(); next],
            spoiled: vec![false; next],
            most: None,
            locals,
            results,
        };
        for location in &program.locations {
            location.edges.iter().for_each(|edge| groups.step(location.procedure, &edge.op));
        }
        groups.start();
        groups
    }

    /// The initial values. A variable that starts with any value is like one whose value is computed.
    fn start(&mut self) {
        let program = self.program;
        let shared = program.shared.iter().map(|variable| (0, variable));
        let locals = program.procedures.iter().zip(self.locals.clone());
        let locals = locals.flat_map(|(procedure, first)| {
            procedure.locals.iter().skip(procedure.parameters).map(move |local| (first, local))
        });
        for (first, variable) in shared.chain(locals) {
            for (slot, initial) in (first + variable.slot..).zip(&variable.initial) {
                let group = self.find(slot);
                match initial {
                    Some(value) => _ = self.compared[group].stored.insert(*value),
                    None => self.compared[group].computed = true,
                }
            }
        }
    }

    fn find(&mut self, mut group: usize) -> usize {
        while self.parent[group] != group {
            self.parent[group] = self.parent[self.parent[group]];
            group = self.parent[group];
        }
        group
    }

    fn join(&mut self, left: usize, right: usize) {
        let (left, right) = (self.find(left), self.find(right));
        if left == right {
            return;
        }
        self.parent[right] = left;
        self.spoiled[left] |= self.spoiled[right];
        let joined = std::mem::take(&mut self.compared[right]);
        self.compared[left].join(joined);
    }

    fn spoil(&mut self, group: usize) {
        let group = self.find(group);
        self.spoiled[group] = true;
    }

    /// What values of a group are compared with.
    fn compared(&mut self, group: usize) -> &mut Comparisons {
        let group = self.find(group);
        &mut self.compared[group]
    }

    /// The group of some slots, which are taken for one.
    fn slots(&mut self, first: usize, length: usize) -> usize {
        (first..first + length).for_each(|slot| self.join(first, slot));
        first
    }

    fn step(&mut self, here: ProcedureId, op: &Op) {
        match op {
            Op::Assign(places, values, constraint) => {
                for (place, value) in places.iter().zip(values) {
                    let to = self.place(here, &place.target);
                    self.flow(here, value, to);
                }
                constraint.iter().for_each(|constraint| self.used(here, constraint));
            }
            Op::Guard(expr, _) | Op::Assert(expr) => self.used(here, expr),
            Op::Call(callee, arguments, places) => {
                self.pass(here, *callee, arguments);
                for (number, place) in places.iter().enumerate() {
                    let to = self.place(here, &place.target);
                    self.join(self.results[callee.index()] + number, to);
                }
            }
            Op::Spawn(template, arguments) => {
                self.pass(here, self.program.templates[*template].body, arguments);
            }
            Op::Return(results) => {
                for (number, value) in results.iter().enumerate() {
                    self.flow(here, value, self.results[here.index()] + number);
                }
            }
            Op::Acquire(lock) | Op::Release(lock) => {
                lock.element.iter().for_each(|(_, index)| self.computed(here, index));
            }
            Op::Skip
            | Op::Error
            | Op::NoResult
            | Op::Beyond
            | Op::AtomicBegin
            | Op::AtomicEnd
            | Op::Fork(_)
            | Op::Wait(_)
            | Op::Broadcast(_)
            | Op::Signal(_) => {}
        }
    }

    fn pass(&mut self, here: ProcedureId, callee: ProcedureId, arguments: &[Expr]) {
        for (parameter, argument) in self.program.procedures[callee].locals.iter().zip(arguments) {
            self.flow(here, argument, self.locals[callee.index()] + parameter.slot);
        }
    }

    fn place(&mut self, here: ProcedureId, target: &Target) -> usize {
        match target {
            Target::Shared(slot) => *slot,
            Target::Local(slot) | Target::Others(slot) => self.local(here, *slot),
            Target::SharedElement(slot, length, index) => {
                self.computed(here, index);
                self.slots(*slot, *length)
            }
            Target::LocalElement(slot, length, index) => {
                self.computed(here, index);
                let first = self.local(here, *slot);
                self.slots(first, *length)
            }
        }
    }

    fn local(&self, here: ProcedureId, slot: Slot) -> usize {
        self.locals[here.index()] + slot
    }

    /// A value is stored in a variable of a group.
    fn flow(&mut self, here: ProcedureId, value: &Expr, to: usize) {
        let sources = self.sources(here, value);
        for group in sources.groups {
            self.join(to, group);
        }
        let to = self.compared(to);
        to.stored.extend(sources.constants);
        to.choices.extend(sources.choices);
        to.computed |= sources.computed;
    }

    /// What the value of an expression is a copy of. Whatever is used on the way is noted.
    fn sources(&mut self, here: ProcedureId, expr: &Expr) -> Sources {
        let group =
            |groups: &mut Self, group| Sources { groups: vec![groups.find(group)], ..Sources::default() };
        match expr {
            Expr::Constant(value) => Sources { constants: vec![*value], ..Sources::default() },
            Expr::Choose(low, high) => Sources { choices: vec![(*low, *high)], ..Sources::default() },
            Expr::Shared(slot) | Expr::NextShared(slot) => group(self, *slot),
            Expr::Local(slot) | Expr::NextLocal(slot) => {
                let slot = self.local(here, *slot);
                group(self, slot)
            }
            Expr::SharedElement(slot, length, index, _) => {
                self.computed(here, index);
                let first = self.slots(*slot, *length);
                group(self, first)
            }
            Expr::LocalElement(slot, length, index, _) => {
                self.computed(here, index);
                let first = self.local(here, *slot);
                let first = self.slots(first, *length);
                group(self, first)
            }
            Expr::If(condition, then, other) => {
                self.used(here, condition);
                let mut sources = self.sources(here, then);
                let other = self.sources(here, other);
                sources.groups.extend(other.groups);
                sources.choices.extend(other.choices);
                sources.constants.extend(other.constants);
                sources.computed |= other.computed;
                sources
            }
            // The value of the second operand, unless the first decides.
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                self.used(here, left);
                let mut sources = self.sources(here, right);
                sources.constants.push(Value::from(*operator == Binary::Or));
                sources
            }
            // A conversion to a type that has all the values.
            Expr::Unary(Unary::Wrap(machine), part) if self.fits(here, part, *machine) => {
                self.sources(here, part)
            }
            _ => {
                self.used(here, expr);
                let truth = match expr {
                    Expr::Unary(Unary::Not, _) => true,
                    Expr::Binary(operator, ..) => compares(*operator),
                    _ => false,
                };
                match truth {
                    true => Sources { constants: vec![0, 1], ..Sources::default() },
                    false => Sources { computed: true, ..Sources::default() },
                }
            }
        }
    }

    /// Whether all values of a variable are numbers of a machine.
    fn fits(&self, here: ProcedureId, expr: &Expr, machine: Machine) -> bool {
        let variables = match expr {
            Expr::Shared(_) | Expr::SharedElement(..) => &self.program.shared,
            Expr::Local(_) | Expr::LocalElement(..) => &self.program.procedures[here].locals,
            _ => return false,
        };
        let (Expr::Shared(slot)
        | Expr::Local(slot)
        | Expr::SharedElement(slot, ..)
        | Expr::LocalElement(slot, ..)) = expr
        else {
            return false;
        };
        let length = match expr {
            Expr::SharedElement(_, length, ..) | Expr::LocalElement(_, length, ..) => *length,
            _ => 1,
        };
        let first = variables.partition_point(|variable| variable.slot + variable.slots() <= *slot);
        let (low, high) = machine.bounds();
        variables[first..].iter().take_while(|variable| variable.slot < slot + length).all(|variable| {
            let bounds = variable.ty.bounds();
            bounds.is_some_and(|(least, most)| low <= i128::from(least) && i128::from(most) <= high)
        })
    }

    /// An expression whose value itself matters: none of its parts may be narrowed.
    fn computed(&mut self, here: ProcedureId, expr: &Expr) {
        let sources = self.sources(here, expr);
        for group in sources.groups {
            self.spoil(group);
        }
    }

    /// An expression that is evaluated, and whose value is a truth value or computed.
    fn used(&mut self, here: ProcedureId, expr: &Expr) {
        match expr {
            Expr::Unary(Unary::Not, part) => self.used(here, part),
            Expr::Unary(_, part) => self.computed(here, part),
            Expr::Binary(Binary::And | Binary::Or, left, right, _) => {
                self.used(here, left);
                self.used(here, right);
            }
            Expr::Binary(operator, left, right, _) => {
                let (left, right) = (self.sources(here, left), self.sources(here, right));
                let plain = |sources: &Sources| !sources.computed && sources.choices.is_empty();
                let equality = matches!(operator, Binary::Equal | Binary::Unequal);
                let both = !left.groups.is_empty() && !right.groups.is_empty();
                if both && equality && plain(&left) && plain(&right) {
                    self.compare_all(&left, &right);
                    return;
                }
                for (one, other) in [(&left, &right), (&right, &left)] {
                    for &group in &one.groups {
                        if !(compares(*operator) && plain(other) && other.groups.is_empty()) {
                            self.spoil(group);
                        } else if equality {
                            self.compared(group).equal.extend(&other.constants);
                        } else {
                            self.compared(group).ordered.extend(&other.constants);
                        }
                    }
                }
            }
            Expr::If(condition, then, other) => {
                self.used(here, condition);
                self.used(here, then);
                self.used(here, other);
            }
            Expr::Constant(_) | Expr::Choose(..) => {}
            // A variable that is a truth value.
            _ => {
                for group in self.sources(here, expr).groups {
                    self.compared(group).equal.insert(0);
                }
            }
        }
    }

    /// Values of variables are compared with each other, for equality.
    fn compare_all(&mut self, left: &Sources, right: &Sources) {
        let Some(&first) = left.groups.first() else { return };
        left.groups.iter().chain(&right.groups).for_each(|&group| self.join(first, group));
        let compared = self.compared(first);
        compared.among = true;
        compared.stored.extend(left.constants.iter().chain(&right.constants));
    }

    /// The step with narrowed choices. If it is one of `main` while there is nobody else, `known` says which of its local
    /// variables are live afterwards.
    fn narrowed(&mut self, op: Op, here: ProcedureId, known: Option<&[bool]>) -> Op {
        match op {
            Op::Assign(places, values, constraint) => {
                let values = places
                    .iter()
                    .zip(values)
                    .map(|(place, value)| {
                        let group = self.group_of(here, &place.target);
                        let held = known.and_then(|live| self.held(here, group, &places, live));
                        self.narrow(value, group, held.as_deref())
                    })
                    .collect();
                Op::Assign(places, values, constraint)
            }
            Op::Call(callee, arguments, places) => Op::Call(callee, self.passed(callee, arguments), places),
            Op::Spawn(template, arguments) => {
                let body = self.program.templates[template].body;
                Op::Spawn(template, self.passed(body, arguments))
            }
            Op::Return(values) => {
                let numbered = values.into_iter().enumerate();
                Op::Return(
                    numbered
                        .map(|(number, value)| self.narrow(value, self.results[here.index()] + number, None))
                        .collect(),
                )
            }
            op => op,
        }
    }

    fn passed(&mut self, callee: ProcedureId, arguments: Vec<Expr>) -> Vec<Expr> {
        let parameters = self.program.procedures[callee].locals.iter().map(|parameter| parameter.slot);
        let both: Vec<(Slot, Expr)> = parameters.zip(arguments).collect();
        both.into_iter()
            .map(|(slot, value)| self.narrow(value, self.locals[callee.index()] + slot, None))
            .collect()
    }

    fn group_of(&self, here: ProcedureId, target: &Target) -> usize {
        match target {
            Target::Shared(slot) | Target::SharedElement(slot, ..) => *slot,
            Target::Local(slot) | Target::Others(slot) | Target::LocalElement(slot, ..) => {
                self.local(here, *slot)
            }
        }
    }

    /// The variables of a group that hold a value after a step which does not write them: the shared ones, and the local ones
    /// that are live then; nothing if one of them may have no value.
    fn held(
        &mut self,
        here: ProcedureId,
        group: usize,
        places: &[Place],
        live: &[bool],
    ) -> Option<Vec<Expr>> {
        let group = self.find(group);
        let program = self.program;
        let procedure = &program.procedures[here];
        let mut held = Vec::new();
        for variable in &program.shared {
            for (slot, initial) in (variable.slot..).zip(&variable.initial) {
                if self.find(slot) == group && !written(places, &Target::Shared(slot)) {
                    known(*initial)?;
                    held.push(Expr::Shared(slot));
                }
            }
        }
        for (number, variable) in procedure.locals.iter().enumerate() {
            for (slot, initial) in (variable.slot..).zip(&variable.initial) {
                let own = self.local(here, slot);
                if self.find(own) == group && live[slot] && !written(places, &Target::Local(slot)) {
                    known(*initial).filter(|_| number >= procedure.parameters)?;
                    held.push(Expr::Local(slot));
                }
            }
        }
        Some(held)
    }

    /// Narrows the choices that a value of a group is a copy of; `held` are the variables of the group whose values matter, if
    /// all of them are known.
    fn narrow(&mut self, value: Expr, group: usize, held: Option<&[Expr]>) -> Expr {
        let group = self.find(group);
        if self.spoiled[group] {
            return value;
        }
        match value {
            Expr::Choose(low, high) => {
                let many = if self.compared[group].among { self.most(group) } else { Some(1) };
                let compared = &self.compared[group];
                if let (true, Some(many), Some(held)) = (compared.among, many, held)
                    && let Some(chosen) = compared.chosen_anew(low, high, many, held)
                {
                    return chosen;
                }
                let values = many.and_then(|many| compared.suffice(low, high, many));
                values.map_or(Expr::Choose(low, high), |values| chosen(&values))
            }
            Expr::If(condition, then, other) => {
                let (then, other) = (self.narrow(*then, group, held), self.narrow(*other, group, held));
                Expr::If(condition, Box::new(then), Box::new(other))
            }
            value => value,
        }
    }

    /// How many values of a group there may be in a state and in the choices of a step; nothing if there is no bound.
    fn most(&mut self, group: usize) -> Option<usize> {
        if self.most.is_none() {
            self.most = Some(self.count());
        }
        self.most.as_ref()?[group]
    }

    fn count(&mut self) -> Vec<Option<usize>> {
        let program = self.program;
        let roots: Vec<usize> = (0..self.parent.len()).map(|slot| self.find(slot)).collect();
        let count = |compared: &Comparisons| (compared.among && !compared.computed).then_some(0);
        let mut most: Vec<Option<usize>> = self.compared.iter().map(count).collect();
        // A step chooses one value at most for each variable that it writes.
        let (mut most_choices, mut passed) = (vec![0; most.len()], 0);
        for location in &program.locations {
            for op in location.edges.iter().map(|edge| &edge.op) {
                let mut chosen: HashMap<usize, usize> = HashMap::new();
                match op {
                    Op::Assign(places, ..) => {
                        for place in places {
                            *chosen
                                .entry(roots[self.group_of(location.procedure, &place.target)])
                                .or_default() += 1;
                        }
                    }
                    Op::Call(_, values, _) | Op::Spawn(_, values) | Op::Return(values) => {
                        passed = passed.max(values.len());
                    }
                    _ => {}
                }
                for (group, choices) in chosen {
                    most_choices[group] = choices.max(most_choices[group]);
                }
            }
        }
        for (most, choices) in most.iter_mut().zip(most_choices) {
            *most = most.map(|most| most + choices.max(passed));
        }
        for &root in &roots[..program.shared_slots()] {
            most[root] = most[root].map(|most| most + 1);
        }
        let live = reduction::live(program);
        let mut together = vec![0; most.len()];
        for (number, procedure) in program.procedures.iter().enumerate() {
            let own = &roots[self.locals[number]..][..procedure.slots()];
            let mut largest: HashMap<usize, usize> = own.iter().map(|&root| (root, 0)).collect();
            let here = program.locations.iter().zip(&live);
            for (_, live) in here.filter(|(here, _)| here.procedure.index() == number) {
                let alive = || live.iter().zip(own).filter(|&(&live, _)| live).map(|(_, &root)| root);
                alive().for_each(|root| together[root] += 1);
                for root in alive() {
                    let count = std::mem::take(&mut together[root]);
                    largest.entry(root).and_modify(|largest| *largest = count.max(*largest));
                }
            }
            // Of procedures that are called there may be many activations.
            let body = program.templates.iter().find(|template| template.body.index() == number);
            let threads = match body.filter(|body| !body.spawned).map(|body| body.count) {
                Some(Count::Fixed(threads)) => Some(threads),
                Some(Count::Any) | None => None,
            };
            for (root, largest) in largest {
                most[root] = most[root].and_then(|most| Some(most + threads? * largest));
            }
        }
        most
    }
}

/// Whether a place is written for sure.
fn written(places: &[Place], target: &Target) -> bool {
    places.iter().any(|place| place.target == *target)
}

/// An initial value that is one.
fn known(initial: Option<Value>) -> Option<Value> {
    initial.filter(|&initial| initial != OPEN)
}

/// Whether an operator compares its operands.
pub fn compares(operator: Binary) -> bool {
    matches!(
        operator,
        Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
    )
}
