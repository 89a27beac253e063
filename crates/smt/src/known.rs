//! What is told to a solver of the [functions](Function) in formulas, besides the formulas.
//!
//! All of it is true, whatever the formulas are: so it does not matter which of it is told, but for what the solver can exclude.
//! Formulas that compare a variable with numbers have a say in that: if a product is one of two such variables, it is told what
//! follows for the product where both are between the least and the greatest of these numbers.

use crate::function::Function;
use crate::term::{Node, Term};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What was seen in formulas so far.
#[derive(Default)]
pub(crate) struct Known {
    /// The least and the greatest number that each variable is compared with.
    compared: HashMap<Arc<str>, (i128, i128)>,
}

impl Known {
    /// What is known of the functions in one more formula; what that speaks of is spoken of in the formula.
    pub(crate) fn facts(&mut self, formula: &Term) -> Vec<Term> {
        let mut applied: BTreeSet<&Term> = BTreeSet::new();
        formula.visit(&mut |part| match part.node() {
            Node::AtMost(left, right) | Node::Equal(left, right) => {
                self.compare(left, right);
                self.compare(right, left);
            }
            Node::Applied(..) => {
                applied.insert(part);
            }
            _ => {}
        });
        let mut facts = Vec::new();
        for term in applied {
            let Node::Applied(function, left, right) = term.node() else { continue };
            facts.extend(function.facts(left, right));
            if *function == Function::Product {
                facts.extend(self.bounds(left, right));
            }
        }
        facts
    }

    fn compare(&mut self, term: &Term, with: &Term) {
        if let (Node::Variable(name), Some(number)) = (term.node(), with.as_number()) {
            let (low, high) = self.compared.entry(name.clone()).or_insert((number, number));
            (*low, *high) = (number.min(*low), number.max(*high));
        }
    }

    /// Between which numbers a term is, if its variables are between those that they are compared with.
    fn range(&self, term: &Term) -> Option<(i128, i128)> {
        match term.node() {
            Node::Number(number) => Some((*number, *number)),
            Node::Variable(name) => self.compared.get(name).copied(),
            Node::Applied(Function::Product, left, right) => product(self.range(left)?, self.range(right)?),
            _ => None,
        }
    }

    /// Between which numbers a product is, if its factors are in their ranges.
    fn bounds(&self, left: &Term, right: &Term) -> Option<Term> {
        let (one, other) = (self.range(left)?, self.range(right)?);
        let (low, high) = product(one, other)?;
        let between = |term: &Term, (low, high): (i128, i128)| {
            Term::and([Term::number(low).at_most(term), term.at_most(&Term::number(high))])
        };
        let result = Term::of(Function::Product, left, right);
        let inside = Term::and([between(left, one), between(right, other)]);
        Some(Term::or([inside.negation(), between(&result, (low, high))]))
    }
}

/// Between which numbers the products of numbers in two ranges are.
fn product(one: (i128, i128), other: (i128, i128)) -> Option<(i128, i128)> {
    let corners = [(one.0, other.0), (one.0, other.1), (one.1, other.0), (one.1, other.1)];
    let products: Option<Vec<i128>> =
        corners.into_iter().map(|(left, right)| left.checked_mul(right)).collect();
    let products = products?;
    Some((*products.iter().min()?, *products.iter().max()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_bounded_variables_are_bounded() {
        let [x, y] = ["x", "y"].map(Term::variable);
        let mut known = Known::default();
        let bounds = Term::and([
            Term::number(-3).at_most(&x),
            x.at_most(&Term::number(5)),
            Term::number(0).at_most(&y),
            y.less(&Term::number(7)),
        ]);
        assert_eq!(known.facts(&bounds), []);
        let facts = known.facts(&Term::of(Function::Product, &x, &y).equal(&x));
        let last = facts.last().expect("a fact").to_string();
        assert!(
            last.contains("(<= (- 21) (<product> |x| |y|))") && last.contains("(<= (<product> |x| |y|) 35)"),
            "{last}"
        );
        for (left, right) in (-3..=5).flat_map(|left| (0..=7).map(move |right| (left, right))) {
            let given = |name: &str| Some(Term::number(if name == "x" { left } else { right }));
            for fact in &facts {
                assert_ne!(fact.replace(&given).as_truth(), Some(false), "{fact} for {left} and {right}");
            }
        }
    }
}
