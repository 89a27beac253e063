//! Typed trees as short texts: `[x]` is a load, `(T)e` a cast that the tree has, `p +> i` a pointer plus elements.

use allways_c::typed::{Binary, Expr, ExprKind, Initial, RecordId, Stmt, StmtKind, Type, Unary, Unit};

fn join(list: impl Iterator<Item = String>) -> String {
    list.collect::<Vec<_>>().join(", ")
}

/// A type.
pub fn ty(unit: &Unit, of: &Type) -> String {
    match of {
        Type::Void => "void".to_string(),
        Type::Int(int) => format!("{}{}", if int.signed { "i" } else { "u" }, int.bits),
        Type::Float(size) => format!("f{}", u32::from(*size) * 8),
        Type::Pointer(to) => format!("{}*", ty(unit, to)),
        Type::Array(element, Some(length)) => format!("{}[{length}]", ty(unit, element)),
        Type::Array(element, None) => format!("{}[]", ty(unit, element)),
        Type::Function(function) => {
            let parameters = join(function.parameters.iter().map(|parameter| ty(unit, parameter)));
            format!(
                "{}({parameters}{})",
                ty(unit, &function.result),
                if function.variadic { ", …" } else { "" }
            )
        }
        Type::Record(RecordId(id)) => unit.records[*id].name.clone(),
        Type::Atomic(inner) => format!("atomic {}", ty(unit, inner)),
    }
}

fn sign(operator: Binary) -> &'static str {
    match operator {
        Binary::Times => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::Plus => "+",
        Binary::Minus => "-",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::BitAnd => "&",
        Binary::BitXor => "^",
        Binary::BitOr => "|",
        Binary::Equal => "==",
        Binary::Unequal => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
    }
}

/// An expression.
pub fn expr(unit: &Unit, of: &Expr) -> String {
    let show = |inner: &Expr| expr(unit, inner);
    match &of.kind {
        ExprKind::Int(value) if matches!(of.ty, Type::Pointer(_)) => format!("({}){value}", ty(unit, &of.ty)),
        ExprKind::Int(value) => value.to_string(),
        ExprKind::Float(value) => format!("{value:?}"),
        ExprKind::Variable(id) => unit.variables[id.0].name.clone(),
        ExprKind::Function(id) => unit.functions[id.0].name.clone(),
        ExprKind::Deref(inner) => format!("*{}", show(inner)),
        ExprKind::Member(inner, number) => format!("{}.{number}", show(inner)),
        ExprKind::Load(inner) => format!("[{}]", show(inner)),
        ExprKind::AddressOf(inner) => format!("&{}", show(inner)),
        ExprKind::Unary(Unary::Minus, inner) => format!("-{}", show(inner)),
        ExprKind::Unary(Unary::Complement, inner) => format!("~{}", show(inner)),
        ExprKind::Unary(Unary::Not, inner) => format!("!{}", show(inner)),
        ExprKind::Binary(operator, a, b) => format!("({} {} {})", show(a), sign(*operator), show(b)),
        ExprKind::PointerAdd(a, b) => format!("({} +> {})", show(a), show(b)),
        ExprKind::PointerDifference(a, b) => format!("({} <-> {})", show(a), show(b)),
        ExprKind::And(a, b) => format!("({} && {})", show(a), show(b)),
        ExprKind::Or(a, b) => format!("({} || {})", show(a), show(b)),
        ExprKind::Conditional(a, Some(b), c) => format!("({} ? {} : {})", show(a), show(b), show(c)),
        ExprKind::Conditional(a, None, c) => format!("({} ?: {})", show(a), show(c)),
        ExprKind::Cast(inner) => format!("({}){}", ty(unit, &of.ty), show(inner)),
        ExprKind::Assign(a, b) => format!("{} = {}", show(a), show(b)),
        ExprKind::AssignOp(operator, a, b, works) => {
            format!("{} {}=({}) {}", show(a), sign(*operator), ty(unit, works), show(b))
        }
        ExprKind::AssignPointerAdd(a, b) => format!("{} +>= {}", show(a), show(b)),
        ExprKind::Step(a, by, true) => format!("{}{by:+}after", show(a)),
        ExprKind::Step(a, by, false) => format!("{}{by:+}before", show(a)),
        ExprKind::Call(callee, arguments) => {
            format!("{}({}):{}", show(callee), join(arguments.iter().map(show)), ty(unit, &of.ty))
        }
        ExprKind::Comma(a, b) => format!("({}, {})", show(a), show(b)),
        ExprKind::Statements(list) => format!("({})", block(unit, list)),
        ExprKind::Unsupported(word) => format!("?{word}"),
    }
}

/// The parts of an initialiser.
pub fn parts(unit: &Unit, list: &[Initial]) -> String {
    let part = |initial: &Initial| {
        let path: String = initial.path.iter().map(|number| format!(".{number}")).collect();
        format!("{path}={}", expr(unit, &initial.value))
    };
    format!("{{{}}}", join(list.iter().map(part)))
}

/// Statements in braces.
pub fn block(unit: &Unit, list: &[Stmt]) -> String {
    format!("{{ {} }}", list.iter().map(|one| stmt(unit, one)).collect::<Vec<_>>().join(" "))
}

/// A statement.
fn stmt(unit: &Unit, of: &Stmt) -> String {
    let show = |inner: &Expr| expr(unit, inner);
    let inner = |inner: &Stmt| stmt(unit, inner);
    let option = |inner: &Option<Expr>| inner.as_ref().map_or(String::new(), show);
    match &of.kind {
        StmtKind::Expr(value) => format!("{};", show(value)),
        StmtKind::Declare(id, initial) => {
            let variable = &unit.variables[id.0];
            let initial = initial.as_ref().map_or(String::new(), |list| format!(" {}", parts(unit, list)));
            format!("{} {}{initial};", ty(unit, &variable.ty), variable.name)
        }
        StmtKind::Block(list) => block(unit, list),
        StmtKind::If(test, then, None) => format!("if {} {}", show(test), inner(then)),
        StmtKind::If(test, then, Some(other)) => {
            format!("if {} {} else {}", show(test), inner(then), inner(other))
        }
        StmtKind::While(test, body) => format!("while {} {}", show(test), inner(body)),
        StmtKind::DoWhile(body, test) => format!("do {} while {};", inner(body), show(test)),
        StmtKind::For(test, step, body) => format!("for {}; {} {}", option(test), option(step), inner(body)),
        StmtKind::Switch(value, body) => format!("switch {} {}", show(value), inner(body)),
        StmtKind::Case(low, high, body) => format!("case {low}..{high}: {}", inner(body)),
        StmtKind::Default(body) => format!("default: {}", inner(body)),
        StmtKind::Label(name, body) => format!("{name}: {}", inner(body)),
        StmtKind::Goto(name) => format!("goto {name};"),
        StmtKind::Break => "break;".to_string(),
        StmtKind::Continue => "continue;".to_string(),
        StmtKind::Return(value) => format!("return {};", option(value)),
        StmtKind::Asm(outputs, _) => format!("asm {};", join(outputs.iter().map(show))),
        StmtKind::Empty => ";".to_string(),
        StmtKind::Beyond(why) => format!("/* {why} */"),
    }
}
