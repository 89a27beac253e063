//! Arrays of threads whose length is an input: `t = malloc(n * sizeof *t)`, a loop that creates `n` threads, a loop that joins
//! them, `free(t)`.
//!
//! Who counts to any `n`, in memory of any size, has no end of states, and a proof learns nothing from them. So, in a program of
//! which only proofs are asked, the loop that creates threads creates any number of them, the one that joins them does not wait,
//! and the array is not there, if nothing else looks at it: all of it are statements of `main` itself, one after the other, with
//! indices below `n`, which does not change any more. This allows more than can happen.
//!
//! If `n * sizeof *t` overflows, the array is too small; that it does not is assumed, and said.

use super::statements::variable_of;
use super::{Lowering, Model, Result};
use crate::slots;
use crate::typed::{Binary, Expr, ExprKind, FunctionId, Stmt, StmtKind, Type, Unit, VariableId};
use crate::walk;
use allways_model::program::{Binary as Operator, Op, Span};
use std::collections::HashMap;

/// What a statement about such an array is.
#[derive(Clone, Copy)]
pub(super) enum Role<'u> {
    /// It allocates or frees it.
    Memory,
    /// It creates threads, in a loop over this variable up to that one: their function and their argument.
    Creates(VariableId, VariableId, &'u Expr, &'u Expr),
    /// It joins threads, in a loop over this variable up to that one.
    Joins(VariableId, VariableId),
}

/// The statements about such arrays, and what is assumed.
#[derive(Default)]
pub(super) struct ThreadArrays<'u> {
    pub(super) roles: HashMap<*const Stmt, Role<'u>>,
    pub(super) assumed: Vec<(Span, String)>,
}

/// Finds such arrays.
pub(super) fn find(unit: &Unit, main: FunctionId) -> ThreadArrays<'_> {
    let mut found = ThreadArrays::default();
    let body = unit.functions[main.0].body.as_deref().unwrap_or_default();
    let mut jumps = false;
    walk::each_statement(body, &mut |stmt| {
        jumps |= matches!(stmt.kind, StmtKind::Label(..) | StmtKind::Goto(_));
    });
    jumps |= walk::states_something(unit, body);
    for (index, stmt) in body.iter().enumerate().filter(|_| !jumps) {
        let before = index.checked_sub(1).map(|before| &body[before]);
        if let Some((array, length)) = allocated(unit, before, stmt)
            && let Some(roles) = roles(unit, body, index, array, length)
        {
            found.roles.insert(stmt, Role::Memory);
            found.roles.extend(roles);
            if may_overflow(unit, array, length) {
                let name = &unit.variables[length.0].name;
                let why = format!("the size of memory for `{name}` threads does not overflow");
                found.assumed.push((stmt.span, why));
            }
        }
    }
    found
}

/// The variable that a statement declares with a single value, and the value.
fn declared(stmt: &Stmt) -> Option<(VariableId, &Expr)> {
    match &stmt.kind {
        StmtKind::Declare(variable, Some(initial)) => match &initial[..] {
            [one] if one.path.is_empty() => Some((*variable, &one.value)),
            _ => None,
        },
        _ => None,
    }
}

/// The type of the elements of an array in memory.
fn element_of(unit: &Unit, array: VariableId) -> Option<&Type> {
    match unit.variables[array.0].ty.plain() {
        Type::Pointer(element) => match element.plain() {
            Type::Array(element, None) => Some(element),
            element => Some(element),
        },
        _ => None,
    }
}

/// The array that a statement allocates, and the variable that is its length. The size of an array of computed length is a
/// variable that is declared before it.
fn allocated(unit: &Unit, before: Option<&Stmt>, stmt: &Stmt) -> Option<(VariableId, VariableId)> {
    let (array, value) = match &stmt.kind {
        StmtKind::Declare(..) => declared(stmt)?,
        StmtKind::Expr(Expr { kind: ExprKind::Assign(to, value), .. }) => match to.kind {
            ExprKind::Variable(array) => (array, &**value),
            _ => return None,
        },
        _ => return None,
    };
    let size = i128::from(slots::bytes(unit, element_of(unit, array)?)?);
    let (name, arguments) = called(unit, walk::through_casts(value))?;
    let (left, right) = match (name, arguments) {
        ("malloc" | "__builtin_alloca", [bytes]) => {
            let computed = before.and_then(declared).filter(|(size, _)| loaded(bytes) == Some(*size));
            match &through_widening(computed.map_or(bytes, |(_, value)| value)).kind {
                ExprKind::Binary(Binary::Times, left, right) => (&**left, &**right),
                _ => return None,
            }
        }
        ("calloc", [left, right]) => (left, right),
        _ => return None,
    };
    let is_size =
        |expr: &Expr| matches!(walk::through_casts(expr).kind, ExprKind::Int(value) if value == size);
    let length = if is_size(right) { left } else { right };
    let sized = is_size(left) || is_size(right);
    Some((array, loaded(through_widening(length)).filter(|_| sized)?))
}

