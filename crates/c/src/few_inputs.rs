//! Only a few inputs at a time that can be anything.
//!
//! A queue through which a hundred inputs pass has more states than can be listed, although its checks compare one element with one that
//! was noted before. A variable *steers* if its value decides which steps can be taken, where they lead, which element is accessed, or
//! if it flows into one that steers. A *check* is a condition that leads to an error if it does not hold, and else to one place.
//! All that values of variables that do not steer can do is make checks fail. Each is computed from so many inputs at most (its *weight*);
//! let no check read more than `k` of them.
//!
//! Theorem (after Wolper, *Expressing interesting properties of programs in propositional temporal logic*, 1986): if a run goes wrong,
//! then so does one in which all but `k` of the inputs that do not steer are a constant. For take the first check that fails, and the inputs
//! that its values are computed from, `k` at most; make all others the constant. Every step before can still be taken and leads to the
//! same place, unless a check fails there already, and at the end the check has the values that it had. So each
//! thread counts its inputs that are any value, up to `k`.
//!
//! Names in traces would not be those of the program, so this is for programs of which only proofs are asked.

use crate::irrelevant::is_partial;
use crate::marks::Marks;
use allways_model::program::{
    Binary, Edge, Expr, Location, LocationId, Op, Place, ProcedureId, Program, Slot, Target, Type, Value,
    Variable,
};

/// More inputs than these are not followed at a time.
const MOST: usize = 3;

/// An error is at most so many steps away that do nothing.
const MOST_SKIPPED: usize = 8;

/// Lets only a few inputs at a time be any value, if there are inputs in loops that do not steer.
pub fn spare(program: &mut Program) {
    if !program.never.is_empty() || !program.hints.is_empty() {
        return;
    }
    let steering = steering(program);
    let mut inputs: Vec<(LocationId, usize)> = Vec::new();
    for (here, location) in LocationId::each(&program.locations) {
        let of = |(_, edge): &(usize, &Edge)| is_input(&edge.op, location.procedure, &steering);
        inputs.extend(location.edges.iter().enumerate().filter(of).map(|(index, _)| (here, index)));
    }
    if !inputs.iter().any(|&(here, _)| is_in_loop(program, here)) {
        return;
    }
    let Some(most) = Weights::of(program, &steering).and_then(|weights| weights.most_in_a_check(program))
    else {
        return;
    };
    let most = most as Value;
    let mut counters: Vec<Option<Slot>> = vec![None; program.procedures.len()];
    for (here, index) in inputs {
        let procedure = program.locations[here].procedure;
        let declare = || {
            let procedure = &mut program.procedures[procedure];
            let counter = Variable::counter("#inputs", most, procedure.slots(), procedure.span);
            procedure.locals.push(counter);
            procedure.slots() - 1
        };
        let counter = *counters[procedure.index()].get_or_insert_with(declare);
        count(program, here, index, (counter, most));
    }
}

/// Has an input be a constant, or be counted if there are not too many yet.
fn count(program: &mut Program, here: LocationId, index: usize, (chosen, most): (Slot, Value)) {
    let Location { procedure, edges, .. } = &mut program.locations[here];
    let (procedure, edge) = (*procedure, &mut edges[index]);
    let (any, span) = (edge.clone(), edge.span);
    let Op::Assign(_, values, _) = &mut edge.op else { return };
    values.iter_mut().for_each(settle);
    let fewer =
        Expr::Binary(Binary::Less, Box::new(Expr::Local(chosen)), Box::new(Expr::Constant(most)), span);
    let one_more =
        Expr::Binary(Binary::Plus, Box::new(Expr::Local(chosen)), Box::new(Expr::Constant(1)), span);
    let Op::Assign(mut places, mut values, None) = any.op else { return };
    places.push(Place { target: Target::Local(chosen), ty: Type::Range(0, most), span });
    values.push(one_more);
    let counted = LocationId(program.locations.len());
    program.locations[here].edges.push(Edge { op: Op::Guard(fewer, true), to: counted, span });
    let edges = vec![Edge { op: Op::Assign(places, values, None), to: any.to, span }];
    program.locations.push(Location { procedure, edges, span });
}

