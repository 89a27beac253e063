//! What both writers ask of control-flow graphs.

use super::{Written, refuse};
use allways_model::program::{Edge, Expr, LocationId, Op, Place, Procedure, Program, Slot, Target};

/// Where an edge leads within its procedure. A violation leads nowhere, and a return leads out.
pub(super) fn successor(edge: &Edge) -> Option<LocationId> {
    match edge.op {
        Op::Error | Op::NoResult | Op::Return(_) => None,
        _ => Some(edge.to),
    }
}

/// Whether a thread, or a call, simply ends here.
pub(super) fn ends(program: &Program, location: LocationId) -> bool {
    match &program.locations[location].edges[..] {
        [] => true,
        [only] => matches!(only.op, Op::Return(_)),
        _ => false,
    }
}

/// The condition of a location where one goes on if it is true, and elsewhere if it is false: the condition, and both
/// targets.
pub(super) fn branch(edges: &[Edge]) -> Option<(&Expr, LocationId, LocationId)> {
    match edges {
        [
            Edge { op: Op::Guard(first, true), to: yes, .. },
            Edge { op: Op::Guard(second, false), to: no, .. },
        ]
        | [
            Edge { op: Op::Guard(second, false), to: no, .. },
            Edge { op: Op::Guard(first, true), to: yes, .. },
        ] if first == second => Some((first, *yes, *no)),
        _ => None,
    }
}

/// An atomic section: what can be executed from its beginning to its end.
pub(super) struct Section {
    /// The locations inside, in order.
    pub inside: Vec<LocationId>,
    /// Where it leads, in order. It also ends where the thread or the procedure does.
    pub exits: Vec<LocationId>,
}

/// The section that begins at a location.
pub(super) fn section(program: &Program, begin: LocationId) -> Written<Section> {
    let (mut inside, mut exits) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    let mut todo = vec![begin];
    while let Some(location) = todo.pop() {
        if ends(program, location) {
            exits.insert(location);
            continue;
        }
        if !inside.insert(location) {
            continue;
        }
        for edge in &program.locations[location].edges {
            match edge.op {
                Op::AtomicEnd => {
                    exits.insert(edge.to);
                }
                Op::Return(_) => {
                    return refuse(edge.span, "a procedure may or may not return inside an atomic section");
                }
                Op::Wait(_) | Op::Broadcast(_) | Op::Signal(_) | Op::Fork(_) | Op::Spawn(..) => {
                    return refuse(edge.span, "an atomic section waits, wakes others, or starts a thread");
                }
                _ => todo.extend(successor(edge)),
            }
        }
    }
    Ok(Section { inside: inside.into_iter().collect(), exits: exits.into_iter().collect() })
}

/// For each location of a procedure that is given, and each local slot, whether the value there may still be read.
pub(super) struct Liveness {
    live: std::collections::HashMap<LocationId, Vec<bool>>,
}

impl Liveness {
    /// The liveness of the local variables of a procedure.
    pub fn of(program: &Program, procedure: &Procedure) -> Liveness {
        let slots = procedure.slots();
        let mut reached = vec![procedure.entry];
        let mut live = std::collections::HashMap::from([(procedure.entry, vec![false; slots])]);
        let mut before: std::collections::HashMap<LocationId, Vec<LocationId>> =
            std::collections::HashMap::new();
        let mut next = 0;
        while next < reached.len() {
            let location = reached[next];
            next += 1;
            for edge in &program.locations[location].edges {
                let fork = if let Op::Fork(to) = edge.op { Some(to) } else { None };
                for to in successor(edge).into_iter().chain(fork) {
                    before.entry(to).or_default().push(location);
                    live.entry(to).or_insert_with(|| {
                        reached.push(to);
                        vec![false; slots]
                    });
                }
            }
        }
        let mut todo = reached;
        while let Some(location) = todo.pop() {
            let mut here = vec![false; slots];
            for edge in &program.locations[location].edges {
                let mut after = successor(edge).map_or(vec![false; slots], |to| live[&to].clone());
                transfer(&edge.op, &mut after);
                if let Op::Fork(to) = edge.op {
                    after.iter_mut().zip(&live[&to]).for_each(|(one, other)| *one |= other);
                }
                here.iter_mut().zip(&after).for_each(|(one, other)| *one |= other);
            }
            if live[&location] != here {
                live.insert(location, here);
                todo.extend(before.get(&location).into_iter().flatten());
            }
        }
        Liveness { live }
    }

    /// The slots that are live at a location, in order.
    pub fn at(&self, location: LocationId) -> Vec<Slot> {
        let live = self.live.get(&location).map_or(&[][..], Vec::as_slice);
        (0..live.len()).filter(|&slot| live[slot]).collect()
    }
}

/// From what is live after an operation to what is live before it.
fn transfer(op: &Op, live: &mut [bool]) {
    let written: &[Place] = match op {
        Op::Assign(places, ..) | Op::Call(_, _, places) => places,
        _ => &[],
    };
    let mut assigned = Vec::new();
    for place in written {
        if let Target::Local(slot) = place.target {
            live[slot] = false;
            assigned.push(slot);
        }
    }
    let mut read = |expr: &Expr| {
        expr.visit(&mut |part| match part {
            Expr::Local(slot) => live[*slot] = true,
            Expr::NextLocal(slot) if !assigned.contains(slot) => live[*slot] = true,
            Expr::LocalElement(first, length, ..) => live[*first..first + length].fill(true),
            _ => {}
        });
    };
    expressions(op, &mut read);
}

/// Calls a function with each expression of an operation.
pub(super) fn expressions<'a>(op: &'a Op, see: &mut dyn FnMut(&'a Expr)) {
    let places: &[Place] = match op {
        Op::Assign(places, ..) | Op::Call(_, _, places) => places,
        _ => &[],
    };
    for place in places {
        if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &place.target {
            see(index);
        }
    }
    match op {
        Op::Assign(_, values, constraint) => values.iter().chain(constraint).for_each(see),
        Op::Call(_, values, _) | Op::Return(values) | Op::Spawn(_, values) => values.iter().for_each(see),
        Op::Guard(expr, _) | Op::Assert(expr) => see(expr),
        Op::Acquire(lock) | Op::Release(lock) => lock.element.iter().for_each(|(_, index)| see(index)),
        _ => {}
    }
}
