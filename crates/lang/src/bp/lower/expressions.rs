//! Expressions: names become slots, and operators bind as in the dialect of the text.

use super::super::MAX_DEPTH;
use super::super::precedence::{Dialect, Operator, agree, fold};
use super::super::syntax::{Expr, Name};
use super::Lowering;
use super::statements::Scope;
use crate::diagnostic::Severity;
use allways_model::program::{Binary, Expr as Lowered, Slot, Span, Unary};

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Meaning {
    Shared(Slot),
    Local(Slot),
    /// The local variable of the other threads, `x$`.
    Others(Slot),
}

/// What the names of an expression stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    /// Values.
    Now,
    /// In a constraint: values before the assignment, and `'x` after it; `x$` and `'x$` are those of each other thread.
    Constraint,
    /// Values after the assignment.
    After,
    /// Values, and `x$` is the variable of the thread that is given the value.
    Given,
}

/// An expression and how deep it is.
type Deep = (Lowered, usize);

impl<'a> Lowering<'a> {
    /// What a name stands for here; reports it if it stands for nothing.
    pub(super) fn meaning(&mut self, name: Name<'a>, scope: &Scope<'a>) -> Option<Meaning> {
        let find = |text: &str| {
            let local = scope.locals.get(text).map(|&slot| Meaning::Local(slot));
            local.or_else(|| self.shared.get(text).map(|&slot| Meaning::Shared(slot)))
        };
        if let Some(meaning) = find(name.text) {
            return Some(meaning);
        }
        match name.text.strip_suffix('$').and_then(find) {
            Some(Meaning::Local(slot)) => Some(Meaning::Others(slot)),
            Some(_) => {
                let help = "`x$` stands for the local variable `x` of the other threads; this one is shared";
                self.error(name, "is no variable", Some(help));
                None
            }
            None => {
                self.error(name, "is not declared", None);
                None
            }
        }
    }

    /// An expression. If something is wrong with it, any expression.
    pub(super) fn expression(&mut self, expr: &Expr<'a>, scope: &Scope<'a>, reading: Reading) -> Lowered {
        self.deep(expr, scope, reading).0
    }

    pub(super) fn expressions(&mut self, exprs: &[Expr<'a>], scope: &Scope<'a>) -> Vec<Lowered> {
        exprs.iter().map(|expr| self.expression(expr, scope, Reading::Now)).collect()
    }

    fn deep(&mut self, expr: &Expr<'a>, scope: &Scope<'a>, reading: Reading) -> Deep {
        let mut part = |expr| self.deep(expr, scope, reading);
        match expr {
            Expr::Constant(value) => (Lowered::Constant(i64::from(*value)), 0),
            Expr::Choose => (Lowered::Choose(0, 1), 0),
            Expr::Name(name) if reading != Reading::After => {
                let lowered = match self.meaning(*name, scope) {
                    Some(Meaning::Shared(slot)) => Lowered::Shared(slot),
                    Some(Meaning::Local(slot)) => Lowered::Local(slot),
                    Some(Meaning::Others(slot))
                        if matches!(reading, Reading::Given | Reading::Constraint) =>
                    {
                        self.mix(*name, slot, scope);
                        Lowered::OtherLocal(slot)
                    }
                    Some(Meaning::Others(_)) => self.unreadable(*name),
                    None => Lowered::Constant(0),
                };
                (lowered, 0)
            }
            Expr::Name(name) | Expr::Next(name) => {
                if matches!(reading, Reading::Now | Reading::Given) {
                    self.error(*name, "has a value afterwards only after `constrain`", None);
                }
                let lowered = match self.meaning(*name, scope) {
                    Some(Meaning::Shared(slot)) => Lowered::NextShared(slot),
                    Some(Meaning::Local(slot)) => Lowered::NextLocal(slot),
                    Some(Meaning::Others(slot)) if reading == Reading::Constraint => {
                        self.mix(*name, slot, scope);
                        Lowered::NextOtherLocal(slot)
                    }
                    Some(Meaning::Others(_)) => self.unreadable(*name),
                    None => Lowered::Constant(0),
                };
                (lowered, 0)
            }
            Expr::Not(operand) => not(part(operand)),
            Expr::Chain(operands, operators) => {
                let operands = operands.iter().map(part).collect();
                self.chain(operands, operators)
            }
            Expr::If(parts) => {
                let [condition, then, otherwise] = parts.each_ref().map(part);
                let depth = 1 + condition.1.max(then.1).max(otherwise.1);
                (Lowered::If(Box::new(condition.0), Box::new(then.0), Box::new(otherwise.0)), depth)
            }
            Expr::Schoose(parts) => {
                let [yes, no] = parts.each_ref().map(part);
                let maybe = binary(Binary::And, (Lowered::Choose(0, 1), 0), not(no), Span::default());
                binary(Binary::Or, maybe, yes, Span::default())
            }
        }
    }

    fn unreadable(&mut self, name: Name<'a>) -> Lowered {
        let help = "it stands for the variables of all other threads, which may differ; what is assigned to `x$` may read it, and so may `constrain`";
        self.error(name, "can be assigned, not read", Some(help));
        Lowered::Constant(0)
    }

    fn chain(&mut self, operands: Vec<Deep>, operators: &[(Operator, Span)]) -> Deep {
        let symbols: Vec<Operator> = operators.iter().map(|(operator, _)| *operator).collect();
        let first = operators[0].1;
        let all = first.start as usize..operators[operators.len() - 1].1.end as usize;
        if !agree(&symbols) {
            self.diagnostics.add(Severity::Warning, all.clone(), || {
                let (here, there) = match self.dialect {
                    Dialect::Satabs => ("SATABS, since the labels are not integers", "IJIT"),
                    Dialect::Ijit => ("IJIT, since the labels are integers", "SATABS"),
                };
                let message = "expected brackets, found operators that bind differently in the two dialects";
                let help = format!("read as in {here}; in {there} it means something else");
                (message.to_string(), Some(help))
            });
        }
        let mut too_deep = false;
        let join = &mut |left: Deep, number: usize, right: Deep| {
            if left.1.max(right.1) > 4 * MAX_DEPTH {
                too_deep = true;
                return (Lowered::Constant(0), 0);
            }
            let (operator, span) = operators[number];
            match operator {
                Operator::Implies => binary(Binary::Or, not(left), right, span),
                Operator::Equal => binary(Binary::Equal, left, right, span),
                Operator::Unequal | Operator::Xor => binary(Binary::Unequal, left, right, span),
                Operator::Or => binary(Binary::Or, left, right, span),
                Operator::And => binary(Binary::And, left, right, span),
            }
        };
        let joined = fold(operands, &symbols, self.dialect, join).unwrap_or((Lowered::Constant(0), 0));
        if too_deep {
            let words =
                || ("expected a simpler expression, found one that is nested too deeply".to_string(), None);
            self.diagnostics.add(Severity::Error, all, words);
        }
        joined
    }
}

fn not((operand, depth): Deep) -> Deep {
    (Lowered::Unary(Unary::Not, Box::new(operand)), depth + 1)
}

fn binary(operator: Binary, left: Deep, right: Deep, span: Span) -> Deep {
    (Lowered::Binary(operator, Box::new(left.0), Box::new(right.0), span), 1 + left.1.max(right.1))
}
