//! Which values suffice where any value may be chosen, of variables whose values are only copied and compared.
//!
//! Let all that happens to the values of a group of variables be that they are copied, compared with constants, and compared
//! with each other for equality. Cut the numbers into regions: at the constants that values are compared with by order, and
//! at the ends of the choices. Invariant: two states whose values of the group lie in the same regions one by one, are equal to
//! the same constants, and are equal to each other alike, have steps to states that are related in this way again, and go
//! wrong alike (data independence: Wolper, *Expressing interesting properties of programs in propositional temporal logic*,
//! 1986). For the second state to follow a choice of the first it needs in every region, beside the constants, as many
//! values as there may be in a state and in the choices of a step; if values are not compared with each other, it needs one.
//!
//! States that a permutation of the values of a region, constants aside, maps to each other are related. So if a step chooses
//! one value, and all variables of the group that may be read again are known to it, it need not have all these values: those
//! that such a variable holds, and one that none of them holds, lead to related states. In the order of the values, those
//! that are held or that follow one that is held are among them, and the first.

use allways_model::program::{Binary, Expr, Span, Value};
use std::collections::BTreeSet;

/// A choice is narrowed if so many values remain at most.
pub const MOST_VALUES: usize = 1 << 10;

/// What values of a group are compared with.
#[derive(Clone, Debug, Default)]
pub struct Comparisons {
    /// Constants, by order.
    pub ordered: BTreeSet<Value>,
    /// Constants, for equality.
    pub equal: BTreeSet<Value>,
    /// Constants that variables of the group are given.
    pub stored: BTreeSet<Value>,
    /// The ends of the choices.
    pub choices: BTreeSet<(Value, Value)>,
    /// Whether they are compared with each other.
    pub among: bool,
    /// Whether variables of the group are given other values than copies, constants and choices.
    pub computed: bool,
}

impl Comparisons {
    /// Both.
    pub fn join(&mut self, other: Comparisons) {
        self.ordered.extend(other.ordered);
        self.equal.extend(other.equal);
        self.stored.extend(other.stored);
        self.choices.extend(other.choices);
        self.among |= other.among;
        self.computed |= other.computed;
    }

    /// Values that stand for all from one to another, if there may be so many in a state; nothing if that is too many.
    pub fn suffice(&self, low: Value, high: Value, many: usize) -> Option<Vec<Value>> {
        let (constants, regions) = self.regions(low, high, many)?;
        let values: BTreeSet<Value> = constants.into_iter().chain(regions.into_iter().flatten()).collect();
        Some(values.into_iter().collect())
    }

    /// One of these values, where these variables of the group are all that may be read again.
    pub fn chosen_anew(&self, low: Value, high: Value, many: usize, held: &[Expr]) -> Option<Expr> {
        let (constants, regions) = self.regions(low, high, many)?;
        let values = constants.len() + regions.iter().map(Vec::len).sum::<usize>();
        if values * held.len() > MOST_VALUES {
            return None;
        }
        let or = |left: Expr, right: Expr| {
            Expr::Binary(Binary::Or, Box::new(left), Box::new(right), Span::default())
        };
        let is_held = |value: Value| {
            let equal = |variable: &Expr| {
                let value = Box::new(Expr::Constant(value));
                Expr::Binary(Binary::Equal, Box::new(variable.clone()), value, Span::default())
            };
            held.iter().map(equal).reduce(or)
        };
        let either =
            |one: Expr, other: Expr| Expr::If(Box::new(Expr::Choose(0, 1)), Box::new(one), Box::new(other));
        let constants = constants.into_iter().map(Expr::Constant);
        let regions = regions.into_iter().filter_map(|region| {
            let first = Expr::Constant(*region.first()?);
            Some(region.windows(2).rev().fold(first, |rest, pair| {
                let Some(new) = is_held(pair[0]).into_iter().chain(is_held(pair[1])).reduce(or) else {
                    return rest;
                };
                let may =
                    Expr::Binary(Binary::And, Box::new(Expr::Choose(0, 1)), Box::new(new), Span::default());
                Expr::If(Box::new(may), Box::new(Expr::Constant(pair[1])), Box::new(rest))
            }))
        });
        constants.chain(regions).reduce(either)
    }