/// One value for each choice.
fn settle(value: &mut Expr) {
    value.rewrite(&mut |part| {
        if let Expr::Choose(low, high) = *part {
            *part = Expr::Constant(0.clamp(low, high));
        }
    });
}

/// Whether a step stores one input, and that in a variable that does not steer.
fn is_input(op: &Op, here: ProcedureId, steering: &Marks) -> bool {
    let Op::Assign(places, values, None) = op else { return false };
    let choices =
        places.iter().zip(values).map(|(place, value)| (chosen(value), steering.place(here, place)));
    let choices: Vec<(usize, bool)> = choices.filter(|&(choices, _)| choices > 0).collect();
    choices == [(1, false)]
}

/// How many choices an expression has.
fn chosen(expr: &Expr) -> usize {
    let mut choices = 0;
    expr.visit(&mut |part| choices += usize::from(matches!(part, Expr::Choose(..))));
    choices
}

fn is_in_loop(program: &Program, start: LocationId) -> bool {
    let mut seen = vec![false; program.locations.len()];
    let mut todo = vec![start];
    while let Some(here) = todo.pop() {
        for edge in &program.locations[here].edges {
            if edge.to == start {
                return true;
            }
            if !std::mem::replace(&mut seen[edge.to.index()], true) {
                todo.push(edge.to);
            }
        }
    }
    false
}

/// The condition of a location whose steps are a check.
fn check(program: &Program, here: LocationId) -> Option<&Expr> {
    let [one, other] = &program.locations[here].edges[..] else { return None };
    let (Op::Guard(condition, holds), Op::Guard(again, fails)) = (&one.op, &other.op) else { return None };
    let goes_wrong = is_error(program, one.to) || is_error(program, other.to);
    (condition == again && holds != fails && goes_wrong).then_some(condition)
}

/// Whether whoever is at a location can do nothing but go wrong.
fn is_error(program: &Program, mut here: LocationId) -> bool {
    for _ in 0..MOST_SKIPPED {
        match &program.locations[here].edges[..] {
            [Edge { op: Op::Error | Op::Assert(Expr::Constant(0)), .. }] => return true,
            [Edge { op: Op::Skip, to, .. }] => here = *to,
            _ => return false,
        }
    }
    false
}

/// Marks the variables that steer.
fn steering(program: &Program) -> Marks {
    let mut steering = Marks::new(program);
    while steering.grew() {
        for (here, location) in LocationId::each(&program.locations) {
            let checked = check(program, here);
            for edge in &location.edges {
                steer(&mut steering, location.procedure, &edge.op, checked.is_some());
            }
        }
    }
    steering
}

fn steer(steering: &mut Marks, here: ProcedureId, op: &Op, is_check: bool) {
    match op {
        Op::Assign(places, values, constraint) => {
            constraint.iter().for_each(|constraint| steering.used(here, constraint));
            for (place, value) in places.iter().zip(values) {
                if let Target::SharedElement(_, _, index) | Target::LocalElement(_, _, index) = &place.target
                {
                    steering.used(here, index);
                }
                // Others write these, and tell by more than their values.
                if steering.place(here, place) || matches!(place.target, Target::Others(_)) {
                    steering.used(here, value);
                } else {
                    failing(steering, here, value);
                }
            }
        }
        Op::Assert(condition) => failing(steering, here, condition),
        Op::Guard(condition, _) if is_check => failing(steering, here, condition),
        _ => op.expressions().for_each(|expr| steering.used(here, expr)),
    }
}

/// Marks what decides whether an expression has a value.
fn failing(steering: &mut Marks, here: ProcedureId, expr: &Expr) {
    expr.visit(&mut |part| match part {
        Expr::SharedElement(_, _, index, _) | Expr::LocalElement(_, _, index, _) => {
            steering.used(here, index)
        }
        Expr::Binary(operator, left, right, _) if is_partial(*operator) => {
            steering.used(here, left);
            steering.used(here, right);
        }
        _ => {}
    });
}

