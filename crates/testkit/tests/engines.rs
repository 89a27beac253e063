//! Every engine on random systems and on the corpus, against brute force, against the others, and through the checker.
//!
//! `ALLWAYS_RANDOM=N` sets the number of random systems.

use allways_engines::below::shortest;
use allways_engines::{Engine, Question};
use allways_evidence::{Counterexample, Verdict};
use allways_testkit::conformance::{ask, avoid, conforms_within, engines};
use allways_testkit::corpus::{self, Count};
use allways_testkit::{families, random, reference};

/// Bounds under which every engine ends soon, also where its method does not.
fn bounds() -> Question {
    Question {
        max_states: Some(1000),
        max_depth: Some(12),
        rounds: Some(8),
        delays: Some(4),
        ..Question::default()
    }
}

#[test]
fn random_systems() {
    let mut decided = vec![0; engines().len()];
    let (mut finite, mut infinite) = (0, 0);
    for seed in random::seeds(1500) {
        let system = random::system(seed, random::SMALL);
        // Stacks up to four symbols show all visible states of most systems; only where nothing is cut is that certain.
        let Some((states, cut)) = reference::reachable(&system, 4, 5000) else { continue };
        *(if cut { &mut infinite } else { &mut finite }) += 1;
        let known = reference::visible(&states);
        for (engine, decided) in engines().iter().zip(&mut decided) {
            *decided += usize::from(conforms_within(*engine, &system, &bounds(), &known, !cut));
        }
    }
    println!("{finite} systems explored whole, {infinite} cut at depth four");
    for (engine, decided) in engines().iter().zip(decided) {
        println!("{}: decided {decided}", engine.info().name);
    }
}

/// Of this system, 822 states and some sets of stacks show all that is visible; the search for a trace to one of its states
/// takes more. Without a cap on the states that are kept of each kind it was twice as many.
#[test]
fn a_trace_takes_more_states_than_a_look() {
    let system = random::system(11534, random::SMALL);
    let (states, cut) = reference::reachable(&system, 4, 5000).expect("few states");
    let known = reference::visible(&states);
    let sandwich = engines().iter().find(|engine| engine.info().name == "sandwich").expect("an engine");
    assert!(conforms_within(*sandwich, &system, &bounds(), &known, !cut));
    let first = known.first().expect("a visible state");
    let question = Question { max_states: Some(4000), property: avoid(first), ..bounds() };
    let verdict = ask(*sandwich, &system, &question).verdict;
    assert!(matches!(verdict, Verdict::Unsafe(_)), "{verdict:?}");
}

/// A trace within a bound on contexts has no more of them. A state may be reachable in so many contexts although the run on which
/// it was found first is not, as in `lock-racy.pds`.
#[test]
fn traces_stay_within_the_bound_on_contexts() {
    let contexts = engines().iter().find(|engine| engine.info().name == "contexts").expect("an engine");
    let mut traces = 0;
    let racy = corpus::entry(&corpus::folder().join("lock-racy.pds"));
    for seed in random::seeds(1000) {
        let system = if seed == 0 { racy.system.clone() } else { random::system(seed, random::SMALL) };
        let Some((states, _)) = reference::reachable(&system, 3, 2000) else { continue };
        for visible in reference::visible(&states).iter().rev().take(3) {
            for bound in 1..5 {
                let question = Question { property: avoid(visible), contexts: Some(bound), ..bounds() };
                if let Verdict::Unsafe(Counterexample::Trace(trace)) =
                    ask(*contexts, &system, &question).verdict
                {
                    traces += 1;
                    let found = shortest::cost(&system, &trace).0;
                    assert!(found <= bound, "{seed}: {found} contexts within {bound}");
                }
            }
        }
    }
    assert!(traces > 1000, "{traces}");
}

