//! Where a thread has to stop, so that others can move.
//!
//! A thread *passes* a location if nobody can tell whether it stops there: what it does there can always be done, and
//! commutes with whatever other threads can do meanwhile. Then its step is as good as part of the step that led there, and
//! states in which a thread is at such a location need not be looked at (Lipton, *Reduction*, CACM 1975; a *left mover* is
//! what he calls such a step).
//!
//! Take a run that goes wrong. Each step from a passed location can be moved to the left, to just after the step before it of
//! the same thread: the steps of other threads in between neither read what it writes nor write what it accesses, and it can
//! be taken there as well. If the run ends before it is taken, it is added; what goes wrong in it goes wrong then. Nobody
//! passes locations in a circle, so this ends, with a run that stops nowhere in between and goes wrong as well. A thread that
//! can always move is not part of a deadlock; so a run to a deadlock, in which nothing goes wrong, has all its steps, and they
//! can be moved in the same way.
//!
//! What a step accesses is its own affair if it is
//!
//! - local, and not written by other threads;
//! - shared, where no other thread writes it, and if this step writes it, no other thread accesses it. An array of which each
//!   thread of a template accesses the element of its own number is as many variables;
//! - shared, where whoever accesses it holds the same lock. While this thread is at the location it holds that lock for
//!   certain, so nobody else is where it can be accessed.
//!
//! Whoever comes to where it waits for an event is woken by the next broadcast, so it must not come there earlier than it does.
//! A lock whose releases are all by its holder ([`locks`](super::locks)) is released as in the last case: all others
//! can do with it is wait.
//!
//! Properties see the states in between, too: a variable that they read is not written, and what they count of threads at
//! locations changes only in the direction in which the property becomes true, if at all. (With `never at(inside) >= 2`, a
//! thread may come to `inside` earlier, and must not leave it earlier.)

use super::super::{Binary, Edge, Expr, LocationId, Op, ProcedureId, Program, Slot, Target, Unary};
use super::flow::goes_on;
use super::{Reduction, locks};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// How many threads of a template there are, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Company {
    /// At most one.
    Alone,
    /// Several, each with a number of its own for as long as it lives.
    Numbered,
    /// Any others.
    Many,
}

/// More ways than this to choose at one location are not passed: they would all be looked at before others can move.
const MOST_WAYS: u64 = 16;

/// Programs with more accesses, element by element, are left as they are.
const MOST_ACCESSES: usize = 1 << 20;

/// For each location, whether a thread there has to stop. `company` is of each template.
pub(crate) fn stops(reduction: &Reduction, company: &[Company]) -> Vec<bool> {
    let program = &reduction.program;
    let Some(accesses) = Accesses::of(reduction, company) else {
        return vec![true; program.locations.len()];
    };
    let watched = Watched::of(program);
    let mut stops: Vec<bool> = LocationId::each(&program.locations)
        .map(|(location, here)| {
            !always_moves(&here.edges)
                || here.edges.iter().any(|edge| {
                    !is_simple(&edge.op)
                        || edge.op.ways() > MOST_WAYS
                        || program.waits_for(edge.to).is_some()
                        || watched.tells(location, edge)
                        || accesses.others_see(location, &edge.op)
                })
        })
        .collect();
    cut_circles(program, &mut stops);
    stops
}

/// Whether something can be done at a location with these edges, whatever the state.
fn always_moves(edges: &[Edge]) -> bool {
    edges.iter().any(|edge| match &edge.op {
        Op::Guard(expr, expected) => edges.iter().any(
            |other| matches!(&other.op, Op::Guard(also, otherwise) if also == expr && otherwise != expected),
        ),
        _ => true,
    })
}

/// Whether a step concerns the topmost frame alone, and what is said here about accesses applies to it.
fn is_simple(op: &Op) -> bool {
    match op {
        Op::Skip | Op::Guard(..) | Op::Assert(_) | Op::AtomicEnd | Op::Error | Op::NoResult => true,
        Op::Assign(places, _, constraint) => {
            constraint.is_none() && !places.iter().any(|place| matches!(place.target, Target::Others(_)))
        }
        Op::Release(lock) => lock.element.is_none(),
        _ => false,
    }
}

