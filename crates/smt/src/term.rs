//! Formulas: linear arithmetic over integers, [functions](Function) that are not linear, and Boolean connectives.
//!
//! All variables are integers. A term is of sort integer or Boolean; the functions below make terms of the right sort out of
//! terms of the right sort, and simplify only what is constant. Terms share their parts, so copies are cheap.

use crate::function::Function;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A term; cheap to copy.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term {
    /// How many nodes it has, written out; first, so that most comparisons end here.
    size: u64,
    node: Arc<Node>,
}

/// What a term is.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Node {
    /// A number.
    Number(i128),
    /// A variable, by its name.
    Variable(Arc<str>),
    /// A sum.
    Sum(Vec<Term>),
    /// A multiple.
    Times(i128, Term),
    /// The quotient by a positive number, rounding down.
    Quotient(Term, i128),
    /// The remainder for that: never negative.
    Remainder(Term, i128),
    /// What a function gives for two numbers.
    Applied(Function, Term, Term),
    /// The second if the first is true, else the third: numbers.
    Choice(Term, Term, Term),
    /// False or true.
    Truth(bool),
    /// Negation.
    Not(Term),
    /// All of them.
    And(Vec<Term>),
    /// One of them.
    Or(Vec<Term>),
    /// Equality of numbers.
    Equal(Term, Term),
    /// Less or equal.
    AtMost(Term, Term),
}

