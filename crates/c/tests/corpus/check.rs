//! Whether a typed unit keeps what `typed` promises: the type of every node is what its operator works on.

use allways_c::typed::{
    Binary, Expr, ExprKind, FunctionType, Initial, RecordId, Stmt, StmtKind, Storage, Type, Unit,
};

/// What is wrong with a unit: the first thing.
pub fn check(unit: &Unit) -> Result<(), String> {
    for variable in &unit.variables {
        if variable.storage == Storage::Static || variable.storage == Storage::Thread {
            parts(unit, &variable.ty, &variable.initial)?;
        } else if !variable.initial.is_empty() {
            return Err(format!("{} is automatic and has an initial value", variable.name));
        }
    }
    for function in &unit.functions {
        for statement in function.body.iter().flatten() {
            stmt(unit, &function.ty, statement)?;
        }
        let types = function.parameters.iter().map(|id| &unit.variables[id.0].ty);
        if function.body.is_some() && !function.ty.parameters.is_empty() && !types.eq(&function.ty.parameters)
        {
            return Err(format!("the parameters of {}", function.name));
        }
    }
    Ok(())
}

fn plain(ty: &Type) -> &Type {
    match ty {
        Type::Atomic(inner) => inner,
        other => other,
    }
}

fn demand(holds: bool, what: &str, expr: &Expr) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    let shown = format!("{expr:?}");
    Err(format!("{what}: {}", shown.chars().take(300).collect::<String>()))
}

fn is_object(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) | ExprKind::Deref(_) => true,
        ExprKind::Member(inner, _) => is_object(inner),
        _ => false,
    }
}

fn is_scalar(ty: &Type) -> bool {
    matches!(ty, Type::Int(_) | Type::Float(_) | Type::Pointer(_))
}

/// The type of the part of an object at the end of a path.
fn part<'u>(unit: &'u Unit, ty: &'u Type, path: &[u64]) -> Option<&'u Type> {
    let [first, rest @ ..] = path else { return Some(plain(ty)) };
    match plain(ty) {
        Type::Array(element, length) if length.is_none_or(|length| *first < length) => {
            part(unit, element, rest)
        }
        Type::Record(RecordId(id)) => part(unit, &unit.records[*id].fields.get(*first as usize)?.ty, rest),
        _ => None,
    }
}

fn parts(unit: &Unit, ty: &Type, list: &[Initial]) -> Result<(), String> {
    for initial in list {
        value(unit, &initial.value)?;
        demand(part(unit, ty, &initial.path) == Some(&initial.value.ty), "an initial value", &initial.value)?;
    }
    Ok(())
}

/// Checks an expression that is used for its value.
fn value(unit: &Unit, expr: &Expr) -> Result<(), String> {
    demand(
        !is_object(expr) && !matches!(expr.kind, ExprKind::Function(_)),
        "an object where a value is needed",
        expr,
    )?;
    demand(
        !matches!(expr.ty, Type::Array(..) | Type::Function(_) | Type::Atomic(_)),
        "the type of a value",
        expr,
    )?;
    node(unit, expr)
}

fn scalar(unit: &Unit, expr: &Expr) -> Result<(), String> {
    demand(is_scalar(&expr.ty), "a scalar is needed", expr)?;
    value(unit, expr)
}

fn object(unit: &Unit, expr: &Expr) -> Result<(), String> {
    demand(is_object(expr), "an object is needed", expr)?;
    node(unit, expr)
}

