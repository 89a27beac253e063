//! Broadcast assignments, `x$ := e` in a Boolean program, with any number of threads.
//!
//! With a known number of threads, variables that other threads write are kept among the shared values, and such an assignment
//! is one rule. With any number of threads nobody can keep them there: they stay in the cells of their threads, and the
//! assignment has a midst, [`Mode::Giving`]. The thread that assigns has moved on and stands aside, at [`Point::Given`]. Each
//! other thread of its template takes what it is given, by a rule of its own, and stands aside as well. Who stands aside may
//! end it, be it too early, and the others settle some time later. These rules allow more than the program, and all that it can
//! do. Who counts threads does better: at the end, all take what they are given
//! [at once](crate::pushdown::Pushdown::after_broadcast), and who can choose may have chosen before.
//!
//! What others are given may depend on variables of the thread that assigns, before and after its step. The mode carries the
//! values of those that are read, and whether that thread is inside of an atomic section.
//!
//! A section with such an assignment is no single rule either. In mode [`Mode::Within`] only the thread [inside](Point::Inside)
//! moves, step by step. If it cannot leave the section, nobody moves any more, and nothing comes of it.
//!
//! The thread that assigns is counted where it goes as soon as it has assigned, and in a section nowhere; properties are looked
//! at when the assignment is over, or the section.
//!
//! Invariant: the values in the mode are those that [`read`] lists and one more, and none of them is open.

use super::rules::Mover;
use super::table::{Cell, Key, Mode, Point};
use super::{Encoded, NoEncoding};
use crate::program::expression::{Choices, NoValue, Scope};
use crate::program::semantics::{self, Outcome};
use crate::program::{Binary, Edge, Expr, LocationId, Op, Program, Target, Value};
use crate::pushdown::{EMPTY, Rule, Shared, Symbol, Word};
use std::collections::{BTreeSet, HashSet};

/// Whether an edge writes variables of other threads, or asks for them.
pub(super) fn gives(op: &Op) -> bool {
    let Op::Assign(places, _, constraint) = op else { return false };
    places.iter().any(|place| matches!(place.target, Target::Others(_)))
        || constraint.as_ref().is_some_and(Expr::is_about_others)
}

/// Whether a thread that can move here may be kept from it in the program: by what other threads would have after an assignment,
/// or since it could not leave a section.
pub(super) fn may_be_kept(program: &Program) -> bool {
    let constrains =
        |op: &Op| matches!(op, Op::Assign(_, _, Some(constraint)) if constraint.is_about_others());
    let mut edges = program.locations.iter().flat_map(|location| &location.edges);
    edges.any(|edge| constrains(&edge.op)) || !sections(program).is_empty()
}

/// Why a program with variables that other threads write has no encoding with any number of threads, if it has none.
pub(super) fn refused(program: &Program) -> Option<NoEncoding> {
    let refuse = |what: &str, span| {
        let what = format!("any number of threads with variables that other threads write (x$) {what}");
        Some(NoEncoding { what, span })
    };
    let inside = sections(program);
    for (location, here) in LocationId::each(&program.locations) {
        if let Some(edge) = here.edges.iter().find(|edge| edge.op == Op::AtomicBegin)
            && inside.contains(&location)
        {
            return refuse("in a section inside of another", edge.span);
        }
        for edge in here.edges.iter().filter(|edge| gives(&edge.op)) {
            let mut plain = true;
            given(&edge.op, &mut |expr| {
                expr.visit(&mut |part| {
                    plain &= !matches!(part, Expr::This | Expr::SharedElement(..) | Expr::LocalElement(..));
                });
            });
            if !plain {
                return refuse("and that depend on more than plain variables", edge.span);
            }
        }
    }
    None
}

