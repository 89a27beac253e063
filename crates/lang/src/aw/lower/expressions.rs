//! Expressions: what names mean, whether types fit, and what can be computed now.

use super::super::ast::{self, ExprKind, Name};
use super::super::foreign;
use super::super::names::{Meaning, Sort};
use super::super::suggest::{did_you_mean, quote};
use super::declarations::{sort_of, type_words};
use super::{Found, Lowering, Mode};
use crate::diagnostic::Severity;
use allways_model::program::expression::{NoValue, apply};
use allways_model::program::{Binary, Expr, Place, Span, Target, Type, Unary, Value, Wrong};

/// An expression and its sort.
pub(super) type Typed = (Expr, Sort);

impl<'a> Lowering<'a, '_> {
    /// Any expression.
    pub(super) fn expression(&mut self, expr: &'a ast::Expr<'a>) -> Option<Typed> {
        let span = expr.span;
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
            ExprKind::Name(name) => self.named(*name),
            ExprKind::Element(name, index) => self.element(*name, index, span),
            ExprKind::This => self.this(span),
            ExprKind::At(routine, label) => self.at(*routine, *label, span),
            ExprKind::Other(name, index) => self.other(*name, index.as_deref(), span),
            ExprKind::Call(name, _) => {
                let help = format!("call it in a statement of its own: `t = {}(…);`", name.text);
                let help = if name.text.len() > 40 { None } else { Some(help) };
                self.none(span, "expected an expression without calls, found a call", help)
            }
            ExprKind::Unary(Unary::Not, part) => {
                let part = self.of_sort(part, Sort::Bool, "after `!`")?;
                Some((not(part), Sort::Bool))
            }
            ExprKind::Unary(Unary::Minus, part) => {
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
        self.error(expr.span, message, Some(conversion(sort).to_string()));
        None
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
            return self.none(expr.span, &message, None);
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

    fn none<T>(&mut self, span: Span, message: &str, help: Option<String>) -> Option<T> {
        self.error(span, message.to_string(), help);
        None
    }

    fn named(&mut self, name: Name<'a>) -> Option<Typed> {
        let found = match self.find(name)? {
            Ok(found) => found,
            Err((value, sort)) => return Some((Expr::Constant(value), sort)),
        };
        let variable = self.variable(found);
        let (slot, ty) = (variable.slot, variable.ty);
        if variable.length.is_some() {
            let message = format!("expected a number or a Boolean, found the array {}", quote(name.text));
            return self.none(name.span, &message, Some("an element is written `a[i]`".to_string()));
        }
        let expr = if let Found::Shared(_) = found { Expr::Shared(slot) } else { Expr::Local(slot) };
        Some((expr, sort_of(ty)))
    }

    fn element(&mut self, name: Name<'a>, index: &'a ast::Expr<'a>, span: Span) -> Option<Typed> {
        let found = self.find(name)?;
        let (found, slot, length) = self.array(name, found)?;
        let ty = self.variable(found).ty;
        let shared = matches!(found, Found::Shared(_));
        let expr = match self.index(index, length)? {
            Ok(offset) if shared => Expr::Shared(slot + offset),
            Ok(offset) => Expr::Local(slot + offset),
            Err(index) if shared => Expr::SharedElement(slot, length, Box::new(index), span),
            Err(index) => Expr::LocalElement(slot, length, Box::new(index), span),
        };
        Some((expr, sort_of(ty)))
    }

    /// What has a name must be an array: its first slot and its length.
    fn array(
        &mut self,
        name: Name<'a>,
        found: Result<Found, super::Constant>,
    ) -> Option<(Found, usize, usize)> {
        if let Ok(found) = found {
            let variable = self.variable(found);
            if let Some(length) = variable.length {
                return Some((found, variable.slot, length));
            }
        }
        self.none(name.span, &format!("expected an array, found {}, which is none", quote(name.text)), None)
    }

    /// The index of an element: which one, if that is known and it exists.
    pub(super) fn index(&mut self, index: &'a ast::Expr<'a>, length: usize) -> Option<Result<usize, Expr>> {
        let lowered = self.of_sort(index, Sort::Number, "as an index")?;
        let Expr::Constant(value) = lowered else { return Some(Err(lowered)) };
        if let Some(offset) = usize::try_from(value).ok().filter(|&offset| offset < length) {
            return Some(Ok(offset));
        }
        let message = format!("expected an index from 0 to {}, found {value}", length - 1);
        self.warn(index.span, message, Some("a violation, if this is ever executed".to_string()));
        Some(Err(lowered))
    }

    /// A variable that is read, or a constant.
    fn find(&mut self, name: Name<'a>) -> Option<Result<Found, super::Constant>> {
        if let Some(local) = self.body.local(name.text) {
            if self.mode == Mode::Constant {
                let message = format!("expected a constant, found the variable {}", quote(name.text));
                return self.none(name.span, &message, None);
            }
            self.body.read[local] = true;
            return Some(Ok(Found::Local(local)));
        }
        if self.globals.get(name.text).is_none() {
            return self.find_elsewhere(name, "a variable or constant").map(Ok);
        }
        let meaning = self.global(name, "a variable or constant")?;
        self.globals.touch(name.text);
        match meaning {
            Meaning::Constant(value, sort) => Some(Err((value, sort))),
            Meaning::Shared(_) if self.mode == Mode::Constant => {
                self.misfit(name, "a constant", meaning, None);
                None
            }
            Meaning::Shared(number) => Some(Ok(Found::Shared(number))),
            Meaning::Lock(_) => {
                let help =
                    "a lock has no value; it is taken by `acquire(m);` and given back by `release(m);`";
                self.misfit(name, "a variable or constant", meaning, Some(help));
                None
            }
            _ => {
                self.misfit(name, "a variable or constant", meaning, None);
                None
            }
        }
    }

    /// A name that is neither that of a local variable in scope nor known outside bodies. Predicates may speak of the
    /// local variables of threads; properties are told why they must not.
    fn find_elsewhere(&mut self, name: Name<'a>, expected: &str) -> Option<Found> {
        match self.mode {
            Mode::Hint if self.locals.contains_key(name.text) => return self.find_hint(name),
            Mode::Never => {
                if let Some(owners) = self.locals.get(name.text) {
                    let owner = quote(&self.program.procedures[owners.first].name);
                    let message =
                        format!("expected a shared variable, found {}, local to {owner}", quote(name.text));
                    let help =
                        "`never` speaks of shared variables and of `at(label)`; inside a body, use `assert`";
                    return self.none(name.span, &message, Some(help.to_string()));
                }
            }
            _ => {}
        }
        let Lowering { diagnostics, globals, body, .. } = self;
        diagnostics.add(Severity::Error, name.span.start as usize..name.span.end as usize, || {
            let fits = |meaning| matches!(meaning, Meaning::Shared(_) | Meaning::Constant(..));
            let names = globals.iter().filter(|global| fits(global.meaning)).map(|global| global.name.text);
            let help = foreign::name(name.text).map(str::to_string);
            let help = help.or_else(|| did_you_mean(name.text, names.chain(body.names())));
            (format!("expected {expected}, found the unknown name {}", quote(name.text)), help)
        });
        None
    }

    fn this(&mut self, span: Span) -> Option<Typed> {
        match (self.mode, self.body.no_self) {
            (Mode::Body, None) => {
                self.body.uses_self = true;
                Some((Expr::This, Sort::Number))
            }
            (Mode::Body, Some(why)) => self.none(
                span,
                "expected an expression, found `self`, which has no value here",
                Some(why.to_string()),
            ),
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
                    return self.none(right.span, &message, Some(help));
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
                    return self.none(span, &format!("expected a constant, found {found}"), None);
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
        self.none(expr.span, &format!("expected a number {place}, found a Boolean"), Some(help))
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
            return self.none(other.span, &message, Some(conversion(sort).to_string()));
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

    /// Something that is written to.
    pub(super) fn place(&mut self, reference: &'a ast::Reference<'a>) -> Option<Place> {
        let name = reference.name;
        let found = match self.body.local(name.text) {
            Some(local) => Found::Local(local),
            None => match self.globals.get(name.text).is_some() {
                false => self.find_elsewhere(name, "a variable")?,
                true => match self.global(name, "a variable")? {
                    Meaning::Shared(number) => Found::Shared(number),
                    meaning => {
                        let help = match meaning {
                            Meaning::Lock(_) => {
                                Some("a lock is taken by `acquire(m);` and given back by `release(m);`")
                            }
                            _ => None,
                        };
                        self.misfit(name, "a variable", meaning, help);
                        return None;
                    }
                },
            },
        };
        let shared = matches!(found, Found::Shared(_));
        let (slot, ty) = (self.variable(found).slot, self.variable(found).ty);
        let target = match (&reference.index, self.variable(found).length) {
            (None, None) if shared => Target::Shared(slot),
            (None, None) => Target::Local(slot),
            (None, Some(_)) => {
                let message = format!("expected a variable, found the array {}", quote(name.text));
                return self.none(name.span, &message, Some("an element is written `a[i]`".to_string()));
            }
            (Some(index), _) => {
                let (_, slot, length) = self.array(name, Ok(found))?;
                match self.index(index, length)? {
                    Ok(offset) if shared => Target::Shared(slot + offset),
                    Ok(offset) => Target::Local(slot + offset),
                    Err(index) if shared => Target::SharedElement(slot, length, index),
                    Err(index) => Target::LocalElement(slot, length, index),
                }
            }
        };
        Some(Place { target, ty, span: reference.span })
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
    }
}
