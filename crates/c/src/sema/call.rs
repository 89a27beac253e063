//! Calls.

use super::{Analyser, Declared, INT, Res, Symbol};
use crate::typed::{Expr, ExprKind, FunctionType, Type};
use lang_c::ast::{CallExpression, Expression};
use lang_c::span::{Node, Span as Range};

/// What a function returns that is called without a declaration: compilers know some of the library.
fn undeclared_result(name: &str) -> Type {
    match name {
        "malloc" | "calloc" | "realloc" | "alloca" | "memcpy" | "memmove" | "memset" => {
            Type::Pointer(Box::new(Type::Void))
        }
        "free" | "exit" | "abort" | "_exit" => Type::Void,
        _ => INT,
    }
}

impl Analyser<'_> {
    pub(super) fn call(&mut self, node: &Node<CallExpression>) -> Res<Expr> {
        if let Expression::Identifier(name) = &node.node.callee.node {
            let name = &name.node.name;
            if self.lookup(name).is_none() {
                if let Some(done) = self.builtin_call(name, node)? {
                    return Ok(done);
                }
                let result = undeclared_result(name);
                let ty = FunctionType { result, parameters: Vec::new(), variadic: true };
                self.declare_silently(name, ty, node.node.callee.span);
            }
        }
        let callee = self.expression(&node.node.callee)?;
        let callee = match callee.kind {
            ExprKind::Function(_) => callee,
            ExprKind::AddressOf(inner) if matches!(inner.kind, ExprKind::Function(_)) => *inner,
            _ => self.decay(callee),
        };
        let of = match &callee.ty {
            Type::Function(of) => of,
            Type::Pointer(to) => match &**to {
                Type::Function(of) => of,
                _ => return self.error(node.span, format!("a call of `{}`", self.show(&callee.ty))),
            },
            ty => return self.error(node.span, format!("a call of `{}`", self.show(ty))),
        };
        let FunctionType { result, parameters, variadic } = (**of).clone();
        let arguments = self.arguments(&node.node.arguments, &parameters, variadic, node.span)?;
        let kind = ExprKind::Call(Box::new(callee), arguments);
        Ok(Expr { kind, ty: result, span: self.span(node.span) })
    }

    /// Arguments, converted to the types of parameters, or promoted.
    fn arguments(
        &mut self,
        nodes: &[Node<Expression>],
        parameters: &[Type],
        variadic: bool,
        range: Range,
    ) -> Res<Vec<Expr>> {
        let count = nodes.len();
        if count < parameters.len() || (count > parameters.len() && !variadic) {
            let message = format!("{count} arguments for {} parameters", parameters.len());
            return self.error(range, message);
        }
        let mut arguments = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            let value = self.value(node)?;
            arguments.push(match parameters.get(number) {
                Some(ty) => self.convert(value, ty)?,
                None if value.ty == Type::Void => {
                    return self.error(node.span, "an argument without a value");
                }
                None => self.promote_argument(value),
            });
        }
        Ok(arguments)
    }

    /// Declares a function that nobody has declared, at file scope.
    pub(super) fn declare_silently(&mut self, name: &str, ty: FunctionType, range: Range) {
        let span = self.span(range);
        self.functions.entry(name.to_string()).or_insert(Declared { ty, span, declared: false, id: None });
        if let Some(scope) = self.scopes.first_mut() {
            scope.names.insert(name.to_string(), Symbol::Function);
        }
    }
}
