//! Comparisons of linear terms, each in one form: what a predicate is, whatever way it was written.
//!
//! `x + 1 <= y + 1`, `x <= y` and `!(y < x)` are one predicate; so is a comparison and its negation, which differ in polarity
//! only. Quotients, remainders and choices of numbers are taken as they stand, as if they were variables.

use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::BTreeMap;

/// A sum of multiples and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Linear {
    parts: BTreeMap<Term, i128>,
    constant: i128,
}

/// A comparison of a sum with zero.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Literal {
    /// The predicate.
    pub predicate: Term,
    /// Whether it is true, or else false.
    pub holds: bool,
}

impl Literal {
    /// As a formula.
    pub fn formula(&self) -> Term {
        if self.holds { self.predicate.clone() } else { self.predicate.negation() }
    }
}

/// The literal that a comparison is; one that is constant stays a truth value.
pub fn literal(comparison: &Term) -> Option<Literal> {
    match comparison.node() {
        Node::Not(part) => literal(part).map(|found| Literal { holds: !found.holds, ..found }),
        Node::Truth(_) => Some(Literal { predicate: comparison.clone(), holds: true }),
        Node::Equal(left, right) => equality(Linear::difference(left, right)?),
        Node::AtMost(left, right) => {
            let sum = Linear::difference(left, right)?;
            Some(at_most_zero(sum))
        }
        _ => None,
    }
}

/// That a sum is zero, or is not.
fn equality(mut sum: Linear) -> Option<Literal> {
    let divisor = sum.divisor();
    if divisor == 0 {
        return Some(Literal { predicate: Term::truth(sum.constant == 0), holds: true });
    }
    if sum.constant % divisor != 0 {
        return Some(Literal { predicate: Term::truth(false), holds: true });
    }
    sum.scale(|number| number / divisor);
    if sum.leads_negative() {
        sum.scale(|number| -number);
    }
    let (left, right) = sum.sides();
    Some(Literal { predicate: left.equal(&right), holds: true })
}

/// That a sum is at most zero.
fn at_most_zero(mut sum: Linear) -> Literal {
    let divisor = sum.divisor();
    if divisor == 0 {
        return Literal { predicate: Term::truth(sum.constant <= 0), holds: true };
    }
    // The largest integer that the parts may come to.
    let most = (-sum.constant).div_euclid(divisor);
    sum.scale(|number| number / divisor);
    sum.constant = -most;
    let holds = !sum.leads_negative();
    if !holds {
        sum.scale(|number| -number);
        sum.constant += 1;
    }
    let (left, right) = sum.sides();
    Literal { predicate: left.at_most(&right), holds }
}

impl Linear {
    fn difference(left: &Term, right: &Term) -> Option<Linear> {
        let mut sum = Linear::default();
        sum.add(left, 1)?;
        sum.add(right, -1)?;
        sum.parts.retain(|_, factor| *factor != 0);
        Some(sum)
    }

    fn add(&mut self, term: &Term, factor: i128) -> Option<()> {
        match term.node() {
            Node::Number(value) => {
                self.constant = self.constant.checked_add(value.checked_mul(factor)?)?;
            }
            Node::Sum(parts) => parts.iter().try_for_each(|part| self.add(part, factor))?,
            Node::Times(times, part) => self.add(part, factor.checked_mul(*times)?)?,
            _ => {
                let known = self.parts.entry(term.clone()).or_default();
                *known = known.checked_add(factor)?;
            }
        }
        // Far from the ends of what can be counted with.
        const FAR: i128 = 1 << 120;
        (self.constant.abs() < FAR && self.parts.values().all(|factor| factor.abs() < FAR)).then_some(())
    }

    /// The greatest common divisor of the factors; 0 if there are none.
    fn divisor(&self) -> i128 {
        fn greatest(left: i128, right: i128) -> i128 {
            if right == 0 { left.abs() } else { greatest(right, left % right) }
        }
        self.parts.values().fold(0, |divisor, &factor| greatest(divisor, factor))
    }

    fn scale(&mut self, by: impl Fn(i128) -> i128) {
        self.parts.values_mut().for_each(|factor| *factor = by(*factor));
        self.constant = by(self.constant);
    }

    fn leads_negative(&self) -> bool {
        self.parts.values().next().is_some_and(|&factor| factor < 0)
    }

    /// The parts with positive factors, and what they are compared with.
    fn sides(&self) -> (Term, Term) {
        let side = |positive: bool| {
            let parts = self.parts.iter().filter(move |part| (*part.1 > 0) == positive);
            Term::sum(parts.map(|(term, factor)| term.times(factor.abs())))
        };
        (side(true), side(false).plus(&Term::number(-self.constant)))
    }
}

