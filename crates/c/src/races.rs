//! Data races, as errors of the program.
//!
//! There is a data race if two threads are each about to access the same memory location, one of them to write it, and not
//! both atomically (C11, 5.1.2.4; up to the first race, runs are sequentially consistent, and two accesses that are not
//! ordered by what happens before are next to each other in some run). As in KISS (Qadeer and Wu, PLDI 2004), one of the two
//! threads stops right before its access, leaves in a shared variable *what it watches*, and never moves again; the other
//! one then comes to its own access while nothing that the first one holds is released, and finds that it is watched.
//!
//! Invariant: [`WATCHED`] is 0, or twice a slot (plus 1 for a write) that one thread, which has stopped, is about to access and
//! not atomically. Whoever is about to access this slot so that the two conflict is in a state of the program itself in
//! which both can move, so an error is a race; and of every race one of the two can stop first:
//!
//! - of two plain accesses, one that writes stops, and all look;
//! - of a plain and an atomic one, the plain one stops (one that reads, only where somebody writes the location
//!   atomically), and the atomic one looks. So accesses inside of atomic sections are only looked from, in the middle of the
//!   section, and nobody ever stops there.
//!
//! Slots that only one thread accesses, or nobody writes, are left alone. What is accessed, and whether at all, is what the
//! expressions of a step say: `&&`, `||` and `?:` access only what they need.

use crate::fuse::{inside_sections, visible_locations};
use crate::lower::Lowered;
use crate::slots::Kind;
use allways_model::program::{
    Binary, Edge, Expr, Location, LocationId, Op, Program, Slot, Span, Target, Type, Unary, Value, Variable,
    WATCHED,
};

/// An access to a slot, or to one of several.
#[derive(Clone, PartialEq)]
pub struct Access {
    pub first: Slot,
    pub length: usize,
    /// Which of them, counted from the first.
    pub index: Expr,
    pub writes: bool,
    pub atomic: bool,
    /// Whether it happens at all.
    pub condition: Vec<(Expr, bool)>,
    pub span: Span,
}

impl Access {
    /// The slots of which it is one.
    pub fn slots(&self) -> std::ops::Range<Slot> {
        self.first..self.first + self.length
    }
}

/// Makes a program go wrong where two threads race.
pub fn watch(lowered: &mut Lowered) {
    let Some(accesses) = accesses(lowered) else {
        // Sections that cannot be told from the rest are not followed at all.
        let why = "an atomic section that is entered or left on some ways only".to_string();
        lowered.left_out.push((Span::default(), why));
        lowered.program.procedures.iter().map(|procedure| procedure.entry).for_each(|entry| {
            let span = lowered.program.locations[entry].span;
            lowered.program.locations[entry].edges.push(Edge { op: Op::Beyond, to: entry, span });
        });
        return;
    };
    let mut written_atomically = vec![false; lowered.cells.len()];
    for access in accesses.iter().flatten().filter(|access| access.writes) {
        for slot in access.slots() {
            if access.atomic || lowered.cells[slot].0 == Kind::Atomic {
                written_atomically[lowered.cells[slot].1] = true;
            }
        }
    }
    watch_accesses(&mut lowered.program, WATCHED, lowered.cells.clone(), written_atomically, &accesses);
}

/// The accesses of the steps at each location that can be part of a race; nothing if it is not known which are atomic.
pub fn accesses(lowered: &Lowered) -> Option<Vec<Vec<Access>>> {
    let visible = visible_locations(&lowered.program, |slot| lowered.cells[slot].1);
    let inside = inside_sections(&lowered.program)?;
    let accesses = LocationId::each(&lowered.program.locations).map(|(here, location)| {
        let mut found = Vec::new();
        location.edges.iter().for_each(|edge| collect(&edge.op, edge.span, &mut found));
        found.retain_mut(|access| {
            access.atomic = inside[here.index()];
            is_counted(access, here, lowered, &visible)
        });
        found.dedup();
        found
    });
    Some(accesses.collect())
}

