//! R(r,d) against DrUBA's Definition 1 by brute force, and the paper's own examples.
//!
//! `ALLWAYS_RANDOM=N` sets the number of random systems (the long run is 20,000 and more).

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::below::rounds_delays::{Explorer, RoundsDelays};
use allways_model::pushdown::{Explicit, Shared, State};
use allways_testkit::conformance::ask;
use allways_testkit::{corpus, random, reference};
use std::collections::BTreeSet;

fn states(explorer: &Explorer) -> BTreeSet<State> {
    (0..explorer.space().len() as u32).map(|id| explorer.space().state(id)).collect()
}

/// Walks from (0,0) to the bounds, adding a round or a delay as the bits of `path` say, and compares every set.
fn compare(system: &Explicit, path: u64, increments: usize, label: &str) {
    let (question, budget) = (Question::default(), Budget::unlimited());
    let mut explorer = Explorer::new(system, &question, 0, &budget);
    for increment in 0..increments {
        if path >> increment & 1 == 0 { explorer.add_round() } else { explorer.add_delay() }
            .expect("no limits");
        let (rounds, delays) = (explorer.rounds() as usize, explorer.delays() as usize);
        let expected = reference::rounds_delays(system, rounds, delays);
        assert_eq!(states(&explorer), expected, "{label}: R({rounds},{delays}), path {path:b}");
    }
    // From scratch, without frontiers in the delays.
    let (rounds, delays) = (explorer.rounds(), explorer.delays());
    let mut scratch = Explorer::new(system, &question, delays, &budget);
    scratch.add_rounds(rounds).expect("no limits");
    assert_eq!(states(&scratch), states(&explorer), "{label}: R({rounds},{delays}) from scratch");
}

#[test]
fn equals_definition_1_on_random_systems() {
    for seed in random::seeds(1500) {
        let system = random::system(seed, random::SMALL);
        let path = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        compare(&system, path, 7, &format!("system {seed}"));
    }
}

/// Keeping only the first costs of a state loses schedules here: the literal algorithm has three states at (2,2).
#[test]
fn merges_lose_no_schedules() {
    let entry = corpus::entry(&corpus::folder().join("merges-lose-schedules.pds"));
    for path in 0..1 << 8 {
        compare(&entry.system, path, 8, &entry.name);
    }
}

fn shared_states(system: &Explicit, rounds: u32, delays: u32) -> Vec<u32> {
    let question = Question { rounds: Some(rounds), delays: Some(delays), ..Question::default() };
    let report = ask(&RoundsDelays, system, &question);
    let mut shared: Vec<u32> = report.visible.sorted().iter().map(|visible| visible.shared.0).collect();
    shared.dedup();
    shared
}

/// DrUBA, Table 1, cell by cell.
#[test]
fn table_1() {
    let system = corpus::entry(&corpus::folder().join("druba-example-8.pds")).system;
    for rounds in 1..=3 {
        for delays in 0..=4 {
            let expected: &[u32] = if delays < 2 { &[0, 1] } else { &[0, 1, 2] };
            assert_eq!(shared_states(&system, rounds, delays), expected, "R({rounds},{delays})");
        }
    }
}

/// DrUBA, Example 12: s = 1 (shared states 2 and 3) is seen in R(3,0) with one thread, and in no R(r,0) with two.
#[test]
fn round_robin_is_not_monotone_in_the_number_of_threads() {
    let system = |name: &str| corpus::entry(&corpus::folder().join(name)).system;
    let one = system("druba-example-12-one-thread.pds");
    let two = system("druba-example-12-two-threads.pds");
    assert!(shared_states(&one, 3, 0).contains(&3));
    let (question, budget) = (Question::default(), Budget::unlimited());
    let mut explorer = Explorer::new(&two, &question, 0, &budget);
    let mut rounds = 0;
    while (0..explorer.space().len() as u32).all(|id| explorer.space().state(id).shared < Shared(2)) {
        let before = explorer.nodes();
        explorer.add_round().expect("no limits");
        rounds += 1;
        if explorer.nodes() == before {
            assert!(rounds > 3, "no further round shows anything");
            return;
        }
    }
    panic!("s = 1 is seen after {rounds} rounds without delays");
}
