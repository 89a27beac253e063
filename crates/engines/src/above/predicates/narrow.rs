//! Steps of a Boolean program that no step of the program stands behind.
//!
//! The effect of a step is described by the predicates nearest to it ([`boolean`](super::boolean)), since all of them together
//! would have too many combinations of values. So a run may have a step that the predicates themselves exclude, and no new
//! predicate would help. Then the step is narrowed: as few values before and after it as contradict the step never occur
//! together on it. (Ball, Cook, Das and Rajamani, *Refining approximations in software predicate abstraction*, TACAS 2004.)

use super::atoms::Literal;
use super::cases::possible;
use super::path::Place;
use allways_model::program::LocationId;
use allways_smt::{Failure, Solver, Term};
use std::collections::HashMap;

/// Values of predicates before and after a step that do not occur together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// Before.
    pub before: Vec<Literal>,
    /// After.
    pub after: Vec<Literal>,
}

/// Lemmas, by the thread and where and how it moves.
pub type Lemmas = HashMap<(usize, LocationId, usize), Vec<Lemma>>;

/// A lemma that excludes a step between these values of predicates, unless a step of the program is behind it.
pub fn narrowed(
    place: &Place<'_>,
    facts: &Term,
    before: &[Literal],
    after: &[Literal],
    solver: &mut dyn Solver,
) -> Result<Option<Lemma>, Failure> {
    let guard = place.guard();
    let mut refuted = |before: &[Literal], after: &[Literal]| {
        let now = Term::and(before.iter().map(Literal::formula));
        let then = Term::and(after.iter().map(|literal| place.after(&literal.formula())));
        possible(&[facts, &now, &guard, &then], solver).map(|possible| !possible)
    };
    let after = if place.transition.to.is_some() { after } else { &[] };
    let mut lemma = Lemma { before: before.to_vec(), after: after.to_vec() };
    if !refuted(&lemma.before, &lemma.after)? {
        return Ok(None);
    }
    for side in [false, true] {
        let mut index = 0;
        loop {
            let mut fewer = lemma.clone();
            let literals = if side { &mut fewer.after } else { &mut fewer.before };
            if index >= literals.len() {
                break;
            }
            literals.remove(index);
            if refuted(&fewer.before, &fewer.after)? { lemma = fewer } else { index += 1 }
        }
    }
    Ok(Some(lemma))
}