/// Has threads stop before accesses, and look.
pub fn watch_accesses(
    program: &mut Program,
    name: &str,
    cells: Vec<(Kind, Slot)>,
    written_atomically: Vec<bool>,
    accesses: &[Vec<Access>],
) {
    if accesses.iter().all(Vec::is_empty) {
        return;
    }
    let watched = program.shared_slots();
    let most = 2 * watched as Value + 1;
    program.shared.push(Variable::counter(name, most, watched, Span::default()));
    let watching = Watching { watched, cells, written_atomically };
    for (location, accesses) in accesses.iter().enumerate() {
        for access in accesses {
            watching.access(program, LocationId(location), access);
        }
    }
}

/// Whether an access can be part of a race; if so, how it accesses what it does is filled in.
fn is_counted(access: &mut Access, location: LocationId, lowered: &Lowered, visible: &[bool]) -> bool {
    if let Some((target, kind)) = lowered.special.get(&location) {
        let same = match target {
            Target::Shared(slot) => access.length == 1 && access.first == *slot,
            Target::SharedElement(first, length, index) => {
                (access.first, access.length, &access.index) == (*first, *length, index)
            }
            _ => false,
        };
        match kind {
            Kind::Library if same => return false,
            Kind::Atomic if same => access.atomic = true,
            _ => {}
        }
    }
    access.slots().any(|slot| visible[lowered.cells[slot].1] && lowered.cells[slot].0 != Kind::Library)
}

struct Watching {
    watched: Slot,
    cells: Vec<(Kind, Slot)>,
    written_atomically: Vec<bool>,
}

fn both(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Constant(1), other) | (other, Expr::Constant(1)) => other,
        (left, right) => binary(Binary::And, left, right),
    }
}

fn binary(operator: Binary, left: Expr, right: Expr) -> Expr {
    Expr::Binary(operator, Box::new(left), Box::new(right), Span::default())
}

fn equal(left: &Expr, right: Value) -> Expr {
    match left {
        Expr::Constant(left) => Expr::Constant(Value::from(*left == right)),
        left => binary(Binary::Equal, left.clone(), Expr::Constant(right)),
    }
}

fn not(expr: Expr) -> Expr {
    match expr {
        Expr::Constant(value) => Expr::Constant(Value::from(value == 0)),
        expr => Expr::Unary(Unary::Not, Box::new(expr)),
    }
}

impl Watching {
    /// Has a thread stop before an access, and look whether another one has stopped before one to the same location.
    fn access(&self, program: &mut Program, location: LocationId, access: &Access) {
        let range = access.slots();
        let slot = match &access.index {
            Expr::Constant(index) => Expr::Constant(access.first as Value + index),
            index => binary(Binary::Plus, index.clone(), Expr::Constant(access.first as Value)),
        };
        let mut happens = Expr::Constant(1);
        for (condition, holds) in &access.condition {
            let condition = if *holds { condition.clone() } else { not(condition.clone()) };
            happens = both(happens, condition);
        }
        // Which slots of the range are atomic, and which share a memory location with another.
        let mut atomic = Expr::Constant(Value::from(access.atomic));
        let mut same = slot.clone();
        if !access.atomic {
            let cells = &self.cells;
            let kinds = |kind: Kind| range.clone().filter(move |&slot| cells[slot].0 == kind);
            if kinds(Kind::Plain).next().is_none() {
                atomic = Expr::Constant(1);
            } else {
                for cell in kinds(Kind::Atomic) {
                    let is = equal(&slot, cell as Value);
                    atomic = match atomic {
                        Expr::Constant(0) => is,
                        other => binary(Binary::Or, other, is),
                    };
                }
            }
        }
        for cell in range.clone().filter(|&slot| self.cells[slot].1 != slot) {
            let stands = Box::new(Expr::Constant(self.cells[cell].1 as Value));
            same = match equal(&slot, cell as Value) {
                Expr::Constant(0) => same,
                Expr::Constant(_) => *stands,
                is => Expr::If(Box::new(is), stands, Box::new(same)),
            };
        }
        let code = |writes: bool| match &same {
            Expr::Constant(slot) => Expr::Constant(2 * slot + Value::from(writes)),
            slot => {
                let twice = binary(Binary::Times, slot.clone(), Expr::Constant(2));
                binary(Binary::Plus, twice, Expr::Constant(Value::from(writes)))
            }
        };
        let watched = Expr::Shared(self.watched);
        let finds = |writes: bool| binary(Binary::Equal, watched.clone(), code(writes));
        let looks = match (&atomic, access.writes) {
            (Expr::Constant(0), _) | (_, false) => finds(true),
            (Expr::Constant(_), true) => binary(Binary::Or, finds(true), finds(false)),
            (_, true) => binary(Binary::Or, finds(true), both(atomic.clone(), finds(false))),
        };
        let span = access.span;
        let procedure = program.locations[location].procedure;
        let mut add = |edges: Vec<Edge>| {
            program.locations.push(Location { procedure, edges, span });
            LocationId(program.locations.len() - 1)
        };
        let error = add(Vec::new());
        let stopped = add(Vec::new());
        program.locations[error].edges.push(Edge { op: Op::Error, to: error, span });
        // Most often nobody is watched, and then nothing else needs to be looked at.
        let looks =
            both(binary(Binary::Unequal, watched.clone(), Expr::Constant(0)), both(happens.clone(), looks));
        program.locations[location].edges.push(Edge { op: Op::Guard(looks, true), to: error, span });
        let reads_matter = range.clone().any(|slot| self.written_atomically[self.cells[slot].1]);
        let stops = not(atomic);
        if stops == Expr::Constant(0) || !(access.writes || reads_matter) {
            return;
        }
        let free = binary(Binary::Equal, watched, Expr::Constant(0));
        let place = allways_model::program::Place {
            target: Target::Shared(self.watched),
            ty: Type::Range(0, 2 * self.watched as Value + 1),
            span,
        };
        let op = Op::Assign(
            vec![place],
            vec![Expr::If(
                Box::new(both(free.clone(), both(happens.clone(), stops.clone()))),
                Box::new(code(access.writes)),
                Box::new(Expr::Constant(0)),
            )],
            Some(both(free, both(happens, stops))),
        );
        program.locations[location].edges.push(Edge { op, to: stopped, span });
    }
}