/// The locations inside of atomic sections that give values to other threads.
pub(super) fn sections(program: &Program) -> HashSet<LocationId> {
    let mut all = HashSet::new();
    for begin in program.locations.iter().flat_map(|location| &location.edges) {
        let mut inside = HashSet::new();
        let mut waiting = if begin.op == Op::AtomicBegin { vec![begin.to] } else { Vec::new() };
        while let Some(location) = waiting.pop() {
            if inside.insert(location) {
                let edges = program.locations[location].edges.iter();
                waiting.extend(edges.filter(|edge| edge.op != Op::AtomicEnd).map(|edge| edge.to));
            }
        }
        let edges = |location: &LocationId| program.locations[*location].edges.iter();
        if inside.iter().flat_map(edges).any(|edge| gives(&edge.op)) {
            all.extend(inside);
        }
    }
    all
}

/// Calls a function with what others are given, and what they have to satisfy.
fn given<'a>(op: &'a Op, see: &mut dyn FnMut(&'a Expr)) {
    let Op::Assign(places, values, constraint) = op else { return };
    for (place, value) in places.iter().zip(values) {
        if matches!(place.target, Target::Others(_)) {
            see(value);
        }
    }
    let constraint = constraint.iter().flat_map(|constraint| parts(constraint));
    constraint.filter(|part| part.is_about_others()).for_each(see);
}

/// Whether it is the midst of an assignment inside of a section.
fn is_inside(mode: &Mode) -> bool {
    matches!(mode, Mode::Giving(_, _, values) if values.last() == Some(&1))
}

/// The parts of a constraint that have to hold, each.
fn parts(constraint: &Expr) -> Vec<&Expr> {
    match constraint {
        Expr::Binary(Binary::And, left, right, _) => [parts(left), parts(right)].concat(),
        part => vec![part],
    }
}

/// The variables of the thread that assigns, before and after, on which it depends what others are given; each once.
fn read(op: &Op) -> Vec<&Expr> {
    let mut read = Vec::new();
    given(op, &mut |expr| {
        expr.visit(&mut |part| {
            let own =
                matches!(part, Expr::Shared(_) | Expr::Local(_) | Expr::NextShared(_) | Expr::NextLocal(_));
            if own && !read.contains(&part) {
                read.push(part);
            }
        });
    });
    read
}

impl Encoded {
    /// Whether a mode of this kind, with these values, can occur.
    pub(super) fn is_giving(&self, location: LocationId, edge: usize, values: &[Value]) -> bool {
        let edge = self.reduced.program.locations.get(location.index()).and_then(|here| here.edges.get(edge));
        self.cap.is_some()
            && edge.is_some_and(|edge| gives(&edge.op) && read(&edge.op).len() + 1 == values.len())
    }

    /// Moves the thread that assigns.
    pub(super) fn give(
        &self,
        mover: &Mover<'_>,
        (index, edge): (usize, &Edge),
        outcome: &Outcome,
        rules: &mut Vec<Rule>,
    ) {
        let Outcome::To(next) = outcome else { return self.follow(mover, edge, outcome, rules) };
        let after = &next.threads[0].stack[0].locals;
        let mut values = Vec::new();
        for expr in read(&edge.op) {
            let (value, shared) = match *expr {
                Expr::Shared(slot) => (mover.values[slot], Some(slot)),
                Expr::NextShared(slot) => (next.shared[slot], Some(slot)),
                Expr::Local(slot) => (mover.locals[slot], None),
                Expr::NextLocal(slot) => (after[slot], None),
                _ => continue,
            };
            if let Some(slot) = shared.filter(|&slot| self.is_open(slot, value)) {
                return mover.open.note(slot);
            }
            values.push(value);
        }
        let inside = matches!(self.table.cell(mover.top).point, Point::Inside(_));
        values.push(Value::from(inside));
        let mode = Mode::Giving(mover.location, index, values.into());
        let point = if inside { Point::Inside(edge.to) } else { Point::Given(edge.to) };
        let word = Word::one(self.symbol_at(point, after));
        let mut values = self.values_after(mover, &next.shared);
        if !inside {
            self.arrive(&mut values, mover.location, -1);
            self.arrive(&mut values, edge.to, 1);
        }
        self.add(rules, (Key { mode, values }, word), edge.span.line);
    }

