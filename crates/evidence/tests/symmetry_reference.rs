//! `induct` against the definition of *covers* where threads are interchangeable, or are said to be: on random small
//! systems of threads with equal rules, and of threads with almost equal ones.

mod common;

use allways_evidence::Invariant;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, ThreadRules};
use common::naive::{Counts, Naive, mutate, random_invariant, random_property, reachable, shuffle};
use common::{Chance, close, nothing};

#[test]
fn random_invariants_are_judged_as_by_definition() {
    let mut counts = Counts::default();
    for seed in 0..3000 {
        let mut chance = Chance::new(5_000_000 + seed);
        let (system, kinds, symbols) = chance.symmetric_system();
        let invariant = random_invariant(&mut chance, &system, kinds, symbols, 1 + seed as usize % 3);
        let property = random_property(&mut chance, &system, symbols);
        counts.compare(&system, &property, &invariant, symbols);
    }
    println!("random: {counts:?}");
    assert!(counts.accepted > 50 && counts.rejected > 1000 && counts.bad > 500, "{counts:?}");
    assert_eq!(counts.not_alike, 0);
}

/// Least inductive invariants, larger inductive ones, and small changes of both; all listed in any order of threads.
#[test]
fn good_and_almost_good_invariants_are_judged_as_by_definition() {
    let (mut good, mut changed, mut bad) = (Counts::default(), Counts::default(), Counts::default());
    for seed in 0..1000 {
        let mut chance = Chance::new(6_000_000 + seed);
        let (system, kinds, symbols) = chance.symmetric_system();
        let window = 1 + seed as usize % 3;
        let start = if chance.one_in(2) {
            Invariant::new(kinds, window)
        } else {
            random_invariant(&mut chance, &system, kinds, symbols, window)
        };
        let Some(mut invariant) = close(&system, start, 100) else { continue };
        shuffle(&mut chance, &mut invariant);
        let safe = Property::default();
        good.compare(&system, &safe, &invariant, symbols);
        for _ in 0..3 {
            bad.compare(&system, &random_property(&mut chance, &system, symbols), &invariant, symbols);
        }
        for _ in 0..4 {
            let mut other = invariant.clone();
            for _ in 0..1 + chance.below(2) {
                mutate(&mut chance, &mut other, &system, symbols);
            }
            changed.compare(&system, &safe, &other, symbols);
        }
    }
    println!("good: {good:?}\nchanged: {changed:?}\nproperty: {bad:?}");
    assert!(good.rejected == 0 && good.accepted_with_more > 400, "{good:?}");
    assert!(changed.accepted > 300 && changed.rejected > 1000, "{changed:?}");
    assert!(bad.bad > 500 && bad.accepted > 500, "{bad:?}");
}

/// Kinds of random systems whose threads have nothing, little or much in common.
#[test]
fn lies_about_kinds_are_judged_as_by_definition() {
    let (mut lies, mut closed) = (Counts::default(), Counts::default());
    for seed in 0..2000 {
        let mut chance = Chance::new(7_000_000 + seed);
        let (mut system, kinds, symbols) = chance.symmetric_system();
        let honest = close(&system, Invariant::new(kinds.clone(), 1 + seed as usize % 2), 60);
        // One rule less, on one thread.
        let thread = chance.below(system.threads());
        let mut rules: Vec<_> = system.threads[thread].iter().copied().collect();
        rules.remove(chance.below(rules.len()));
        system.threads[thread] = ThreadRules::new(rules);
        let invariant = random_invariant(&mut chance, &system, kinds, symbols, 1 + seed as usize % 2);
        lies.compare(&system, &Property::default(), &invariant, symbols);
        if let Some(honest) = honest {
            closed.compare(&system, &Property::default(), &honest, symbols);
        }
    }
    println!("lies: {lies:?}\nclosed: {closed:?}");
    assert!(lies.not_alike > 200 && closed.not_alike > 500 && closed.accepted > 200, "{lies:?}\n{closed:?}");
    // With a rule less nothing new is reachable: what was closed is so still, and the kinds are all that can be wrong.
    assert_eq!((closed.rejected, closed.bad), (0, 0));
}

/// What is accepted covers what is reachable; and the orbits of the least symmetric invariant are at least as many states
/// as the least invariant without symmetry, exactly as many if the initial state is symmetric.
#[test]
fn accepted_invariants_cover_every_reachable_state() {
    let (mut states, mut smaller) = (0, 0);
    for seed in 0..1000 {
        let mut chance = Chance::new(8_000_000 + seed);
        let (system, kinds, _) = chance.symmetric_system();
        let window = 1 + seed as usize % 3;
        let Some(invariant) = close(&system, Invariant::new(kinds.clone(), window), 100) else { continue };
        let naive = Naive::new(&invariant);
        for state in reachable(&system, 5, 300) {
            assert!(naive.covers(&state), "{state:?} is reachable and not covered by\n{invariant:?}");
            states += 1;
        }
        let symmetric_start = (0..system.threads()).all(|thread| {
            system.initial.stacks[thread] == system.initial.stacks[kinds.members(kinds.kind(thread))[0]]
        });
        if let Some(plain) = close(&system, nothing(&system, window), 300).filter(|_| symmetric_start) {
            let orbits = invariant.states().map(|(_, row)| kinds.orbit(row)).sum::<u128>();
            assert_eq!(orbits, plain.states().len() as u128);
            assert_eq!(invariant.visible_count(), plain.visible().len() as u128);
            smaller += usize::from(invariant.states().len() < plain.states().len());
        }
    }
    println!("{states} reachable states covered, {smaller} invariants made smaller");
    assert!(states > 10_000 && smaller > 250);
}
