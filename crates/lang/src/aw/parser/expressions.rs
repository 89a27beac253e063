//! Expressions, with the precedence of C.

use super::super::MAX_HEIGHT;
use super::super::ast::{Binder, Expr, ExprKind, Quantifier, Selector};
use super::super::foreign;
use super::super::lexer::Kind;
use super::{Parse, Parser, Reported};
use crate::cursor::join;
use allways_model::program::{Binary, Span, Unary, Value};

/// The operators between operands: how tightly they bind, least first.
const OPERATORS: [(&str, u8, Binary); 13] = [
    ("||", 1, Binary::Or),
    ("&&", 2, Binary::And),
    ("==", 3, Binary::Equal),
    ("!=", 3, Binary::Unequal),
    ("<", 4, Binary::Less),
    ("<=", 4, Binary::LessEqual),
    (">", 4, Binary::Greater),
    (">=", 4, Binary::GreaterEqual),
    ("+", 5, Binary::Plus),
    ("-", 5, Binary::Minus),
    ("*", 6, Binary::Times),
    ("/", 6, Binary::Divide),
    ("%", 6, Binary::Remainder),
];

/// How tightly `+` and `-` bind: the operators of a bound of a range bind no less.
const SUM: u8 = 5;

impl<'a> Parser<'a, '_> {
    pub(super) fn expression(&mut self) -> Parse<Expr<'a>> {
        self.nested(|parser| {
            let condition = parser.binary(0)?;
            if !parser.eat("?") {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect_or(":", "a choice between two values is written `c ? a : b`")?;
            let other = parser.expression()?;
            let span = join(condition.span, other.span);
            let height = condition.height.max(then.height).max(other.height);
            let kind = ExprKind::If(Box::new(condition), Box::new(then), Box::new(other));
            parser.node(kind, span, height)
        })
    }

    /// An expression that is a condition, where `=` is a slip.
    pub(super) fn condition(&mut self) -> Parse<Expr<'a>> {
        let left = self.expression()?;
        if self.at("=") {
            let help = "to compare two values, write `==`".to_string();
            self.unexpected_with("the end of the condition", Some(help));
            self.advance();
            self.expression()?;
        } else if let Some(help) = foreign::operator(self.word(self.peek()), self.word(self.ahead(1))) {
            return Err(self.unexpected_with("the end of the condition", Some(help.to_string())));
        }
        Ok(left)
    }

    /// A bound of a range.
    pub(super) fn bound(&mut self) -> Parse<Expr<'a>> {
        self.nested(|parser| parser.binary(SUM))
    }

    /// Operands and operators that bind at least so tightly.
    fn binary(&mut self, least: u8) -> Parse<Expr<'a>> {
        let mut left = self.operand()?;
        loop {
            let token = self.peek();
            let operator = match token.kind {
                Kind::Symbol => OPERATORS.iter().find(|operator| operator.0 == self.word(token)),
                _ => None,
            };
            let Some(&(_, tightness, operator)) = operator.filter(|operator| operator.1 >= least) else {
                return Ok(left);
            };
            self.advance();
            let right = self.binary(tightness + 1)?;
            let (span, height) = (join(left.span, right.span), left.height.max(right.height));
            left = self.node(ExprKind::Binary(operator, Box::new(left), Box::new(right)), span, height)?;
        }
    }

    fn operand(&mut self) -> Parse<Expr<'a>> {
        let start = self.peek();
        let unary = match self.word(start) {
            "!" => Unary::Not,
            "-" => Unary::Minus,
            _ => return self.primary(),
        };
        self.nested(|parser| {
            parser.advance();
            let operand = parser.operand()?;
            let (span, height) = (join(start.span, operand.span), operand.height);
            parser.node(ExprKind::Unary(unary, Box::new(operand)), span, height)
        })
    }

    fn primary(&mut self) -> Parse<Expr<'a>> {
        let token = self.peek();
        let leaf = |kind| Ok(Expr { kind, span: token.span, height: 1 });
        match (token.kind, self.word(token)) {
            (Kind::Number, digits) => {
                let Ok(value) = digits.parse::<Value>() else {
                    let expected = format!("a number up to {}", Value::MAX);
                    return Err(self.unexpected(&expected));
                };
                self.advance();
                leaf(ExprKind::Number(value))
            }
            (Kind::Name, word) if Quantifier::of(word).is_some() && self.starts_binder() => {
                self.nested(Self::quantified)
            }
            (Kind::Name, word) => match foreign::operand(word).filter(|_| self.starts_operand(1)) {
                Some(help) => Err(self.unexpected_with("an expression", Some(help.to_string()))),
                None => self.named(),
            },
            (Kind::Keyword, word @ ("true" | "false" | "self")) => {
                self.advance();
                leaf(if word == "self" { ExprKind::This } else { ExprKind::Bool(word == "true") })
            }
            (Kind::Symbol, "*") => {
                self.advance();
                leaf(ExprKind::Any)
            }
            (Kind::Symbol, "(") => {
                self.advance();
                let inner = self.expression()?;
                if self.at("=") {
                    self.expect_or(")", "to compare two values, write `==`")?;
                }
                self.expect_operator_or(")")?;
                Ok(Expr { span: self.since(token.span), ..inner })
            }
            (Kind::Keyword, "at") => self.at_label(token.span),
            (Kind::Keyword, "other") => {
                self.advance();
                self.expect_or(".", "a local variable of a different thread is written `other.x`")?;
                let name = self.name("the name of a local variable")?;
                let selectors = self.selectors()?;
                let height = height_of(&selectors);
                self.node(ExprKind::Other(name, selectors), self.since(token.span), height)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    /// A variable, a part of one, or a call (which the grammar allows and the checker restricts).
    fn named(&mut self) -> Parse<Expr<'a>> {
        let name = self.name("a name")?;
        if self.at("(") {
            let arguments = self.arguments()?;
            let height = arguments.iter().map(|argument| argument.height).max().unwrap_or(0);
            return self.node(ExprKind::Call(name, arguments), self.since(name.span), height);
        }
        let selectors = self.selectors()?;
        if selectors.is_empty() {
            return Ok(Expr { kind: ExprKind::Name(name), span: name.span, height: 1 });
        }
        let height = height_of(&selectors);
        self.node(ExprKind::Part(name, selectors), self.since(name.span), height)
    }

    /// `[e]` and `.member`, as many as there are.
    pub(super) fn selectors(&mut self) -> Parse<Vec<Selector<'a>>> {
        let mut selectors = Vec::new();
        loop {
            if let Some(index) = self.index()? {
                selectors.push(Selector::Index(index));
            } else if self.eat(".") {
                selectors.push(Selector::Member(self.name("the name of a member")?));
            } else {
                return Ok(selectors);
            }
        }
    }

    /// `forall i in lo..hi: e`; what it speaks of goes as far as it can.
    fn quantified(&mut self) -> Parse<Expr<'a>> {
        let token = self.advance();
        let Some(quantifier) = Quantifier::of(self.word(token)) else {
            return Err(self.unexpected("an expression"));
        };
        if self.ahead(2).kind == Kind::Name && self.is(3, ":") {
            let name = self.name("a name")?;
            self.advance();
            let threads = self.name("the name of threads")?;
            self.advance();
            let body = self.expression()?;
            let (span, height) = (self.since(token.span), body.height);
            return self.node(ExprKind::OfThreads(quantifier, name, threads, Box::new(body)), span, height);
        }
        let binder = self.binder()?;
        self.expect_or(":", "what is true of them stands after a colon: `forall i in 0..3: a[i] > 0`")?;
        let body = self.expression()?;
        let (span, height) =
            (self.since(token.span), body.height.max(binder.low.height).max(binder.high.height));
        self.node(ExprKind::Quantified(quantifier, Box::new(binder), Box::new(body)), span, height)
    }

    /// Whether the word that is next is followed by `i in`.
    pub(super) fn starts_binder(&self) -> bool {
        self.ahead(1).kind == Kind::Name
            && self.ahead(2).kind == Kind::Name
            && self.word(self.ahead(2)) == "in"
    }

    /// `i in lo..hi`
    pub(super) fn binder(&mut self) -> Parse<Binder<'a>> {
        let name = self.name("a name")?;
        self.advance();
        let low = self.bound()?;
        self.expect_or("..", "the values are given as a range, both ends included: `i in 0..3`")?;
        if self.at("=") {
            let help = "a range includes both ends: write `0..3`".to_string();
            return Err(self.unexpected_with("the upper bound of the range", Some(help)));
        }
        let high = self.bound()?;
        Ok(Binder { name, low, high })
    }

    /// `[e]`, if there is one.
    pub(super) fn index(&mut self) -> Parse<Option<Expr<'a>>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let index = self.expression()?;
        if self.at(",") {
            let help = "an element of an array of two dimensions is written `a[i][j]`".to_string();
            return Err(self.unexpected_with("`]`", Some(help)));
        }
        self.expect_operator_or("]")?;
        Ok(Some(index))
    }

    /// `(e, …)`
    pub(super) fn arguments(&mut self) -> Parse<Vec<Expr<'a>>> {
        self.expect("(")?;
        let arguments = match self.at(")") {
            true => Vec::new(),
            false => self.list(Self::expression)?,
        };
        self.expect_operator_or(")")?;
        Ok(arguments)
    }

    fn at_label(&mut self, start: Span) -> Parse<Expr<'a>> {
        self.advance();
        self.expect_or("(", "the number of threads at a label is written `at(label)`")?;
        let main = self.at("main");
        let first = match main {
            true => super::Name { text: "main", span: self.advance().span },
            false => self.name("a label")?,
        };
        let (routine, label) = match main || self.at(".") {
            true => {
                self.expect(".")?;
                (Some(first), self.name("a label")?)
            }
            false => (None, first),
        };
        self.expect(")")?;
        Ok(Expr { kind: ExprKind::At(routine, label), span: self.since(start), height: 1 })
    }

    /// A closing bracket; in its place, an operator of another language gets advice.
    pub(super) fn expect_operator_or(&mut self, closing: &str) -> Parse<Span> {
        match foreign::operator(self.word(self.peek()), self.word(self.ahead(1))) {
            Some(help) => self.expect_or(closing, help),
            None => self.expect(closing),
        }
    }

    /// Whether the token so many after the next may start an operand.
    fn starts_operand(&self, count: usize) -> bool {
        let token = self.ahead(count);
        matches!(token.kind, Kind::Name | Kind::Number)
            || ["true", "false", "self", "at", "other", "("].iter().any(|word| self.is(count, word))
    }

    /// An expression one higher than its highest part.
    fn node(&mut self, kind: ExprKind<'a>, span: Span, height: usize) -> Parse<Expr<'a>> {
        if height >= MAX_HEIGHT {
            let message = format!("expected at most {MAX_HEIGHT} operators in a row, found more");
            self.complain(span, message, Some("use a variable for a part of the expression".to_string()));
            return Err(Reported);
        }
        Ok(Expr { kind, span, height: height + 1 })
    }
}

/// How high the highest index is.
fn height_of(selectors: &[Selector<'_>]) -> usize {
    selectors.iter().filter_map(Selector::index).map(|index| index.height).max().unwrap_or(0)
}
