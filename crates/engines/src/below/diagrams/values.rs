//! Values of many variables at once: sets of valuations of Booleans as decision diagrams.
//!
//! Each slot of a state has a *bit*: the shared ones first, then those of each frame that a thread can have. A bit is two
//! variables of the diagrams, one next to the other: its value, and its value after a step while that is computed. The choices
//! of a step come last. An [`Action`] is what a step does to values; [`Values::image`] is where it leads from a set, and
//! [`Values::before`] a valuation that it leads from to a given one.
//!
//! Invariant: a set says nothing about variables of the second kind, about choices, and about frames that are not there.

use crate::budget::Budget;
use allways_evidence::StopReason;
use allways_model::program::{Binary, Expr, LocationId, Unary, Value};
use biodivine_lib_bdd::{Bdd, BddVariable, BddVariableSet, op_function};
use std::ops::Range;

/// The number of a Boolean of a state.
pub type Bit = usize;

/// The most nodes of a diagram. Operations on larger ones take long, and cannot be stopped.
const MOST_NODES: usize = 1 << 18;

/// Between operations on diagrams of more nodes, the budget is asked.
const LARGE: usize = 1 << 12;

/// The values of an expression.
#[derive(Clone)]
pub enum Term {
    /// The same in all valuations.
    Known(Value),
    /// True in these.
    Truth(Bdd),
}

/// What an expression is about.
pub struct Scope<'a> {
    /// The bit of the first local variable.
    pub locals: Bit,
    /// Which thread of its template it is.
    pub this: Value,
    /// The bits that a step assigns, in a constraint.
    pub assigned: &'a [Bit],
    /// How many threads are at a location that is one of these.
    pub at: &'a dyn Fn(&[LocationId]) -> usize,
}

/// What a step does to values.
pub struct Action {
    /// When it can be taken, in terms of the values before and after, and of choices.
    pub when: Chosen,
    /// Bits and what they become.
    pub gives: Vec<(Bit, Chosen)>,
    /// Bits of which nothing is known afterwards.
    pub drops: Vec<Bit>,
    /// How many choices there are.
    pub choices: usize,
}

/// Where an expression is true, and the numbers of its choices, which no other expression has.
#[derive(Clone)]
pub struct Chosen {
    /// Where it is true.
    pub truth: Bdd,
    /// Its choices.
    pub choices: Range<usize>,
}

/// Values of all bits, and of the choices of a step.
pub struct Example {
    /// The bits.
    pub bits: Vec<bool>,
    /// The choices.
    pub choices: Vec<bool>,
}

impl Chosen {
    /// Where it is false.
    #[must_use]
    pub fn not(&self) -> Chosen {
        Chosen { truth: self.truth.not(), choices: self.choices.clone() }
    }
}

/// The bits of a state.
pub struct Values<'b> {
    set: BddVariableSet,
    bits: usize,
    /// For the first bits, where they stand.
    places: Vec<usize>,
    budget: &'b Budget<'b>,
}

fn too_large() -> StopReason {
    StopReason::GaveUp(format!("a decision diagram has more than {MOST_NODES} nodes"))
}

fn unsupported(what: &str) -> StopReason {
    StopReason::GaveUp(format!("engine `diagrams` does not support {what}"))
}

type Operation = fn(Option<bool>, Option<bool>) -> Option<bool>;

fn combine(left: &Bdd, right: &Bdd, operation: Operation) -> Result<Bdd, StopReason> {
    Bdd::binary_op_with_limit(MOST_NODES, left, right, operation).ok_or_else(too_large)
}

/// In both.
pub fn both(left: &Bdd, right: &Bdd) -> Result<Bdd, StopReason> {
    combine(left, right, op_function::and)
}

/// In one of them.
pub fn either(left: &Bdd, right: &Bdd) -> Result<Bdd, StopReason> {
    combine(left, right, op_function::or)
}

/// In the first alone.
pub fn without(left: &Bdd, right: &Bdd) -> Result<Bdd, StopReason> {
    combine(left, right, op_function::and_not)
}

fn forget(set: &Bdd, variable: BddVariable) -> Result<Bdd, StopReason> {
    either(&set.var_restrict(variable, false), &set.var_restrict(variable, true))
}

