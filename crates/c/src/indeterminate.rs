//! Declarations without an initialiser give a variable any value; where nobody reads it before it is written, they do nothing.
//!
//! The lowering has each such declaration choose a value. Here a choice whose variable is written again on every way to
//! where it is read (it is not *live*) becomes nothing, so that only programs which read an indeterminate value pay for it.
//! In the same way, the initial value of a local variable that is not live at the start of its procedure may as well be 0,
//! which is within the bounds of most of what is stored in it later.

use allways_model::program::{Expr, LocationId, Op, Program, Slot, Target, reduction};

/// What a step does to a local variable.
enum Use {
    Reads,
    Writes,
    Nothing,
}

/// Takes out choices for variables that are not live.
pub fn forget_unread(program: &mut Program) {
    let mut seen = vec![usize::MAX; program.locations.len()];
    for location in 0..program.locations.len() {
        for edge in 0..program.locations[location].edges.len() {
            let chosen = &program.locations[location].edges[edge];
            let Some(slot) = chosen_local(&chosen.op) else { continue };
            let stamp = location;
            if !is_live(program, slot, chosen.to, &mut seen, stamp) {
                program.locations[location].edges[edge].op = Op::Skip;
            }
        }
    }
}

/// Gives local variables that are not live at the start of their procedure the initial value 0, if their type has it.
pub fn start_with_zero(program: &mut Program) {
    let live = reduction::live(program);
    for procedure in &mut program.procedures {
        let live = &live[procedure.entry.index()];
        for local in
            procedure.locals.iter_mut().skip(procedure.parameters).filter(|local| local.ty.contains(0))
        {
            for (slot, initial) in (local.slot..).zip(&mut local.initial) {
                if !live[slot] {
                    *initial = Some(0);
                }
            }
        }
    }
}

/// The local variable that a step does nothing but choose a value for.
fn chosen_local(op: &Op) -> Option<Slot> {
    let Op::Assign(places, values, None) = op else { return None };
    match (&places[..], &values[..]) {
        ([place], [Expr::Choose(..)]) => match place.target {
            Target::Local(slot) => Some(slot),
            _ => None,
        },
        _ => None,
    }
}

fn is_live(program: &Program, slot: Slot, from: LocationId, seen: &mut [usize], stamp: usize) -> bool {
    let mut todo = vec![from];
    while let Some(location) = todo.pop() {
        if std::mem::replace(&mut seen[location.index()], stamp) == stamp {
            continue;
        }
        for edge in &program.locations[location].edges {
            match use_of(&edge.op, slot) {
                Use::Reads => return true,
                Use::Writes => {}
                Use::Nothing => todo.push(edge.to),
            }
        }
    }
    false
}

fn use_of(op: &Op, slot: Slot) -> Use {
    let mut reads = matches!(op, Op::Fork(_));
    for expr in op.expressions() {
        expr.visit(&mut |part| {
            reads |= match part {
                Expr::Local(other) | Expr::OtherLocal(other) => *other == slot,
                Expr::LocalElement(first, length, ..) => (*first..first + length).contains(&slot),
                _ => false,
            };
        });
    }
    let writes =
        op.places().iter().any(|place| matches!(place.target, Target::Local(other) if other == slot));
    match (reads, writes) {
        (true, _) => Use::Reads,
        (false, true) => Use::Writes,
        (false, false) => Use::Nothing,
    }
}
