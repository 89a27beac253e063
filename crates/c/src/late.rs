//! Choices as late as can be.
//!
//! A value that is chosen long before it is used is part of all states in between. A step that does nothing but choose a value for
//! a local variable can be exchanged with the next step of its thread, if that neither reads nor writes the variable and
//! chooses nothing itself: it does the same before and after, and can be taken, or goes wrong, just as well. Only locations with
//! one way in and one way out are passed.
//!
//! Where the next step only waits for the value to lie between constants, a thread whose value does not stays there for ever. It
//! might as well not have moved since, which the others cannot tell; so only the other values are chosen. (Unless deadlocks are
//! looked for: they can tell.)

use allways_model::program::{Binary, Expr, LocationId, Op, Program, Slot, Target, Value};

/// Moves choices of local variables towards their uses.
pub fn choose(program: &mut Program, waiting_is_fine: bool) {
    let mut ways_in = vec![0usize; program.locations.len()];
    for procedure in &program.procedures {
        ways_in[procedure.entry.index()] += 1;
    }
    for edge in program.locations.iter().flat_map(|location| &location.edges) {
        ways_in[edge.to.index()] += 1;
    }
    for start in 0..program.locations.len() {
        let mut here = LocationId(start);
        // Every exchange passes a location, so there is an end.
        for _ in 0..program.locations.len() {
            let [edge] = &program.locations[here].edges[..] else { break };
            let (Some((slot, low, high)), next) = (chosen(&edge.op), edge.to) else { break };
            if ways_in[next.index()] != 1 || next == here {
                break;
            }
            let [after] = &program.locations[next].edges[..] else { break };
            if let Op::Guard(condition, true) = &after.op
                && waiting_is_fine
                && let Some((least, most)) = between(condition, slot, (low, high))
                && least <= most
            {
                if let Op::Assign(_, values, _) = &mut program.locations[here].edges[0].op {
                    values[0] = Expr::Choose(least, most);
                }
                program.locations[next].edges[0].op = Op::Skip;
                continue;
            }
            if !can_pass(&after.op, slot) {
                break;
            }
            let (first, second) = (program.locations[here].edges[0].clone(), after.clone());
            let edge = &mut program.locations[here].edges[0];
            (edge.op, edge.span) = (second.op, second.span);
            let edge = &mut program.locations[next].edges[0];
            (edge.op, edge.span) = (first.op, first.span);
            here = next;
        }
    }
}

/// The local variable that a step does nothing but choose a value for.
fn chosen(op: &Op) -> Option<(Slot, Value, Value)> {
    let Op::Assign(places, values, None) = op else { return None };
    match (&places[..], &values[..]) {
        ([place], [Expr::Choose(low, high)]) => match place.target {
            Target::Local(slot) => Some((slot, *low, *high)),
            _ => None,
        },
        _ => None,
    }
}

/// Whether a step has nothing to do with a local variable, and chooses nothing.
fn can_pass(op: &Op, slot: Slot) -> bool {
    if !matches!(
        op,
        Op::Skip
            | Op::Assign(..)
            | Op::Guard(..)
            | Op::Assert(_)
            | Op::Acquire(_)
            | Op::Release(_)
            | Op::AtomicBegin
            | Op::AtomicEnd
    ) {
        return false;
    }
    let mut apart = true;
    for expr in op.expressions() {
        expr.visit(&mut |part| {
            apart &= match part {
                Expr::Choose(..) | Expr::OtherLocal(_) => false,
                Expr::Local(own) | Expr::NextLocal(own) => *own != slot,
                Expr::LocalElement(first, length, ..) => !(*first..first + length).contains(&slot),
                _ => true,
            };
        });
    }
    apart
        && op.places().iter().all(|place| match &place.target {
            Target::Local(own) | Target::Others(own) => *own != slot,
            Target::LocalElement(first, length, _) => !(*first..first + length).contains(&slot),
            Target::Shared(_) | Target::SharedElement(..) => true,
        })
}

/// The values of a variable, of those within bounds, for which a condition holds that compares it with constants.
fn between(condition: &Expr, slot: Slot, (low, high): (Value, Value)) -> Option<(Value, Value)> {
    let Expr::Binary(operator, left, right, _) = condition else { return None };
    if *operator == Binary::And {
        return between(right, slot, between(left, slot, (low, high))?);
    }
    let (Expr::Local(own), Expr::Constant(value)) = (&**left, &**right) else { return None };
    if *own != slot {
        return None;
    }
    Some(match operator {
        Binary::Less => (low, high.min(value.checked_sub(1)?)),
        Binary::LessEqual => (low, high.min(*value)),
        Binary::Greater => (low.max(value.checked_add(1)?), high),
        Binary::GreaterEqual => (low.max(*value), high),
        _ => return None,
    })
}
