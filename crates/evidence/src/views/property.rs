//! When a property can be violated, as far as the threads of one view show it.
//!
//! A property counts threads at labels, of which a view shows some. Let a property be true in a state. Follow why: of `&&` both
//! sides, of `||` one of them. At the end are comparisons such as `at(a) >= 2`, each true since there are enough threads at some
//! place. If a view has room for all of these, one of the views of the state shows them together. So it is enough to refute,
//! in every view, that the property is true *by what the view shows*. A comparison that does not need a thread to be true, such
//! as `at(a) == 0`, counts as true: more states are bad then, never fewer. For the same reason a count that there is no
//! room for may be taken as a smaller one (`Shown::most`).

use super::Views;
use super::names::Names;
use super::translate::{Unsupported, property};
use allways_model::program::{Binary, Expr, LocationId, Never, Unary};
use allways_smt::Term;

/// What a property is looked at with.
pub struct Shown<'a> {
    names: &'a Names,
    views: &'a Views,
    never: &'a Never,
    /// No comparison is taken to ask for more threads than this.
    most: usize,
}

/// Whether an expression can be true, or false, by what a view shows; and whether its evaluation can go wrong.
struct Possible {
    held: Term,
    wrong: Term,
}

/// What a comparison asks for: so many threads at these locations.
struct Enough {
    places: Vec<LocationId>,
    least: usize,
}

impl<'a> Shown<'a> {
    /// Looks at a property with views.
    pub fn new(names: &'a Names, views: &'a Views, never: &'a Never) -> Shown<'a> {
        let room = views.size.saturating_sub(views.anchors_in_all());
        let mut shown = Shown { names, views, never, most: room };
        while shown.most > 0 && shown.needs(&never.expr, true).is_some_and(|needs| needs > room) {
            shown.most -= 1;
        }
        shown
    }

    /// When threads at these locations show a violation.
    pub fn violated(&self, crowd: &[LocationId]) -> Result<Term, Unsupported> {
        let Possible { held, wrong } = self.possible(&self.never.expr, true, crowd, &mut 0)?;
        Ok(Term::or([held, wrong]))
    }

    /// How many threads, beside those in every view, it takes at most to show that an expression is `expected`; none if it
    /// cannot be.
    fn needs(&self, expr: &Expr, expected: bool) -> Option<usize> {
        match expr {
            _ if !counts(expr) => Some(0),
            Expr::Unary(Unary::Not, operand) => self.needs(operand, !expected),
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                let (left, right) = (self.needs(left, expected), self.needs(right, expected));
                if (*operator == Binary::And) == expected { Some(left? + right?) } else { left.max(right) }
            }
            _ => {
                let enough = self.enough(expr, expected)?;
                Some(if self.anchored(&enough) { 0 } else { enough.least.min(self.most) })
            }
        }
    }

    /// Each choice has a name of its own, of which so many were `made`.
    fn possible(
        &self,
        expr: &Expr,
        expected: bool,
        crowd: &[LocationId],
        made: &mut usize,
    ) -> Result<Possible, Unsupported> {
        Ok(match expr {
            _ if !counts(expr) => {
                let (holds, wrong, bounds) = property(self.names, expr, self.never.span, made)?;
                let holds = if expected { holds } else { holds.negation() };
                Possible { held: Term::and([bounds.clone(), holds]), wrong: Term::and([bounds, wrong]) }
            }
            Expr::Unary(Unary::Not, operand) => self.possible(operand, !expected, crowd, made)?,
            Expr::Binary(operator @ (Binary::And | Binary::Or), left, right, _) => {
                let and = *operator == Binary::And;
                // The right side is evaluated if the left one is true, of `&&`, or false, of `||`. A left side that counts
                // may be either.
                let evaluated = match counts(left) {
                    true => Term::truth(true),
                    false => self.possible(left, and, crowd, made)?.held,
                };
                let left = self.possible(left, expected, crowd, made)?;
                let right = self.possible(right, expected, crowd, made)?;
                let held = [left.held, right.held];
                let held = if and == expected { Term::and(held) } else { Term::or(held) };
                Possible { held, wrong: Term::or([left.wrong, Term::and([evaluated, right.wrong])]) }
            }
            _ => {
                let held = self.enough(expr, expected).is_some_and(|enough| {
                    let least =
                        if self.anchored(&enough) { enough.least } else { enough.least.min(self.most) };
                    crowd.iter().filter(|location| enough.places.contains(location)).count() >= least
                });
                Possible { held: Term::truth(held), wrong: Term::truth(partial(expr)) }
            }
        })
    }

    /// The fewest threads that make an expression `expected`, if it compares a count with a number; none if no number of threads
    /// does. Of any other expression that counts nothing is known: no threads are enough.
    fn enough(&self, expr: &Expr, expected: bool) -> Option<Enough> {
        let unknown = Some(Enough { places: Vec::new(), least: 0 });
        let Expr::Binary(operator, left, right, _) = expr else { return unknown };
        let (places, number, turned) = match (&**left, &**right) {
            (count, Expr::Constant(number)) => (counted(count), *number, false),
            (Expr::Constant(number), count) => (counted(count), *number, true),
            _ => (None, 0, false),
        };
        let Some(places) = places else { return unknown };
        let holds = |count: i64| {
            let (left, right) = if turned { (number, count) } else { (count, number) };
            Some(match operator {
                Binary::Equal => left == right,
                Binary::Unequal => left != right,
                Binary::Less => left < right,
                Binary::LessEqual => left <= right,
                Binary::Greater => left > right,
                Binary::GreaterEqual => left >= right,
                _ => return None,
            })
        };
        if holds(0).is_none() {
            return unknown;
        }
        // Counted up from zero, a comparison changes at the number and after it, and nowhere else.
        let changes = [0, number, number.saturating_add(1)];
        let least = changes.into_iter().find(|&count| count >= 0 && holds(count) == Some(expected))?;
        let least = usize::try_from(least).ok()?;
        self.views.total().is_none_or(|total| least <= total).then_some(Enough { places, least })
    }

    /// Whether all threads that are asked for are in every view.
    fn anchored(&self, enough: &Enough) -> bool {
        let template = |location: &LocationId| self.names.templates.get(location.index()).copied().flatten();
        enough.places.iter().all(|place| template(place).is_some_and(|kind| self.views.anchors(kind)))
    }
}

fn counts(expr: &Expr) -> bool {
    let mut counts = false;
    expr.visit(&mut |part| counts |= matches!(part, Expr::At(_)));
    counts
}

/// Whether an expression may have no value: it divides, or takes an element of an array.
fn partial(expr: &Expr) -> bool {
    let mut partial = false;
    expr.visit(&mut |part| {
        partial |= matches!(
            part,
            Expr::Binary(Binary::Divide | Binary::Remainder, ..)
                | Expr::SharedElement(..)
                | Expr::LocalElement(..)
        );
    });
    partial
}

/// The locations of `at(a)`, or of a sum of such if they have no location in common.
fn counted(expr: &Expr) -> Option<Vec<LocationId>> {
    let mut places = match expr {
        Expr::At(places) => places.clone(),
        Expr::Binary(Binary::Plus, left, right, _) => [counted(left)?, counted(right)?].concat(),
        _ => return None,
    };
    let all = places.len();
    places.sort_unstable();
    places.dedup();
    (places.len() == all).then_some(places)
}
