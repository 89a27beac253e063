//! Which variables hold numbers of threads, and which arrays have an element for each thread.
//!
//! Threads of one template that use `self` do different things, but where `self` only says whose element is meant, or who is
//! meant by a variable, they are interchangeable all the same: if thread 0 becomes thread 2 and thread 2 becomes thread 0, their
//! elements change places, and what said 0 says 2 (C. Norris Ip and David L. Dill, *Better verification through symmetry*, 1996).
//! Numbers may be shifted: where thread `i` has the node `i + 1`, and 0 is no node, 1 is the first number.
//!
//! What is found here is a guess that follows `self` through assignments, comparisons and indices. Whether renumbering threads
//! so turns steps into steps is another question, which is for who relies on it to ask.

use super::{Binary, Expr, Op, Place, Program, Slot, Target, TemplateId, Unary, Value, Variable};

/// Which numbers stand for threads of a template: as many as it has threads, from the first on. All others stand for themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Of {
    /// The template.
    pub template: TemplateId,
    /// The number of its first thread.
    pub first: Value,
}

/// What a variable has to do with numbers of threads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Held {
    /// Of an array, whether its elements belong to threads.
    pub index: Option<Of>,
    /// Whether its value, or that of each of its elements, may be the number of a thread.
    pub value: Option<Of>,
}

/// The same for each variable of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Numbers {
    /// For each shared variable.
    pub shared: Vec<Held>,
    /// For each procedure, for each of its local variables.
    pub locals: Vec<Vec<Held>>,
}

impl Numbers {
    /// Follows `self` through a program; nothing if it leads nowhere, or to different numbers for one variable.
    pub fn guess(program: &Program) -> Option<Numbers> {
        let none = |variables: &[Variable]| vec![Held::default(); variables.len()];
        let numbers = Numbers {
            shared: none(&program.shared),
            locals: program.procedures.iter().map(|procedure| none(&procedure.locals)).collect(),
        };
        let mut guess = Guess { program, numbers, procedure: 0, this: None, changed: true, clash: false };
        while guess.changed && !guess.clash {
            guess.changed = false;
            guess.all();
        }
        let found = |held: &Held| held.index.is_some() || held.value.is_some();
        let some = guess.numbers.shared.iter().chain(guess.numbers.locals.iter().flatten()).any(found);
        (some && !guess.clash).then_some(guess.numbers)
    }

    /// The variable to which a slot belongs.
    pub fn variable_at(variables: &[Variable], slot: Slot) -> usize {
        variables.partition_point(|variable| variable.slot <= slot) - 1
    }
}

impl Of {
    fn shifted(self, by: Value) -> Of {
        Of { first: self.first.wrapping_add(by), ..self }
    }
}

struct Guess<'a> {
    program: &'a Program,
    numbers: Numbers,
    /// Where the expression at hand is, and whose threads evaluate it.
    procedure: usize,
    this: Option<TemplateId>,
    changed: bool,
    clash: bool,
}

