//! Declarations of local variables: those at the start of a body are initial values, others are steps.

use super::super::ast::{self, Declarator, Initial, Name};
use super::super::suggest::quote;
use super::Lowering;
use super::builtins::{CallOf, call_of};
use super::flow::Point;
use super::parts::{Leaf, Of, Shape};
use allways_model::program::{Expr, Op, Place, ProcedureId, Span, Target, Type, Value};

impl<'a> Lowering<'a, '_> {
    /// A declared variable: its initial value, or a step that gives it a value.
    pub(super) fn declaration(
        &mut self,
        of: Option<Of>,
        declarator: &'a Declarator<'a>,
        at: Point,
        span: Span,
    ) -> Point {
        let name = declarator.name;
        let lengths = self.lengths_of(declarator);
        let of = of.filter(|of| self.has_no_locks(name, of));
        let shape = match (of, lengths) {
            (Some(of), Some(lengths)) => Shape { lengths, of },
            (of, _) => {
                // The name is known from here on, lest each use of it be an error.
                let ty = if let Some(Of::Value(ty, _)) = of { ty } else { Type::Int };
                self.declare_local(name, ty, None, vec![Some(0)]);
                return at;
            }
        };
        if self.has_room(name, &shape).is_none() {
            return at;
        }
        if let Some(Initial::One(value)) = &declarator.initial
            && let Some(call) = call_of(value).filter(|call| !self.is_length(call.0))
        {
            return self.declaration_by_call(call, declarator, shape, at, span);
        }
        let values = self.initial_values(declarator, &shape);
        let constant =
            |value: &Expr| if let Expr::Constant(value) = value { Some(Some(*value)) } else { None };
        let constants: Option<Vec<Vec<_>>> = values.as_ref().and_then(|values| {
            let of_leaf = |values: &Vec<Expr>| values.iter().map(constant).collect();
            values.iter().map(of_leaf).collect()
        });
        let leading = constants.clone().filter(|_| self.body.leading);
        let initial = leading.unwrap_or_else(|| self.defaults(&shape));
        let Some(places) = self.declare_places(name, shape, initial, declarator.span) else { return at };
        if self.body.leading && constants.is_some() {
            return at;
        }
        self.body.leading = false;
        let Some(values) = values else { return at };
        let values = values.into_iter().flatten().collect();
        self.body.flow.step(at, Op::Assign(places, values, None), span)
    }

    /// Declares a local variable. Gives the places of its slots.
    fn declare_places(
        &mut self,
        name: Name<'a>,
        shape: Shape,
        initial: Vec<Vec<Option<Value>>>,
        span: Span,
    ) -> Option<Vec<Place>> {
        if self.is_spoken_of(name) {
            return self.declare_lifted(name, shape, &initial, span);
        }
        let (first, count) = self.declare_parts(name, shape, initial)?;
        let mut places = Vec::new();
        for variable in &self.body.locals[first..first + count] {
            let slots = variable.slot..variable.slot + variable.slots();
            places.extend(slots.map(|slot| Place { target: Target::Local(slot), ty: variable.ty, span }));
        }
        Some(places)
    }

    fn has_no_locks(&mut self, name: Name<'a>, of: &Of) -> bool {
        let locks = self.has_locks(of);
        if locks {
            let message =
                format!("expected a structure without locks for {}, found one with a lock", quote(name.text));
            self.error(name.span, message, Some("locks are shared: `shared Node n;`".to_string()));
        }
        !locks
    }

    /// The values that something has if nobody has given it any.
    fn defaults(&self, shape: &Shape) -> Vec<Vec<Option<Value>>> {
        let default = |leaf: Leaf| vec![Some(leaf.ty.default_value()); leaf.length.unwrap_or(1)];
        self.leaves(shape).into_iter().map(default).collect()
    }

    /// Adds the local variables that something is laid out as: the first one, and how many they are.
    fn declare_parts(
        &mut self,
        name: Name<'a>,
        shape: Shape,
        initial: Vec<Vec<Option<Value>>>,
    ) -> Option<(usize, usize)> {
        let leaves = self.leaves(&shape);
        let count = leaves.len();
        let mut first = None;
        let mut base = String::new();
        for (leaf, initial) in leaves.into_iter().zip(initial) {
            let number = match first {
                None => self.declare_local(name, leaf.ty, leaf.length, initial)?,
                Some(_) => {
                    let slot = self.body.slots();
                    let variable = self.new_variable(name, leaf.ty, leaf.length, initial, slot)?;
                    self.body.add_part(name.span, variable)
                }
            };
            let variable = &mut self.body.locals[number];
            if first.is_none() {
                base.clone_from(&variable.name);
            }
            (variable.name, variable.names) = (format!("{base}{}", leaf.suffix), leaf.names);
            first.get_or_insert(number);
        }
        let first = first?;
        self.body.shapes.insert(first, shape);
        Some((first, count))
    }

    /// A variable that is declared with the result of a call.
    fn declaration_by_call(
        &mut self,
        call: CallOf<'a>,
        declarator: &'a Declarator<'a>,
        shape: Shape,
        at: Point,
        span: Span,
    ) -> Point {
        // What the call mentions does not know the variable yet.
        let is_builtin = self.is_builtin(call.0);
        let update = if is_builtin { self.update(call) } else { None };
        let operands = if is_builtin { None } else { self.callee(call.0, call.1) };
        let ty = match shape {
            Shape { ref lengths, of: Of::Value(ty, _) } if lengths.is_empty() => Some(ty),
            _ => self.none(call.0.span, "expected one variable for the result of a call", None),
        };
        let initial = self.defaults(&shape);
        let places = self.declare_places(declarator.name, shape, initial, declarator.span);
        let Some(place) = places.and_then(|places| places.into_iter().next()) else { return at };
        let Some(ty) = ty else { return at };
        self.body.leading = false;
        if is_builtin {
            return self.builtin(update, Some(place), at, span);
        }
        let op = operands.and_then(|(callee, arguments)| {
            self.result_fits(call.0, callee, ty)?;
            Some(Op::Call(ProcedureId(callee), arguments, vec![place]))
        });
        self.body.flow.step(at, op.unwrap_or(Op::Skip), span)
    }

    /// The values that the parts of a local variable are declared with.
    fn initial_values(&mut self, declarator: &'a Declarator<'a>, shape: &Shape) -> Option<Vec<Vec<Expr>>> {
        let one = &mut |lowering: &mut Self, value: Option<&'a ast::Expr<'a>>, ty: Type, all: bool| {
            let Some(value) = value else { return Some(Expr::Constant(ty.default_value())) };
            let lowered = lowering.initial(value, ty)?;
            if all && !matches!(lowered, Expr::Constant(_) | Expr::Choose(..)) {
                let message = "expected a constant or `*` for the elements of an array";
                return lowering.none(value.span, message, None);
            }
            Some(lowered)
        };
        self.initial_parts(declarator.initial.as_ref(), shape, one)
    }

    pub(super) fn local_place(&self, number: usize, span: Span) -> Place {
        let variable = &self.body.locals[number];
        Place { target: Target::Local(variable.slot), ty: variable.ty, span }
    }
}
