//! Fewer values where any value will do.
//!
//! A program that gets any `int` has 2^32 ways to go on, but if all that ever happens to the value is that it is copied and
//! compared with constants, then values on the same side of all these constants behave alike. Variables between which
//! values are copied form a group, together with the constants that values of the group are compared with. Invariant: two
//! states that differ only in values of a group that compare alike with all its constants have steps to states that differ
//! only so, and go wrong alike. So of the values that may be chosen, those from one below the least constant to one above
//! the greatest suffice. A group of which a value is used in any other way (in a sum, as an index, in a comparison of two
//! variables) is left alone.
//!
//! A choice that stays wide is left as it is: explicit search tries a few of its values, which may find a bug, and symbolic
//! methods take it as it is.

use allways_model::program::{Binary, Expr, Op, Place, ProcedureId, Program, Slot, Target, Unary, Value};

/// A choice is narrowed if so many values remain at most.
const MOST_VALUES: u64 = 1 << 12;

/// Groups of variables.
struct Groups {
    parent: Vec<usize>,
    /// The least and the greatest constant that values are compared with.
    constants: Vec<Option<(Value, Value)>>,
    spoiled: Vec<bool>,
    /// Where the local variables of each procedure start, and where its results do.
    locals: Vec<usize>,
    results: Vec<usize>,
}

/// What the value of an expression is, if nothing is computed.
#[derive(Default)]
struct Sources {
    groups: Vec<usize>,
    choices: usize,
    constants: Vec<Value>,
    /// Whether it is computed after all.
    computed: bool,
}

/// Narrows the choices of a program.
pub fn narrow(program: &mut Program) {
    let mut groups = Groups::new(program);
    for location in &program.locations {
        for edge in &location.edges {
            groups.step(program, location.procedure, &edge.op);
        }
    }
    for number in 0..program.locations.len() {
        let procedure = program.locations[number].procedure;
        for edge in 0..program.locations[number].edges.len() {
            let mut op = program.locations[number].edges[edge].op.clone();
            compared(&mut op);
            program.locations[number].edges[edge].op = groups.narrowed(op, procedure, program);
        }
    }
}

/// Calls a function with all expressions of a step, parts first.
fn each_expr(op: &mut Op, see: &mut dyn FnMut(&mut Expr)) {
    let (places, values): (&mut [Place], &mut [Expr]) = match op {
        Op::Assign(places, values, constraint) => {
            constraint.iter_mut().for_each(|expr| each_part(expr, see));
            (places, values)
        }
        Op::Call(_, values, places) => (places, values),
        Op::Return(values) | Op::Spawn(_, values) => (&mut [], values),
        Op::Guard(expr, _) | Op::Assert(expr) => (&mut [], std::slice::from_mut(expr)),
        _ => (&mut [], &mut []),
    };
    values.iter_mut().for_each(|expr| each_part(expr, see));
    for place in places {
        if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &mut place.target {
            each_part(index, see);
        }
    }
}

fn each_part(expr: &mut Expr, see: &mut dyn FnMut(&mut Expr)) {
    match expr {
        Expr::SharedElement(_, _, part, _) | Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => {
            each_part(part, see);
        }
        Expr::Binary(_, left, right, _) => {
            each_part(left, see);
            each_part(right, see);
        }
        Expr::If(condition, then, other) => {
            each_part(condition, see);
            each_part(then, see);
            each_part(other, see);
        }
        _ => {}
    }
    see(expr);
}

