//! The builtins of compilers for atomic operations.
//!
//! Each is one step, which finds the old value and stores the new one. What it needs besides is read before, and the value that a
//! failed exchange has found is stored after.

use super::expressions::{applied, converted, integer, number};
use super::places::{Target, binary};
use super::{Lowering, Model, Result, refuse};
use crate::slots::Kind;
use crate::typed::{Binary, Expr, Int, Type};
use crate::walk;
use allways_model::program::{Binary as Operator, Op};

impl Lowering<'_> {
    /// The memory order of an atomic operation, if it is weaker than sequential consistency.
    fn weak_order(&mut self, name: &str, arguments: &[Expr]) -> Option<&'static str> {
        let orders = if name.contains("compare_exchange") { 2 } else { 1 };
        let arguments = arguments.iter().rev().take(orders).filter(|_| name.starts_with("__atomic_"));
        arguments.rev().find_map(|order| match self.constant_value(order) {
            Some(5) => None,
            Some(0) => Some("memory_order_relaxed"),
            Some(1) => Some("memory_order_consume"),
            Some(2) => Some("memory_order_acquire"),
            Some(3) => Some("memory_order_release"),
            Some(4) => Some("memory_order_acq_rel"),
            _ => Some("a memory order that is computed"),
        })
    }

    /// The builtins of compilers for atomic operations.
    pub(super) fn atomic_operation(
        &mut self,
        name: &str,
        call: &Expr,
        arguments: &[Expr],
    ) -> Result<Option<Vec<Model>>> {
        let before = self.here;
        let done = self.atomically(name, call, arguments);
        if let Some(order) = self.weak_order(name, arguments) {
            self.weak.push(([before, self.here], call.span, order));
        }
        done
    }

    fn atomically(&mut self, name: &str, call: &Expr, arguments: &[Expr]) -> Result<Option<Vec<Model>>> {
        let span = call.span;
        let Some(word) = name.strip_prefix("__sync_").or_else(|| name.strip_prefix("__atomic_")) else {
            return Ok(None);
        };
        let Some(pointer) = arguments.first() else { return Ok(None) };
        let inner = walk::through_casts(pointer);
        let Type::Pointer(ty) = inner.ty.plain() else { return Ok(None) };
        let ty = ty.plain().clone();
        let place = self.target_of(pointer)?;
        let old = self.load(&place, span);
        let word = word.strip_suffix("_n").unwrap_or(word);
        let operand = |lowering: &mut Self, number: usize| match arguments.get(number) {
            Some(argument) => {
                let value = lowering.value(argument)?;
                let value = match (argument.ty.plain(), &ty) {
                    (Type::Int(from), Type::Int(to)) => converted(value, *from, *to),
                    _ => value,
                };
                lowering.kept(value, span)
            }
            None => refuse(span, format!("`{name}` is called with too few arguments")),
        };
        // Those without `_n` pass values by address.
        let by_address = name.starts_with("__atomic") && !name.ends_with("_n");
        match word {
            "synchronize" => Ok(Some(Vec::new())),
            "load" if by_address => {
                let Some(to) = arguments.get(1) else { return Ok(None) };
                self.specially(&place, Kind::Atomic);
                let kept = self.kept(old, span)?;
                let to = self.target_of(to)?;
                self.store(&to, kept, span)?;
                Ok(Some(Vec::new()))
            }
            "load" => {
                self.specially(&place, Kind::Atomic);
                Ok(Some(vec![self.kept(old, span)?]))
            }
            "store" | "lock_release" | "clear" | "exchange" | "lock_test_and_set" | "test_and_set" => {
                let new = match word {
                    "lock_release" | "clear" => Model::Constant(0),
                    "test_and_set" => Model::Constant(1),
                    _ if by_address => {
                        let Some(from) = arguments.get(1) else { return Ok(None) };
                        let from = self.target_of(from)?;
                        let value = self.load(&from, span);
                        self.kept(value, span)?
                    }
                    _ => operand(self, 1)?,
                };
                let slot = self.temporary(span);
                let returns = matches!(word, "exchange" | "lock_test_and_set" | "test_and_set");
                self.specially(&place, Kind::Atomic);
                if !returns {
                    self.store(&place, new, span)?;
                    return Ok(Some(Vec::new()));
                }
                self.store_at_once(vec![(Target::Local(slot), old), (place, new)], None, span)?;
                if by_address && word == "exchange" {
                    let Some(to) = arguments.get(2) else { return Ok(None) };
                    let to = self.target_of(to)?;
                    self.store(&to, Model::Local(slot), span)?;
                }
                Ok(Some(vec![Model::Local(slot)]))
            }
            "val_compare_and_swap" | "bool_compare_and_swap" => {
                let (expected, new) = (operand(self, 1)?, operand(self, 2)?);
                let slot = self.temporary(span);
                let same = binary(Operator::Equal, old.clone(), expected.clone());
                let after = Model::If(Box::new(same), Box::new(new), Box::new(old.clone()));
                self.specially(&place, Kind::Atomic);
                self.store_at_once(vec![(Target::Local(slot), old), (place, after)], None, span)?;
                Ok(Some(vec![match word {
                    "val_compare_and_swap" => Model::Local(slot),
                    _ => number(binary(Operator::Equal, Model::Local(slot), expected)),
                }]))
            }
            "compare_exchange" => {
                let (Some(expected), Some(desired)) = (arguments.get(1), arguments.get(2)) else {
                    return Ok(None);
                };
                let expected = self.target_of(expected)?;
                let wanted = self.load(&expected, span);
                let wanted = self.kept(wanted, span)?;
                let new = if by_address {
                    let from = self.target_of(desired)?;
                    let value = self.load(&from, span);
                    self.kept(value, span)?
                } else {
                    operand(self, 2)?
                };
                // A weak one may fail for no reason (C11, 7.17.7.4).
                let is_weak = arguments.get(3).filter(|weak| self.constant_value(weak) != Some(0));
                let tries = match is_weak {
                    Some(_) => Some(self.kept(Model::Choose(0, 1), span)?),
                    None => None,
                };
                let succeeds = |found: Model| {
                    let same = binary(Operator::Equal, found, wanted.clone());
                    match &tries {
                        Some(tries) => {
                            let tries = binary(Operator::Equal, tries.clone(), Model::Constant(1));
                            binary(Operator::And, tries, same)
                        }
                        None => same,
                    }
                };
                let slot = self.block(1, span);
                let same = succeeds(old.clone());
                let after = Model::If(Box::new(same), Box::new(new), Box::new(old.clone()));
                self.specially(&place, Kind::Atomic);
                self.store_at_once(vec![(Target::Local(slot), old), (place, after)], None, span)?;
                // What was found is stored where the expected value was, but not if it was that, which others would see.
                let succeeded = succeeds(Model::Local(slot));
                if expected.is_shared() {
                    let (here, failed, after) = (self.here, self.location(span), self.location(span));
                    self.edge(here, Op::Guard(succeeded.clone(), true), after, span);
                    self.edge(here, Op::Guard(succeeded.clone(), false), failed, span);
                    self.here = failed;
                    self.store(&expected, Model::Local(slot), span)?;
                    self.jump(after, span);
                    self.here = after;
                } else {
                    self.store(&expected, Model::Local(slot), span)?;
                }
                Ok(Some(vec![number(succeeded)]))
            }
            _ => {
                let (fetch_first, operator) = match word.split_once("_and_") {
                    Some(("fetch", operator)) => (true, operator),
                    Some((operator, "fetch")) => (false, operator),
                    _ => match word.strip_prefix("fetch_") {
                        Some(operator) => (true, operator),
                        None => match word.strip_suffix("_fetch") {
                            Some(operator) => (false, operator),
                            None => return Ok(None),
                        },
                    },
                };
                let operator = match operator {
                    "add" => Binary::Plus,
                    "sub" => Binary::Minus,
                    "and" => Binary::BitAnd,
                    "or" => Binary::BitOr,
                    "xor" => Binary::BitXor,
                    _ => return Ok(None),
                };
                let int: Int = integer(&ty, span)?;
                let amount = operand(self, 1)?;
                let slot = self.temporary(span);
                let after = applied(operator, int, old.clone(), amount.clone(), span);
                self.specially(&place, Kind::Atomic);
                self.store_at_once(vec![(Target::Local(slot), old), (place, after)], None, span)?;
                Ok(Some(vec![match fetch_first {
                    true => Model::Local(slot),
                    false => applied(operator, int, Model::Local(slot), amount, span),
                }]))
            }
        }
    }
}
