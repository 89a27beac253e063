//! Operations on two numbers that are not linear: products and quotients of variables, and operations on bits.
//!
//! A solver knows of them that equal operands give equal results, and [facts](Function::facts) about those results that are spoken of:
//! bounds and signs, for the most part. All of that is true of the operations, so what a solver excludes cannot be; what it
//! takes for possible need not be. Numbers have no end here; bits are those of two's complement.

use crate::term::Term;

/// An operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Function {
    /// A product.
    Product,
    /// A quotient, rounded towards zero.
    Quotient,
    /// The remainder for that: of the sign of the first operand.
    Remainder,
    /// The bits of both.
    And,
    /// The bits of one of them.
    Or,
    /// The bits of just one of them.
    Xor,
    /// The first, shifted to the left by the second.
    ShiftLeft,
    /// The first, shifted to the right by the second: a quotient that is rounded down.
    ShiftRight,
}

/// The logic of formulas.
pub(crate) const LOGIC: &str = "QF_UFLIA";

use Function::{And, Or, Product, Quotient, Remainder, ShiftLeft, ShiftRight, Xor};

impl Function {
    /// All of them.
    pub const ALL: [Function; 8] = [Product, Quotient, Remainder, And, Or, Xor, ShiftLeft, ShiftRight];

    /// How it is called in formulas. No variable has such a name.
    pub fn name(self) -> &'static str {
        match self {
            Product => "<product>",
            Quotient => "<quotient>",
            Remainder => "<remainder>",
            And => "<and>",
            Or => "<or>",
            Xor => "<xor>",
            ShiftLeft => "<shl>",
            ShiftRight => "<shr>",
        }
    }

    /// How people write it, between its operands.
    pub fn sign(self) -> &'static str {
        match self {
            Product => "·",
            Quotient => "/",
            Remainder => "%",
            And => "&",
            Or => "|",
            Xor => "^",
            ShiftLeft => "<<",
            ShiftRight => ">>",
        }
    }

    /// What makes it known to a solver.
    pub(crate) fn declaration(self) -> String {
        format!("(declare-fun {} (Int Int) Int)", self.name())
    }

    /// The function of this name.
    pub fn named(name: &str) -> Option<Function> {
        Function::ALL.into_iter().find(|function| function.name() == name)
    }

    /// Whether the order of its operands makes no difference.
    pub fn commutes(self) -> bool {
        matches!(self, Product | And | Or | Xor)
    }

    /// The result for two numbers. Nothing if there is none, or if it does not fit.
    pub fn apply(self, left: i128, right: i128) -> Option<i128> {
        let distance = || u32::try_from(right).ok().filter(|&distance| distance < 64);
        match self {
            Product => left.checked_mul(right),
            Quotient => left.checked_div(right),
            Remainder => left.checked_rem(right),
            And => Some(left & right),
            Or => Some(left | right),
            Xor => Some(left ^ right),
            ShiftLeft => left.checked_mul(1 << distance()?),
            ShiftRight => Some(left >> distance()?),
        }
    }

    /// What is true of its results, whatever the operands are, as far as there is a result.
    pub fn facts(self, left: &Term, right: &Term) -> Vec<Term> {
        let result = Term::of(self, left, right);
        let (zero, one) = (Term::number(0), Term::number(1));
        let when = |condition: Term, then: Term| Term::or([condition.negation(), then]);
        let negative = |term: &Term| term.less(&zero);
        let natural = |term: &Term| zero.at_most(term);
        let positive = |term: &Term| zero.less(term);
        let both = |one: Term, other: Term| Term::and([one, other]);
        // Between zero and a number, including both.
        let up_to = |most: &Term| both(natural(&result), result.at_most(most));
        let naturals = both(natural(left), natural(right));
        match self {
            Product => {
                let mut all = vec![
                    result
                        .equal(&zero)
                        .negation()
                        .equal_to(&both(left.equal(&zero).negation(), right.equal(&zero).negation())),
                    when(naturals.clone(), natural(&result)),
                    when(both(negative(left), negative(right)), positive(&result)),
                    when(both(negative(left), natural(right)), result.at_most(&zero)),
                    when(both(natural(left), negative(right)), result.at_most(&zero)),
                    when(
                        both(positive(left), positive(right)),
                        both(left.at_most(&result), right.at_most(&result)),
                    ),
                ];
                for (factor, other) in [(left, right), (right, left)] {
                    all.push(when(factor.equal(&one), result.equal(other)));
                }
                all
            }
            Quotient => vec![
                when(both(natural(left), positive(right)), up_to(left)),
                when(both(natural(left), left.less(right)), result.equal(&zero)),
                when(both(positive(right), right.at_most(left)), positive(&result)),
                when(
                    both(negative(left), positive(right)),
                    both(left.at_most(&result), result.at_most(&zero)),
                ),
                when(
                    both(natural(left), negative(right)),
                    both(left.times(-1).at_most(&result), result.at_most(&zero)),
                ),
                when(right.equal(&one), result.equal(left)),
            ],
            Remainder => vec![
                when(natural(left), up_to(left)),
                when(negative(left), both(left.at_most(&result), result.at_most(&zero))),
                when(positive(right), both(right.times(-1).less(&result), result.less(right))),
                when(negative(right), both(right.less(&result), result.less(&right.times(-1)))),
                when(both(natural(left), left.less(right)), result.equal(left)),
            ],
            And => vec![
                when(natural(left), up_to(left)),
                when(natural(right), up_to(right)),
                when(left.equal(right), result.equal(left)),
            ],
            Or => vec![
                when(
                    naturals,
                    Term::and([
                        left.at_most(&result),
                        right.at_most(&result),
                        result.at_most(&left.plus(right)),
                    ]),
                ),
                when(left.equal(&zero), result.equal(right)),
                when(right.equal(&zero), result.equal(left)),
                when(left.equal(right), result.equal(left)),
            ],
            Xor => vec![
                when(naturals, up_to(&left.plus(right))),
                left.equal(right).equal_to(&result.equal(&zero)),
                when(left.equal(&zero), result.equal(right)),
                when(right.equal(&zero), result.equal(left)),
            ],
            ShiftLeft => vec![
                when(natural(left), left.at_most(&result)),
                when(negative(left), result.at_most(left)),
                when(right.equal(&zero), result.equal(left)),
            ],
            ShiftRight => vec![
                when(natural(left), up_to(left)),
                when(negative(left), both(left.at_most(&result), negative(&result))),
                when(right.equal(&zero), result.equal(left)),
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Node;

    /// The value of a term without variables.
    fn value(term: &Term) -> i128 {
        match term.node() {
            Node::Number(number) => *number,
            Node::Truth(truth) => i128::from(*truth),
            Node::Not(part) => 1 - value(part),
            Node::And(parts) => i128::from(parts.iter().all(|part| value(part) == 1)),
            Node::Or(parts) => i128::from(parts.iter().any(|part| value(part) == 1)),
            other => panic!("{other:?} has variables"),
        }
    }

    #[test]
    fn facts_are_true_of_numbers() {
        let far = i128::from(i64::MAX);
        let numbers: Vec<i128> = (-9..=9).chain([63, 64, 100, far, -far, far - 1, -far - 1]).collect();
        let mut spoken_of = 0;
        for function in Function::ALL {
            for &left in &numbers {
                for &right in &numbers {
                    if function.apply(left, right).is_none() {
                        continue;
                    }
                    for fact in function.facts(&Term::number(left), &Term::number(right)) {
                        assert_eq!(value(&fact), 1, "{function:?} of {left} and {right}");
                        spoken_of += 1;
                    }
                }
            }
        }
        assert!(spoken_of > 10_000);
    }

    #[test]
    fn products_of_equal_sums_are_equal_terms() {
        let [x, y, z] = ["x", "y", "z"].map(Term::variable);
        let of = |left: &Term, right: &Term| Term::of(Product, left, right);
        let one = Term::number(1);
        assert_eq!(of(&x, &y), of(&y, &x));
        assert_eq!(of(&of(&x, &y), &z), of(&y, &of(&z, &x)));
        assert_eq!(of(&x.plus(&one), &y).minus(&y).to_string(), "(+ (<product> |x| |y|) |y| (* (- 1) |y|))");
        assert_eq!(of(&x.times(2), &y.minus(&one)), of(&y.plus(&Term::number(-1)), &x.times(2)));
        let by_seven = of(&x, &y).replace(&|name| (name == "y").then(|| Term::number(7)));
        assert_eq!(by_seven, x.times(7));
    }
}