/// From how many inputs at most the value of each variable is computed, of those that do not steer.
struct Weights<'p> {
    steering: &'p Marks,
    shared: Vec<usize>,
    locals: Vec<Vec<usize>>,
}

impl<'p> Weights<'p> {
    /// The weights of all variables; nothing if one is too large.
    fn of(program: &Program, steering: &'p Marks) -> Option<Weights<'p>> {
        let mut weights = Weights {
            steering,
            shared: vec![0; program.shared_slots()],
            locals: program.procedures.iter().map(|procedure| vec![0; procedure.slots()]).collect(),
        };
        weights.start(program);
        let mut grew = true;
        while std::mem::take(&mut grew) {
            for location in &program.locations {
                for edge in &location.edges {
                    let Op::Assign(places, values, _) = &edge.op else { continue };
                    for (place, value) in places.iter().zip(values) {
                        if steering.place(location.procedure, place) {
                            continue;
                        }
                        let weight = weights.of_expr(location.procedure, value);
                        if weight > MOST {
                            return None;
                        }
                        for slot in weights.stored(location.procedure, &place.target) {
                            grew |= *slot < weight;
                            *slot = weight.max(*slot);
                        }
                    }
                }
            }
        }
        Some(weights)
    }

    /// What starts with any value is an input, too, which is left as it is.
    fn start(&mut self, program: &Program) {
        let any = |variable: &Variable| (variable.slot..).zip(variable.initial.clone());
        for (slot, initial) in program.shared.iter().flat_map(any) {
            self.shared[slot] = usize::from(initial.is_none());
        }
        for (weights, procedure) in self.locals.iter_mut().zip(&program.procedures) {
            for (slot, initial) in procedure.locals.iter().flat_map(any) {
                weights[slot] = usize::from(initial.is_none());
            }
        }
    }

    /// How many inputs are in the values of an expression.
    fn of_expr(&self, here: ProcedureId, expr: &Expr) -> usize {
        let locals = &self.locals[here.index()];
        let most = |slots: &[usize]| slots.iter().copied().max().unwrap_or(0);
        let mut weight = 0;
        expr.visit(&mut |part| {
            weight += match part {
                Expr::Choose(..) => 1,
                Expr::Shared(slot) | Expr::NextShared(slot) if !self.steering.shared(*slot) => {
                    self.shared[*slot]
                }
                Expr::Local(slot)
                | Expr::NextLocal(slot)
                | Expr::OtherLocal(slot)
                | Expr::NextOtherLocal(slot)
                    if !self.steering.local(here, *slot) =>
                {
                    locals[*slot]
                }
                Expr::SharedElement(slot, length, ..) => most(&self.shared[*slot..slot + length]),
                Expr::LocalElement(slot, length, ..) => most(&locals[*slot..slot + length]),
                _ => 0,
            }
        });
        weight
    }

    fn stored(&mut self, here: ProcedureId, target: &Target) -> &mut [usize] {
        let locals = &mut self.locals[here.index()];
        match target {
            Target::Shared(slot) => &mut self.shared[*slot..=*slot],
            Target::SharedElement(slot, length, _) => &mut self.shared[*slot..slot + length],
            Target::Local(slot) | Target::Others(slot) => &mut locals[*slot..=*slot],
            Target::LocalElement(slot, length, _) => &mut locals[*slot..slot + length],
        }
    }

    /// The most inputs that a check reads, if they are not too many. A step that stores a value is one, too: a variable does not
    /// have room for all values.
    fn most_in_a_check(&self, program: &Program) -> Option<usize> {
        let mut most = self.shared.iter().chain(self.locals.iter().flatten()).copied().max().unwrap_or(0);
        for (here, location) in LocationId::each(&program.locations) {
            let asserted = location.edges.iter().filter_map(|edge| match &edge.op {
                Op::Assert(condition) => Some(condition),
                _ => None,
            });
            for condition in asserted.chain(check(program, here)) {
                most = most.max(self.of_expr(location.procedure, condition));
            }
        }
        (most <= MOST).then_some(most)
    }
}