    /// The values of a shared state with these variables, and the counters as they were.
    fn values_after(&self, mover: &Mover<'_>, shared: &[Value]) -> Box<[Value]> {
        let mut values = self.values(shared);
        let counters = self.program.shared_slots();
        values[counters..].copy_from_slice(&mover.values[counters..]);
        values.into()
    }

    /// Moves a thread into a section.
    pub(super) fn enter(&self, mover: &Mover<'_>, edge: &Edge, rules: &mut Vec<Rule>) {
        let mut values = mover.values.to_vec();
        self.arrive(&mut values, mover.location, -1);
        let key = Key { mode: Mode::Within, values: values.into() };
        let word = Word::one(self.symbol_at(Point::Inside(edge.to), &mover.locals));
        self.add(rules, (key, word), edge.span.line);
    }

    /// Moves the thread inside of a section.
    pub(super) fn inside(&self, mover: &Mover<'_>, rules: &mut Vec<Rule>) {
        let program = &self.reduced.program;
        let edges = &program.locations[mover.location].edges;
        let leave = |to: LocationId, rules: &mut Vec<Rule>| {
            let word = Word::one(self.symbol_at(Point::At(to), &mover.locals));
            let mut values = mover.values.to_vec();
            self.arrive(&mut values, to, 1);
            self.add(rules, (self.settled(values), word), 0);
        };
        if edges.is_empty() {
            // The section ends with the thread.
            leave(mover.location, rules);
        }
        let steps = semantics::steps_unless_open(program, &self.alone(mover), 0);
        let steps = steps.unwrap_or_else(|slot| mover.open.note(slot));
        for (index, edge) in edges.iter().enumerate() {
            if edge.op == Op::AtomicEnd {
                leave(edge.to, rules);
                continue;
            }
            for step in steps.iter().filter(|step| step.edge == index) {
                match &step.outcome {
                    outcome if gives(&edge.op) => self.give(mover, (index, edge), outcome, rules),
                    Outcome::To(next) => {
                        let frame = &next.threads[0].stack[0];
                        let word = Word::one(self.symbol_at(Point::Inside(frame.location), &frame.locals));
                        let values = self.values_after(mover, &next.shared);
                        self.add(rules, (Key { mode: Mode::Within, values }, word), edge.span.line);
                    }
                    outcome => self.follow(mover, edge, outcome, rules),
                }
            }
        }
    }

    /// The rules of a thread in the midst of an assignment, and of one that has stood aside.
    pub(super) fn give_rules(
        &self,
        thread: usize,
        key: &Key,
        (top, cell): (Symbol, &Cell),
        rules: &mut Vec<Rule>,
    ) {
        match (&key.mode, cell.point) {
            (Mode::Giving(location, edge, values), Point::At(here)) if self.takes(thread, *location) => {
                for locals in self.taken((*location, *edge), values, &cell.locals) {
                    let word = Word::one(self.symbol_at(Point::Given(here), &locals));
                    self.add(rules, (key.clone(), word), 0);
                }
            }
            (Mode::Giving(..), Point::Inside(_)) if is_inside(&key.mode) => {
                self.add(rules, (self.given_to_all(key), Word::one(top)), 0);
            }
            (Mode::Giving(..), Point::Given(here)) if !is_inside(&key.mode) => {
                let word = Word::one(self.symbol_at(Point::At(here), &cell.locals));
                self.add(rules, (self.given_to_all(key), word), 0);
            }
            (Mode::Normal | Mode::Within, Point::Given(here)) => {
                let word = Word::one(self.symbol_at(Point::At(here), &cell.locals));
                self.add(rules, (key.clone(), word), 0);
            }
            _ => {}
        }
    }

    /// The shared state after an assignment in the midst of which this one is, or after a broadcast.
    pub(super) fn given_to_all(&self, key: &Key) -> Key {
        match is_inside(&key.mode) {
            true => Key { mode: Mode::Within, values: key.values.clone() },
            false => self.settled(key.values.to_vec()),
        }
    }

