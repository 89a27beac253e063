//! May the locations that a system [passes](Encoded::passes) be passed?
//!
//! A proof about a system in which threads stop only where others can tell is a proof about the program if others cannot tell
//! anywhere else. Here this is tested of each location that is passed, by the program alone, with nothing of what chose them:
//!
//! 1. No thread passes locations in a circle, and whoever is at one can move.
//! 2. What is done there concerns the topmost frame, and shared variables that no two threads access next to each other, one of
//!    them writing: because nobody else accesses them, because each accesses the element of its own number, or because both
//!    hold the same lock whenever they do.
//! 3. No property becomes false by what is done there, and it does not lead to where a broadcast is waited for.
//!
//! Then a step from such a location can be moved to the left in every run, to the step before it of the same thread, and what
//! goes wrong in one run goes wrong in the other (Lipton, *Reduction*, CACM 1975).

use crate::Rejection;
use allways_model::encoding::Encoded;
use allways_model::program::{
    Binary, Edge, Expr, LocationId, Op, ProcedureId, Program, Slot, Target, Type, Unary,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Accepts the locations that a system passes, or says which must not be passed and why.
pub fn check_passed(encoded: &Encoded) -> Result<(), Rejection> {
    let program = &encoded.reduction().program;
    let passed: Vec<LocationId> =
        LocationId::all(&program.locations).filter(|&location| encoded.passes(location)).collect();
    if passed.is_empty() {
        return Ok(());
    }
    let rejected = |location: LocationId, why: &str| {
        let line = program.locations[location].span.line;
        Err(Rejection::Malformed(format!("line {line}: a thread must stop here, {why}")))
    };
    if let Some(location) = in_circle(encoded, program, &passed) {
        return rejected(location, "or it may never stop");
    }
    let threads = Threads::of(encoded, program);
    for &location in &passed {
        let edges = &program.locations[location].edges;
        if edges.is_empty() || edges.iter().all(|edge| may_fail(edge, edges)) {
            return rejected(location, "since it may have to wait");
        }
        for edge in edges {
            if program.waits_for(edge.to).is_some() {
                return rejected(location, "since a broadcast must not find it waiting too early");
            }
            if let Err(why) =
                threads.unseen(location, &edge.op).and_then(|()| untold(program, location, edge))
            {
                return rejected(location, why);
            }
        }
    }
    Ok(())
}

/// A location that is passed over and over, if there is one: what is left when those are taken away, again and again, that
/// lead to nothing that is left.
fn in_circle(encoded: &Encoded, program: &Program, passed: &[LocationId]) -> Option<LocationId> {
    let mut left: BTreeSet<LocationId> = passed.iter().copied().collect();
    let mut before: HashMap<LocationId, Vec<LocationId>> = HashMap::new();
    let mut out: HashMap<LocationId, usize> = HashMap::new();
    for &location in passed {
        for edge in program.locations[location].edges.iter().filter(|edge| leads_on(&edge.op)) {
            if encoded.passes(edge.to) {
                before.entry(edge.to).or_default().push(location);
                *out.entry(location).or_default() += 1;
            }
        }
    }
    let mut ends: Vec<LocationId> =
        passed.iter().copied().filter(|location| !out.contains_key(location)).collect();
    while let Some(end) = ends.pop() {
        left.remove(&end);
        for location in before.get(&end).into_iter().flatten() {
            let count = out.entry(*location).or_default();
            *count -= 1;
            if *count == 0 {
                ends.push(*location);
            }
        }
    }
    left.first().copied()
}

fn leads_on(op: &Op) -> bool {
    match op {
        Op::Error | Op::NoResult => false,
        Op::Guard(Expr::Constant(value), expected) => (*value != 0) == *expected,
        Op::Assert(Expr::Constant(value)) => *value != 0,
        _ => true,
    }
}

/// Whether an edge may be impossible to take while none of the others says the contrary.
fn may_fail(edge: &Edge, edges: &[Edge]) -> bool {
    let Op::Guard(condition, value) = &edge.op else { return false };
    let contrary = |other: &Edge| match &other.op {
        Op::Guard(other, of) => other == condition && of != value,
        _ => false,
    };
    !edges.iter().any(contrary)
}

/// An access to a part of the shared variables.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Touch {
    first: Slot,
    length: usize,
    /// Whether it is the element with the number of the thread.
    own: bool,
    writes: bool,
    /// Whether it is by a call: its results are stored when nobody knows what is held.
    calls: bool,
}

