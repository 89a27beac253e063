//! Properties, as what a view must not show.
//!
//! A property counts threads at labels; a view shows only some threads. So the property is turned into alternatives, each with a
//! condition on the shared variables and *demands*: at least so many threads at some of these locations. What cannot be said so
//! is left out of the alternative: it then holds in more states, and a proof that it never does is a proof of the property
//! itself. Demands for more threads than a view has are lowered likewise. What is left cannot become false by more threads.

use super::expressions::{Notes, Scope, Values, truth};
use super::steps::{Steps, Unsupported};
use allways_evidence::Views;
use allways_model::program::{Binary, Expr, LocationId, Program, Span, Unary};
use allways_smt::Term;

/// One way to violate a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alternative {
    /// What the shared variables satisfy.
    pub condition: Term,
    /// At least so many threads are at one of these locations.
    pub demands: Vec<(Vec<LocationId>, usize)>,
}

/// The most alternatives of a property.
const MOST: usize = 1000;

/// All ways to violate the properties of a program, as far as a view of this size shows them.
pub fn alternatives(
    program: &Program,
    steps: &Steps,
    views: &Views,
) -> Result<Vec<Alternative>, Unsupported> {
    // More threads than there are cannot be anywhere.
    let room = |alternative: &Alternative| match views.total() {
        Some(total) => alternative.demands.iter().all(|demand| demand.1 <= total),
        None => true,
    };
    // Anchors are in every view; the others must find room beside them.
    let anchor = |location: &LocationId| {
        steps
            .templates
            .get(location.index())
            .copied()
            .flatten()
            .is_some_and(|template| views.anchors(template))
    };
    let loose = |demand: &&mut (Vec<LocationId>, usize)| !demand.0.iter().all(anchor);
    let beside = views.size.saturating_sub(views.anchors_in_all());
    let mut all = Vec::new();
    for never in &program.never {
        // All choices of a property have names of their own.
        let Ways { held, wrong } = violated(&never.expr, true, steps, &mut Notes::default())?;
        if held.len() + wrong.len() > MOST {
            return Err(Unsupported::new("a property with many alternatives", never.span));
        }
        let mut ways: Vec<Alternative> = held.into_iter().chain(wrong).filter(room).collect();
        // The largest number to which demands have to be lowered. The checker accepts no more.
        let mut most = beside;
        for way in &mut ways {
            let demands: Vec<usize> = way.demands.iter_mut().filter(loose).map(|demand| demand.1).collect();
            let needed = |most: usize| demands.iter().map(|&least| least.min(most)).sum::<usize>();
            while needed(most) > beside {
                most -= 1;
            }
        }
        for demand in ways.iter_mut().flat_map(|way| &mut way.demands).filter(loose) {
            demand.1 = demand.1.min(most);
        }
        all.extend(ways);
    }
    Ok(all)
}

impl Alternative {
    /// Whether threads at these locations meet the demands.
    pub fn met(&self, locations: &[LocationId]) -> bool {
        self.demands.iter().all(|(places, least)| {
            locations.iter().filter(|location| places.contains(location)).count() >= *least
        })
    }
}

/// Ways in which an expression has a value, and in which it has none since something goes wrong.
struct Ways {
    held: Vec<Alternative>,
    wrong: Vec<Alternative>,
}

fn one(condition: Term, demands: Vec<(Vec<LocationId>, usize)>) -> Vec<Alternative> {
    vec![Alternative { condition, demands }]
}

/// One of these together with one of those.
fn both(left: &[Alternative], right: &[Alternative], span: Span) -> Result<Vec<Alternative>, Unsupported> {
    if left.len().saturating_mul(right.len()) > MOST {
        return Err(Unsupported::new("a property with many alternatives", span));
    }
    let pairs = left.iter().flat_map(|one| right.iter().map(move |other| (one, other)));
    let both = |(one, other): (&Alternative, &Alternative)| Alternative {
        condition: Term::and([one.condition.clone(), other.condition.clone()]),
        demands: one.demands.iter().chain(&other.demands).cloned().collect(),
    };
    Ok(pairs.map(both).collect())
}

fn counts(expr: &Expr) -> bool {
    let mut counts = false;
    expr.visit(&mut |part| counts |= matches!(part, Expr::At(_)));
    counts
}