/// What the statements after the allocation are; nothing if anything else is done with the array.
fn roles<'u>(
    unit: &'u Unit,
    body: &'u [Stmt],
    index: usize,
    array: VariableId,
    length: VariableId,
) -> Option<HashMap<*const Stmt, Role<'u>>> {
    let mut roles = HashMap::new();
    let mut known = mentions(std::slice::from_ref(&body[index]), array);
    let mut freed = false;
    for stmt in &body[index + 1..] {
        let mentioned = mentions(std::slice::from_ref(stmt), array);
        if writes(stmt, length) || freed && mentioned > 0 {
            return None;
        }
        if mentioned == 0 {
            continue;
        }
        let role = match &stmt.kind {
            StmtKind::Expr(expr) => match called(unit, walk::through_casts(expr))? {
                ("free", [pointer]) if variable_of(pointer) == Some(array) => Role::Memory,
                _ => return None,
            },
            StmtKind::Block(items) => match &items[..] {
                [start, repeat] => over_threads(unit, start, repeat, array, length)?,
                _ => return None,
            },
            _ => return None,
        };
        freed |= matches!(role, Role::Memory);
        known += mentioned;
        roles.insert(std::ptr::from_ref(stmt), role);
    }
    let all =
        unit.functions.iter().map(|function| mentions(function.body.as_deref().unwrap_or_default(), array));
    let initial = unit.variables.iter().flat_map(|variable| walk::values(&variable.initial));
    let elsewhere = initial.map(|value| mentions_in(value, array)).sum::<usize>();
    let several = |role: &Role<'_>| matches!(role, Role::Creates(..));
    let plain = matches!(unit.variables[array.0].ty, Type::Pointer(_))
        && crate::pointers::is_automatic(unit, length)
        && roles.values().any(several);
    (plain && all.sum::<usize>() == known && elsewhere == 0).then_some(roles)
}

/// `for (i = 0; i < n; i++)` and a single statement that creates or joins the thread with this index.
fn over_threads<'u>(
    unit: &'u Unit,
    start: &Stmt,
    repeat: &'u Stmt,
    array: VariableId,
    length: VariableId,
) -> Option<Role<'u>> {
    let zero = |value: &Expr| matches!(walk::through_casts(value).kind, ExprKind::Int(0));
    let index = match &start.kind {
        StmtKind::Declare(index, Some(initial)) if matches!(&initial[..], [one] if zero(&one.value)) => {
            *index
        }
        StmtKind::Expr(Expr { kind: ExprKind::Assign(to, value), .. }) if zero(value) => match to.kind {
            ExprKind::Variable(index) => index,
            _ => return None,
        },
        _ => return None,
    };
    let StmtKind::For(Some(condition), Some(step), body) = &repeat.kind else { return None };
    let counts = matches!(&walk::through_casts(step).kind, ExprKind::Step(to, 1, _)
        if matches!(to.kind, ExprKind::Variable(variable) if variable == index));
    let ExprKind::Binary(Binary::Less, left, right) = &walk::through_casts(condition).kind else {
        return None;
    };
    let ends = loaded(left) == Some(index) && loaded(right) == Some(length);
    let own = crate::pointers::is_automatic(unit, index)
        && unit.variables[index.0].ty == unit.variables[length.0].ty;
    let mut body: &Stmt = body;
    while let StmtKind::Block(inside) = &body.kind {
        let [only] = &inside[..] else { return None };
        body = only;
    }
    let StmtKind::Expr(expr) = &body.kind else { return None };
    let (name, arguments) = called(unit, walk::through_casts(expr))?;
    let is_element = |pointer: &Expr| match &walk::through_casts(pointer).kind {
        ExprKind::PointerAdd(pointer, offset) => {
            let whole = match &pointer.kind {
                ExprKind::AddressOf(place) => match &place.kind {
                    ExprKind::Deref(whole) => whole,
                    _ => pointer,
                },
                _ => pointer,
            };
            loaded(whole) == Some(array) && loaded(through_widening(offset)) == Some(index)
        }
        _ => false,
    };
    let plain = |expr: &Expr| {
        let mut plain = true;
        walk::expression(expr, &mut |part| {
            plain &= !matches!(part.kind, ExprKind::Variable(variable) if variable == index || variable == array)
                && !matches!(part.kind, ExprKind::Call(..) | ExprKind::Assign(..) | ExprKind::Step(..));
        });
        plain
    };
    let role = match (name, arguments) {
        ("pthread_create", [to, attributes, start, argument])
            if is_element(to) && [attributes, start, argument].into_iter().all(plain) =>
        {
            Role::Creates(index, length, start, argument)
        }
        ("pthread_join", [thread, result]) if zero(result) => match &walk::through_casts(thread).kind {
            ExprKind::Load(place) => match &place.kind {
                ExprKind::Deref(pointer) if is_element(pointer) => Role::Joins(index, length),
                _ => return None,
            },
            _ => return None,
        },
        _ => return None,
    };
    (counts && ends && own && !taken(unit, index) && !taken(unit, length)).then_some(role)
}

