//! The values of terms.

use allways_smt::Term;
use allways_smt::term::Node;
use std::collections::BTreeMap;

/// The value of a term; truth values are 0 and 1.
pub fn value(term: &Term, of: &BTreeMap<String, i128>) -> i128 {
    let go = |term: &Term| value(term, of);
    match term.node() {
        Node::Number(number) => *number,
        Node::Variable(name) => of[&**name],
        Node::Sum(parts) => parts.iter().map(go).sum(),
        Node::Times(factor, part) => factor * go(part),
        Node::Quotient(part, divisor) => go(part).div_euclid(*divisor),
        Node::Remainder(part, divisor) => go(part).rem_euclid(*divisor),
        // Who divides by zero goes wrong, whatever the result.
        Node::Applied(function, left, right) => function.apply(go(left), go(right)).unwrap_or(0),
        Node::Choice(condition, then, other) => go(if go(condition) != 0 { then } else { other }),
        Node::Truth(truth) => i128::from(*truth),
        Node::Not(part) => 1 - go(part),
        Node::And(parts) => i128::from(parts.iter().all(|part| go(part) != 0)),
        Node::Or(parts) => i128::from(parts.iter().any(|part| go(part) != 0)),
        Node::Equal(left, right) => i128::from(go(left) == go(right)),
        Node::AtMost(left, right) => i128::from(go(left) <= go(right)),
    }
}