fn node(unit: &Unit, expr: &Expr) -> Result<(), String> {
    let is_int = |ty: &Type| matches!(ty, Type::Int(_));
    let int = |ty: &Type| matches!(ty, Type::Int(int) if int.bits == 32 && int.signed);
    match &expr.kind {
        ExprKind::Int(number) => match &expr.ty {
            Type::Int(int) => {
                let bits = u32::from(int.bits);
                let (low, high) = if int.signed {
                    (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
                } else {
                    (0, (1 << bits) - 1)
                };
                demand((low..=high).contains(number), "a constant out of range", expr)
            }
            ty => demand(matches!(ty, Type::Pointer(_)) && *number >= 0, "an integer constant", expr),
        },
        ExprKind::Float(_) => demand(matches!(expr.ty, Type::Float(_)), "a floating constant", expr),
        ExprKind::Variable(id) => demand(id.0 < unit.variables.len(), "a variable", expr),
        ExprKind::Function(id) => demand(id.0 < unit.functions.len(), "a function", expr),
        ExprKind::Deref(inner) => {
            demand(
                matches!(&inner.ty, Type::Pointer(to) if **to == expr.ty),
                "what a pointer points to",
                expr,
            )?;
            value(unit, inner)
        }
        ExprKind::Member(inner, number) => {
            let field = match plain(&inner.ty) {
                Type::Record(RecordId(id)) => unit.records[*id].fields.get(*number),
                _ => None,
            };
            demand(field.is_some_and(|field| field.ty == expr.ty), "a member", expr)?;
            if is_object(inner) { node(unit, inner) } else { value(unit, inner) }
        }
        ExprKind::Load(inner) => {
            demand(expr.ty == *plain(&inner.ty), "a load", expr)?;
            object(unit, inner)
        }
        ExprKind::AddressOf(inner) => {
            let Type::Pointer(to) = &expr.ty else { return demand(false, "an address", expr) };
            let decays = matches!(&inner.ty, Type::Array(element, _) if element == to);
            demand(**to == inner.ty || decays, "an address", expr)?;
            match inner.kind {
                ExprKind::Function(_) => node(unit, inner),
                // A member of a value whose array decays.
                ExprKind::Member(..) if decays => node(unit, inner),
                _ => object(unit, inner),
            }
        }
        ExprKind::Unary(operator, inner) => {
            let not = *operator == allways_c::typed::Unary::Not;
            demand(if not { int(&expr.ty) } else { inner.ty == expr.ty }, "an operand", expr)?;
            scalar(unit, inner)
        }
        ExprKind::Binary(operator, a, b) => {
            let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
            let compares = matches!(
                operator,
                Binary::Equal
                    | Binary::Unequal
                    | Binary::Less
                    | Binary::LessEqual
                    | Binary::Greater
                    | Binary::GreaterEqual
            );
            demand(a.ty == b.ty || (shift && is_int(&b.ty)), "operands", expr)?;
            demand(
                if compares { int(&expr.ty) } else { expr.ty == a.ty && !matches!(a.ty, Type::Pointer(_)) },
                "a result",
                expr,
            )?;
            scalar(unit, a)?;
            scalar(unit, b)
        }
        ExprKind::PointerAdd(a, b) => {
            demand(
                matches!(a.ty, Type::Pointer(_)) && a.ty == expr.ty && is_int(&b.ty),
                "pointer and index",
                expr,
            )?;
            value(unit, a)?;
            value(unit, b)
        }
        ExprKind::PointerDifference(a, b) => {
            demand(
                a.ty == b.ty && matches!(a.ty, Type::Pointer(_)) && is_int(&expr.ty),
                "two pointers",
                expr,
            )?;
            value(unit, a)?;
            value(unit, b)
        }
        ExprKind::And(a, b) | ExprKind::Or(a, b) => {
            demand(int(&expr.ty), "a truth value", expr)?;
            scalar(unit, a)?;
            scalar(unit, b)
        }
        ExprKind::Conditional(a, b, c) => {
            demand(b.as_ref().unwrap_or(a).ty == expr.ty && c.ty == expr.ty, "branches", expr)?;
            scalar(unit, a)?;
            if let Some(b) = b {
                value(unit, b)?;
            }
            value(unit, c)
        }
        ExprKind::Cast(inner) => {
            demand(expr.ty == Type::Void || (is_scalar(&expr.ty) && is_scalar(&inner.ty)), "a cast", expr)?;
            value(unit, inner)
        }
        ExprKind::Assign(a, b) => {
            demand(*plain(&a.ty) == b.ty && expr.ty == b.ty, "an assignment", expr)?;
            object(unit, a)?;
            value(unit, b)
        }
        ExprKind::AssignOp(operator, a, b, works) => {
            let shift = matches!(operator, Binary::ShiftLeft | Binary::ShiftRight);
            demand(
                (b.ty == *works || shift) && *plain(&a.ty) == expr.ty && is_scalar(works),
                "an assignment",
                expr,
            )?;
            object(unit, a)?;
            scalar(unit, b)
        }
        ExprKind::AssignPointerAdd(a, b) => {
            demand(
                *plain(&a.ty) == expr.ty && matches!(expr.ty, Type::Pointer(_)) && is_int(&b.ty),
                "an assignment",
                expr,
            )?;
            object(unit, a)?;
            value(unit, b)
        }
        ExprKind::Step(a, _, _) => {
            demand(*plain(&a.ty) == expr.ty && is_scalar(&expr.ty), "a step", expr)?;
            object(unit, a)
        }
        ExprKind::Call(callee, arguments) => {
            let of = match (&callee.kind, &callee.ty) {
                (ExprKind::Function(_), Type::Function(of)) => of,
                (_, Type::Pointer(to)) => match &**to {
                    Type::Function(of) => {
                        value(unit, callee)?;
                        of
                    }
                    _ => return demand(false, "a callee", expr),
                },
                _ => return demand(false, "a callee", expr),
            };
            demand(of.result == expr.ty, "a result of a call", expr)?;
            let fixed = of.parameters.len();
            demand(
                arguments.len() == fixed || (arguments.len() > fixed && of.variadic),
                "how many arguments",
                expr,
            )?;
            for (number, argument) in arguments.iter().enumerate() {
                value(unit, argument)?;
                let fits = of.parameters.get(number).is_none_or(|ty| *plain(ty) == argument.ty);
                demand(fits, "an argument", argument)?;
            }
            Ok(())
        }
        ExprKind::Comma(a, b) => {
            demand(b.ty == expr.ty, "a comma", expr)?;
            value(unit, a)?;
            value(unit, b)
        }
        ExprKind::Statements(list) => {
            let last = match list.last().map(|last| &last.kind) {
                Some(StmtKind::Expr(last)) => &last.ty,
                _ => &Type::Void,
            };
            demand(*last == expr.ty, "a statement expression", expr)?;
            // A `return` in it is checked with the function's statements.
            let anything = FunctionType { result: Type::Void, parameters: Vec::new(), variadic: true };
            list.iter().try_for_each(|one| stmt(unit, &anything, one))
        }
        ExprKind::Unsupported(_) => Ok(()),
    }
}

fn stmt(unit: &Unit, of: &FunctionType, one: &Stmt) -> Result<(), String> {
    let inner = |one: &Stmt| stmt(unit, of, one);
    match &one.kind {
        StmtKind::Expr(expr) => value(unit, expr),
        StmtKind::Declare(id, list) => {
            let variable = &unit.variables[id.0];
            if !matches!(variable.storage, Storage::Automatic(_)) {
                return Err(format!("{} is declared in a block", variable.name));
            }
            parts(unit, &variable.ty, list.as_deref().unwrap_or(&[]))
        }
        StmtKind::Block(list) => list.iter().try_for_each(inner),
        StmtKind::If(test, then, other) => {
            scalar(unit, test)?;
            inner(then)?;
            other.as_deref().map_or(Ok(()), inner)
        }
        StmtKind::While(test, body) | StmtKind::DoWhile(body, test) => {
            scalar(unit, test)?;
            inner(body)
        }
        StmtKind::For(test, step, body) => {
            test.as_ref().map_or(Ok(()), |test| scalar(unit, test))?;
            step.as_ref().map_or(Ok(()), |step| value(unit, step))?;
            inner(body)
        }
        StmtKind::Switch(test, body) => {
            demand(matches!(test.ty, Type::Int(int) if int.bits >= 32), "a switch", test)?;
            value(unit, test)?;
            inner(body)
        }
        StmtKind::Case(_, _, body) | StmtKind::Default(body) | StmtKind::Label(_, body) => inner(body),
        StmtKind::Return(Some(expr)) => {
            demand(
                of.result == expr.ty || (of.result == Type::Void && of.variadic),
                "a returned value",
                expr,
            )?;
            value(unit, expr)
        }
        StmtKind::Asm(outputs, _) => outputs.iter().try_for_each(|output| object(unit, output)),
        StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(None)
        | StmtKind::Empty
        | StmtKind::Beyond(_) => Ok(()),
    }
}
