//! Builtins that count bits, and absolute values: computed by comparisons, so that every engine knows them.

use super::expressions::{converted, number, wrapped};
use super::places::{binary, plus};
use super::{Lowering, Model, Result};
use crate::typed::{Expr, Int, Type};
use allways_model::program::{Binary as Operator, Op, Span, Unary as Sign, Value};

impl Lowering<'_> {
    /// A call of a builtin that counts bits, or of `abs`; none if it is none of them.
    pub(super) fn bits(&mut self, name: &str, argument: &Expr, span: Span) -> Result<Option<Vec<Model>>> {
        let Type::Int(from) = argument.ty.plain() else { return Ok(None) };
        if matches!(name.trim_start_matches("__builtin_"), "abs" | "labs" | "llabs") {
            let value = self.value(argument)?;
            let value = self.kept(value, span)?;
            let negated = wrapped(*from, Model::Unary(Sign::Minus, Box::new(value.clone())));
            let below = binary(Operator::Less, value.clone(), Model::Constant(0));
            return Ok(Some(vec![Model::If(Box::new(below), Box::new(negated), Box::new(value))]));
        }
        let whole = match name.strip_prefix("__builtin_") {
            Some(whole) => whole,
            // Those of the C library are the same.
            None if matches!(name, "ffs" | "ffsl" | "ffsll") => name,
            None => return Ok(None),
        };
        let word = whole.trim_end_matches('l');
        if !matches!(word, "clz" | "ctz" | "ffs" | "popcount" | "parity") {
            return Ok(None);
        }
        // An `l` at the end says that the argument has the width of `long`, two that of `long long`.
        let bits: u8 = match whole.len() - word.len() {
            0 => 32,
            1 if self.unit.model == crate::typed::DataModel::Ilp32 => 32,
            _ => 64,
        };
        let int = Int { bits, signed: false };
        let value = converted(self.value(argument)?, *from, int);
        let value = self.kept(value, span)?;
        let sum = |terms: &mut dyn Iterator<Item = Model>| {
            terms.reduce(|left, right| binary(Operator::Plus, left, right)).unwrap_or(Model::Constant(0))
        };
        // Of 64 bits without sign, the highest is beyond what is followed.
        let highest = Value::from(bits.min(63));
        let power = |exponent: Value| Model::Constant(1 << exponent);
        let divided = |exponent: Value| {
            let rest = binary(Operator::Remainder, value.clone(), power(exponent));
            number(binary(Operator::Equal, rest, Model::Constant(0)))
        };
        let bit = |exponent: Value| {
            let shifted = binary(Operator::Divide, value.clone(), power(exponent));
            binary(Operator::Remainder, shifted, Model::Constant(2))
        };
        let at_least =
            |exponent: Value| number(binary(Operator::GreaterEqual, value.clone(), power(exponent)));
        let zero = binary(Operator::Equal, value.clone(), Model::Constant(0));
        let ones = || sum(&mut (0..highest).map(bit));
        let trailing = || sum(&mut (1..highest).map(divided));
        let counted = match word {
            "popcount" => ones(),
            "parity" => binary(Operator::Remainder, ones(), Model::Constant(2)),
            "ffs" => Model::If(Box::new(zero), Box::new(Model::Constant(0)), Box::new(plus(trailing(), 1))),
            _ => {
                // Of zero, the result is not defined.
                let (some, none) = (self.location(span), self.location(span));
                let here = self.here;
                self.edge(here, Op::Guard(zero.clone(), true), none, span);
                self.edge(here, Op::Guard(zero, false), some, span);
                self.edge(none, Op::Beyond, none, span);
                self.here = some;
                match word {
                    "ctz" => trailing(),
                    _ => {
                        let length = sum(&mut (0..highest).map(at_least));
                        binary(Operator::Minus, Model::Constant(Value::from(bits)), length)
                    }
                }
            }
        };
        Ok(Some(vec![self.kept(counted, span)?]))
    }
}