/// What follows from two inequalities by adding them up, if that gets rid of a part.
pub fn resolvent(one: &Literal, other: &Literal) -> Option<Literal> {
    let (left, right) = (bound(one)?, bound(other)?);
    let cancels = |(term, factor): (&Term, &i128)| right.parts.get(term) == Some(&-factor);
    left.parts.iter().any(cancels).then_some(())?;
    let mut sum = left;
    for (term, factor) in right.parts {
        *sum.parts.entry(term).or_default() += factor;
    }
    sum.constant += right.constant;
    sum.parts.retain(|_, factor| *factor != 0);
    (!sum.parts.is_empty()).then(|| at_most_zero(sum))
}

/// An inequality, as a sum that is at most zero.
fn bound(literal: &Literal) -> Option<Linear> {
    let Node::AtMost(left, right) = literal.predicate.node() else { return None };
    match literal.holds {
        true => Linear::difference(left, right),
        false => {
            let mut sum = Linear::difference(right, left)?;
            sum.constant += 1;
            Some(sum)
        }
    }
}

/// The inequalities that a literal says; of an equality, both.
pub fn bounds(literal: &Literal) -> Vec<Literal> {
    match literal.predicate.node() {
        Node::Equal(left, right) if literal.holds => {
            let sides = [(left, right), (right, left)];
            let sums = sides.iter().filter_map(|(left, right)| Linear::difference(left, right));
            sums.map(at_most_zero).collect()
        }
        _ => vec![literal.clone()],
    }
}

/// The same terms compared with numbers near zero: what may hold for longer than a comparison with the number of one step.
pub fn near(literal: &Literal) -> Vec<Literal> {
    let (Node::Equal(left, right) | Node::AtMost(left, right)) = literal.predicate.node() else {
        return Vec::new();
    };
    let Some(sum) = Linear::difference(left, right) else { return Vec::new() };
    let with = |constant: i128| Linear { constant, ..sum.clone() };
    let bounds = [0, 1].map(|constant| at_most_zero(with(constant)));
    bounds.into_iter().chain(equality(with(0))).collect()
}

/// The comparisons in a formula.
pub fn comparisons(formula: &Term, see: &mut dyn FnMut(&Term)) {
    match formula.node() {
        Node::And(parts) | Node::Or(parts) => parts.iter().for_each(|part| comparisons(part, see)),
        Node::Not(part) => comparisons(part, see),
        Node::Equal(left, right) | Node::AtMost(left, right) => {
            see(formula);
            [left, right].into_iter().for_each(|side| inner(side, see));
        }
        _ => {}
    }
}

/// The comparisons in a number that is chosen by conditions.
fn inner(term: &Term, see: &mut dyn FnMut(&Term)) {
    match term.node() {
        Node::Sum(parts) => parts.iter().for_each(|part| inner(part, see)),
        Node::Times(_, part) | Node::Quotient(part, _) | Node::Remainder(part, _) => inner(part, see),
        Node::Applied(_, left, right) => [left, right].into_iter().for_each(|part| inner(part, see)),
        Node::Choice(condition, then, other) => {
            comparisons(condition, see);
            inner(then, see);
            inner(other, see);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Term {
        Term::variable(name)
    }

    #[test]
    fn one_predicate_has_one_form() {
        let (x, y, one) = (variable("x"), variable("y"), Term::number(1));
        let ways = [
            x.at_most(&y),
            x.plus(&one).at_most(&y.plus(&one)),
            y.less(&x).negation(),
            x.times(3).at_most(&y.times(3).plus(&Term::number(2))),
        ];
        let forms: Vec<Literal> = ways.iter().map(|way| literal(way).expect("linear")).collect();
        assert!(forms.iter().all(|form| *form == forms[0]), "{forms:?}");
        let opposite = literal(&y.less(&x)).expect("linear");
        assert_eq!((opposite.predicate, opposite.holds), (forms[0].predicate.clone(), !forms[0].holds));
        let even = literal(&x.times(2).equal(&Term::number(3))).expect("linear");
        assert_eq!(even.formula().as_truth(), Some(false));
    }

    #[test]
    fn adding_up_gets_rid_of_a_variable() {
        let (c, end, len) = (variable("c"), variable("end"), variable("len"));
        let inside = literal(&c.less(&end)).expect("linear");
        let beyond = literal(&len.at_most(&c)).expect("linear");
        let found = resolvent(&inside, &beyond).expect("c is in both");
        assert_eq!(found, literal(&len.less(&end)).expect("linear"));
    }
}