/// Makes threads stop once in each circle of locations that they would pass.
fn cut_circles(program: &Program, stops: &mut [bool]) {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; stops.len()];
    for start in LocationId::all(&program.locations) {
        let mut path = vec![(start, 0)];
        while let Some((location, next)) = path.pop() {
            let here = location.index();
            if next == 0 && (stops[here] || seen[here] != Seen::No) {
                // Whoever comes back to where it is on its way has passed nothing but what is on this path.
                stops[here] |= seen[here] == Seen::Open;
                continue;
            }
            seen[here] = Seen::Open;
            match program.locations[location].edges.get(next) {
                Some(edge) if !goes_on(&edge.op) => path.push((location, next + 1)),
                Some(edge) => path.extend([(location, next + 1), (edge.to, 0)]),
                None => seen[here] = Seen::Done,
            }
        }
    }
}

/// What properties see.
struct Watched {
    /// The shared slots that they read.
    slots: BTreeSet<Slot>,
    /// Locations whose threads they count, and whether they may become true by more of them, or by fewer.
    counted: Vec<(BTreeSet<LocationId>, Direction)>,
}

#[derive(Clone, Copy, PartialEq)]
struct Direction {
    up: bool,
    down: bool,
}

impl Direction {
    const UP: Direction = Direction { up: true, down: false };
    const ANY: Direction = Direction { up: true, down: true };

    fn back(self) -> Direction {
        Direction { up: self.down, down: self.up }
    }
}

impl Watched {
    fn of(program: &Program) -> Watched {
        let mut watched = Watched { slots: BTreeSet::new(), counted: Vec::new() };
        for never in &program.never {
            watched.truth(&never.expr, Direction::UP);
            never.expr.visit(&mut |part| match part {
                Expr::Shared(slot) => watched.slots.extend([*slot]),
                Expr::SharedElement(slot, length, ..) => watched.slots.extend(*slot..slot + length),
                _ => {}
            });
        }
        watched
    }

    /// Where an expression is true or not, in which direction its truth follows the numbers of threads.
    fn truth(&mut self, expr: &Expr, direction: Direction) {
        use Binary::{And, Equal, Greater, GreaterEqual, Less, LessEqual, Or, Unequal};
        match expr {
            Expr::At(_) | Expr::Unary(Unary::Not, _) | Expr::Constant(_) => self.value(expr, direction),
            Expr::Binary(And | Or | Equal | Unequal | Less | LessEqual | Greater | GreaterEqual, ..) => {
                self.value(expr, direction)
            }
            // A difference, say, is true unless it is 0.
            _ => self.value(expr, Direction::ANY),
        }
    }

    /// The same of its value.
    fn value(&mut self, expr: &Expr, direction: Direction) {
        match expr {
            Expr::At(locations) => self.counted.push((locations.iter().copied().collect(), direction)),
            Expr::Unary(Unary::Not, part) => self.truth(part, direction.back()),
            Expr::Unary(Unary::Minus, part) => self.value(part, direction.back()),
            Expr::Unary(Unary::Wrap(_), part) => self.value(part, Direction::ANY),
            Expr::Binary(operator, left, right, _) => match operator {
                Binary::And | Binary::Or => {
                    self.truth(left, direction);
                    self.truth(right, direction);
                }
                Binary::Plus => {
                    self.value(left, direction);
                    self.value(right, direction);
                }
                Binary::Minus | Binary::Greater | Binary::GreaterEqual => {
                    self.value(left, direction);
                    self.value(right, direction.back());
                }
                Binary::Less | Binary::LessEqual => {
                    self.value(left, direction.back());
                    self.value(right, direction);
                }
                _ => {
                    self.value(left, Direction::ANY);
                    self.value(right, Direction::ANY);
                }
            },
            Expr::If(condition, then, other) => {
                self.truth(condition, Direction::ANY);
                self.value(then, Direction::ANY);
                self.value(other, Direction::ANY);
            }
            Expr::SharedElement(_, _, index, _) | Expr::LocalElement(_, _, index, _) => {
                self.value(index, Direction::ANY);
            }
            _ => {}
        }
    }