impl<'b> Values<'b> {
    /// So many bits, and so many choices in a step. The first bits stand in this order.
    pub fn new(
        bits: usize,
        choices: usize,
        order: &[Bit],
        budget: &'b Budget<'b>,
    ) -> Result<Values<'b>, StopReason> {
        let mut places = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, bit)| places[*bit] = place);
        let variables = u16::try_from(2 * bits + choices).map_err(|_| unsupported("so many variables"))?;
        Ok(Values { set: BddVariableSet::new_anonymous(variables), bits, places, budget })
    }

    fn now(&self, bit: Bit) -> BddVariable {
        BddVariable::from_index(2 * self.places.get(bit).copied().unwrap_or(bit))
    }

    fn then(&self, bit: Bit) -> BddVariable {
        BddVariable::from_index(2 * self.places.get(bit).copied().unwrap_or(bit) + 1)
    }

    fn choice(&self, number: usize) -> BddVariable {
        BddVariable::from_index(2 * self.bits + number)
    }

    /// An action that does nothing.
    pub fn nothing(&self) -> Action {
        Action { when: self.known(true), gives: Vec::new(), drops: Vec::new(), choices: 0 }
    }

    /// True, or false, without a choice.
    pub fn known(&self, value: bool) -> Chosen {
        Chosen { truth: self.constant(value), choices: 0..0 }
    }

    /// All valuations, or none.
    pub fn constant(&self, value: bool) -> Bdd {
        if value { self.set.mk_true() } else { self.set.mk_false() }
    }

    /// Where a bit is true.
    pub fn bit(&self, bit: Bit) -> Bdd {
        self.set.mk_var(self.now(bit))
    }

    /// Where an expression is true. Choices are numbered from those that were made before.
    pub fn condition(
        &self,
        expr: &Expr,
        scope: &Scope<'_>,
        choices: &mut usize,
    ) -> Result<Chosen, StopReason> {
        let first = *choices;
        let truth = self.truth(expr, scope, choices)?;
        Ok(Chosen { truth, choices: first..*choices })
    }

    /// The same of an expression whose value is stored, and must be that of a Boolean.
    pub fn stored(&self, expr: &Expr, scope: &Scope<'_>, choices: &mut usize) -> Result<Chosen, StopReason> {
        let first = *choices;
        let truth = self.value(expr, scope, choices)?;
        Ok(Chosen { truth, choices: first..*choices })
    }

    fn truth(&self, expr: &Expr, scope: &Scope<'_>, choices: &mut usize) -> Result<Bdd, StopReason> {
        self.term(expr, scope, choices).map(|term| self.as_truth(term))
    }

    fn value(&self, expr: &Expr, scope: &Scope<'_>, choices: &mut usize) -> Result<Bdd, StopReason> {
        match self.term(expr, scope, choices)? {
            Term::Known(value) if value != 0 && value != 1 => Err(unsupported("numbers")),
            term => Ok(self.as_truth(term)),
        }
    }

    fn as_truth(&self, term: Term) -> Bdd {
        match term {
            Term::Known(value) => self.constant(value != 0),
            Term::Truth(truth) => truth,
        }
    }

    fn term(&self, expr: &Expr, scope: &Scope<'_>, choices: &mut usize) -> Result<Term, StopReason> {
        let after = |bit: Bit| match scope.assigned.contains(&bit) {
            true => self.set.mk_var(self.then(bit)),
            false => self.bit(bit),
        };
        Ok(match expr {
            Expr::Constant(value) => Term::Known(*value),
            Expr::This => Term::Known(scope.this),
            Expr::At(locations) => Term::Known((scope.at)(locations) as Value),
            Expr::Shared(slot) => Term::Truth(self.bit(*slot)),
            Expr::Local(slot) => Term::Truth(self.bit(scope.locals + slot)),
            Expr::NextShared(slot) => Term::Truth(after(*slot)),
            Expr::NextLocal(slot) => Term::Truth(after(scope.locals + slot)),
            Expr::Choose(low, high) => {
                let variable = self.choice(*choices);
                *choices += 1;
                match (low, high) {
                    (0, 1) => Term::Truth(self.set.mk_var(variable)),
                    _ if low == high => Term::Known(*low),
                    _ => return Err(unsupported("choices of numbers")),
                }
            }
            Expr::Unary(Unary::Not, part) => Term::Truth(self.truth(part, scope, choices)?.into_not()),
            Expr::Binary(operator, left, right, _) => {
                let (left, right) = (self.term(left, scope, choices)?, self.term(right, scope, choices)?);
                self.binary(*operator, left, right)?
            }
            Expr::If(condition, then, other) => {
                let condition = self.truth(condition, scope, choices)?;
                let then = both(&condition, &self.value(then, scope, choices)?)?;
                let other = without(&self.value(other, scope, choices)?, &condition)?;
                Term::Truth(either(&then, &other)?)
            }
            _ => return Err(unsupported("numbers, arrays, and variables of other threads")),
        })
    }

    fn binary(&self, operator: Binary, left: Term, right: Term) -> Result<Term, StopReason> {
        if let (Term::Known(left), Term::Known(right)) = (&left, &right) {
            let known = match operator {
                Binary::And => *left != 0 && *right != 0,
                Binary::Or => *left != 0 || *right != 0,
                Binary::Equal => left == right,
                Binary::Unequal => left != right,
                Binary::Less => left < right,
                Binary::LessEqual => left <= right,
                Binary::Greater => left > right,
                Binary::GreaterEqual => left >= right,
                _ => return Err(unsupported("numbers")),
            };
            return Ok(Term::Known(known.into()));
        }
        let is_number = |term: &Term| matches!(term, Term::Known(value) if *value != 0 && *value != 1);
        if is_number(&left) || is_number(&right) {
            return Err(unsupported("numbers"));
        }
        let (left, right) = (self.as_truth(left), self.as_truth(right));
        let truth = match operator {
            Binary::And => both(&left, &right),
            Binary::Or => either(&left, &right),
            Binary::Equal => combine(&left, &right, op_function::iff),
            Binary::Unequal => combine(&left, &right, op_function::xor),
            _ => Err(unsupported("numbers")),
        };
        truth.map(Term::Truth)
    }

    /// Some choices make it true.
    pub fn possibly(&self, chosen: Bdd, choices: Range<usize>) -> Result<Bdd, StopReason> {
        choices.into_iter().try_fold(chosen, |truth, number| forget(&truth, self.choice(number)))
    }

    /// Where an action leads from a set.
    pub fn image(&self, from: &Bdd, action: &Action) -> Result<Bdd, StopReason> {
        let when = self.possibly(action.when.truth.clone(), action.when.choices.clone())?;
        let mut set = both(from, &when)?;
        for (bit, Chosen { truth, choices }) in &action.gives {
            // Without its choices first: what is chosen freely says nothing.
            let equal = combine(&self.set.mk_var(self.then(*bit)), truth, op_function::iff)?;
            set = self.polled(both(&set, &self.possibly(equal, choices.clone())?)?)?;
        }
        for (bit, _) in &action.gives {
            let moved = combine(&self.bit(*bit), &self.set.mk_var(self.then(*bit)), op_function::iff)?;
            set = forget(&set, self.now(*bit))?;
            set = self.polled(forget(&both(&set, &moved)?, self.then(*bit))?)?;
        }
        for bit in &action.drops {
            set = forget(&set, self.now(*bit))?;
        }
        Ok(set)
    }

    fn polled(&self, set: Bdd) -> Result<Bdd, StopReason> {
        if set.size() > LARGE {
            self.budget.check()?;
        }
        Ok(set)
    }

    /// A valuation of the set from which the action leads to this one, and the choices by which it does.
    pub fn before(&self, from: &Bdd, action: &Action, after: &[bool]) -> Result<Option<Example>, StopReason> {
        let given = |bit: &Bit| action.gives.iter().any(|(given, _)| given == bit);
        let stays = (0..self.bits).filter(|bit| !given(bit) && !action.drops.contains(bit));
        let stays: Vec<_> = stays.map(|bit| (self.now(bit), after[bit])).collect();
        let becomes: Vec<_> = action.gives.iter().map(|(bit, _)| (self.then(*bit), after[*bit])).collect();
        let mut set = both(&from.select(&stays), &action.when.truth.restrict(&becomes))?;
        for (bit, Chosen { truth, .. }) in &action.gives {
            set = if after[*bit] { both(&set, truth)? } else { without(&set, truth)? };
        }
        Ok(self.example(&set, action.choices))
    }

    /// A valuation of a set, and so many choices.
    pub fn example(&self, set: &Bdd, choices: usize) -> Option<Example> {
        let valuation = set.first_valuation()?;
        let bits = (0..self.bits).map(|bit| valuation.value(self.now(bit)));
        let choices = (0..choices).map(|number| valuation.value(self.choice(number)));
        Some(Example { bits: bits.collect(), choices: choices.collect() })
    }

    /// Whether a valuation is one of a set.
    pub fn contains(&self, set: &Bdd, bits: &[bool]) -> bool {
        let values: Vec<_> = bits.iter().enumerate().map(|(bit, value)| (self.now(bit), *value)).collect();
        !set.restrict(&values).is_false()
    }
}
