//! What a program reads from outside: the arguments of `main`, and `scanf` with its kin.

use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::slots;
use crate::typed::{Expr, FunctionId, Int, Type};
use crate::walk;
use allways_model::program::{Binary as Operator, Span, Type as Values, Value};

/// Any number of an integer type.
pub(super) fn any_of(int: Int) -> Model {
    match slots::values(&Type::Int(int)) {
        Values::Range(low, high) => Model::Choose(low, high),
        _ => Model::Choose(0, 1),
    }
}

impl Lowering<'_> {
    /// `scanf` and its kin: some of the numbers are read, from the first on, and how many they are is returned.
    pub(super) fn scan(&mut self, places: &[Expr], span: Span) -> Result<Vec<Model>> {
        let count = self.kept(Model::Choose(-1, places.len() as Value), span)?;
        for (number, place) in places.iter().enumerate() {
            let Type::Pointer(ty) = walk::through_casts(place).ty.plain() else {
                return refuse(span, "something is read to a place that is no pointer");
            };
            match ty.plain() {
                Type::Int(int) if int.bits > 8 => {
                    let to = self.target_of(place)?;
                    let read = binary(Operator::Less, Model::Constant(number as Value), count.clone());
                    let value =
                        Model::If(Box::new(read), Box::new(any_of(*int)), Box::new(self.load(&to, span)));
                    let value = self.kept(value, span)?;
                    self.store(&to, value, span)?;
                }
                Type::Float(_) => {}
                _ => return refuse(span, "a string is read, which is not followed"),
            }
        }
        Ok(vec![count])
    }

    /// The parameters of `main`: how many arguments there are, at least one; what they are is not followed.
    pub(super) fn arguments_of_main(&mut self, main: FunctionId, span: Span) -> Result<()> {
        let unit = self.unit;
        let Some(&count) = unit.functions[main.0].parameters.first() else { return Ok(()) };
        let Type::Int(int) = unit.variables[count.0].ty.plain() else { return Ok(()) };
        let Model::Choose(_, high) = any_of(*int) else { return Ok(()) };
        let place: Target = self.variable(count, span)?;
        self.store(&place, Model::Choose(1, high), span)
    }
}