#[test]
fn corpus() {
    // The Bluetooth driver takes more rounds and delays than random systems do.
    let bounds = || Question { rounds: Some(40), delays: Some(20), ..bounds() };
    for entry in corpus::entries(&corpus::folder()) {
        for engine in engines() {
            let report = ask(*engine, &entry.system, &bounds());
            let converged = report.exact && matches!(report.verdict, Verdict::Safe(_));
            if decides(*engine, &entry) {
                assert!(converged, "{} on {}: {:?}", engine.info().name, entry.name, report.verdict);
            }
            if converged {
                let visible = entry.visible.unwrap_or_else(|| panic!("{}: no count", entry.name));
                assert_eq!(
                    report.visible.count(),
                    visible as u128,
                    "{} on {}",
                    engine.info().name,
                    entry.name
                );
            }
            if let ("free", Some(Count::Finite(count))) = (engine.info().name, entry.concrete) {
                let whole = ask(*engine, &entry.system, &Question { no_symmetry: true, ..bounds() });
                assert_eq!(whole.figures.concrete_states, Some(count), "{}", entry.name);
            }
            for (property, holds) in &entry.properties {
                let question = Question { property: property.clone(), ..bounds() };
                let verdict = ask(*engine, &entry.system, &question).verdict;
                let right = match verdict {
                    Verdict::Safe(_) => *holds,
                    Verdict::Unsafe(_) => !holds,
                    Verdict::Unknown(_) => !decides(*engine, &entry),
                };
                assert!(right, "{} on {}: {verdict:?}", engine.info().name, entry.name);
            }
        }
    }
}

/// Whether an engine is expected to decide every question about a file of the corpus.
fn decides(engine: &dyn Engine, entry: &corpus::Entry) -> bool {
    let infinite = entry.concrete == Some(Count::Infinite);
    match engine.info().name {
        "tops" | "rounds-delays" | "contexts" | "walks" | "points" => false,
        name if name.starts_with("modular") => false,
        "free" | "scheme1" => !infinite,
        // The explicit one does not end where a context reaches infinitely many states, and neither tells where a
        // procedure that is called from several places returns to.
        "cuba" => !["cuba-figure-2", "lock-recursive", "bluetooth-2-1-1", "bluetooth-3-1-1"]
            .contains(&entry.name.as_str()),
        "cuba-symbolic" => !["bluetooth-2-1-1", "bluetooth-3-1-1"].contains(&entry.name.as_str()),
        _ => true,
    }
}

/// DrUBA, Table 2: the abstract states of Stefan with two, four and five threads. Visible counts of two and four threads
/// were measured with the CUBA tool.
#[test]
fn stefan() {
    for (threads, abstract_states, visible) in [(2, 31, Some(20)), (4, 687, Some(254)), (5, 3085, None)] {
        let family = families::stefan(threads);
        let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
        for engine in engines().iter().filter(|engine| ["druba", "ai"].contains(&engine.info().name)) {
            // Some 45 million images: too slow where overflow is checked, and `ai` says the same in a moment.
            if threads == 5 && engine.info().name == "druba" {
                continue;
            }
            let report = ask(*engine, &system, &Question::default());
            assert!(matches!(report.verdict, Verdict::Safe(_)), "{} on stefan-{threads}", engine.info().name);
            assert_eq!(report.figures.walk.last().map(|cell| cell.abstract_states), Some(abstract_states));
            assert!(visible.is_none_or(|visible| visible == report.visible.count()));
        }
    }
}

/// The walk of DrUBA, Example 8, as drawn in Table 1.
#[test]
fn the_walk_of_table_1() {
    let entry = corpus::entry(&corpus::folder().join("druba-example-8.pds"));
    let druba = engines().iter().find(|engine| engine.info().name == "druba").expect("an engine");
    let report = ask(*druba, &entry.system, &Question::default());
    let walk: Vec<(u32, u32)> = report.figures.walk.iter().map(|cell| (cell.rounds, cell.delays)).collect();
    assert_eq!(walk, [(0, 0), (1, 0), (2, 0), (2, 1), (2, 2), (3, 2), (3, 3), (3, 4)]);
}