impl Guess<'_> {
    fn all(&mut self) {
        let program = self.program;
        for location in &program.locations {
            self.procedure = location.procedure.index();
            let body = |template: &TemplateId| program.templates[*template].body == location.procedure;
            self.this = TemplateId::all(&program.templates).find(body);
            for edge in &location.edges {
                self.step(&edge.op);
            }
        }
        self.this = None;
        for never in &program.never {
            self.value(&never.expr);
        }
    }

    fn step(&mut self, op: &Op) {
        if let Op::Assign(places, values, _) = op {
            for (place, value) in places.iter().zip(values) {
                let held = self.place(place);
                match self.value(value) {
                    Some(of) => self.store(place, of),
                    None => held.into_iter().for_each(|of| self.expect(value, of)),
                }
            }
        }
        for expr in op.expressions() {
            self.value(expr);
        }
        if let Op::Acquire(lock) | Op::Release(lock) = op
            && let Some((_, index)) = &lock.element
        {
            self.element(true, lock.slot, index);
        }
    }

    fn held(&mut self, shared: bool, slot: Slot) -> Option<&mut Held> {
        let (variables, held) = match shared {
            true => (&self.program.shared, &mut self.numbers.shared),
            false => (
                &self.program.procedures[self.procedure].locals,
                self.numbers.locals.get_mut(self.procedure)?,
            ),
        };
        held.get_mut(Numbers::variable_at(variables, slot))
    }

    fn get(&mut self, shared: bool, slot: Slot) -> Option<Of> {
        self.held(shared, slot)?.value
    }

    fn set(&mut self, shared: bool, slot: Slot, index: bool, of: Of) {
        let Some(held) = self.held(shared, slot) else { return };
        let known = if index { &mut held.index } else { &mut held.value };
        match known {
            None => {
                *known = Some(of);
                self.changed = true;
            }
            Some(known) => self.clash |= *known != of,
        }
    }

    /// An element of an array: what its index is, what it is expected to be, and what the element holds.
    fn element(&mut self, shared: bool, slot: Slot, index: &Expr) -> Option<Of> {
        match self.value(index) {
            Some(of) => self.set(shared, slot, true, of),
            None => {
                if let Some(of) = self.held(shared, slot).and_then(|held| held.index) {
                    self.expect(index, of);
                }
            }
        }
        self.get(shared, slot)
    }

    fn place(&mut self, place: &Place) -> Option<Of> {
        match &place.target {
            Target::Shared(slot) => self.get(true, *slot),
            Target::Local(slot) => self.get(false, *slot),
            Target::SharedElement(slot, _, index) => self.element(true, *slot, index),
            Target::LocalElement(slot, _, index) => self.element(false, *slot, index),
            Target::Others(_) => None,
        }
    }

    fn store(&mut self, place: &Place, of: Of) {
        match &place.target {
            Target::Shared(slot) | Target::SharedElement(slot, ..) => self.set(true, *slot, false, of),
            Target::Local(slot) | Target::LocalElement(slot, ..) => self.set(false, *slot, false, of),
            Target::Others(_) => self.clash = true,
        }
    }

    /// Whose numbers the value of an expression may be.
    fn value(&mut self, expr: &Expr) -> Option<Of> {
        match expr {
            Expr::This => self.this.map(|template| Of { template, first: 0 }),
            Expr::Shared(slot) | Expr::NextShared(slot) => self.get(true, *slot),
            Expr::Local(slot) | Expr::NextLocal(slot) => self.get(false, *slot),
            Expr::SharedElement(slot, _, index, _) => self.element(true, *slot, index),
            Expr::LocalElement(slot, _, index, _) => self.element(false, *slot, index),
            Expr::Unary(operator, part) => {
                let of = self.value(part);
                if matches!(operator, Unary::Wrap(_)) { of } else { None }
            }
            Expr::Binary(operator, left, right, _) => {
                let (one, other) = (self.value(left), self.value(right));
                match (operator, one, other, &**left, &**right) {
                    (Binary::Plus, Some(of), _, _, Expr::Constant(by)) => Some(of.shifted(*by)),
                    (Binary::Plus, _, Some(of), Expr::Constant(by), _) => Some(of.shifted(*by)),
                    (Binary::Minus, Some(of), _, _, Expr::Constant(by)) => {
                        Some(of.shifted(by.wrapping_neg()))
                    }
                    (Binary::Equal | Binary::Unequal, Some(of), None, _, right) => {
                        self.expect(right, of);
                        None
                    }
                    (Binary::Equal | Binary::Unequal, None, Some(of), left, _) => {
                        self.expect(left, of);
                        None
                    }
                    _ => None,
                }
            }
            Expr::If(condition, then, other) => {
                self.value(condition);
                let (one, two) = (self.value(then), self.value(other));
                match (one, two) {
                    (Some(of), None) => self.expect(other, of),
                    (None, Some(of)) => self.expect(then, of),
                    _ => {}
                }
                one.or(two)
            }
            Expr::Constant(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_)
            | Expr::Choose(..)
            | Expr::At(_) => None,
        }
    }

    /// What stands where a number is expected holds one.
    fn expect(&mut self, expr: &Expr, of: Of) {
        match expr {
            Expr::Shared(slot) | Expr::NextShared(slot) | Expr::SharedElement(slot, ..) => {
                self.set(true, *slot, false, of);
            }
            Expr::Local(slot) | Expr::NextLocal(slot) | Expr::LocalElement(slot, ..) => {
                self.set(false, *slot, false, of);
            }
            Expr::Unary(Unary::Wrap(_), part) => self.expect(part, of),
            Expr::If(_, then, other) => {
                self.expect(then, of);
                self.expect(other, of);
            }
            Expr::Binary(Binary::Plus, left, right, _) => match (&**left, &**right) {
                (part, Expr::Constant(by)) | (Expr::Constant(by), part) => {
                    self.expect(part, of.shifted(by.wrapping_neg()));
                }
                _ => {}
            },
            Expr::Binary(Binary::Minus, part, by, _) => {
                if let Expr::Constant(by) = **by {
                    self.expect(part, of.shifted(by));
                }
            }
            _ => {}
        }
    }
}
