//! Expressions, with operators left in the order of the text.

use super::super::precedence::Operator;
use super::super::scanner::Kind;
use super::super::syntax::Expr;
use super::{Parser, Read};

impl<'a> Parser<'a> {
    /// An expression.
    pub fn expression(&mut self) -> Read<Expr<'a>> {
        self.deeper(|parser| {
            let condition = parser.chain()?;
            if !parser.accept("?") {
                return Ok(condition);
            }
            let then = parser.expression()?;
            parser.expect(":", " between the cases of `?`")?;
            let otherwise = parser.expression()?;
            Ok(Expr::If(Box::new([condition, then, otherwise])))
        })
    }

    /// Expressions with commas between them.
    pub fn expressions(&mut self) -> Read<Vec<Expr<'a>>> {
        let mut all = vec![self.expression()?];
        while self.accept(",") {
            all.push(self.expression()?);
        }
        Ok(all)
    }

    /// Operands with operators between them.
    fn chain(&mut self) -> Read<Expr<'a>> {
        let first = self.operand()?;
        let mut operands = Vec::new();
        let mut operators = Vec::new();
        while let Kind::Is(symbol) = self.next.kind
            && let Some(operator) = Operator::read(symbol)
        {
            operators.push((operator, self.advance().span));
            operands.push(self.operand()?);
        }
        if operators.is_empty() {
            return Ok(first);
        }
        operands.insert(0, first);
        Ok(Expr::Chain(operands, operators))
    }

    fn operand(&mut self) -> Read<Expr<'a>> {
        let mut negated = false;
        while self.accept("!") || self.accept("~") {
            negated = !negated;
        }
        let operand = self.primary()?;
        Ok(if negated { Expr::Not(Box::new(operand)) } else { operand })
    }

    fn primary(&mut self) -> Read<Expr<'a>> {
        let expr = match (self.next.kind, self.words(self.next.span)) {
            (Kind::Is("*" | "?"), _) => Expr::Choose,
            (Kind::Is("T" | "true"), _) | (Kind::Number, "1") => Expr::Constant(true),
            (Kind::Is("F" | "false"), _) | (Kind::Number, "0") => Expr::Constant(false),
            (Kind::Word, _) => {
                let name = self.name("")?;
                if self.next.kind == Kind::Is("(") {
                    let help = "a call is a statement of its own: `f(x);` or `y := f(x);`";
                    return Err(self.fault("an operator or the end of the expression", Some(help)));
                }
                return Ok(Expr::Name(name));
            }
            (Kind::Is("'"), _) => {
                self.advance();
                return Ok(Expr::Next(self.name("the name of a variable after `'`")?));
            }
            (Kind::Is("("), _) => {
                self.advance();
                let expr = self.expression()?;
                self.expect(")", "")?;
                return Ok(expr);
            }
            (Kind::Is("schoose"), _) => {
                self.advance();
                self.expect("[", " after `schoose`")?;
                let yes = self.expression()?;
                self.expect(",", "")?;
                let no = self.expression()?;
                self.expect("]", "")?;
                return Ok(Expr::Schoose(Box::new([yes, no])));
            }
            (Kind::Number, _) => {
                return Err(self.fault("an expression", Some("the constants are `0` and `1`")));
            }
            _ => return Err(self.fault("an expression", None)),
        };
        self.advance();
        Ok(expr)
    }
}
