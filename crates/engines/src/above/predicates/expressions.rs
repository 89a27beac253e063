//! Expressions of Boolean programs: literals, and that the values of variables are one of some rows.

use allways_model::program::{Binary, Expr, Place, Span, Target, Type, Unary};
use std::collections::BTreeSet;

/// A Boolean that is written.
pub(super) fn written(slot: usize) -> Place {
    Place { target: Target::Shared(slot), ty: Type::Bool, span: Span::default() }
}

/// That a Boolean has a value.
pub(super) fn valued(slot: usize, holds: bool) -> Expr {
    if holds { Expr::Shared(slot) } else { Expr::Unary(Unary::Not, Box::new(Expr::Shared(slot))) }
}

/// All of them.
pub(super) fn all(parts: impl Iterator<Item = Expr>) -> Expr {
    joined(Binary::And, parts.filter(|part| *part != Expr::Constant(1)), 1)
}

/// One of them.
pub(super) fn any(parts: impl Iterator<Item = Expr>) -> Expr {
    joined(Binary::Or, parts.filter(|part| *part != Expr::Constant(0)), 0)
}

/// A tree of an operator, so that no expression becomes deep.
fn joined(operator: Binary, parts: impl Iterator<Item = Expr>, none: i64) -> Expr {
    let mut parts: Vec<Expr> = parts.collect();
    while parts.len() > 1 {
        let mut pairs = Vec::with_capacity(parts.len().div_ceil(2));
        let mut each = parts.into_iter();
        while let Some(left) = each.next() {
            pairs.push(match each.next() {
                Some(right) => Expr::Binary(operator, Box::new(left), Box::new(right), Span::default()),
                None => left,
            });
        }
        parts = pairs;
    }
    parts.pop().unwrap_or(Expr::Constant(none))
}

/// That Booleans have the values of one of these rows.
pub(super) fn disjunction(slots: &[usize], rows: Vec<Vec<bool>>) -> Expr {
    let names: Vec<Expr> = slots.iter().map(|&slot| Expr::Shared(slot)).collect();
    formula(&names, rows)
}

/// That the values of some variables are one of these rows.
pub(super) fn formula(names: &[Expr], rows: Vec<Vec<bool>>) -> Expr {
    let mut cubes: BTreeSet<Vec<Option<bool>>> =
        rows.into_iter().map(|row| row.into_iter().map(Some).collect()).collect();
    // Two that differ in one value are one without it.
    for at in 0..names.len() {
        let mut merged = BTreeSet::new();
        for cube in &cubes {
            let mut other = cube.clone();
            other[at] = cube[at].map(|value| !value);
            let both = cube[at].is_some() && cubes.contains(&other);
            other[at] = if both { None } else { cube[at] };
            merged.insert(other);
        }
        cubes = merged;
    }
    let cube = |cube: &Vec<Option<bool>>| {
        let literals = names.iter().zip(cube).filter_map(|(name, value)| match value {
            Some(true) => Some(name.clone()),
            Some(false) => Some(Expr::Unary(Unary::Not, Box::new(name.clone()))),
            None => None,
        });
        all(literals)
    };
    any(cubes.iter().map(cube))
}