/// Narrows choices that are compared at once with a constant, or brought into a range.
fn compared(op: &mut Op) {
    each_expr(op, &mut |expr| {
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

impl Groups {
    fn new(program: &Program) -> Groups {
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
        Groups {
            parent: (0..next).collect(),
            constants: vec![None; next],
            spoiled: vec![false; next],
            locals,
            results,
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
        self.constants[left] = match (self.constants[left], self.constants[right]) {
            (Some((low, high)), Some((least, most))) => Some((low.min(least), high.max(most))),
            (left, right) => left.or(right),
        };
    }

    fn spoil(&mut self, group: usize) {
        let group = self.find(group);
        self.spoiled[group] = true;
    }

    fn compare(&mut self, group: usize, constant: Value) {
        let group = self.find(group);
        let (low, high) = self.constants[group].unwrap_or((constant, constant));
        self.constants[group] = Some((low.min(constant), high.max(constant)));
    }

    /// The group of some slots, which are taken for one.
    fn slots(&mut self, first: usize, length: usize) -> usize {
        (first..first + length).for_each(|slot| self.join(first, slot));
        first
    }

    fn step(&mut self, program: &Program, here: ProcedureId, op: &Op) {
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
                self.pass(program, here, *callee, arguments);
                for (number, place) in places.iter().enumerate() {
                    let to = self.place(here, &place.target);
                    self.join(self.results[callee.index()] + number, to);
                }
            }
            Op::Spawn(template, arguments) => {
                self.pass(program, here, program.templates[*template].body, arguments);
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
            | Op::Broadcast(_) => {}
        }
    }

    fn pass(&mut self, program: &Program, here: ProcedureId, callee: ProcedureId, arguments: &[Expr]) {
        for (parameter, argument) in program.procedures[callee].locals.iter().zip(arguments) {
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
    }

    /// What the value of an expression is a copy of. Whatever is used on the way is noted.
    fn sources(&mut self, here: ProcedureId, expr: &Expr) -> Sources {
        let group =
            |groups: &mut Self, group| Sources { groups: vec![groups.find(group)], ..Sources::default() };
        match expr {
            Expr::Constant(value) => Sources { constants: vec![*value], ..Sources::default() },
            Expr::Choose(..) => Sources { choices: 1, ..Sources::default() },
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
                sources.choices += other.choices;
                sources.constants.extend(other.constants);
                sources.computed |= other.computed;
                sources
            }
            _ => {
                self.used(here, expr);
                Sources { computed: true, ..Sources::default() }
            }
        }
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
                for (one, other) in [(&left, &right), (&right, &left)] {
                    let known = compares(*operator)
                        && !other.computed
                        && other.groups.is_empty()
                        && other.choices == 0;
                    for &group in &one.groups {
                        if known {
                            other.constants.iter().for_each(|&constant| self.compare(group, constant));
                        } else {
                            self.spoil(group);
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
            _ => self.computed(here, expr),
        }
    }

    fn narrowed(&mut self, op: Op, here: ProcedureId, program: &Program) -> Op {
        match op {
            Op::Assign(places, values, constraint) => {
                let values = places
                    .iter()
                    .zip(values)
                    .map(|(place, value)| {
                        let group = self.group_of(here, &place.target);
                        self.narrow(value, group)
                    })
                    .collect();
                Op::Assign(places, values, constraint)
            }
            Op::Call(callee, arguments, places) => {
                Op::Call(callee, self.passed(program, callee, arguments), places)
            }
            Op::Spawn(template, arguments) => {
                let body = program.templates[template].body;
                Op::Spawn(template, self.passed(program, body, arguments))
            }
            Op::Return(values) => {
                let numbered = values.into_iter().enumerate();
                Op::Return(
                    numbered
                        .map(|(number, value)| self.narrow(value, self.results[here.index()] + number))
                        .collect(),
                )
            }
            op => op,
        }
    }

    fn passed(&mut self, program: &Program, callee: ProcedureId, arguments: Vec<Expr>) -> Vec<Expr> {
        let parameters = program.procedures[callee].locals.iter().map(|parameter| parameter.slot);
        let both: Vec<(Slot, Expr)> = parameters.zip(arguments).collect();
        both.into_iter().map(|(slot, value)| self.narrow(value, self.locals[callee.index()] + slot)).collect()
    }

    fn group_of(&self, here: ProcedureId, target: &Target) -> usize {
        match target {
            Target::Shared(slot) | Target::SharedElement(slot, ..) => *slot,
            Target::Local(slot) | Target::Others(slot) | Target::LocalElement(slot, ..) => {
                self.local(here, *slot)
            }
        }
    }

    /// Narrows the choices that a value of a group is a copy of.
    fn narrow(&mut self, value: Expr, group: usize) -> Expr {
        let group = self.find(group);
        if self.spoiled[group] {
            return value;
        }
        match value {
            Expr::Choose(low, high) => {
                let (least, most) = match self.constants[group] {
                    Some((least, most)) => (least.saturating_sub(1), most.saturating_add(1)),
                    // Nobody looks.
                    None => (0, 0),
                };
                let (least, most) = (least.clamp(low, high), most.clamp(low, high));
                if most.abs_diff(least) < MOST_VALUES {
                    Expr::Choose(least, most)
                } else {
                    Expr::Choose(low, high)
                }
            }
            Expr::If(condition, then, other) => {
                Expr::If(condition, Box::new(self.narrow(*then, group)), Box::new(self.narrow(*other, group)))
            }
            value => value,
        }
    }
}

fn compares(operator: Binary) -> bool {
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
