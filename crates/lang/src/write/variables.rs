//! What the writers know about variables: how they are written, and whether a value is a Boolean or a number. In the model
//! both are numbers; the notations tell them apart.

use allways_model::program::{Binary, Expr, Slot, Type, Unary, Variable};
use std::collections::HashMap;

/// Variables by slot.
#[derive(Clone, Default)]
pub(super) struct Variables {
    /// How each slot is written.
    pub slots: Vec<String>,
    /// The type of each slot.
    pub types: Vec<Type>,
    /// The name of the array that starts at a slot.
    pub arrays: HashMap<Slot, String>,
}

impl Variables {
    pub fn new(variables: &[Variable], mut claim: impl FnMut(&str) -> String) -> Variables {
        let mut all = Variables::default();
        for variable in variables {
            let name = claim(&variable.name);
            all.types.extend(std::iter::repeat_n(variable.ty, variable.slots()));
            match variable.length {
                None => all.slots.push(name),
                Some(length) => {
                    all.slots.extend((0..length).map(|index| format!("{name}[{index}]")));
                    all.arrays.insert(variable.slot, name);
                }
            }
        }
        all
    }

    /// Adds a variable that is not in the program.
    pub fn add(&mut self, name: String, ty: Type) -> Slot {
        self.slots.push(name);
        self.types.push(ty);
        self.slots.len() - 1
    }
}

/// Booleans and numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Bool,
    Number,
}

impl Sort {
    /// The sort of the operand of an operator, and of its value.
    pub fn of_unary(operator: Unary) -> Sort {
        if operator == Unary::Not { Sort::Bool } else { Sort::Number }
    }

    /// The sort of the operands of an operator, if it takes only one.
    pub fn of_binary(operator: Binary) -> Option<Sort> {
        match operator {
            Binary::And | Binary::Or => Some(Sort::Bool),
            Binary::Equal | Binary::Unequal => None,
            _ => Some(Sort::Number),
        }
    }

    /// The sort of the operands of a comparison.
    pub fn of_operands(left: &Expr, right: &Expr, shared: &Variables, locals: &Variables) -> Sort {
        let told = sort(left, shared, locals).or_else(|| sort(right, shared, locals));
        told.unwrap_or(Sort::Bool)
    }
}

/// The sort of an expression, if one can tell from it alone.
fn sort(expr: &Expr, shared: &Variables, locals: &Variables) -> Option<Sort> {
    match expr {
        Expr::Constant(0 | 1) | Expr::Choose(0, 1) => None,
        Expr::Constant(_) | Expr::Choose(..) | Expr::This | Expr::At(_) => Some(Sort::Number),
        Expr::Shared(slot) | Expr::SharedElement(slot, ..) | Expr::NextShared(slot) => {
            Some(sort_of(shared.types[*slot]))
        }
        Expr::Local(slot)
        | Expr::LocalElement(slot, ..)
        | Expr::NextLocal(slot)
        | Expr::OtherLocal(slot)
        | Expr::NextOtherLocal(slot) => Some(sort_of(locals.types[*slot])),
        Expr::Unary(operator, _) => Some(Sort::of_unary(*operator)),
        Expr::Binary(operator, ..) => Some(match operator {
            Binary::And
            | Binary::Or
            | Binary::Equal
            | Binary::Unequal
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual => Sort::Bool,
            _ => Sort::Number,
        }),
        Expr::If(_, then, other) => sort(then, shared, locals).or_else(|| sort(other, shared, locals)),
    }
}

/// The sort of a type.
pub(super) fn sort_of(ty: Type) -> Sort {
    if ty == Type::Bool { Sort::Bool } else { Sort::Number }
}