    /// Whether a property may be true between the step before an edge and the edge, and not after it.
    fn tells(&self, from: LocationId, edge: &Edge) -> bool {
        let writes = |place: &super::Place| match super::written(place) {
            Some((true, slots)) => self.slots.range(slots).next().is_some(),
            _ => false,
        };
        edge.op.places().iter().any(writes)
            || self.counted.iter().any(|(locations, direction)| {
                match (locations.contains(&from), locations.contains(&edge.to)) {
                    (true, false) => direction.up,
                    (false, true) => direction.down,
                    _ => false,
                }
            })
    }
}

/// An access to a shared slot, by a thread that holds these locks.
#[derive(Clone, PartialEq, Eq)]
struct Access {
    templates: Vec<usize>,
    /// The first slot of the array whose element is that of the thread's own number.
    own: Option<Slot>,
    writes: bool,
    held: Vec<Slot>,
}

/// Who accesses what.
struct Accesses<'a> {
    reduction: &'a Reduction,
    company: &'a [Company],
    /// The templates whose threads run each procedure.
    runs: Vec<Vec<usize>>,
    /// The locks that are held for certain at each location.
    held: Vec<Vec<Slot>>,
    /// Those of each slot, no two of them alike.
    by_slot: HashMap<Slot, Vec<Access>>,
}