/// The accesses of a step to shared slots.
fn collect(op: &Op, span: Span, found: &mut Vec<Access>) {
    let mut conditions = Vec::new();
    op.expressions().for_each(|expr| reads(expr, span, &mut conditions, found));
    for place in op.places() {
        let (first, length, index) = match &place.target {
            Target::Shared(slot) => (*slot, 1, Expr::Constant(0)),
            Target::SharedElement(slot, length, index) => (*slot, *length, index.clone()),
            Target::Local(_) | Target::LocalElement(..) | Target::Others(_) => continue,
        };
        let condition = Vec::new();
        found.push(Access { first, length, index, writes: true, atomic: false, condition, span });
    }
}

fn reads(expr: &Expr, span: Span, conditions: &mut Vec<(Expr, bool)>, found: &mut Vec<Access>) {
    let mut read = |first, length, index, conditions: &[(Expr, bool)]| {
        let condition = conditions.to_vec();
        found.push(Access { first, length, index, writes: false, atomic: false, condition, span });
    };
    match expr {
        Expr::Shared(slot) => read(*slot, 1, Expr::Constant(0), conditions),
        Expr::SharedElement(slot, length, index, _) => {
            read(*slot, *length, (**index).clone(), conditions);
            reads(index, span, conditions, found);
        }
        Expr::LocalElement(_, _, part, _) | Expr::Unary(_, part) => reads(part, span, conditions, found),
        Expr::Binary(operator, left, right, _) => {
            reads(left, span, conditions, found);
            let needed = match operator {
                Binary::And => Some(true),
                Binary::Or => Some(false),
                _ => None,
            };
            conditions.extend(needed.map(|holds| ((**left).clone(), holds)));
            reads(right, span, conditions, found);
            if needed.is_some() {
                conditions.pop();
            }
        }
        Expr::If(condition, then, other) => {
            reads(condition, span, conditions, found);
            for (part, holds) in [(then, true), (other, false)] {
                conditions.push(((**condition).clone(), holds));
                reads(part, span, conditions, found);
                conditions.pop();
            }
        }
        Expr::Constant(_)
        | Expr::Local(_)
        | Expr::NextShared(_)
        | Expr::NextLocal(_)
        | Expr::OtherLocal(_)
        | Expr::NextOtherLocal(_)
        | Expr::This
        | Expr::Choose(..)
        | Expr::At(_) => {}
    }
}
