//! Between which bounds the values of variables and expressions lie, and whether an expression can go wrong.
//!
//! The bounds of a variable enclose its initial values and everything that is stored in it; what does not fit the type
//! of a place is not stored. At first nothing is known. If some bounds hold in all reachable states, then so do those
//! computed with their help, so it does not matter how often they are refined; a few times catch what is common.

use super::super::{Binary, Expr, Op, Place, ProcedureId, Program, Slot, Type, Unary, Value};
use super::written;
use std::ops::Range;

/// The values from `low` to `high`, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Interval {
    low: Value,
    high: Value,
}

impl Interval {
    const ALL: Interval = Interval { low: Value::MIN, high: Value::MAX };
    const TRUTH: Interval = Interval { low: 0, high: 1 };
    /// Numbers of threads.
    const COUNT: Interval = Interval { low: 0, high: u32::MAX as Value };

    fn one(value: Value) -> Interval {
        Interval { low: value, high: value }
    }

    fn of(ty: Type) -> Interval {
        ty.bounds().map_or(Interval::ALL, |(low, high)| Interval { low, high })
    }

    fn hull(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn contains(self, value: Value) -> bool {
        self.low <= value && value <= self.high
    }

    /// What of it a place of this type takes.
    fn within(self, ty: Type) -> Option<Interval> {
        let ty = Interval::of(ty);
        let both = Interval { low: self.low.max(ty.low), high: self.high.min(ty.high) };
        (both.low <= both.high).then_some(both)
    }

    /// Whether all values are of this type.
    pub(super) fn fits(self, ty: Type) -> bool {
        self.within(ty) == Some(self)
    }

    /// The value closest to zero.
    pub(super) fn closest_to_zero(self) -> Value {
        0.max(self.low).min(self.high)
    }
}

/// The bounds of all variables and results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Bounds {
    shared: Vec<Interval>,
    /// For each procedure.
    locals: Vec<Vec<Interval>>,
    /// For each procedure, as many as it returns.
    pub(super) results: Vec<Vec<Interval>>,
}

/// How often bounds are refined.
const ROUNDS: usize = 4;

impl Bounds {
    pub(super) fn new(program: &Program) -> Bounds {
        let results = |procedure| {
            let here = program.locations.iter().filter(move |location| location.procedure == procedure);
            let returns = here.flat_map(|location| &location.edges).filter_map(|edge| match &edge.op {
                Op::Return(results) => Some(results.len()),
                _ => None,
            });
            returns.max().unwrap_or(0)
        };
        let all = |length| vec![Interval::ALL; length];
        let mut bounds = Bounds {
            shared: all(program.shared_slots()),
            locals: program.procedures.iter().map(|procedure| all(procedure.slots())).collect(),
            results: ProcedureId::all(&program.procedures).map(|procedure| all(results(procedure))).collect(),
        };
        for _ in 0..ROUNDS {
            bounds = bounds.refined(program);
        }
        bounds
    }

    fn refined(&self, program: &Program) -> Bounds {
        let mut next = Collected::start(program, self);
        for location in &program.locations {
            let here = location.procedure;
            let value = |expr| self.value(expr, here).0;
            for edge in &location.edges {
                match &edge.op {
                    Op::Assign(places, values, _) => {
                        for (place, expr) in places.iter().zip(values) {
                            next.store(here, place, value(expr));
                        }
                    }
                    Op::Call(callee, arguments, places) => {
                        next.pass(program, *callee, arguments.iter().map(value));
                        for (place, &result) in places.iter().zip(&self.results[callee.index()]) {
                            next.store(here, place, result);
                        }
                    }
                    Op::Spawn(template, arguments) => {
                        next.pass(program, program.templates[*template].body, arguments.iter().map(value));
                    }
                    Op::Return(results) => {
                        for (result, expr) in results.iter().enumerate() {
                            add(&mut next.results[here.index()][result], value(expr));
                        }
                    }
                    Op::Acquire(lock) | Op::Release(lock) => {
                        let length = lock.element.as_ref().map_or(1, |(length, _)| *length);
                        next.shared[lock.slot..lock.slot + length].fill(Some(Interval::ALL));
                    }
                    _ => {}
                }
            }
        }
        next.finish()
    }