impl<'a> Accesses<'a> {
    /// None if they are too many.
    fn of(reduction: &'a Reduction, company: &'a [Company]) -> Option<Accesses<'a>> {
        let program = &reduction.program;
        let held = match reduction.locks_are_safe {
            true => locks::held_for_certain(program).unwrap_or_default(),
            false => Vec::new(),
        };
        let held = (0..program.locations.len()).map(|location| match held.get(location) {
            Some(Some(held)) => (0..held.len()).filter(|&slot| held[slot]).collect(),
            _ => Vec::new(),
        });
        let held = held.collect();
        let mut accesses =
            Accesses { reduction, company, runs: runs(program), held, by_slot: HashMap::new() };
        let mut count = 0;
        for (location, here) in LocationId::each(&program.locations) {
            for edge in &here.edges {
                let mut found = Vec::new();
                accesses.each(location, &edge.op, &mut |slots, access| found.push((slots, access)));
                for (slots, access) in found {
                    count += slots.len();
                    if count > MOST_ACCESSES {
                        return None;
                    }
                    for slot in slots {
                        let known = accesses.by_slot.entry(slot).or_default();
                        if !known.contains(&access) {
                            known.push(access.clone());
                        }
                    }
                }
            }
        }
        Some(accesses)
    }

    /// Calls a function with each access of a step to shared slots that matter.
    fn each(&self, location: LocationId, op: &Op, see: &mut dyn FnMut(Range<Slot>, Access)) {
        let templates = &self.runs[self.reduction.program.locations[location].procedure.index()];
        // The results of a call are stored when it returns, and what is held then is not known here.
        let held = if matches!(op, Op::Call(..)) { &Vec::new() } else { &self.held[location.index()] };
        let mut access = |slots: Range<Slot>, index: Option<&Expr>, writes| {
            if self.reduction.shared[slots.clone()].contains(&true) {
                let own = (index == Some(&Expr::This)).then_some(slots.start);
                see(slots, Access { templates: templates.clone(), own, writes, held: held.clone() });
            }
        };
        for expr in op.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Shared(slot) | Expr::NextShared(slot) => access(*slot..slot + 1, None, false),
                Expr::SharedElement(slot, length, index, _) => {
                    access(*slot..slot + length, Some(index), false);
                }
                _ => {}
            });
        }
        for place in op.places() {
            match &place.target {
                Target::Shared(slot) => access(*slot..slot + 1, None, true),
                Target::SharedElement(slot, length, index) => {
                    access(*slot..slot + length, Some(index), true);
                }
                Target::Local(_) | Target::LocalElement(..) | Target::Others(_) => {}
            }
        }
        if let Op::Acquire(lock) | Op::Release(lock) = op {
            let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
            access(lock.slot..lock.slot + length, None, true);
        }
    }

    /// Whether another thread may see that a step is taken, or change what it does, while the thread is at the location.
    fn others_see(&self, location: LocationId, op: &Op) -> bool {
        if self.touches_mixed(location, op) {
            return true;
        }
        if let Op::Release(lock) = op {
            return !self.reduction.locks_are_safe || !self.held[location.index()].contains(&lock.slot);
        }
        let mut sees = false;
        self.each(location, op, &mut |slots, mine| {
            sees |= slots.into_iter().any(|slot| {
                let others = self.by_slot.get(&slot).map_or(&[][..], Vec::as_slice);
                others.iter().any(|other| self.conflict(&mine, other))
            });
        });
        sees
    }

    /// Whether two accesses to a slot may be those of two threads next to each other, one of them writing.
    fn conflict(&self, one: &Access, other: &Access) -> bool {
        let pairs = |one: usize| other.templates.iter().map(move |&other| (one, other));
        let mut pairs = one.templates.iter().flat_map(|&one| pairs(one));
        let apart = |(mine, theirs): (usize, usize)| {
            mine == theirs
                && match self.company[mine] {
                    Company::Alone => true,
                    Company::Numbered => one.own.is_some() && one.own == other.own,
                    Company::Many => false,
                }
        };
        (one.writes || other.writes)
            && !one.held.iter().any(|lock| other.held.contains(lock))
            && !pairs.all(apart)
    }

    /// Whether a step accesses local variables that other threads write.
    fn touches_mixed(&self, location: LocationId, op: &Op) -> bool {
        let locals = &self.reduction.program.procedure_of(location).locals;
        let mixed = |slots: Range<Slot>| {
            let overlaps = |slot: Slot| slot < slots.end && slots.start < slot;
            locals.iter().any(|local| {
                local.mixed && (overlaps(local.slot + local.slots()) || slots.contains(&local.slot))
            })
        };
        let mut found = op.places().iter().any(|place| match super::written(place) {
            Some((shared, slots)) => !shared && mixed(slots),
            None => true,
        });
        for expr in op.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Local(slot) | Expr::NextLocal(slot) => found |= mixed(*slot..slot + 1),
                Expr::LocalElement(slot, length, ..) => found |= mixed(*slot..slot + length),
                Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => found = true,
                _ => {}
            });
        }
        found
    }
}

/// The templates whose threads may run each procedure.
fn runs(program: &Program) -> Vec<Vec<usize>> {
    let mut calls: Vec<BTreeSet<ProcedureId>> = vec![BTreeSet::new(); program.procedures.len()];
    for location in &program.locations {
        for edge in &location.edges {
            match edge.op {
                Op::Call(callee, ..) => calls[location.procedure.index()].extend([callee]),
                // A forked thread may start in any procedure, and is of the template of the one that forks.
                Op::Fork(to) => calls[location.procedure.index()].extend([program.locations[to].procedure]),
                _ => {}
            }
        }
    }
    let mut runs = vec![Vec::new(); program.procedures.len()];
    for (template, of) in program.templates.iter().enumerate() {
        let mut todo = vec![of.body];
        while let Some(procedure) = todo.pop() {
            let known: &mut Vec<usize> = &mut runs[procedure.index()];
            if known.last() != Some(&template) {
                known.push(template);
                todo.extend(&calls[procedure.index()]);
            }
        }
    }
    runs
}
