//! `induct` against the definition of *covers*, taken word for word: on random small systems, the checker accepts an
//! invariant if and only if no concrete state that the invariant covers, up to some depth, shows it to be wrong.

mod common;

use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, State};
use allways_model::symmetry::Kinds;
use common::naive::{Counts, Naive, mutate, random_invariant, random_property, reachable};
use common::{Chance, close, figure_1, least, nothing};
use std::collections::BTreeSet;

#[test]
fn random_invariants_are_judged_as_by_definition() {
    let mut counts = Counts::default();
    for seed in 0..4000 {
        let mut chance = Chance::new(seed);
        let (system, symbols) = chance.system();
        let invariant = random_invariant(
            &mut chance,
            &system,
            Kinds::distinct(system.threads()),
            symbols,
            1 + seed as usize % 3,
        );
        let property = random_property(&mut chance, &system, symbols);
        counts.compare(&system, &property, &invariant, symbols);
    }
    println!("random: {counts:?}");
    assert!(counts.accepted > 100 && counts.rejected > 1000, "{counts:?}");
}

/// The least inductive invariant of each system, larger inductive ones, and small changes of both.
#[test]
fn good_and_almost_good_invariants_are_judged_as_by_definition() {
    let (mut good, mut changed, mut bad) = (Counts::default(), Counts::default(), Counts::default());
    for seed in 0..1500 {
        let mut chance = Chance::new(1_000_000 + seed);
        let (system, symbols) = chance.system();
        let window = 1 + seed as usize % 3;
        let start = if chance.one_in(2) {
            nothing(&system, window)
        } else {
            random_invariant(&mut chance, &system, Kinds::distinct(system.threads()), symbols, window)
        };
        let Some(invariant) = close(&system, start, 150) else { continue };
        let safe = Property::default();
        good.compare(&system, &safe, &invariant, symbols);
        bad.compare(&system, &random_property(&mut chance, &system, symbols), &invariant, symbols);
        for _ in 0..6 {
            let mut other = invariant.clone();
            for _ in 0..1 + chance.below(2) {
                mutate(&mut chance, &mut other, &system, symbols);
            }
            changed.compare(&system, &safe, &other, symbols);
        }
    }
    println!("good: {good:?}\nchanged: {changed:?}\nproperty: {bad:?}");
    assert!(good.rejected == 0 && good.accepted_with_more > 500, "{good:?}");
    assert!(
        changed.accepted > 300 && changed.accepted_with_more > 100 && changed.rejected > 2000,
        "{changed:?}"
    );
    assert!(bad.bad > 300 && bad.accepted > 300, "{bad:?}");
}

/// What is accepted covers what is reachable: the point of it all.
#[test]
fn accepted_invariants_cover_every_reachable_state() {
    let mut states = 0;
    for seed in 0..1500 {
        let mut chance = Chance::new(2_000_000 + seed);
        let (system, _) = chance.system();
        let Some(invariant) = close(&system, nothing(&system, 1 + seed as usize % 3), 150) else {
            continue;
        };
        let naive = Naive::new(&invariant);
        for state in reachable(&system, 5, 500) {
            assert!(naive.covers(&state), "{state:?} is reachable and not covered by\n{invariant:?}");
            states += 1;
        }
    }
    println!("{states} reachable states covered");
    assert!(states > 10_000);
}

#[test]
fn the_least_invariant_of_figure_1_is_exact() {
    let system = figure_1();
    for window in 1..=3 {
        let invariant = least(&system, window);
        assert_eq!(invariant.visible().len(), 8);
        let reached: BTreeSet<_> = reachable(&system, 6, 10_000).iter().map(State::visible).collect();
        assert_eq!(invariant.visible(), reached.into_iter().collect::<Vec<_>>());
    }
}
