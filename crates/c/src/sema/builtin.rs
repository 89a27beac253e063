//! Functions that the compiler knows: `__builtin_*`, `__sync_*`, `__atomic_*`.
//!
//! They stay calls by name, with a result type that follows from the arguments; those that only ask about their arguments
//! are computed.

use super::{Analyser, BOOL, DOUBLE, INT, Res, int, plain, pointer};
use crate::typed::{Expr, ExprKind, FunctionType, Type};
use lang_c::ast::{CallExpression, Expression};
use lang_c::span::{Node, Span as Range};

/// What a builtin returns.
enum Gives {
    Type(Type),
    /// What its first argument points to; so are its second and third argument.
    Pointee,
}

impl Analyser<'_> {
    /// A call of a builtin; none if it is none, or like any other function.
    pub(super) fn builtin_call(&mut self, name: &str, node: &Node<CallExpression>) -> Res<Option<Expr>> {
        let arguments = &node.node.arguments;
        let span = self.span(node.span);
        let silent = |word| Ok(Some(Expr { kind: ExprKind::Unsupported(word), ty: Type::Void, span }));
        match name {
            "__builtin_constant_p" => {
                let known = match arguments.first() {
                    Some(argument) => {
                        let value = self.value(argument)?;
                        matches!(value.kind, ExprKind::Int(_) | ExprKind::Float(_))
                    }
                    None => false,
                };
                return Ok(Some(self.number(i128::from(known), INT, span)));
            }
            "__builtin_types_compatible_p" => {
                let [a, b] = arguments.as_slice() else {
                    return self.error(node.span, "two types are expected");
                };
                let (a, b) = (self.type_argument(a)?, self.type_argument(b)?);
                return Ok(Some(self.number(i128::from(a == b), INT, span)));
            }
            "__builtin_choose_expr" => {
                let [which, a, b] = arguments.as_slice() else {
                    return self.error(node.span, "three arguments are expected");
                };
                let chosen = if self.constant(which)? != 0 { a } else { b };
                return self.expression(chosen).map(Some);
            }
            "__builtin_va_start" => return silent("va_start"),
            "__builtin_va_end" => return silent("va_end"),
            "__builtin_va_copy" => return silent("va_copy"),
            _ => {}
        }
        let gives = match name.split_at_checked(2) {
            Some(("__", rest)) => self.gives(rest),
            _ => None,
        };
        let Some(gives) = gives else { return Ok(None) };
        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.value(argument)?);
        }
        let pointee = match values.first().map(|first| &first.ty) {
            Some(Type::Pointer(to)) => Some(plain(to).clone()),
            _ => None,
        };
        let (result, values) = match (gives, pointee) {
            (Gives::Type(ty), pointee) => {
                let by_value = name.ends_with("_n") || name.starts_with("__sync_");
                let values = match pointee.filter(|_| by_value) {
                    Some(to) => self.operands(values, &to, name)?,
                    None if name == "__builtin_expect" => {
                        values.into_iter().map(|value| self.convert(value, &ty)).collect::<Res<_>>()?
                    }
                    None => values.into_iter().map(|value| self.promote_argument(value)).collect(),
                };
                (ty, values)
            }
            (Gives::Pointee, Some(to)) => {
                let values = self.operands(values, &to, name)?;
                (to, values)
            }
            (Gives::Pointee, None) => return self.error(node.span, "the first argument is no pointer"),
        };
        let ty = FunctionType { result: result.clone(), parameters: Vec::new(), variadic: true };
        self.functions.entry(name.to_string()).or_insert(super::Declared {
            ty: ty.clone(),
            span,
            declared: true,
            id: None,
        });
        let mut callee = self.function_designator(name, node.node.callee.span)?;
        callee.ty = Type::Function(Box::new(ty));
        Ok(Some(Expr { kind: ExprKind::Call(Box::new(callee), values), ty: result, span }))
    }

    /// Converts the operands of an atomic operation to the type that it works on.
    fn operands(&mut self, values: Vec<Expr>, to: &Type, name: &str) -> Res<Vec<Expr>> {
        let several = name.contains("compare_and_swap");
        let exchange = name.starts_with("__atomic_compare_exchange");
        let long = self.long();
        let convert = |(number, value): (usize, Expr)| match number {
            0 => Ok(value),
            1 if exchange => Ok(value),
            // Atomic operations on pointers take a number of bytes.
            1 if matches!(to, Type::Pointer(_))
                && name.contains("fetch_")
                && matches!(value.ty, Type::Int(_)) =>
            {
                Ok(self.cast(value, &long))
            }
            1 => self.convert(value, to),
            2 if several || exchange => self.convert(value, to),
            _ => Ok(self.promote_argument(value)),
        };
        values.into_iter().enumerate().map(convert).collect()
    }

    /// What the builtin `__NAME` returns.
    fn gives(&mut self, name: &str) -> Option<Gives> {
        if let Some(rest) = name.strip_prefix("builtin_") {
            return Some(Gives::Type(self.builtin_result(rest)));
        }
        if let Some(rest) = name.strip_prefix("sync_") {
            return Some(match rest {
                "synchronize" | "lock_release" => Gives::Type(Type::Void),
                _ if rest.starts_with("bool_compare") => Gives::Type(BOOL),
                _ => Gives::Pointee,
            });
        }
        let rest = name.strip_prefix("atomic_").or_else(|| name.strip_prefix("c11_atomic_"))?;
        Some(match rest {
            "load" if name.starts_with("atomic_") => Gives::Type(Type::Void),
            "exchange" if name.starts_with("atomic_") => Gives::Type(Type::Void),
            "store" | "store_n" | "clear" | "thread_fence" | "signal_fence" | "init" => {
                Gives::Type(Type::Void)
            }
            "test_and_set" | "is_lock_free" | "always_lock_free" => Gives::Type(BOOL),
            _ if rest.starts_with("compare_exchange") => Gives::Type(BOOL),
            _ => Gives::Pointee,
        })
    }

    /// What `__builtin_NAME` returns: what the function NAME does if it is declared.
    fn builtin_result(&self, name: &str) -> Type {
        let size = self.unsigned_long();
        match name {
            "expect" | "expect_with_probability" => self.long(),
            "unreachable" | "trap" | "abort" | "exit" | "_exit" | "prefetch" | "free" | "bzero"
            | "__clear_cache" => Type::Void,
            "strlen" | "object_size" | "dynamic_object_size" | "strspn" | "strcspn" => size,
            "bswap16" => int(16, false),
            "bswap32" => int(32, false),
            "bswap64" => int(64, false),
            "labs" => self.long(),
            "llabs" => int(64, true),
            "huge_val" | "inf" | "nan" | "fabs" | "sqrt" | "copysign" => DOUBLE,
            "huge_valf" | "inff" | "nanf" | "fabsf" | "sqrtf" | "copysignf" => Type::Float(4),
            "huge_vall" | "infl" | "nanl" | "fabsl" | "copysignl" => Type::Float(self.long_double()),
            "strchr" | "strrchr" | "strstr" | "strpbrk" | "index" | "strdup" => pointer(super::CHAR),
            "alloca"
            | "malloc"
            | "calloc"
            | "realloc"
            | "return_address"
            | "frame_address"
            | "memchr"
            | "assume_aligned"
            | "extract_return_addr"
            | "alloca_with_align"
            | "apply_args" => pointer(Type::Void),
            _ if name.ends_with("_overflow") => BOOL,
            _ if ["memcpy", "memmove", "memset", "mempcpy"].iter().any(|known| name.contains(known)) => {
                pointer(Type::Void)
            }
            _ if ["strcpy", "strncpy", "stpcpy", "strcat", "strncat"]
                .iter()
                .any(|known| name.contains(known)) =>
            {
                pointer(super::CHAR)
            }
            _ => self.functions.get(name).map_or(INT, |declared| declared.ty.result.clone()),
        }
    }

    /// Declares a builtin whose address is taken.
    pub(super) fn declare_builtin(&mut self, name: &str, range: Range) {
        let result = self.builtin_result(name.trim_start_matches("__builtin_"));
        self.declare_silently(name, FunctionType { result, parameters: Vec::new(), variadic: true }, range);
        if let Some(known) = self.functions.get_mut(name) {
            known.declared = true;
        }
    }

    /// A type that is an argument: it was made a `sizeof` for the parser.
    fn type_argument(&mut self, node: &Node<Expression>) -> Res<Type> {
        match &node.node {
            Expression::SizeOfTy(name) => self.type_name(&name.node.0),
            Expression::SizeOfVal(inner) => self.type_of(&inner.node.0),
            _ => self.error(node.span, "a type is expected"),
        }
    }
}
