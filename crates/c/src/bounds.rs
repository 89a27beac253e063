//! Bounds of what variables hold, whatever the schedule.
//!
//! Every variable has the bounds of all that is ever stored in it, and an array those of all its elements: found by storing until
//! nothing changes. Bounds that still grow after a few rounds become those of the type.

use allways_model::program::expression::OPEN;
use allways_model::program::{Binary, Expr, Op, ProcedureId, Program, Slot, Target, Type, Unary, Variable};

/// After so many rounds, what still grows gets the bounds of its type.
const ROUNDS: usize = 6;

/// Bounds by variable; nothing where nothing was stored.
pub struct Ranges<'p> {
    program: &'p Program,
    shared: Vec<Option<(i128, i128)>>,
    locals: Vec<Vec<Option<(i128, i128)>>>,
}

impl<'p> Ranges<'p> {
    /// The bounds of all variables.
    pub fn of_variables(program: &'p Program) -> Ranges<'p> {
        let starts = |variables: &[Variable]| -> Vec<Option<(i128, i128)>> {
            let slots = variables.iter().flat_map(|variable| {
                variable.initial.iter().map(|initial| match initial {
                    // Who reads it then is not followed.
                    Some(OPEN) => None,
                    Some(value) => Some((i128::from(*value), i128::from(*value))),
                    None => Some(range_of(variable.ty)),
                })
            });
            slots.collect()
        };
        let mut locals: Vec<Vec<_>> =
            program.procedures.iter().map(|procedure| starts(&procedure.locals)).collect();
        for (procedure, ranges) in program.procedures.iter().zip(&mut locals) {
            for parameter in procedure.locals.iter().take(procedure.parameters) {
                ranges[parameter.slot] = Some(range_of(parameter.ty));
            }
        }
        let mut ranges = Ranges { program, shared: starts(&program.shared), locals };
        let mut round = 0;
        while ranges.store_all(round >= ROUNDS) {
            round += 1;
        }
        ranges
    }

    /// The bounds of the types of all variables.
    pub fn of_types(program: &'p Program) -> Ranges<'p> {
        let types = |variables: &[Variable]| -> Vec<Option<(i128, i128)>> {
            let slots =
                |variable: &Variable| std::iter::repeat_n(Some(range_of(variable.ty)), variable.slots());
            variables.iter().flat_map(slots).collect()
        };
        let locals = program.procedures.iter().map(|procedure| types(&procedure.locals)).collect();
        Ranges { program, shared: types(&program.shared), locals }
    }

    /// Takes every step once; says whether bounds have changed.
    fn store_all(&mut self, at_once: bool) -> bool {
        let mut changed = false;
        for location in &self.program.locations {
            let here = location.procedure;
            for op in location.edges.iter().map(|edge| &edge.op) {
                for (number, place) in op.places().iter().enumerate() {
                    let all = range_of(place.ty);
                    let stored = match op {
                        Op::Assign(_, values, _) => self.of(here, &values[number]),
                        _ => all,
                    };
                    // What does not fit is a violation.
                    let stored = (stored.0.clamp(all.0, all.1), stored.1.clamp(all.0, all.1));
                    let slots = match &place.target {
                        Target::Shared(slot) => &mut self.shared[*slot..=*slot],
                        Target::SharedElement(slot, length, _) => &mut self.shared[*slot..slot + length],
                        Target::Local(slot) | Target::Others(slot) => {
                            &mut self.locals[here.index()][*slot..=*slot]
                        }
                        Target::LocalElement(slot, length, _) => {
                            &mut self.locals[here.index()][*slot..slot + length]
                        }
                    };
                    for known in slots {
                        let both = known.map_or(stored, |known| union(known, stored));
                        if *known != Some(both) {
                            *known = Some(if at_once { union(all, both) } else { both });
                            changed = true;
                        }
                    }
                }
            }
        }
        changed
    }

    fn slots(&self, shared: bool, here: ProcedureId, slot: Slot, length: usize) -> (i128, i128) {
        let ranges = if shared { &self.shared } else { &self.locals[here.index()] };
        let stored = ranges[slot..slot + length].iter().copied().flatten();
        stored.reduce(union).unwrap_or((0, 0))
    }

    /// Bounds of the value of an expression.
    pub fn of(&self, here: ProcedureId, expr: &Expr) -> (i128, i128) {
        match expr {
            Expr::Constant(value) => (i128::from(*value), i128::from(*value)),
            Expr::Choose(low, high) => (i128::from(*low), i128::from(*high)),
            Expr::Shared(slot) => self.slots(true, here, *slot, 1),
            Expr::Local(slot) => self.slots(false, here, *slot, 1),
            Expr::SharedElement(slot, length, ..) => self.slots(true, here, *slot, *length),
            Expr::LocalElement(slot, length, ..) => self.slots(false, here, *slot, *length),
            Expr::Unary(Unary::Not, _) => (0, 1),
            Expr::Unary(Unary::Minus, part) => {
                let (low, high) = self.of(here, part);
                (-high, -low)
            }
            Expr::Unary(Unary::Wrap(machine), part) => {
                let ((low, high), (least, most)) = (self.of(here, part), machine.bounds());
                if least <= low && high <= most { (low, high) } else { (least, most) }
            }
            Expr::If(_, then, other) => union(self.of(here, then), self.of(here, other)),
            Expr::Binary(operator, left, right, _) => {
                combined(*operator, self.of(here, left), self.of(here, right))
            }
            Expr::This
            | Expr::At(_)
            | Expr::OtherLocal(_)
            | Expr::NextOtherLocal(_)
            | Expr::NextShared(_)
            | Expr::NextLocal(_) => EVERYTHING,
        }
    }
}

/// Bounds of everything that is computed, with room for one more operation.
pub const EVERYTHING: (i128, i128) = (-(1 << 100), 1 << 100);

/// The bounds of a type.
pub fn range_of(ty: Type) -> (i128, i128) {
    ty.bounds().map_or(EVERYTHING, |(low, high)| (i128::from(low), i128::from(high)))
}

fn union(left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    (left.0.min(right.0), left.1.max(right.1))
}

/// Whether no number is between both of these.
fn apart(left: (i128, i128), right: (i128, i128)) -> bool {
    left.1 < right.0 || right.1 < left.0
}

/// The values of a condition that always holds, or never, or perhaps.
fn truth(always: bool, never: bool) -> (i128, i128) {
    (always.into(), (!never).into())
}

/// Bounds of what an operator makes of values within bounds.
pub fn combined(operator: Binary, left: (i128, i128), right: (i128, i128)) -> (i128, i128) {
    let corners = |apply: &dyn Fn(i128, i128) -> Option<i128>| {
        let pairs = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
        let values: Option<Vec<i128>> = pairs.into_iter().map(|(left, right)| apply(left, right)).collect();
        let values = values.unwrap_or_default();
        match (values.iter().min(), values.iter().max()) {
            (Some(&low), Some(&high)) => (low, high),
            _ => EVERYTHING,
        }
    };
    let (low, high) = match operator {
        Binary::Equal => truth(left == right && left.0 == left.1, apart(left, right)),
        Binary::Unequal => truth(apart(left, right), left == right && left.0 == left.1),
        Binary::Less => truth(left.1 < right.0, left.0 >= right.1),
        Binary::LessEqual => truth(left.1 <= right.0, left.0 > right.1),
        Binary::Greater => truth(left.0 > right.1, left.1 <= right.0),
        Binary::GreaterEqual => truth(left.0 >= right.1, left.1 < right.0),
        Binary::And => union((0, 0), right),
        Binary::Or => union((1, 1), right),
        Binary::Plus => corners(&|left, right| left.checked_add(right)),
        Binary::Minus => corners(&|left, right| left.checked_sub(right)),
        Binary::Times => corners(&|left, right| left.checked_mul(right)),
        Binary::Divide if right.0 > 0 => corners(&|left, right| left.checked_div(right)),
        Binary::Remainder if right.0 > 0 => {
            let most = right.1 - 1;
            (if left.0 >= 0 { 0 } else { -most }, if left.1 <= 0 { 0 } else { most })
        }
        // A number without a sign has no bits beyond its own.
        Binary::BitAnd if right.0 >= 0 => (0, if left.0 >= 0 { left.1.min(right.1) } else { right.1 }),
        Binary::BitAnd if left.0 >= 0 => (0, left.1),
        Binary::BitOr | Binary::BitXor if left.0 >= 0 && right.0 >= 0 => {
            (0, (1 << (i128::BITS - left.1.max(right.1).leading_zeros())) - 1)
        }
        // Numbers that have so many bits and a sign have them afterwards.
        Binary::BitAnd | Binary::BitOr | Binary::BitXor => {
            let bits = |value: i128| i128::BITS - (if value < 0 { !value } else { value }).leading_zeros();
            let most = [left.0, left.1, right.0, right.1].into_iter().map(bits).max().unwrap_or(0);
            (-(1 << most), (1 << most) - 1)
        }
        Binary::ShiftLeft if right.0 >= 0 && right.1 < 64 => {
            corners(&|left, right| left.checked_mul(1 << right))
        }
        Binary::ShiftRight if right.0 >= 0 && right.1 < 64 => corners(&|left, right| Some(left >> right)),
        _ => EVERYTHING,
    };
    (low.max(EVERYTHING.0), high.min(EVERYTHING.1))
}