    /// The constants from one value to another, and the values of each region beside them.
    fn regions(&self, low: Value, high: Value, many: usize) -> Option<(Vec<Value>, Vec<Vec<Value>>)> {
        let (low, high) = (i128::from(low), i128::from(high));
        let mut cuts = BTreeSet::from([low, high + 1]);
        cuts.extend(
            self.ordered.iter().flat_map(|&constant| [i128::from(constant), i128::from(constant) + 1]),
        );
        let mut constants: BTreeSet<i128> = self.equal.iter().map(|&constant| i128::from(constant)).collect();
        if self.among {
            cuts.extend(self.choices.iter().flat_map(|&(low, high)| [i128::from(low), i128::from(high) + 1]));
            constants.extend(self.stored.iter().map(|&constant| i128::from(constant)));
        }
        let cuts: Vec<i128> = cuts.range(low..=high + 1).copied().collect();
        let value = |value: i128| Value::try_from(value).ok();
        let own: Option<Vec<Value>> = constants.range(low..=high).copied().map(value).collect();
        let own = own?;
        let (mut regions, mut count) = (Vec::new(), own.len());
        for region in cuts.windows(2) {
            let fresh = near_zero(region[0], region[1]).filter(|value| !constants.contains(value));
            let fresh: Option<Vec<Value>> =
                fresh.take(if self.among { many } else { 1 }).map(value).collect();
            let fresh = fresh?;
            count += fresh.len();
            if count > MOST_VALUES {
                return None;
            }
            regions.push(fresh);
        }
        Some((own, regions))
    }
}

/// The numbers of a region, those near zero first: small numbers are easier to read.
fn near_zero(low: i128, end: i128) -> impl Iterator<Item = i128> {
    let start = low.max(0).min(end);
    (start..end).chain((low..start).rev())
}

/// One of these values, which are sorted.
pub fn chosen(values: &[Value]) -> Expr {
    let gap = (1..values.len()).find(|&next| values[next].abs_diff(values[next - 1]) > 1);
    let (first, rest) = values.split_at(gap.unwrap_or(values.len()));
    let range = match first {
        [] => Expr::Choose(0, 0),
        [first, .., last] => Expr::Choose(*first, *last),
        [only] => Expr::Choose(*only, *only),
    };
    if rest.is_empty() {
        return range;
    }
    Expr::If(Box::new(Expr::Choose(0, 1)), Box::new(range), Box::new(chosen(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_suffice_if_each_region_has_as_many_as_may_be_told_apart() {
        let order = Comparisons { ordered: BTreeSet::from([0, 1000]), ..Comparisons::default() };
        assert_eq!(order.suffice(-5, 5000, 7), Some(vec![-1, 0, 1, 1000, 1001]));
        let equality = Comparisons {
            equal: BTreeSet::from([7]),
            stored: BTreeSet::from([0]),
            choices: BTreeSet::from([(0, 255), (-100, 300)]),
            among: true,
            ..Comparisons::default()
        };
        // Two values of bytes, two that are no bytes on each side, and both constants.
        assert_eq!(equality.suffice(-100, 300, 2), Some(vec![-2, -1, 0, 1, 2, 7, 256, 257]));
        assert_eq!(equality.suffice(0, 255, 2), Some(vec![0, 1, 2, 7]));
        assert_eq!(equality.suffice(0, 255, 100_000).map(|values| values.len()), Some(256));
    }

    #[test]
    fn all_values_can_be_chosen() {
        let values = [-3, -2, 5, 9, 10, 11];
        let expr = chosen(&values);
        let scope = allways_model::program::expression::Scope {
            shared: &[],
            locals: &[],
            this: 0,
            next: None,
            control: &[],
        };
        let mut seen = Vec::new();
        allways_model::program::expression::Choices::each(|choices| {
            seen.extend(expr.value(&scope, choices).ok());
            true
        });
        seen.sort_unstable();
        assert_eq!(seen, values);
    }
}
