//! Declarations without an initialiser give a variable any value; where nobody reads it before it is written, they do nothing.
//!
//! The lowering has each such declaration choose a value. Here a choice whose variable is written again on every way to
//! where it is read (it is not *live*) becomes nothing, so that only programs which read an indeterminate value pay for it.
//!
//! Where it may be read or not, as in `int x; if (find(&x)) use(x);`, the choice waits until somebody reads the variable: the
//! declaration only takes note that it has no value yet, in a variable of its own. A value that nobody has read so far may as
//! well be chosen now, so the same values are read.
//!
//! In the same way, the initial value of a local variable that is not live at the start of its procedure may as well be 0,
//! which is within the bounds of most of what is stored in it later.

use allways_model::program::{
    Binary, Edge, Expr, Location, LocationId, Op, Place, ProcedureId, Program, Slot, Span, Target, Type,
    Variable, reduction,
};

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

/// Has the declarations that still choose a value, at these locations, leave that to who reads the variable, if it is also
/// written elsewhere.
pub fn choose_when_read(program: &mut Program, declarations: &[LocationId]) {
    let mut slots: Vec<(ProcedureId, Slot)> = Vec::new();
    for &location in declarations {
        let Location { procedure, edges, .. } = &program.locations[location];
        if let [edge] = &edges[..]
            && let Some(slot) = chosen_local(&edge.op)
            && !slots.contains(&(*procedure, slot))
        {
            slots.push((*procedure, slot));
        }
    }
    for (procedure, slot) in slots {
        let own = |location: &Location| location.procedure == procedure;
        let edges = || program.locations.iter().filter(|location| own(location)).flat_map(|one| &one.edges);
        let plain = edges().all(|edge| is_plain(&edge.op, slot));
        let stores = |edge: &Edge| {
            matches!(use_of(&edge.op, slot), Use::Writes) && chosen_local(&edge.op) != Some(slot)
        };
        if plain && edges().any(stores) {
            leave_open(program, declarations, procedure, slot);
        }
    }
}

/// Whether a step reads and writes a local variable by its name, if at all.
fn is_plain(op: &Op, slot: Slot) -> bool {
    let has = |first: Slot, length: usize| (first..first + length).contains(&slot);
    let mut plain = !matches!(op, Op::Fork(_));
    for expr in op.expressions() {
        expr.visit(&mut |part| {
            plain &= match part {
                Expr::LocalElement(first, length, ..) => !has(*first, *length),
                Expr::NextLocal(other) | Expr::OtherLocal(other) => *other != slot,
                _ => true,
            };
        });
    }
    plain
        && op.places().iter().all(|place| match place.target {
            Target::LocalElement(first, length, _) => !has(first, length),
            Target::Others(other) => other != slot,
            Target::Local(other) => other != slot || matches!(op, Op::Assign(..)),
            Target::Shared(_) | Target::SharedElement(..) => true,
        })
}

fn leave_open(program: &mut Program, declarations: &[LocationId], procedure: ProcedureId, slot: Slot) {
    let ty = Type::Range(0, 1);
    let flag = program.procedures[procedure].slots();
    let locals = &mut program.procedures[procedure].locals;
    let Some(variable) = locals.iter().find(|local| local.slot == slot).cloned() else { return };
    let name = format!("#{} has a value", variable.name);
    locals.push(Variable { name, ty, slot: flag, length: None, initial: vec![Some(0)], ..variable });
    let place = |slot, span| Place { target: Target::Local(slot), ty, span };
    let mut readers = Vec::new();
    let mut choice = None;
    for number in 0..program.locations.len() {
        let here = LocationId(number);
        if program.locations[here].procedure != procedure {
            continue;
        }
        for edge in &mut program.locations[here].edges {
            if matches!(use_of(&edge.op, slot), Use::Reads) && readers.last() != Some(&here) {
                readers.push(here);
            }
            let declares = declarations.contains(&here) && chosen_local(&edge.op) == Some(slot);
            let span = edge.span;
            let Op::Assign(places, values, _) = &mut edge.op else { continue };
            if declares {
                choice = Some((places.clone(), values.clone()));
                (*places, *values) = (vec![place(flag, span)], vec![Expr::Constant(0)]);
            } else if places.iter().any(|place| matches!(place.target, Target::Local(other) if other == slot))
            {
                places.push(place(flag, span));
                values.push(Expr::Constant(1));
            }
        }
    }
    let Some((mut places, mut values)) = choice else { return };
    places.push(place(flag, Span::default()));
    values.push(Expr::Constant(1));
    // Whoever comes to where it is read, comes by here.
    for reader in readers {
        let span = program.locations[reader].span;
        let (look, choose) = (LocationId(program.locations.len()), LocationId(program.locations.len() + 1));
        for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
            if edge.to == reader {
                edge.to = look;
            }
        }
        if program.procedures[procedure].entry == reader {
            program.procedures[procedure].entry = look;
        }
        let known = |holds, to| Edge { op: Op::Guard(has_value(flag), holds), to, span };
        program.locations.push(Location {
            procedure,
            edges: vec![known(true, reader), known(false, choose)],
            span,
        });
        let op = Op::Assign(places.clone(), values.clone(), None);
        program.locations.push(Location { procedure, edges: vec![Edge { op, to: reader, span }], span });
    }
}

fn has_value(flag: Slot) -> Expr {
    Expr::Binary(Binary::Equal, Box::new(Expr::Local(flag)), Box::new(Expr::Constant(1)), Span::default())
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
