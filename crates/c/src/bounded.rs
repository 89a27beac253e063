//! Variables with the bounds of what they hold, and arithmetic that does not wrap around where it never does.
//!
//! Integers of a machine are hard on formulas: each sum is a remainder. [`Values`] knows bounds of what variables hold, whatever
//! the schedule. Each variable gets these for its type, and storing what is not of a type goes wrong, so nobody has to believe
//! them: a proof shows that they hold. Then a result that wraps around is replaced by what it is computed from if, with all
//! variables within their types, it cannot wrap around; or if it is stored at once in a variable that only holds what fits into
//! the machine.
//!
//! Invariant: a run of the program is one of the result, or of the result there is a run that goes wrong. So this is for programs
//! of which only proofs are asked.

use crate::bounds::{Ranges, range_of};
use crate::values::Values;
use allways_model::program::{
    Expr, LocationId, Op, ProcedureId, Program, Slot, Target, Type, Unary, Value, Variable,
};

/// The program with bounds, if that makes a difference.
pub fn bounded(program: &Program) -> Option<Program> {
    let values = Values::of(program)?;
    let mut result = program.clone();
    let kept = Kept::of(program);
    let mut changed = false;
    for variable in result.shared.iter_mut().filter(|variable| !kept.shared[variable.slot]) {
        changed |= retype(variable, values.of_shared(variable));
    }
    for (number, procedure) in result.procedures.iter_mut().enumerate() {
        let (here, parameters) = (ProcedureId(number), procedure.parameters);
        // What is given to a thread at its start is not looked at.
        let own = procedure.locals.iter_mut().skip(parameters);
        for variable in own.filter(|variable| !kept.locals[number][variable.slot]) {
            changed |= retype(variable, values.of_local(here, variable));
        }
    }
    let (shared, procedures) = (&result.shared, &result.procedures);
    for location in &mut result.locations {
        let locals = &procedures[location.procedure].locals;
        for edge in &mut location.edges {
            let (Op::Assign(places, ..) | Op::Call(_, _, places)) = &mut edge.op else { continue };
            for place in places {
                let (variables, kept, slot) = match place.target {
                    Target::Shared(slot) | Target::SharedElement(slot, ..) => (shared, &kept.shared, slot),
                    Target::Local(slot) | Target::Others(slot) | Target::LocalElement(slot, ..) => {
                        (locals, &kept.locals[location.procedure.index()], slot)
                    }
                };
                if !kept[slot] {
                    place.ty = of_slot(variables, slot).ty;
                }
            }
        }
    }
    changed |= unwrap(&mut result, &values);
    changed.then_some(result)
}

fn of_slot(variables: &[Variable], slot: Slot) -> &Variable {
    let after = variables.partition_point(|variable| variable.slot <= slot);
    &variables[after - 1]
}

/// Slots whose variables keep their types: those that are written as elements of something that is no single variable, since what is
/// stored there is not compared with the types of variables; and those that are written under a constraint, since what is stored is
/// compared even where the constraint does not hold.
struct Kept {
    shared: Vec<bool>,
    locals: Vec<Vec<bool>>,
}

impl Kept {
    fn of(program: &Program) -> Kept {
        let mut kept = Kept {
            shared: vec![false; program.shared_slots()],
            locals: program.procedures.iter().map(|procedure| vec![false; procedure.slots()]).collect(),
        };
        for location in &program.locations {
            let here = location.procedure;
            let each = location.edges.iter().flat_map(|edge| {
                let constrained = matches!(edge.op, Op::Assign(_, _, Some(_)));
                edge.op.places().iter().map(move |place| (place, constrained))
            });
            for (place, constrained) in each {
                let (slot, length) = match place.target {
                    Target::SharedElement(slot, length, _) | Target::LocalElement(slot, length, _) => {
                        (slot, Some(length))
                    }
                    Target::Shared(slot) | Target::Local(slot) | Target::Others(slot) => (slot, None),
                };
                let (variables, marks) = match place.target {
                    Target::Shared(_) | Target::SharedElement(..) => (&program.shared, &mut kept.shared),
                    _ => (&program.procedures[here].locals, &mut kept.locals[here.index()]),
                };
                let variable = of_slot(variables, slot);
                let is_one = length.is_none_or(|length| (variable.slot, variable.slots()) == (slot, length));
                if constrained || !is_one {
                    let length = length.unwrap_or(1);
                    let last = of_slot(variables, slot + length - 1);
                    marks[variable.slot..last.slot + last.slots()].fill(true);
                }
            }
        }
        kept
    }
}

/// A variable with more values than this gets bounds with room to spare, so that a proof need not know the last one of them.
const FEW: i128 = 256;

/// Gives a variable narrower bounds; says whether it did.
fn retype(variable: &mut Variable, held: Option<(i128, i128)>) -> bool {
    let (Type::Range(low, high), Some((least, most))) = (variable.ty, held) else { return false };
    let (least, most) = match most - least < FEW {
        true => (least, most),
        false => {
            let below = if least < 0 { -(1 << (i128::BITS - (!least).leading_zeros())) } else { 0 };
            let above = if most > 0 { (1 << (i128::BITS - most.leading_zeros())) - 1 } else { 0 };
            (below.max(low.into()), above.min(high.into()))
        }
    };
    let (Ok(least), Ok(most)) = (Value::try_from(least), Value::try_from(most)) else { return false };
    let narrower = low <= least && most <= high && (low, high) != (least, most);
    if narrower {
        variable.ty = Type::Range(least, most);
    }
    narrower
}

/// Takes out what never wraps around; says whether there was something.
fn unwrap(program: &mut Program, values: &Values<'_>) -> bool {
    let typed = program.clone();
    let types = Ranges::of_types(&typed);
    let mut changed = false;
    let mut take_out = |expr: &mut Expr| {
        if let Expr::Unary(Unary::Wrap(_), part) = expr {
            *expr = std::mem::replace(&mut **part, Expr::Constant(0));
            changed = true;
        }
    };
    for (number, location) in program.locations.iter_mut().enumerate() {
        let here = location.procedure;
        for edge in &mut location.edges {
            edge.op.rewrite(&mut |expr| {
                if let Expr::Unary(Unary::Wrap(machine), part) = expr
                    && is_within(types.of(here, part), machine.bounds())
                {
                    take_out(expr);
                }
            });
            let Op::Assign(places, stored, _) = &mut edge.op else { continue };
            for (place, value) in places.iter().zip(stored) {
                if let Expr::Unary(Unary::Wrap(machine), part) = value
                    && is_within(range_of(place.ty), machine.bounds())
                    && values.is_within(LocationId(number), part, machine.bounds())
                {
                    take_out(value);
                }
            }
        }
    }
    changed
}

fn is_within((low, high): (i128, i128), (least, most): (i128, i128)) -> bool {
    least <= low && high <= most
}