fn called<'u>(unit: &'u Unit, expr: &'u Expr) -> Option<(&'u str, &'u [Expr])> {
    let ExprKind::Call(callee, arguments) = &expr.kind else { return None };
    let ExprKind::Function(function) = callee.kind else { return None };
    let function = &unit.functions[function.0];
    function.body.is_none().then_some((&*function.name, &**arguments))
}

/// The variable whose value an expression is, without any conversion.
fn loaded(expr: &Expr) -> Option<VariableId> {
    match &expr.kind {
        ExprKind::Load(place) => match place.kind {
            ExprKind::Variable(variable) => Some(variable),
            _ => None,
        },
        _ => None,
    }
}

/// An expression without conversions of integers to types that are no narrower.
fn through_widening(expr: &Expr) -> &Expr {
    match (&expr.kind, expr.ty.plain()) {
        (ExprKind::Cast(part), Type::Int(to)) => match part.ty.plain() {
            Type::Int(from) if from.bits <= to.bits => through_widening(part),
            _ => expr,
        },
        _ => expr,
    }
}

/// Whether so many elements may have more bytes than a size can be.
fn may_overflow(unit: &Unit, array: VariableId, length: VariableId) -> bool {
    let word = match unit.model {
        crate::typed::DataModel::Ilp32 => 32,
        crate::typed::DataModel::Lp64 => 64,
    };
    let Some(element) = element_of(unit, array) else { return true };
    let Type::Int(int) = unit.variables[length.0].ty.plain() else { return true };
    let most = (1_u128 << (int.bits - u8::from(int.signed))) - 1;
    slots::bytes(unit, element).is_none_or(|size| most * u128::from(size) >= 1_u128 << word)
}

pub(super) fn mentions(body: &[Stmt], variable: VariableId) -> usize {
    let mut count = 0;
    walk::statements(body, &mut |expr| {
        count += usize::from(matches!(expr.kind, ExprKind::Variable(other) if other == variable));
    });
    count
}

pub(super) fn mentions_in(expr: &Expr, variable: VariableId) -> usize {
    let mut count = 0;
    walk::expression(expr, &mut |part| {
        count += usize::from(matches!(part.kind, ExprKind::Variable(other) if other == variable));
    });
    count
}

/// Whether a statement may write a variable.
pub(super) fn writes(stmt: &Stmt, variable: VariableId) -> bool {
    let mut found = false;
    walk::statement(stmt, &mut |expr| {
        if let ExprKind::Assign(to, _)
        | ExprKind::AssignOp(_, to, _, _)
        | ExprKind::AssignPointerAdd(to, _)
        | ExprKind::Step(to, _, _) = &expr.kind
        {
            found |= crate::pointers::root(to) == Some(variable);
        }
    });
    walk::each_statement(std::slice::from_ref(stmt), &mut |stmt| {
        found |= matches!(stmt.kind, StmtKind::Declare(other, _) if other == variable);
    });
    found
}

/// Whether the address of a variable is taken anywhere.
fn taken(unit: &Unit, variable: VariableId) -> bool {
    let mut found = false;
    for function in &unit.functions {
        walk::statements(function.body.as_deref().unwrap_or_default(), &mut |expr| {
            if let ExprKind::AddressOf(place) = &expr.kind {
                found |= crate::pointers::root(place) == Some(variable);
            }
        });
    }
    found
}

impl<'u> Lowering<'u> {
    /// Lowers a statement about an array of threads that is left out.
    pub(super) fn about_threads(&mut self, role: Role<'u>, span: Span) -> Result<()> {
        let (index, length) = match role {
            Role::Memory => return Ok(()),
            Role::Joins(index, length) => (index, length),
            Role::Creates(index, length, start, argument) => {
                let (head, inside, after) = (self.location(span), self.location(span), self.location(span));
                self.jump(head, span);
                self.edge(head, Op::Skip, after, span);
                self.edge(head, Op::Skip, inside, span);
                self.here = inside;
                self.body.loops += 1;
                self.body.branches += 1;
                self.create(None, start, argument, span)?;
                self.body.loops -= 1;
                self.body.branches -= 1;
                self.jump(head, span);
                self.here = after;
                (index, length)
            }
        };
        // After the loop, the index is the length, unless that is negative.
        let length = self.variable(length, span)?;
        let length = self.load(&length, span);
        let length = self.kept(length, span)?;
        let index = self.variable(index, span)?;
        let some = super::places::binary(Operator::Greater, length.clone(), Model::Constant(0));
        let last = Model::If(Box::new(some), Box::new(length), Box::new(Model::Constant(0)));
        self.store(&index, last, span)
    }
}