    /// Whether a thread is given what is assigned at a location.
    fn takes(&self, thread: usize, location: LocationId) -> bool {
        let template = &self.program.templates[self.roles[thread].template];
        template.body == self.program.locations[location].procedure
    }

    /// The local variables that another thread can have after an assignment.
    fn taken(
        &self,
        (location, edge): (LocationId, usize),
        values: &[Value],
        before: &[Value],
    ) -> BTreeSet<Vec<Value>> {
        let program = &self.reduced.program;
        let edge = &program.locations[location].edges[edge];
        let Op::Assign(places, exprs, constraint) = &edge.op else { return BTreeSet::new() };
        let (mut shared, mut locals) = (vec![0; program.shared_slots()], vec![0; before.len()]);
        let (mut next_shared, mut next_locals) = (shared.clone(), locals.clone());
        for (expr, &value) in read(&edge.op).into_iter().zip(values) {
            match *expr {
                Expr::Shared(slot) => shared[slot] = value,
                Expr::Local(slot) => locals[slot] = value,
                Expr::NextShared(slot) => next_shared[slot] = value,
                Expr::NextLocal(slot) => next_locals[slot] = value,
                _ => {}
            }
        }
        let scope = Scope {
            shared: &shared,
            locals: &locals,
            this: 0,
            next: Some((&next_shared, &next_locals)),
            control: &[],
        };
        let try_once = |choices: &mut Choices| -> Result<Option<Vec<Value>>, NoValue> {
            let mut after = before.to_vec();
            for (place, expr) in places.iter().zip(exprs) {
                if let Target::Others(slot) = place.target {
                    after[slot] = expr.for_other(before, before).value(&scope, choices)?;
                }
            }
            for part in constraint.iter().flat_map(parts).filter(|part| part.is_about_others()) {
                if part.for_other(before, &after).value(&scope, choices)? == 0 {
                    return Ok(None);
                }
            }
            Ok(Some(after))
        };
        let mut all = BTreeSet::new();
        let mut tried = 0;
        let left_out = Choices::each_of_few(|choices| {
            match try_once(choices) {
                Ok(after) => all.extend(after),
                Err(_) => self.give_up(edge.span),
            }
            tried += 1;
            tried <= semantics::MOST
        });
        if left_out || tried > semantics::MOST {
            self.give_up(edge.span);
        }
        all
    }

    fn symbol_at(&self, point: Point, locals: &[Value]) -> Symbol {
        self.table.symbol(Cell { point, locals: self.project(point, locals) })
    }

    /// Where a thread is at the end of an assignment; the first of several places that it can choose from.
    pub(super) fn top_after_giving(&self, thread: usize, shared: Shared, top: Symbol) -> Option<Symbol> {
        if top == EMPTY {
            return Some(top);
        }
        let (key, cell) = (self.table.key(shared), self.table.cell(top));
        match (&key.mode, cell.point) {
            (Mode::Giving(..), Point::Given(here)) => Some(self.symbol_at(Point::At(here), &cell.locals)),
            (Mode::Giving(location, edge, values), Point::At(here)) if self.takes(thread, *location) => {
                let taken = self.taken((*location, *edge), values, &cell.locals);
                taken.first().map(|locals| self.symbol_at(Point::At(here), locals))
            }
            _ => Some(top),
        }
    }

    /// Whether a thread can choose what it takes.
    pub(super) fn can_choose(&self, thread: usize, shared: Shared, top: Symbol) -> bool {
        if top == EMPTY {
            return false;
        }
        let (key, cell) = (self.table.key(shared), self.table.cell(top));
        match (&key.mode, cell.point) {
            (Mode::Giving(location, edge, values), Point::At(_)) if self.takes(thread, *location) => {
                self.taken((*location, *edge), values, &cell.locals).len() > 1
            }
            _ => false,
        }
    }
}