impl Term {
    fn new(node: Node) -> Term {
        let all = |parts: &[Term]| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(part.size));
        let below = match &node {
            Node::Number(_) | Node::Variable(_) | Node::Truth(_) => 0,
            Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => all(parts),
            Node::Times(_, part) | Node::Quotient(part, _) | Node::Remainder(part, _) | Node::Not(part) => {
                part.size
            }
            Node::Choice(condition, then, other) => {
                condition.size.saturating_add(then.size).saturating_add(other.size)
            }
            Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
                left.size.saturating_add(right.size)
            }
        };
        Term { size: below.saturating_add(1), node: Arc::new(node) }
    }

    /// How many nodes it has, written out: parts that are shared count each time.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// What it is.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// A number.
    pub fn number(value: impl Into<i128>) -> Term {
        Term::new(Node::Number(value.into()))
    }

    /// A variable.
    pub fn variable(name: &str) -> Term {
        Term::new(Node::Variable(name.into()))
    }

    /// False or true.
    pub fn truth(value: bool) -> Term {
        Term::new(Node::Truth(value))
    }

    /// The number that it is, if it is one.
    pub fn as_number(&self) -> Option<i128> {
        if let Node::Number(value) = *self.node { Some(value) } else { None }
    }

    /// The truth value that it is, if it is one.
    pub fn as_truth(&self) -> Option<bool> {
        if let Node::Truth(value) = *self.node { Some(value) } else { None }
    }

    /// Whether it is of sort Boolean.
    pub fn is_boolean(&self) -> bool {
        matches!(
            *self.node,
            Node::Truth(_) | Node::Not(_) | Node::And(_) | Node::Or(_) | Node::Equal(..) | Node::AtMost(..)
        )
    }

    /// A sum of two.
    pub fn plus(&self, other: &Term) -> Term {
        match (self.as_number(), other.as_number()) {
            (Some(left), Some(right)) if left.checked_add(right).is_some() => Term::number(left + right),
            (Some(0), _) => other.clone(),
            (_, Some(0)) => self.clone(),
            _ => Term::sum([self.clone(), other.clone()]),
        }
    }

    /// A sum, without sums inside.
    pub fn sum(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut all = Vec::new();
        for part in parts {
            match part.node() {
                Node::Sum(parts) => all.extend(parts.iter().cloned()),
                _ => all.push(part),
            }
        }
        match all.len() {
            0 => Term::number(0),
            1 => all.swap_remove(0),
            _ => Term::new(Node::Sum(all)),
        }
    }

    /// A multiple.
    pub fn times(&self, factor: i128) -> Term {
        match (factor, self.as_number().and_then(|number| number.checked_mul(factor))) {
            (_, Some(product)) => Term::number(product),
            (1, _) => self.clone(),
            _ => Term::new(Node::Times(factor, self.clone())),
        }
    }

    /// A difference.
    pub fn minus(&self, other: &Term) -> Term {
        self.plus(&other.times(-1))
    }

    /// The quotient by a positive number, rounding down.
    pub fn quotient(&self, divisor: i128) -> Term {
        Term::new(Node::Quotient(self.clone(), divisor.max(1)))
    }

    /// The remainder by a positive number, never negative.
    pub fn remainder(&self, divisor: i128) -> Term {
        Term::new(Node::Remainder(self.clone(), divisor.max(1)))
    }

    /// What a function gives. A product of sums is the sum of products.
    pub fn of(function: Function, left: &Term, right: &Term) -> Term {
        match (left.as_number(), right.as_number()) {
            (Some(one), Some(other)) if function.apply(one, other).is_some() => {
                Term::number(function.apply(one, other).unwrap_or_default())
            }
            (_, Some(factor)) if function == Function::Product => left.times(factor),
            (Some(factor), _) if function == Function::Product => right.times(factor),
            _ if function == Function::Product => Term::product(left, right),
            _ if function.commutes() && right < left => Term::applied(function, right, left),
            _ => Term::applied(function, left, right),
        }
    }

    fn applied(function: Function, left: &Term, right: &Term) -> Term {
        Term::new(Node::Applied(function, left.clone(), right.clone()))
    }

    /// A product, with sums and multiples outside of it, and its factors in order: so equal polynomials are mostly equal terms.
    fn product(left: &Term, right: &Term) -> Term {
        let (one, other) = (left.summands(), right.summands());
        if one.len() * other.len() > MOST_PRODUCTS {
            let (least, most) = if right < left { (right, left) } else { (left, right) };
            return Term::applied(Function::Product, least, most);
        }
        let mut sum = Term::number(0);
        for (factor, part) in &one {
            for (times, with) in &other {
                let Some(factor) = factor.checked_mul(*times) else {
                    return Term::applied(Function::Product, left, right);
                };
                let mut factors: Vec<Term> = part.iter().chain(with).cloned().collect();
                factors.sort();
                let product = factors
                    .into_iter()
                    .reduce(|product, with| Term::applied(Function::Product, &product, &with));
                sum = sum.plus(&product.unwrap_or_else(|| Term::number(1)).times(factor));
            }
        }
        sum
    }

    /// The parts of a sum: how often each counts, and what it is the product of.
    fn summands(&self) -> Vec<(i128, Vec<Term>)> {
        match &*self.node {
            Node::Number(value) => vec![(*value, Vec::new())],
            Node::Sum(parts) => parts.iter().flat_map(Term::summands).collect(),
            Node::Times(factor, part) => {
                let parts = part.summands();
                match parts.iter().all(|(times, _)| times.checked_mul(*factor).is_some()) {
                    true => parts.into_iter().map(|(times, factors)| (times * factor, factors)).collect(),
                    false => vec![(1, vec![self.clone()])],
                }
            }
            _ => vec![(1, self.factors())],
        }
    }

    fn factors(&self) -> Vec<Term> {
        match &*self.node {
            Node::Applied(Function::Product, left, right) => {
                left.factors().into_iter().chain(right.factors()).collect()
            }
            _ => vec![self.clone()],
        }
    }

    /// One number or another.
    pub fn choice(condition: &Term, then: &Term, other: &Term) -> Term {
        match condition.as_truth() {
            Some(true) => then.clone(),
            Some(false) => other.clone(),
            None if then == other => then.clone(),
            None => Term::new(Node::Choice(condition.clone(), then.clone(), other.clone())),
        }
    }

    /// Equality.
    pub fn equal(&self, other: &Term) -> Term {
        match (self.as_number(), other.as_number()) {
            (Some(left), Some(right)) => Term::truth(left == right),
            _ if self == other => Term::truth(true),
            _ => Term::new(Node::Equal(self.clone(), other.clone())),
        }
    }

    /// That two formulas are both true, or both false.
    pub(crate) fn equal_to(&self, other: &Term) -> Term {
        Term::or([Term::and([self.clone(), other.clone()]), Term::and([self.negation(), other.negation()])])
    }

    /// Less or equal.
    pub fn at_most(&self, other: &Term) -> Term {
        match (self.as_number(), other.as_number()) {
            (Some(left), Some(right)) => Term::truth(left <= right),
            _ if self == other => Term::truth(true),
            _ => Term::new(Node::AtMost(self.clone(), other.clone())),
        }
    }

    /// Less.
    pub fn less(&self, other: &Term) -> Term {
        other.at_most(self).negation()
    }

    /// Negation.
    pub fn negation(&self) -> Term {
        match &*self.node {
            Node::Truth(value) => Term::truth(!value),
            Node::Not(inner) => inner.clone(),
            _ => Term::new(Node::Not(self.clone())),
        }
    }

    /// All of them.
    pub fn and(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut all = Vec::new();
        for part in parts {
            match part.node() {
                Node::Truth(true) => {}
                Node::Truth(false) => return part,
                Node::And(parts) => all.extend(parts.iter().cloned()),
                _ => all.push(part),
            }
        }
        match all.len() {
            0 => Term::truth(true),
            1 => all.swap_remove(0),
            _ => Term::new(Node::And(all)),
        }
    }

    /// One of them.
    pub fn or(parts: impl IntoIterator<Item = Term>) -> Term {
        let mut any = Vec::new();
        for part in parts {
            match part.node() {
                Node::Truth(false) => {}
                Node::Truth(true) => return part,
                Node::Or(parts) => any.extend(parts.iter().cloned()),
                _ => any.push(part),
            }
        }
        match any.len() {
            0 => Term::truth(false),
            1 => any.swap_remove(0),
            _ => Term::new(Node::Or(any)),
        }
    }

    /// Replaces variables; those for which the function has nothing stay.
    pub fn replace(&self, by: &dyn Fn(&str) -> Option<Term>) -> Term {
        let go = |term: &Term| term.replace(by);
        match &*self.node {
            Node::Number(_) | Node::Truth(_) => self.clone(),
            Node::Variable(name) => by(name).unwrap_or_else(|| self.clone()),
            Node::Sum(parts) => match &parts[..] {
                [left, right] => go(left).plus(&go(right)),
                _ => Term::sum(parts.iter().map(go)),
            },
            Node::Times(factor, part) => go(part).times(*factor),
            Node::Quotient(part, divisor) => go(part).quotient(*divisor),
            Node::Remainder(part, divisor) => go(part).remainder(*divisor),
            Node::Applied(function, left, right) => Term::of(*function, &go(left), &go(right)),
            Node::Choice(condition, then, other) => Term::choice(&go(condition), &go(then), &go(other)),
            Node::Not(part) => go(part).negation(),
            Node::And(parts) => Term::and(parts.iter().map(go)),
            Node::Or(parts) => Term::or(parts.iter().map(go)),
            Node::Equal(left, right) => go(left).equal(&go(right)),
            Node::AtMost(left, right) => go(left).at_most(&go(right)),
        }
    }

    /// Calls a function with all parts of this term, and with itself.
    pub fn visit<'t>(&'t self, see: &mut dyn FnMut(&'t Term)) {
        see(self);
        match &*self.node {
            Node::Variable(_) | Node::Number(_) | Node::Truth(_) => {}
            Node::Sum(parts) | Node::And(parts) | Node::Or(parts) => {
                parts.iter().for_each(|part| part.visit(see));
            }
            Node::Times(_, part) | Node::Quotient(part, _) | Node::Remainder(part, _) | Node::Not(part) => {
                part.visit(see);
            }
            Node::Choice(condition, then, other) => {
                [condition, then, other].into_iter().for_each(|part| part.visit(see));
            }
            Node::Equal(left, right) | Node::AtMost(left, right) | Node::Applied(_, left, right) => {
                left.visit(see);
                right.visit(see);
            }
        }
    }

    /// Collects the names of the variables.
    pub fn variables(&self, into: &mut BTreeSet<Arc<str>>) {
        self.visit(&mut |part| {
            if let Node::Variable(name) = part.node() {
                into.insert(name.clone());
            }
        });
    }
}