    /// The bounds of an expression of a procedure where it has a value, and whether it always has one.
    pub(super) fn value(&self, expr: &Expr, here: ProcedureId) -> (Interval, bool) {
        let element = |bounds: &[Interval], slots: Range<Slot>, index| {
            let (index, fine) = self.value(index, here);
            let inside = index.fits(Type::Range(0, slots.len() as Value - 1));
            let hull = bounds[slots].iter().copied().reduce(Interval::hull);
            (hull.unwrap_or(Interval::ALL), fine && inside)
        };
        match expr {
            Expr::Constant(value) => (Interval::one(*value), true),
            Expr::Shared(slot) => (self.shared[*slot], true),
            Expr::Local(slot) => (self.locals[here.index()][*slot], true),
            Expr::SharedElement(slot, length, index, _) => element(&self.shared, *slot..slot + length, index),
            Expr::LocalElement(slot, length, index, _) => {
                element(&self.locals[here.index()], *slot..slot + length, index)
            }
            Expr::NextShared(_) | Expr::NextLocal(_) | Expr::OtherLocal(_) | Expr::NextOtherLocal(_) => {
                (Interval::ALL, true)
            }
            Expr::This | Expr::At(_) => (Interval::COUNT, true),
            Expr::Choose(low, high) => (Interval { low: *low, high: *high.max(low) }, true),
            Expr::Unary(Unary::Not, part) => (Interval::TRUTH, self.value(part, here).1),
            Expr::Unary(Unary::Minus, part) => {
                let (value, fine) = self.value(part, here);
                let (negated, fits) = arithmetic(Binary::Minus, Interval::one(0), value);
                (negated, fine && fits)
            }
            Expr::Unary(Unary::Wrap(machine), part) => {
                let ((low, high), fine) = self.wide(part, here);
                let range = machine.bounds();
                let kept = if range.0 <= low && high <= range.1 { (low, high) } else { range };
                let (value, fits) = narrow(kept);
                (value, fine && fits)
            }
            Expr::Binary(operator, left, right, _) => {
                let ((left, left_fine), (right, right_fine)) =
                    (self.value(left, here), self.value(right, here));
                let (value, fine) = match operator {
                    Binary::And => (right.hull(Interval::one(0)), true),
                    Binary::Or => (right.hull(Interval::one(1)), true),
                    Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => {
                        arithmetic(*operator, left, right)
                    }
                    Binary::Equal
                    | Binary::Unequal
                    | Binary::Less
                    | Binary::LessEqual
                    | Binary::Greater
                    | Binary::GreaterEqual => (Interval::TRUTH, true),
                    Binary::BitAnd | Binary::BitOr | Binary::BitXor => (bits(*operator, left, right), true),
                    Binary::ShiftLeft | Binary::ShiftRight => shifted(*operator, left, right),
                };
                (value, left_fine && right_fine && fine)
            }
            Expr::If(condition, then, other) => {
                let (_, fine) = self.value(condition, here);
                let ((then, then_fine), (other, other_fine)) =
                    (self.value(then, here), self.value(other, here));
                (then.hull(other), fine && then_fine && other_fine)
            }
        }
    }

    /// The bounds of what is brought back into a range, and whether it always has a value.
    fn wide(&self, expr: &Expr, here: ProcedureId) -> ((i128, i128), bool) {
        let all = (i128::MIN, i128::MAX);
        let both = |left, right| (self.value(left, here), self.value(right, here));
        match expr {
            Expr::Unary(Unary::Minus, part) => {
                let (value, fine) = self.value(part, here);
                let bounds = wide_arithmetic(Binary::Minus, Interval::one(0), value);
                (bounds.unwrap_or(all), fine && bounds.is_some())
            }
            Expr::Binary(
                operator
                @ (Binary::Plus | Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder),
                left,
                right,
                _,
            ) => {
                let ((left, left_fine), (right, right_fine)) = both(left, right);
                let bounds = wide_arithmetic(*operator, left, right);
                (bounds.unwrap_or(all), left_fine && right_fine && bounds.is_some())
            }
            Expr::Binary(Binary::ShiftLeft, left, right, _) => {
                let ((_, left_fine), (right, right_fine)) = both(left, right);
                // Anything may come out, but something does.
                (all, left_fine && right_fine && right.low >= 0 && right.high < 64)
            }
            _ => {
                let (Interval { low, high }, fine) = self.value(expr, here);
                ((low.into(), high.into()), fine)
            }
        }
    }
}

/// The bounds of values of `&`, `|` and `^`.
fn bits(operator: Binary, left: Interval, right: Interval) -> Interval {
    if left.low < 0 || right.low < 0 {
        return Interval::ALL;
    }
    // No bit is set above the highest one of the operands.
    let most = left.high.max(right.high);
    let filled = if most == 0 { 0 } else { Value::MAX >> (most.leading_zeros() - 1) };
    match operator {
        Binary::BitAnd => Interval { low: 0, high: left.high.min(right.high) },
        Binary::BitOr => Interval { low: left.low.max(right.low), high: filled },
        _ => Interval { low: 0, high: filled },
    }
}

/// The bounds of a value that is shifted, and whether there always is one.
fn shifted(operator: Binary, left: Interval, right: Interval) -> (Interval, bool) {
    if right.low < 0 || right.high > 63 {
        return (Interval::ALL, false);
    }
    let ends = [left.low, left.high].into_iter().flat_map(|value| {
        [right.low, right.high].map(|by| match operator {
            Binary::ShiftLeft => i128::from(value) << by,
            _ => i128::from(value) >> by,
        })
    });
    let (low, high) = ends.fold((i128::MAX, i128::MIN), |(low, high), end| (low.min(end), high.max(end)));
    narrow((low, high))
}

