//! Expressions: what names mean, whether types fit, and what can be computed now.

use super::super::ast::{self, ExprKind, Name, Selector};
use super::super::names::Sort;
use super::super::suggest::quote;
use super::declarations::{sort_of, type_words};
use super::{Lowering, Mode};
use allways_model::program::expression::{NoValue, apply};
use allways_model::program::{Binary, Expr, Span, Type, Unary, Value, Wrong};

/// An expression and its sort.
pub(super) type Typed = (Expr, Sort);

impl<'a> Lowering<'a, '_> {
    /// Any expression.
    pub(super) fn expression(&mut self, expr: &'a ast::Expr<'a>) -> Option<Typed> {
        let span = expr.span;
        self.written_out(span)?;
        match &expr.kind {
            ExprKind::Number(value) => Some((Expr::Constant(*value), Sort::Number)),
            ExprKind::Bool(value) => Some((Expr::Constant(Value::from(*value)), Sort::Bool)),
            ExprKind::Any => match self.mode {
                Mode::Body => Some((Expr::Choose(0, 1), Sort::Bool)),
                Mode::Constant => self.none(span, "expected a constant, found `*`", None),
                Mode::Never | Mode::Hint => {
                    self.none(span, "expected an expression without choices, found `*`", None)
                }
            },
            ExprKind::Name(name) => self.named(*name, &[], span),
            ExprKind::Part(name, selectors) => self.named(*name, selectors, span),
            ExprKind::This => self.this(span),
            ExprKind::At(routine, label) => self.at(*routine, *label, span),
            ExprKind::Other(name, selectors) => self.other(*name, selectors, span),
            ExprKind::OfThreads(quantifier, name, threads, body) => {
                self.of_threads(*quantifier, *name, *threads, body, span)
            }
            ExprKind::Quantified(quantifier, binder, body) => {
                self.quantified(*quantifier, binder, body, span)
            }
            ExprKind::Call(name, arguments) if self.is_length(*name) => {
                self.length_of_channel(arguments, span)
            }
            ExprKind::Call(name, _) if self.is_builtin(*name) => {
                let help = "it is a statement, the right side of an assignment or, if it gives a Boolean, a whole condition";
                self.none(
                    span,
                    format!("expected no {} inside an expression", quote(name.text)),
                    Some(help.to_string()),
                )
            }
            ExprKind::Call(name, _) => {
                let help = format!("call it in a statement of its own: `t = {}(…);`", name.text);
                let help = if name.text.len() > 40 { None } else { Some(help) };
                self.none(span, "expected an expression without calls, found a call", help)
            }
            ExprKind::Unary(Unary::Not, part) => {
                let part = self.of_sort(part, Sort::Bool, "after `!`")?;
                Some((not(part), Sort::Bool))
            }
            ExprKind::Unary(Unary::Minus | Unary::Wrap(_), part) => {
                let part = self.of_sort(part, Sort::Number, "after `-`")?;
                self.minus(part, span)
            }
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right, span),
            ExprKind::If(condition, then, other) => self.conditional(condition, then, other),
        }
    }

    /// An expression of a sort; `place` says where it stands.
    pub(super) fn of_sort(&mut self, expr: &'a ast::Expr<'a>, sort: Sort, place: &str) -> Option<Expr> {
        let (lowered, found) = self.expression(expr)?;
        if found == sort {
            return Some(lowered);
        }
        let message = format!("expected {} {place}, found {}", sort.words(), found.words());
        self.none(expr.span, message, Some(conversion(sort).to_string()))
    }

    /// An expression of the sort of a type. `*` is any value of it.
    fn typed(&mut self, expr: &'a ast::Expr<'a>, ty: Type) -> Option<Expr> {
        if let ExprKind::Any = expr.kind {
            return self.any_of(ty, expr.span);
        }
        let (lowered, found) = self.expression(expr)?;
        self.fits(expr, found, ty)?;
        Some(lowered)
    }

    /// An initial value of a type.
    pub(super) fn initial(&mut self, expr: &'a ast::Expr<'a>, ty: Type) -> Option<Expr> {
        let lowered = self.typed(expr, ty)?;
        if let Expr::Constant(value) = lowered
            && !ty.contains(value)
        {
            let message = format!("expected an initial value of type {}, found {value}", type_words(ty));
            return self.none(expr.span, message, None);
        }
        Some(lowered)
    }

    /// An expression whose value is stored in something of a type.
    pub(super) fn stored(&mut self, expr: &'a ast::Expr<'a>, ty: Type) -> Option<Expr> {
        let lowered = self.typed(expr, ty)?;
        if let Expr::Constant(value) = lowered
            && !ty.contains(value)
        {
            let message = format!("expected a value of type {}, found {value}", type_words(ty));
            self.warn(expr.span, message, Some("a violation, if this is ever executed".to_string()));
        }
        Some(lowered)
    }

    pub(super) fn none<T>(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: Option<String>,
    ) -> Option<T> {
        self.error(span, message.into(), help);
        None
    }

    /// A variable, a part of one, or a constant.
    fn named(&mut self, name: Name<'a>, selectors: &'a [Selector<'a>], span: Span) -> Option<Typed> {
        if let [Selector::Member(local), rest @ ..] = selectors
            && let Some(&(_, value, Some(procedure))) =
                self.bound.iter().rev().find(|(bound, ..)| *bound == name.text)
        {
            return self.local_of(procedure, value, *local, rest, span);
        }
        let found = match self.find(name)? {
            Ok(found) => found,
            Err((value, sort)) if selectors.is_empty() => return Some((Expr::Constant(value), sort)),
            Err(_) => {
                let what = if selectors[0].index().is_some() { "an array" } else { "a structure" };
                let message = format!("expected {what}, found {}, which is none", quote(name.text));
                return self.none(name.span, message, None);
            }
        };
        let base = self.base(found);
        let base = self.select(name, base, selectors)?;
        let part = self.part(name, base, "a number or a Boolean")?;
        let part = self.no_lock(name, part, "a number or a Boolean", span)?;
        let sort = sort_of(part.ty);
        Some((part.value(span), sort))
    }

    fn this(&mut self, span: Span) -> Option<Typed> {
        match (self.mode, self.body.no_self.clone()) {
            (Mode::Body, None) => {
                self.body.summary.asks.get_or_insert(span);
                Some((Expr::This, Sort::Number))
            }
            (Mode::Body, Some(why)) => {
                self.none(span, "expected an expression, found `self`, which has no value here", Some(why))
            }
            _ => {
                let help = "`self` is for the bodies of threads".to_string();
                self.none(span, "expected an expression, found `self`, which has no value here", Some(help))
            }
        }
    }

    fn minus(&mut self, part: Expr, span: Span) -> Option<Typed> {
        let expr = match part {
            Expr::Constant(value) if value != Value::MIN => Expr::Constant(-value),
            part => Expr::Unary(Unary::Minus, Box::new(part)),
        };
        if self.mode == Mode::Constant && !matches!(expr, Expr::Constant(_)) {
            return self.none(span, "expected a constant, found a number that is too large", None);
        }
        Some((expr, Sort::Number))
    }

    fn binary(
        &mut self,
        operator: Binary,
        left: &'a ast::Expr<'a>,
        right: &'a ast::Expr<'a>,
        span: Span,
    ) -> Option<Typed> {
        let (sign, operands, result) = operator_words(operator);
        if operands.is_none()
            && let Some(compared) = self.comparison_of_threads(operator, (left, right), span)
        {
            return compared;
        }
        let (lowered_left, lowered_right) = match operands {
            Some(sort) => {
                let first = self.operand(left, sort, &format!("on the left of `{sign}`"), operator);
                let second = self.operand(right, sort, &format!("on the right of `{sign}`"), operator);
                (first?, second?)
            }
            // `==` compares two of the same sort, whichever.
            None => {
                let (first, second) = (self.expression(left), self.expression(right));
                let ((first, sort), (second, other)) = (first?, second?);
                if sort != other {
                    let message = format!(
                        "expected {} on the right of `{sign}`, since there is one on its left, found {}",
                        sort.words(),
                        other.words()
                    );
                    let help = conversion(sort).to_string();
                    return self.none(right.span, message, Some(help));
                }
                (first, second)
            }
        };
        if let (Expr::Constant(left), Expr::Constant(right)) = (&lowered_left, &lowered_right) {
            match apply(operator, *left, *right, span) {
                Ok(value) => return Some((Expr::Constant(value), result)),
                Err(error) if self.mode == Mode::Constant => {
                    let found = match error {
                        NoValue::Wrong(violation) if violation.kind == Wrong::Division => {
                            "a division by zero"
                        }
                        _ => "a number that is too large",
                    };
                    return self.none(span, format!("expected a constant, found {found}"), None);
                }
                Err(_) => {}
            }
        }
        Some((Expr::Binary(operator, Box::new(lowered_left), Box::new(lowered_right), span), result))
    }

    fn operand(
        &mut self,
        expr: &'a ast::Expr<'a>,
        sort: Sort,
        place: &str,
        operator: Binary,
    ) -> Option<Expr> {
        let chained = sort == Sort::Number
            && is_order(operator)
            && matches!(expr.kind, ExprKind::Binary(inner, ..) if is_order(inner));
        if !chained {
            return self.of_sort(expr, sort, place);
        }
        self.expression(expr)?;
        let help = "comparisons are not chained: write `a < b && b < c`".to_string();
        self.none(expr.span, format!("expected a number {place}, found a Boolean"), Some(help))
    }

    fn conditional(
        &mut self,
        condition: &'a ast::Expr<'a>,
        then: &'a ast::Expr<'a>,
        other: &'a ast::Expr<'a>,
    ) -> Option<Typed> {
        let condition = self.of_sort(condition, Sort::Bool, "before `?`");
        let (first, second) = (self.expression(then), self.expression(other));
        let (condition, (first, sort), (second, found)) = (condition?, first?, second?);
        if sort != found {
            let message =
                format!("expected {} after `:`, like before it, found {}", sort.words(), found.words());
            return self.none(other.span, message, Some(conversion(sort).to_string()));
        }
        Some((
            match condition {
                Expr::Constant(0) => second,
                Expr::Constant(_) => first,
                condition => Expr::If(Box::new(condition), Box::new(first), Box::new(second)),
            },
            sort,
        ))
    }
}