/// A product of sums with more products is left as it is.
const MOST_PRODUCTS: usize = 16;

/// A variable as SMT-LIB writes it. Names with a bar or a backslash have no such form; ours have neither.
pub fn symbol(name: &str) -> String {
    format!("|{}|", name.replace(['|', '\\'], "~"))
}

/// In SMT-LIB 2.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, name: &str, parts: &[Term]| {
            write!(f, "({name}")?;
            parts.iter().try_for_each(|part| write!(f, " {part}"))?;
            write!(f, ")")
        };
        match &*self.node {
            Node::Number(value) if *value < 0 => write!(f, "(- {})", value.unsigned_abs()),
            Node::Number(value) => write!(f, "{value}"),
            Node::Variable(name) => write!(f, "{}", symbol(name)),
            Node::Sum(parts) => list(f, "+", parts),
            Node::Times(factor, part) => write!(f, "(* {} {part})", Term::number(*factor)),
            Node::Quotient(part, divisor) => write!(f, "(div {part} {divisor})"),
            Node::Remainder(part, divisor) => write!(f, "(mod {part} {divisor})"),
            Node::Applied(function, left, right) => write!(f, "({} {left} {right})", function.name()),
            Node::Choice(condition, then, other) => write!(f, "(ite {condition} {then} {other})"),
            Node::Truth(value) => write!(f, "{value}"),
            Node::Not(part) => write!(f, "(not {part})"),
            Node::And(parts) => list(f, "and", parts),
            Node::Or(parts) => list(f, "or", parts),
            Node::Equal(left, right) => write!(f, "(= {left} {right})"),
            Node::AtMost(left, right) => write!(f, "(<= {left} {right})"),
        }
    }
}