/// Ways in which an expression is true, or false; and in which it goes wrong, which violates a property as well.
fn violated(expr: &Expr, expected: bool, steps: &Steps, notes: &mut Notes) -> Result<Ways, Unsupported> {
    if !counts(expr) {
        return plain(expr, expected, steps, notes);
    }
    Ok(match expr {
        Expr::Unary(Unary::Not, operand) => violated(operand, !expected, steps, notes)?,
        Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, span) => {
            // The right one is evaluated only if the left one does not decide; if that counts threads, it is not asked.
            let undecided = *operator == Binary::And;
            let reached = match counts(left) {
                true => one(Term::truth(true), Vec::new()),
                false => plain(left, undecided, steps, notes)?.held,
            };
            let left = violated(left, expected, steps, notes)?;
            let right = violated(right, expected, steps, notes)?;
            let held = match (*operator == Binary::Or) == expected {
                true => left.held.into_iter().chain(right.held).collect(),
                false => both(&left.held, &right.held, *span)?,
            };
            let wrong = left.wrong.into_iter().chain(both(&reached, &right.wrong, *span)?).collect();
            Ways { held, wrong }
        }
        _ => {
            let held = match demand(expr, expected) {
                Some((places, least)) if least > 0 => {
                    one(Term::truth(true), vec![(places, usize::try_from(least).unwrap_or(usize::MAX >> 8))])
                }
                _ => one(Term::truth(true), Vec::new()),
            };
            // When something that counts threads has no value is not asked: it may be at any time.
            let wrong = if partial(expr) { one(Term::truth(true), Vec::new()) } else { Vec::new() };
            Ways { held, wrong }
        }
    })
}

/// Whether an expression divides or takes an element, and so may have no value.
fn partial(expr: &Expr) -> bool {
    use Binary::{Divide, Remainder};
    let mut partial = false;
    expr.visit(&mut |part| {
        let divides = matches!(part, Expr::Binary(Divide | Remainder, ..));
        partial |= divides || matches!(part, Expr::SharedElement(..) | Expr::LocalElement(..));
    });
    partial
}

/// The same for an expression that does not count threads.
fn plain(expr: &Expr, expected: bool, steps: &Steps, notes: &mut Notes) -> Result<Ways, Unsupported> {
    let shared = steps.shared.iter().map(|known| Term::variable(&known.name)).collect();
    let values = Values { shared, locals: Vec::new() };
    let known = (&steps.shared[..], &[][..]);
    let scope = Scope { values: &values, known, next: None, this: None, other: None };
    let made = notes.choices.len();
    let condition = truth(expr, &scope, notes)?;
    let condition = if expected { condition } else { condition.negation() };
    let wrong = Term::or(std::mem::take(&mut notes.wrong));
    let bounds: Vec<Term> = notes.choices[made..]
        .iter()
        .map(|(name, low, high)| {
            let choice = Term::variable(name);
            Term::and([Term::number(*low).at_most(&choice), choice.at_most(&Term::number(*high))])
        })
        .collect();
    let way =
        |condition: Term| one(Term::and([condition].into_iter().chain(bounds.iter().cloned())), Vec::new());
    Ok(Ways {
        held: way(condition),
        wrong: if wrong.as_truth() == Some(false) { Vec::new() } else { way(wrong) },
    })
}

/// What a comparison of a count with a number demands, if it is of that form: at least so many threads.
fn demand(expr: &Expr, expected: bool) -> Option<(Vec<LocationId>, i64)> {
    let Expr::Binary(operator, left, right, _) = expr else { return None };
    let (places, number, operator) = match (counted(left), &**right, &**left, counted(right)) {
        (Some(places), Expr::Constant(number), ..) => (places, *number, *operator),
        (_, _, Expr::Constant(number), Some(places)) => {
            let turned = match operator {
                Binary::Less => Binary::Greater,
                Binary::LessEqual => Binary::GreaterEqual,
                Binary::Greater => Binary::Less,
                Binary::GreaterEqual => Binary::LessEqual,
                same => *same,
            };
            (places, *number, turned)
        }
        _ => return None,
    };
    let least = match (operator, expected) {
        (Binary::GreaterEqual, true) | (Binary::Less, false) => number,
        (Binary::Greater, true) | (Binary::LessEqual, false) => number.saturating_add(1),
        (Binary::Equal, true) | (Binary::Unequal, false) => number,
        (Binary::Unequal, true) | (Binary::Equal, false) if number == 0 => 1,
        _ => return None,
    };
    Some((places, least))
}

/// The locations that an expression counts: `at(a)`, or a sum of such if they have no location in common.
fn counted(expr: &Expr) -> Option<Vec<LocationId>> {
    match expr {
        Expr::At(locations) => Some(locations.clone()),
        Expr::Binary(Binary::Plus, left, right, _) => {
            let (mut all, more) = (counted(left)?, counted(right)?);
            if more.iter().any(|location| all.contains(location)) {
                return None;
            }
            all.extend(more);
            Some(all)
        }
        _ => None,
    }
}
