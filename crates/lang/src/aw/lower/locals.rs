//! Declarations of local variables: those at the start of a body are initial values, others are steps.

use super::super::ast::{Declarator, Initial};
use super::Lowering;
use super::builtins::{CallOf, call_of};
use super::flow::Point;
use allways_model::program::{Expr, Op, Place, ProcedureId, Span, Target, Type, Value};

impl<'a> Lowering<'a, '_> {
    /// A declared variable: its initial value, or a step that gives it a value.
    pub(super) fn declaration(
        &mut self,
        ty: Option<Type>,
        declarator: &'a Declarator<'a>,
        at: Point,
        span: Span,
    ) -> Point {
        let length = self.length_of(declarator);
        let (Some(ty), Some(length)) = (ty, length) else {
            // The name is known from here on, lest each use of it be an error.
            self.declare_local(declarator.name, ty.unwrap_or(Type::Int), None, vec![Some(0)]);
            return at;
        };
        let default = vec![Some(ty.default_value()); length.unwrap_or(1)];
        if let Some(Initial::One(value)) = &declarator.initial
            && let Some(call) = call_of(value).filter(|call| !self.is_length(call.0))
        {
            return self.declaration_by_call(call, declarator, (ty, length, default), at, span);
        }
        let values = self.initial_values(declarator, ty, length);
        let constant =
            |value: &Expr| if let Expr::Constant(value) = value { Some(Some(*value)) } else { None };
        let constants: Option<Vec<_>> =
            values.as_ref().and_then(|values| values.iter().map(constant).collect());
        let initial = constants.clone().filter(|_| self.body.leading).unwrap_or(default);
        let Some(number) = self.declare_local(declarator.name, ty, length, initial) else { return at };
        if self.body.leading && constants.is_some() {
            return at;
        }
        self.body.leading = false;
        let Some(values) = values else { return at };
        let variable = &self.body.locals[number];
        let places = (variable.slot..variable.slot + variable.slots())
            .map(|slot| Place { target: Target::Local(slot), ty, span: declarator.span })
            .collect();
        self.body.flow.step(at, Op::Assign(places, values, None), span)
    }

    /// A variable that is declared with the result of a call.
    fn declaration_by_call(
        &mut self,
        call: CallOf<'a>,
        declarator: &'a Declarator<'a>,
        variable: (Type, Option<usize>, Vec<Option<Value>>),
        at: Point,
        span: Span,
    ) -> Point {
        let (ty, length, default) = variable;
        // What the call mentions does not know the variable yet.
        let is_builtin = self.is_builtin(call.0);
        let update = if is_builtin { self.update(call) } else { None };
        let operands = if is_builtin { None } else { self.callee(call.0, call.1) };
        let Some(number) = self.declare_local(declarator.name, ty, length, default) else { return at };
        self.body.leading = false;
        let place = self.local_place(number, declarator.span);
        if is_builtin {
            return self.builtin(update, Some(place), at, span);
        }
        let op = operands.and_then(|(callee, arguments)| {
            self.result_fits(call.0, callee, ty)?;
            Some(Op::Call(ProcedureId(callee), arguments, vec![place]))
        });
        self.body.flow.step(at, op.unwrap_or(Op::Skip), span)
    }

    /// The values that the elements of a local variable are declared with.
    fn initial_values(
        &mut self,
        declarator: &'a Declarator<'a>,
        ty: Type,
        length: Option<usize>,
    ) -> Option<Vec<Expr>> {
        match &declarator.initial {
            None => Some(vec![Expr::Constant(ty.default_value()); length.unwrap_or(1)]),
            Some(Initial::One(value)) => {
                let lowered = self.initial(value, ty)?;
                if length.is_some() && !matches!(lowered, Expr::Constant(_) | Expr::Choose(..)) {
                    let message = "expected a constant or `*` for the elements of an array";
                    return self.none(value.span, message, None);
                }
                Some(vec![lowered; length.unwrap_or(1)])
            }
            Some(Initial::Each(values, span)) => {
                let lowered: Vec<_> = values.iter().map(|value| self.initial(value, ty)).collect();
                self.as_many(values.len(), length, *span)?;
                lowered.into_iter().collect()
            }
        }
    }

    pub(super) fn local_place(&self, number: usize, span: Span) -> Place {
        let variable = &self.body.locals[number];
        Place { target: Target::Local(variable.slot), ty: variable.ty, span }
    }
}
