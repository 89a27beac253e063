//! Shared variables that only one thread accesses, made local.
//!
//! Where only the one thread of a template accesses a shared variable, it does not matter that others could. As a local
//! variable it has the same initial values and the same values after every step; but where its value is not read any more
//! it is dead, and states that differ in it are one. Names in traces would change, so this is for programs of which only
//! proofs are asked.

use allways_model::program::expression::OPEN;
use allways_model::program::{Count, Expr, Op, ProcedureId, Program, Slot, Target, Type, Variable};

/// Who accesses a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Nobody,
    Body(ProcedureId),
    /// More than one thread, or accesses that are not to this variable alone.
    Others,
}

/// Makes shared variables local where one thread accesses them.
pub fn localise(program: &mut Program) {
    if !program.never.is_empty() || !program.hints.is_empty() {
        return;
    }
    let mut owners = vec![Owner::Nobody; program.shared.len()];
    let variable_at = |program: &Program, slot: Slot| {
        program.shared.partition_point(|variable| variable.slot + variable.slots() <= slot)
    };
    let single = |program: &Program, body: ProcedureId| {
        program.templates.iter().any(|template| {
            template.body == body
                && template.count == Count::Fixed(1)
                && !template.spawned
                && !template.vanishes
        })
    };
    for location in &program.locations {
        let here = location.procedure;
        let own = if single(program, here) { Owner::Body(here) } else { Owner::Others };
        for edge in &location.edges {
            edge.op.shared_accesses(&mut |slot, length, _| {
                let first = variable_at(program, slot);
                for (number, variable) in program.shared.iter().enumerate().skip(first) {
                    if variable.slot >= slot + length {
                        break;
                    }
                    let within = variable.slot <= slot && slot + length <= variable.slot + variable.slots();
                    owners[number] = match owners[number] {
                        Owner::Nobody if within => own,
                        owner if within && owner == own => own,
                        _ => Owner::Others,
                    };
                }
            });
        }
    }
    for (number, owner) in owners.into_iter().enumerate() {
        let variable = &program.shared[number];
        let known = variable.initial.iter().all(|initial| !matches!(initial, None | Some(OPEN)));
        let Owner::Body(body) = owner else { continue };
        if !known || variable.ty == Type::Lock || variable.mixed {
            continue;
        }
        let (old, slots, new) = (variable.slot, variable.slots(), program.procedures[body].slots());
        let local = Variable { slot: new, ..variable.clone() };
        program.procedures[body].locals.push(local);
        let inside = |slot: Slot| (old..old + slots).contains(&slot);
        for location in program.locations.iter_mut().filter(|location| location.procedure == body) {
            for edge in &mut location.edges {
                edge.op.rewrite(&mut |expr| match expr {
                    Expr::Shared(slot) if inside(*slot) => *expr = Expr::Local(*slot - old + new),
                    Expr::NextShared(slot) if inside(*slot) => *expr = Expr::NextLocal(*slot - old + new),
                    Expr::SharedElement(slot, length, index, span) if inside(*slot) => {
                        let index = std::mem::replace(&mut **index, Expr::Constant(0));
                        *expr = Expr::LocalElement(*slot - old + new, *length, Box::new(index), *span);
                    }
                    _ => {}
                });
                let (Op::Assign(places, ..) | Op::Call(_, _, places)) = &mut edge.op else { continue };
                for place in places {
                    match &mut place.target {
                        Target::Shared(slot) if inside(*slot) => {
                            place.target = Target::Local(*slot - old + new);
                        }
                        Target::SharedElement(slot, length, index) if inside(*slot) => {
                            let index = std::mem::replace(index, Expr::Constant(0));
                            place.target = Target::LocalElement(*slot - old + new, *length, index);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}
