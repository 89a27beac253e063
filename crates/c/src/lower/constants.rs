//! Variables that are never written, and the values of constant expressions with them.

use super::Lowering;
use crate::pointers::{Pointers, root};
use crate::slots;
use crate::typed::{Binary, Expr, ExprKind, FunctionId, StmtKind, Storage, Type, Unary, Unit, VariableId};
use crate::walk;
use std::collections::{HashMap, HashSet};

/// The integers that have one value: of those that live for the whole run, those that are never written and whose address is
/// not taken, and those that are never written by a name but whose address is taken; and local ones of the first kind that are
/// declared with a constant. And the local ones, and local pointers to functions, that are written by nothing but a declaration or
/// a call.
pub(super) fn find(
    unit: &Unit,
    pointers: &Pointers,
) -> ([HashMap<VariableId, i128>; 2], HashSet<VariableId>) {
    let mut written: HashSet<VariableId> = HashSet::new();
    let mut taken: HashSet<VariableId> = pointers.escapes.clone();
    let mut declared: HashMap<VariableId, i128> = HashMap::new();
    for function in &unit.functions {
        walk::each_statement(function.body.as_deref().unwrap_or_default(), &mut |stmt| {
            if let StmtKind::Declare(variable, Some(initial)) = &stmt.kind
                && let [one] = &initial[..]
                && one.path.is_empty()
                && let ExprKind::Int(value) = one.value.kind
            {
                declared.insert(*variable, value);
            }
        });
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| match &expr.kind {
            ExprKind::Assign(to, _)
            | ExprKind::AssignOp(_, to, _, _)
            | ExprKind::AssignPointerAdd(to, _)
            | ExprKind::Step(to, _, _) => written.extend(root(to)),
            ExprKind::AddressOf(to) => taken.extend(root(to)),
            _ => {}
        });
    }
    let constant = |(number, variable): (usize, &crate::typed::Variable)| {
        let id = VariableId(number);
        let unwritten = matches!(variable.ty, Type::Int(_)) && !variable.external && !written.contains(&id);
        if matches!(variable.storage, Storage::Automatic(_)) {
            let value = declared.get(&id).filter(|_| unwritten && !taken.contains(&id));
            return value.map(|&value| (id, value));
        }
        let plain = unwritten && variable.storage == Storage::Static;
        let value = match &variable.initial[..] {
            [] => Some(0),
            [one] => match one.value.kind {
                ExprKind::Int(value) => Some(value),
                _ => None,
            },
            _ => None,
        };
        value.filter(|_| plain).map(|value| (id, value))
    };
    let steady = |&(number, variable): &(usize, &crate::typed::Variable)| {
        let id = VariableId(number);
        let is_function =
            matches!(&variable.ty, Type::Pointer(to) if matches!(to.plain(), Type::Function(_)));
        let scalar = is_function || matches!(variable.ty, Type::Int(_));
        let local = scalar && matches!(variable.storage, Storage::Automatic(_));
        local && !written.contains(&id) && !taken.contains(&id)
    };
    let steady =
        unit.variables.iter().enumerate().filter(steady).map(|(number, _)| VariableId(number)).collect();
    let (likely, sure) =
        unit.variables.iter().enumerate().filter_map(constant).partition(|(id, _)| taken.contains(id));
    ([sure, likely], steady)
}

impl Lowering<'_> {
    /// The function whose address an expression is, whatever happens.
    pub(super) fn constant_function(&self, expr: &Expr) -> Option<FunctionId> {
        match &walk::through_casts(expr).kind {
            ExprKind::Function(function) => Some(*function),
            ExprKind::AddressOf(place) => self.constant_function(place),
            ExprKind::Load(place) => match place.kind {
                ExprKind::Variable(variable) => self.functions.get(&variable).copied(),
                ExprKind::Function(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    }

    /// The value of an expression that is constant.
    pub(super) fn constant_value(&self, expr: &Expr) -> Option<i128> {
        let wrap = |value: i128| match expr.ty.plain() {
            Type::Int(int) => Some(slots::machine(*int).wrap(value)),
            _ => Some(value),
        };
        match &expr.kind {
            ExprKind::Int(value) => Some(*value),
            ExprKind::Load(place) => match place.kind {
                ExprKind::Variable(variable) => self.constants.get(&variable).copied(),
                _ => None,
            },
            ExprKind::Cast(part) => wrap(self.constant_value(part)?),
            ExprKind::Unary(Unary::Minus, part) => wrap(-self.constant_value(part)?),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.constant_value(left)?, self.constant_value(right)?);
                wrap(match operator {
                    Binary::Plus => left.checked_add(right)?,
                    Binary::Minus => left.checked_sub(right)?,
                    Binary::Times => left.checked_mul(right)?,
                    Binary::Divide => left.checked_div(right)?,
                    Binary::Remainder => left.checked_rem(right)?,
                    _ => return None,
                })
            }
            _ => None,
        }
    }
}