/// How to make one sort from the other.
pub(super) fn conversion(wanted: Sort) -> &'static str {
    match wanted {
        Sort::Bool => "a number becomes a Boolean by a comparison such as `x != 0`",
        Sort::Number => "a Boolean becomes a number by `b ? 1 : 0`",
    }
}

fn not(part: Expr) -> Expr {
    match part {
        Expr::Constant(value) => Expr::Constant(Value::from(value == 0)),
        part => Expr::Unary(Unary::Not, Box::new(part)),
    }
}

fn is_order(operator: Binary) -> bool {
    matches!(operator, Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual)
}

/// How an operator is written, what it needs on both sides (`None`: twice the same), and what comes out.
fn operator_words(operator: Binary) -> (&'static str, Option<Sort>, Sort) {
    use Sort::{Bool, Number};
    match operator {
        Binary::And => ("&&", Some(Bool), Bool),
        Binary::Or => ("||", Some(Bool), Bool),
        Binary::Equal => ("==", None, Bool),
        Binary::Unequal => ("!=", None, Bool),
        Binary::Less => ("<", Some(Number), Bool),
        Binary::LessEqual => ("<=", Some(Number), Bool),
        Binary::Greater => (">", Some(Number), Bool),
        Binary::GreaterEqual => (">=", Some(Number), Bool),
        Binary::Plus => ("+", Some(Number), Number),
        Binary::Minus => ("-", Some(Number), Number),
        Binary::Times => ("*", Some(Number), Number),
        Binary::Divide => ("/", Some(Number), Number),
        Binary::Remainder => ("%", Some(Number), Number),
        Binary::BitAnd => ("&", Some(Number), Number),
        Binary::BitOr => ("|", Some(Number), Number),
        Binary::BitXor => ("^", Some(Number), Number),
        Binary::ShiftLeft => ("<<", Some(Number), Number),
        Binary::ShiftRight => (">>", Some(Number), Number),
    }
}
