//! Which value did not fit, and which slots a step reads.

use allways_model::program::expression::{Choices, Scope};
use allways_model::program::semantics::{Frame, State};
use allways_model::program::{
    Binary, Edge, Expr, Op, Place, Program, Slot, Span, Target, Type, Value, Variable, Violation, Wrong,
};

/// A thread about to take an edge.
pub(super) struct About<'a> {
    pub program: &'a Program,
    pub state: &'a State,
    pub thread: usize,
    pub edge: &'a Edge,
}

/// A value that does not fit, and what would.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Misfit {
    /// Stored where these bounds are.
    Stored(Value, (Value, Value)),
    /// An index of an array of this length.
    Index(Value, usize),
}

impl About<'_> {
    fn frame(&self) -> Option<&Frame> {
        self.state.threads[self.thread].top()
    }

    /// All values that an expression can have here.
    fn values(&self, expr: &Expr, locals: &[Value]) -> Vec<Value> {
        let this = self.state.threads[self.thread].this;
        let scope = Scope { shared: &self.state.shared, locals, this, next: None, control: &[] };
        let (mut values, mut tried) = (Vec::new(), 0);
        Choices::each_of_few(|choices| {
            if let Ok(value) = expr.value(&scope, choices)
                && !values.contains(&value)
            {
                values.push(value);
            }
            tried += 1;
            tried < 100
        });
        values
    }

    /// The value that a violation is about, if only one can be meant.
    pub fn misfit(&self, violation: Violation) -> Option<Misfit> {
        let here = |span: Span| (span.line, span.column) == (violation.line, violation.column);
        let locals = &self.frame()?.locals;
        let mut found: Vec<Misfit> = Vec::new();
        let mut stored = |expr: &Expr, ty: Type| {
            let misfits = self.values(expr, locals).into_iter().filter(|&value| !ty.contains(value));
            found.extend(misfits.filter_map(|value| Some(Misfit::Stored(value, ty.bounds()?))));
        };
        match (violation.kind, &self.edge.op) {
            (Wrong::Range, Op::Assign(places, values, _)) => {
                let both = places.iter().zip(values).filter(|(place, _)| here(place.span));
                both.for_each(|(place, value)| stored(value, place.ty));
            }
            (Wrong::Range, Op::Call(callee, arguments, _)) if here(self.edge.span) => {
                let parameters = &self.program.procedures[*callee].locals;
                arguments.iter().zip(parameters).for_each(|(value, parameter)| stored(value, parameter.ty));
            }
            (Wrong::Range, Op::Return(results)) => {
                let location = self.frame()?.location;
                let own = &self.program.procedure_of(location).results;
                results
                    .iter()
                    .zip(own)
                    .filter(|_| here(self.edge.span))
                    .for_each(|(value, &ty)| stored(value, ty));
                let places = self.awaiting();
                results
                    .iter()
                    .zip(places)
                    .filter(|(_, place)| here(place.span))
                    .for_each(|(value, place)| stored(value, place.ty));
            }
            (Wrong::Index, op) => {
                let own = &self.program.procedure_of(self.frame()?.location).locals;
                let mut indices: Vec<(Expr, Vec<usize>)> = Vec::new();
                for expr in op.expressions() {
                    expr.visit(&mut |part| match part {
                        Expr::SharedElement(slot, _, index, span) if here(*span) => {
                            indices.push(((**index).clone(), dimensions(&self.program.shared, *slot)));
                        }
                        Expr::LocalElement(slot, _, index, span) if here(*span) => {
                            indices.push(((**index).clone(), dimensions(own, *slot)));
                        }
                        _ => {}
                    });
                }
                for place in op.places().iter().filter(|place| here(place.span)) {
                    match &place.target {
                        Target::SharedElement(slot, _, index) => {
                            indices.push((index.clone(), dimensions(&self.program.shared, *slot)));
                        }
                        Target::LocalElement(slot, _, index) => {
                            indices.push((index.clone(), dimensions(own, *slot)))
                        }
                        _ => {}
                    }
                }
                for (index, dimensions) in indices {
                    found.extend(self.outside(&index, &dimensions, locals));
                }
            }
            _ => {}
        }
        found.dedup();
        if let [one] = found[..] { Some(one) } else { None }
    }

    /// What an index can be that is none. Of an array of several dimensions, one that is none of its own dimension makes the
    /// whole index none; where all others are some, it is the first.
    fn outside(&self, index: &Expr, dimensions: &[usize], locals: &[Value]) -> Vec<Misfit> {
        let is_none =
            |value: Value, length: usize| usize::try_from(value).map_or(true, |value| value >= length);
        let misfits = |index: &Expr, length: usize, stride: usize| {
            let values =
                self.values(index, locals).into_iter().map(|value| value.div_euclid(stride as Value));
            values.filter(|&value| is_none(value, length)).map(|value| Misfit::Index(value, length)).collect()
        };
        let stride = dimensions.iter().skip(1).product();
        let Expr::If(inside, sum, _) = index else { return misfits(index, dimensions[0], stride) };
        if dimensions.len() < 2 {
            return misfits(index, dimensions[0], stride);
        }
        let mut found: Vec<Misfit> = Vec::new();
        inside.visit(&mut |part| {
            if let Expr::Binary(Binary::Less, index, most, _) = part
                && let Expr::Constant(length) = **most
            {
                found.extend::<Vec<Misfit>>(misfits(index, length as usize, 1));
            }
        });
        if found.is_empty() { misfits(sum, dimensions[0], stride) } else { found }
    }

    /// Where the caller stores the results.
    fn awaiting(&self) -> &[Place] {
        let stack = &self.state.threads[self.thread].stack;
        let caller = stack.len().checked_sub(2).map(|caller| &stack[caller]);
        let call =
            caller.and_then(|caller| self.program.locations[caller.location].edges.get(caller.calling?));
        call.map_or(&[], |call| call.op.places())
    }

    /// Calls a function with the shared slots that the step reads.
    pub fn reads(&self, see: &mut dyn FnMut(Slot)) {
        let locals = self.frame().map_or(&[][..], |frame| &frame.locals);
        for expr in self.edge.op.expressions() {
            self.reads_of(expr, locals, see);
        }
        if let Op::Acquire(lock) | Op::Release(lock) = &self.edge.op {
            match &lock.element {
                None => see(lock.slot),
                Some((length, index)) => self.elements(lock.slot, *length, index, locals, see),
            }
        }
    }

    /// The same of one expression.
    pub fn reads_of(&self, expr: &Expr, locals: &[Value], see: &mut dyn FnMut(Slot)) {
        expr.visit(&mut |part| match part {
            Expr::Shared(slot) | Expr::NextShared(slot) => see(*slot),
            Expr::SharedElement(slot, length, index, _) => self.elements(*slot, *length, index, locals, see),
            _ => {}
        });
    }

    /// The elements of an array that an index can mean here.
    fn elements(&self, slot: Slot, length: usize, index: &Expr, locals: &[Value], see: &mut dyn FnMut(Slot)) {
        let values = self.values(index, locals).into_iter();
        values
            .filter_map(|value| usize::try_from(value).ok())
            .filter(|&value| value < length)
            .for_each(|value| see(slot + value));
    }
}

/// The dimensions of the array at a slot, which its name says where there are several.
fn dimensions(variables: &[Variable], slot: Slot) -> Vec<usize> {
    let Some(variable) = variables.iter().find(|variable| variable.slot == slot) else { return vec![1] };
    let length = variable.slots();
    let pieces = variable.name.split(['[', ']']).skip(1).step_by(2).map(|piece| piece.parse().ok());
    let named: Option<Vec<usize>> = pieces.collect();
    named.filter(|all| !all.is_empty() && all.iter().product::<usize>() == length).unwrap_or(vec![length])
}