/// Bounds with 64 bits, and whether these suffice.
fn narrow((low, high): (i128, i128)) -> (Interval, bool) {
    match (Value::try_from(low), Value::try_from(high)) {
        // The least number stands for a value that is still open.
        (Ok(low), Ok(high)) => (Interval { low, high }, low != Value::MIN),
        _ => (Interval::ALL, false),
    }
}

/// The bounds of a sum, a product and so on, and whether there always is one.
fn arithmetic(operator: Binary, left: Interval, right: Interval) -> (Interval, bool) {
    match wide_arithmetic(operator, left, right) {
        Some(bounds) => narrow(bounds),
        None => (Interval::ALL, false),
    }
}

/// The bounds of a sum, a product and so on, unless it may have none.
fn wide_arithmetic(operator: Binary, left: Interval, right: Interval) -> Option<(i128, i128)> {
    let (a, b) = ([left.low, left.high].map(i128::from), [right.low, right.high].map(i128::from));
    let corners = |operation: fn(i128, i128) -> i128| {
        let values = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| operation(a[i], b[j]));
        let ends = values.iter().min().zip(values.iter().max());
        ends.map_or((0, 0), |(low, high)| (*low, *high))
    };
    Some(match operator {
        Binary::Plus => (a[0] + b[0], a[1] + b[1]),
        Binary::Minus => (a[0] - b[1], a[1] - b[0]),
        Binary::Times => corners(|a, b| a * b),
        _ if right.contains(0) => return None,
        // With a divisor of one sign, a quotient grows or shrinks with each of its operands.
        Binary::Divide => corners(|a, b| a / b),
        // The quotient of these two is too large, and so, for the evaluation, is the remainder.
        _ if left.contains(Value::MIN) && right.contains(-1) => return None,
        _ => {
            let most = b[0].abs().max(b[1].abs()) - 1;
            ((-most).max(a[0]).min(0), most.min(a[1]).max(0))
        }
    })
}

/// Bounds of what has been seen so far; `None` if nothing has.
struct Collected {
    shared: Vec<Option<Interval>>,
    locals: Vec<Vec<Option<Interval>>>,
    results: Vec<Vec<Option<Interval>>>,
}

fn add(to: &mut Option<Interval>, values: Interval) {
    *to = Some(to.map_or(values, |old| old.hull(values)));
}

impl Collected {
    /// With the initial values.
    fn start(program: &Program, like: &Bounds) -> Collected {
        // What has any value of a type without bounds starts with 0.
        let initial = |ty: Type, initial: Option<Value>| {
            initial.map_or(ty.bounds().map_or(Interval::one(0), |_| Interval::of(ty)), Interval::one)
        };
        let shared = program.shared.iter().flat_map(|variable| {
            variable.initial.iter().map(|&value| {
                Some(if variable.ty == Type::Lock { Interval::ALL } else { initial(variable.ty, value) })
            })
        });
        let locals = ProcedureId::each(&program.procedures).map(|(number, procedure)| {
            // The parameters of threads that run from the start have initial values too.
            let starts = program.templates.iter().any(|template| template.body == number);
            let locals = procedure.locals.iter().enumerate().flat_map(|(index, local)| {
                local.initial.iter().map(move |&value| {
                    if local.mixed {
                        // Other threads may store anything.
                        Some(Interval::ALL)
                    } else {
                        (starts || index >= procedure.parameters).then(|| initial(local.ty, value))
                    }
                })
            });
            locals.collect()
        });
        Collected {
            shared: shared.collect(),
            locals: locals.collect(),
            results: like.results.iter().map(|results| vec![None; results.len()]).collect(),
        }
    }

    fn store(&mut self, here: ProcedureId, place: &Place, values: Interval) {
        let (Some((shared, slots)), Some(values)) = (written(place), values.within(place.ty)) else { return };
        let to = if shared { &mut self.shared[slots] } else { &mut self.locals[here.index()][slots] };
        to.iter_mut().for_each(|to| add(to, values));
    }

    fn pass(&mut self, program: &Program, callee: ProcedureId, arguments: impl Iterator<Item = Interval>) {
        for (parameter, values) in program.procedures[callee].locals.iter().zip(arguments) {
            let Some(values) = values.within(parameter.ty) else { continue };
            let slots = parameter.slot..parameter.slot + parameter.slots();
            self.locals[callee.index()][slots].iter_mut().for_each(|to| add(to, values));
        }
    }

    fn finish(self) -> Bounds {
        let all = |collected: Vec<Option<Interval>>| {
            collected.into_iter().map(|seen| seen.unwrap_or(Interval::ALL)).collect::<Vec<_>>()
        };
        Bounds {
            shared: all(self.shared),
            locals: self.locals.into_iter().map(all).collect(),
            results: self.results.into_iter().map(all).collect(),
        }
    }
}
