//! A program with some of its inputs given.
//!
//! A wide choice has more values than can be listed, and explicit search tries a few. Who has found out by other means which
//! values matter says so by [`Inputs`]: for some of the choices, the values that they may have, and for some variables without
//! an initial value, the one they start with. [`Inputs::given`] is the program that chooses among these alone.
//!
//! Invariant: every run of that program is a run of the program itself, since values that a choice does not have are never
//! given to it. So what goes wrong with given inputs goes wrong; a proof with given inputs is none.

use super::{Edge, Expr, Op, Program, Slot, Value};
use std::collections::BTreeMap;

/// Values of inputs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Inputs {
    /// For some choices, by their number in the order of the program, the values they may have.
    pub choices: BTreeMap<usize, Vec<Value>>,
    /// For some shared slots, where they start.
    pub shared: BTreeMap<Slot, Value>,
    /// For some local slots of procedures, where they start.
    pub locals: BTreeMap<(usize, Slot), Value>,
}

impl Inputs {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.choices.is_empty() && self.shared.is_empty() && self.locals.is_empty()
    }

    /// The program with these inputs.
    #[must_use]
    pub fn given(&self, program: &Program) -> Program {
        let mut program = program.clone();
        let mut number = 0;
        for location in &mut program.locations {
            // Frames know by which edge a procedure was called: the first of each stays where it is.
            let mut others = Vec::new();
            for edge in &mut location.edges {
                let mut ways = self.among(edge.clone(), &mut number).into_iter();
                *edge = ways.next().unwrap_or_else(|| edge.clone());
                others.extend(ways);
            }
            location.edges.extend(others);
        }
        let starts = |initial: &mut Option<Value>, ty: super::Type, value: Option<&Value>| {
            if let (None, Some(&value), true) = (*initial, value, ty.bounds().is_some())
                && ty.contains(value)
            {
                *initial = Some(value);
            }
        };
        for variable in &mut program.shared {
            for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
                starts(initial, variable.ty, self.shared.get(&slot));
            }
        }
        for (procedure, index) in program.procedures.iter_mut().zip(0..) {
            let parameters = procedure.parameters;
            for variable in procedure.locals.iter_mut().skip(parameters) {
                for (slot, initial) in (variable.slot..).zip(&mut variable.initial) {
                    starts(initial, variable.ty, self.locals.get(&(index, slot)));
                }
            }
        }
        program
    }

    /// An edge for each way to give values to its choices, which then have one value each.
    fn among(&self, mut edge: Edge, number: &mut usize) -> Vec<Edge> {
        let mut given: Vec<Option<Vec<Value>>> = Vec::new();
        each_of_step(&mut edge.op, &mut |choice| {
            let Expr::Choose(low, high) = *choice else { return };
            let values = self.choices.get(number).into_iter().flatten().copied();
            let within: Vec<Value> = values.filter(|value| (low..=high).contains(value)).collect();
            given.push((!within.is_empty()).then_some(within));
            *number += 1;
        });
        let ways = given.iter().flatten().fold(1_usize, |ways, values| ways.saturating_mul(values.len()));
        if ways > MOST_WAYS {
            return vec![edge];
        }
        let way = |way: usize| {
            let mut edge = edge.clone();
            let (mut left, mut next) = (way, given.iter());
            each_of_step(&mut edge.op, &mut |choice| {
                if let Some(Some(values)) = next.next() {
                    let value = values[left % values.len()];
                    left /= values.len();
                    *choice = Expr::Choose(value, value);
                }
            });
            edge
        };
        (0..ways).map(way).collect()
    }
}

/// In more ways, values are not given to the choices of a step.
const MOST_WAYS: usize = 1 << 12;

/// Calls a function with every choice in the steps of a program, in one and the same order each time.
pub fn each_choice(program: &mut Program, see: &mut dyn FnMut(&mut Expr)) {
    for edge in program.locations.iter_mut().flat_map(|location| &mut location.edges) {
        each_of_step(&mut edge.op, see);
    }
}

fn each_of_step(op: &mut Op, see: &mut dyn FnMut(&mut Expr)) {
    op.rewrite(&mut |part| {
        if let Expr::Choose(..) = part {
            see(part);
        }
    });
}