/// What a step touches.
fn touches(op: &Op) -> Vec<Touch> {
    let mut found = Vec::new();
    let mut touch = |first, length, index: Option<&Expr>, writes| {
        let (own, calls) = (matches!(index, Some(Expr::This)), matches!(op, Op::Call(..)));
        found.push(Touch { first, length, own, writes, calls });
    };
    for expr in op.expressions() {
        expr.visit(&mut |part| match part {
            Expr::Shared(slot) | Expr::NextShared(slot) => touch(*slot, 1, None, false),
            Expr::SharedElement(slot, length, index, _) => touch(*slot, *length, Some(index), false),
            _ => {}
        });
    }
    for place in op.places() {
        match &place.target {
            Target::Shared(slot) => touch(*slot, 1, None, true),
            Target::SharedElement(slot, length, index) => touch(*slot, *length, Some(index), true),
            _ => {}
        }
    }
    if let Op::Acquire(lock) | Op::Release(lock) = op {
        touch(lock.slot, lock.element.as_ref().map_or(1, |(length, _)| *length), None, true);
    }
    found
}

/// Who can do what, and what they hold then.
struct Threads<'a> {
    program: &'a Program,
    /// For each shared slot, whether somebody reads it.
    matters: &'a [bool],
    /// For each procedure, the templates whose threads run it.
    runners: Vec<BTreeSet<usize>>,
    /// For each template, whether there may be two threads of it, and whether two may have the same number.
    two: Vec<(bool, bool)>,
    /// The locks that a thread at a location holds; nothing if locks are used in another way than to be taken and released.
    held: Vec<BTreeSet<Slot>>,
    disciplined: bool,
    /// Where each slot is touched, and how.
    rivals: BTreeMap<Slot, BTreeSet<(Touch, LocationId)>>,
}

impl<'a> Threads<'a> {
    fn of(encoded: &'a Encoded, program: &'a Program) -> Threads<'a> {
        let two = (0..program.templates.len()).map(|template| {
            let roles = encoded.roles().iter().filter(|role| role.template.index() == template);
            let numbers: Vec<_> = roles.clone().map(|role| role.this).collect();
            let distinct: BTreeSet<_> = numbers.iter().collect();
            let many = roles.clone().any(|role| role.many || role.pooled && numbers.len() > 1);
            (many || numbers.len() > 1, many || distinct.len() < numbers.len())
        });
        let locks = Locks::of(program);
        let (disciplined, held) = match locks.held() {
            Some(held) => (true, held),
            None => (false, vec![BTreeSet::new(); program.locations.len()]),
        };
        let mut threads = Threads {
            program,
            matters: &encoded.reduction().shared,
            runners: runners(program),
            two: two.collect(),
            held,
            disciplined,
            rivals: BTreeMap::new(),
        };
        for (location, here) in LocationId::each(&program.locations) {
            for touch in here.edges.iter().flat_map(|edge| touches(&edge.op)) {
                for slot in touch.first..touch.first + touch.length {
                    threads.rivals.entry(slot).or_default().insert((touch, location));
                }
            }
        }
        threads
    }

    /// Whether a step concerns nobody else.
    fn unseen(&self, location: LocationId, op: &Op) -> Result<(), &'static str> {
        match op {
            Op::Skip | Op::Guard(..) | Op::Assert(_) | Op::AtomicEnd | Op::Error | Op::NoResult => {}
            Op::Assign(_, _, None) => {}
            Op::Release(lock)
                if self.disciplined
                    && lock.element.is_none()
                    && self.held[location.index()].contains(&lock.slot) =>
            {
                return Ok(());
            }
            _ => return Err("since what it does concerns more than its topmost frame"),
        }
        let locals = &self.program.procedure_of(location).locals;
        let mixed = |first: Slot, length: usize| {
            locals
                .iter()
                .any(|local| local.mixed && first < local.slot + local.slots() && local.slot < first + length)
        };
        let mut given = op.places().iter().any(|place| match place.target {
            Target::Others(_) => true,
            Target::Local(slot) => mixed(slot, 1),
            Target::LocalElement(slot, length, _) => mixed(slot, length),
            Target::Shared(_) | Target::SharedElement(..) => false,
        });
        for expr in op.expressions() {
            expr.visit(&mut |part| match part {
                Expr::Local(slot) | Expr::NextLocal(slot) => given |= mixed(*slot, 1),
                Expr::LocalElement(slot, length, ..) => given |= mixed(*slot, *length),
                Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => given = true,
                _ => {}
            });
        }
        if given {
            return Err("since other threads write its variables");
        }
        for mine in touches(op) {
            for slot in mine.first..mine.first + mine.length {
                let rivals = self.rivals.get(&slot).into_iter().flatten();
                for &(theirs, there) in rivals.filter(|_| self.matters[slot]) {
                    if (mine.writes || theirs.writes) && self.meet((mine, location), (theirs, there)) {
                        return Err("since another thread can access the same variable");
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether two threads can be about to touch the same slot so.
    fn meet(&self, (mine, here): (Touch, LocationId), (theirs, there): (Touch, LocationId)) -> bool {
        if !theirs.calls && !self.held[here.index()].is_disjoint(&self.held[there.index()]) {
            return false;
        }
        let own = mine.own && theirs.own && (mine.first, mine.length) == (theirs.first, theirs.length);
        let runs = |at: LocationId| &self.runners[self.program.locations[at].procedure.index()];
        runs(here).iter().any(|one| {
            runs(there).iter().any(|other| {
                let (two, alike) = self.two[*one];
                one != other || if own { alike } else { two }
            })
        })
    }
}

/// The templates whose threads run each procedure: their bodies, what is called there, and where threads are forked.
fn runners(program: &Program) -> Vec<BTreeSet<usize>> {
    let mut runners = vec![BTreeSet::new(); program.procedures.len()];
    for (number, template) in program.templates.iter().enumerate() {
        runners[template.body.index()].insert(number);
    }
    spread(program, &mut runners, |caller, callee| (callee, caller), true);
    runners
}

/// Adds sets of procedures to those of the procedures that they call, or the other way round, until nothing changes.
fn spread<T: Ord + Clone>(
    program: &Program,
    sets: &mut [BTreeSet<T>],
    to_from: impl Fn(ProcedureId, ProcedureId) -> (ProcedureId, ProcedureId),
    forks: bool,
) {
    let mut pairs = BTreeSet::new();
    for location in &program.locations {
        for edge in &location.edges {
            match edge.op {
                Op::Call(callee, ..) => pairs.extend([(location.procedure, callee)]),
                Op::Fork(to) if forks => {
                    pairs.extend([(location.procedure, program.locations[to].procedure)]);
                }
                _ => {}
            }
        }
    }
    loop {
        let mut grown = false;
        for &(caller, callee) in &pairs {
            let (to, from) = to_from(caller, callee);
            let more = sets[from.index()].clone();
            let before = sets[to.index()].len();
            sets[to.index()].extend(more);
            grown |= sets[to.index()].len() > before;
        }
        if !grown {
            return;
        }
    }
}

/// The locks of a program.
struct Locks<'a> {
    program: &'a Program,
    slots: BTreeSet<Slot>,
}

impl<'a> Locks<'a> {
    fn of(program: &'a Program) -> Locks<'a> {
        let locks = program.shared.iter().filter(|variable| variable.ty == Type::Lock);
        let slots = locks.flat_map(|lock| lock.slot..lock.slot + lock.slots()).collect();
        Locks { program, slots }
    }

    /// For each location the locks that whoever is there holds, if locks are only taken, and only released by who holds them.
    fn held(&self) -> Option<Vec<BTreeSet<Slot>>> {
        let program = self.program;
        let edges = || program.locations.iter().flat_map(|location| &location.edges);
        let is_lock =
            |touch: &Touch| self.slots.range(touch.first..touch.first + touch.length).next().is_some();
        let used = |edge: &Edge| match &edge.op {
            Op::Acquire(lock) => self.slots.contains(&lock.slot),
            Op::Release(lock) => lock.element.is_none() && self.slots.contains(&lock.slot),
            op => !touches(op).iter().any(is_lock),
        };
        let asked = |expr: &Expr| touches(&Op::Assert(expr.clone())).iter().any(is_lock);
        let indices = edges().flat_map(|edge| edge.op.expressions());
        if !edges().all(used)
            || program.never.iter().any(|never| asked(&never.expr))
            || indices.into_iter().any(asked)
        {
            return None;
        }
        let mut released = vec![BTreeSet::new(); program.procedures.len()];
        for location in &program.locations {
            for edge in &location.edges {
                if let Op::Release(lock) = &edge.op {
                    released[location.procedure.index()].insert(lock.slot);
                }
            }
        }
        spread(program, &mut released, |caller, callee| (caller, callee), false);
        let mut held: Vec<Option<BTreeSet<Slot>>> = vec![None; program.locations.len()];
        let mut todo: Vec<(LocationId, BTreeSet<Slot>)> =
            program.procedures.iter().map(|procedure| (procedure.entry, BTreeSet::new())).collect();
        while let Some((location, come)) = todo.pop() {
            let known = &mut held[location.index()];
            let now = match &*known {
                Some(before) if before.is_subset(&come) => continue,
                Some(before) => before & &come,
                None => come,
            };
            *known = Some(now.clone());
            for edge in &program.locations[location].edges {
                let mut after = now.clone();
                match &edge.op {
                    Op::Acquire(lock) if lock.element.is_none() => after.extend([lock.slot]),
                    Op::Release(lock) => after.retain(|slot| *slot != lock.slot),
                    Op::Call(callee, ..) => after.retain(|slot| !released[callee.index()].contains(slot)),
                    Op::Fork(to) => todo.push((*to, BTreeSet::new())),
                    _ => {}
                }
                if leads_on(&edge.op) && !matches!(edge.op, Op::Return(_) | Op::Beyond) {
                    todo.push((edge.to, after));
                }
            }
        }
        for (location, here) in LocationId::each(&program.locations) {
            let Some(held) = &held[location.index()] else { continue };
            let unheld = |edge: &Edge| matches!(&edge.op, Op::Release(lock) if !held.contains(&lock.slot));
            if here.edges.iter().any(unheld) {
                return None;
            }
        }
        Some(held.into_iter().map(Option::unwrap_or_default).collect())
    }
}

/// Whether no property can be true before a step and false after it.
fn untold(program: &Program, location: LocationId, edge: &Edge) -> Result<(), &'static str> {
    let writes: Vec<Touch> = touches(&edge.op).into_iter().filter(|touch| touch.writes).collect();
    for never in &program.never {
        let mut tells = false;
        never.expr.visit(&mut |part| {
            let (first, length) = match part {
                Expr::Shared(slot) => (*slot, 1),
                Expr::SharedElement(slot, length, ..) => (*slot, *length),
                Expr::At(counted) => {
                    let (from, to) = (counted.contains(&location), counted.contains(&edge.to));
                    let follows = truth_follows(&never.expr, counted);
                    tells |= (from && !to && !matches!(follows, Follows::Nothing | Follows::Fewer))
                        || (!from && to && !matches!(follows, Follows::Nothing | Follows::More));
                    return;
                }
                _ => return,
            };
            tells |=
                writes.iter().any(|write| write.first < first + length && first < write.first + write.length);
        });
        if tells {
            return Err("since a property can tell");
        }
    }
    Ok(())
}

/// What an expression follows: it cannot become smaller by more, or by fewer, threads at certain locations.
#[derive(Clone, Copy, PartialEq)]
enum Follows {
    Nothing,
    More,
    Fewer,
    Unknown,
}

impl Follows {
    fn opposite(self) -> Follows {
        match self {
            Follows::More => Follows::Fewer,
            Follows::Fewer => Follows::More,
            other => other,
        }
    }

    fn and(self, other: Follows) -> Follows {
        match (self, other) {
            (Follows::Nothing, one) | (one, Follows::Nothing) => one,
            (one, same) if one == same => one,
            _ => Follows::Unknown,
        }
    }
}

/// The same of whether an expression is true: it cannot become false.
fn truth_follows(expr: &Expr, counted: &[LocationId]) -> Follows {
    use Binary::{And, Greater, GreaterEqual, Less, LessEqual, Or};
    match (expr, follows(expr, counted)) {
        (_, Follows::Nothing) => Follows::Nothing,
        (Expr::At(_) | Expr::Unary(Unary::Not, _), known) => known,
        (Expr::Binary(And | Or | Less | LessEqual | Greater | GreaterEqual, ..), known) => known,
        // A number may be larger and 0.
        _ => Follows::Unknown,
    }
}

fn follows(expr: &Expr, counted: &[LocationId]) -> Follows {
    use Binary::{And, Greater, GreaterEqual, Less, LessEqual, Minus, Or, Plus};
    let of = |part: &Expr| follows(part, counted);
    let truth = |part: &Expr| truth_follows(part, counted);
    match expr {
        Expr::At(locations) if locations == counted => Follows::More,
        Expr::Unary(Unary::Not, part) => truth(part).opposite(),
        Expr::Unary(Unary::Minus, part) => of(part).opposite(),
        Expr::Binary(And | Or, left, right, _) => truth(left).and(truth(right)),
        Expr::Binary(Plus, left, right, _) => of(left).and(of(right)),
        Expr::Binary(Minus | Greater | GreaterEqual, left, right, _) => of(left).and(of(right).opposite()),
        Expr::Binary(Less | LessEqual, left, right, _) => of(left).opposite().and(of(right)),
        other => {
            let mut speaks = false;
            other.visit(&mut |part| {
                speaks |= matches!(part, Expr::At(locations) if locations == counted);
            });
            if speaks { Follows::Unknown } else { Follows::Nothing }
        }
    }
}
