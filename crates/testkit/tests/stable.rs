//! Evidence is written in the same bytes, whatever the order in which an encoding has numbered what it found.

use allways_engines::Budget;
use allways_engines::Question;
use allways_engines::meet::coverability::Covered;
use allways_evidence::{Certificate, Rejection, Verdict};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_model::pushdown::{Pushdown, Rule, State};
use allways_testkit::conformance;
use allways_testkit::conformance::{accepted, read, written};
use allways_testkit::counters::cover;
use allways_testkit::programs::{Mode, text};
use allways_testkit::random::seeds;
use std::collections::HashSet;
use std::time::Duration;

/// Engines whose sets do not depend on the order of a search.
const ENGINES: [&str; 5] = ["free", "tops", "modular", "modular-quadratic", "modular-both"];

/// Looks at many states from the last thread to the first and the last rule to the first, deepest first. What is found is
/// numbered by the encoding in the order of these looks.
fn disturb(system: &Encoded) {
    let mut todo: Vec<State> = system.initial();
    let mut seen: HashSet<State> = HashSet::new();
    while let Some(state) = todo.pop() {
        if seen.len() > 500 || !seen.insert(state.clone()) {
            continue;
        }
        for thread in (0..system.threads()).rev() {
            let rules: Vec<Rule> = state.enabled(system, thread);
            todo.extend(rules.iter().rev().map(|rule| state.step(thread, rule)));
        }
    }
}

/// The certificate of an engine, if it has one.
fn certificate(name: &str, system: &Encoded) -> Option<Certificate> {
    let budget = Budget::of_time(Duration::from_secs(2));
    let question =
        Question { property: system.property(false), max_states: Some(3000), ..Question::default() };
    if name == "coverability" {
        return match cover(system, &question, &budget) {
            Covered::Safe(counted) => Some(Certificate::Counted(counted)),
            Covered::Unsafe(_) | Covered::Unknown(_) => None,
        };
    }
    let engine = conformance::named(name);
    match conformance::run(engine, system, &question, &budget).verdict {
        Verdict::Safe(certificate) => Some(certificate),
        Verdict::Unsafe(_) | Verdict::Unknown(_) => None,
    }
}

fn compare(name: &str, program: &Program, threads: &Threads, engine: &str, tally: &mut (usize, usize)) {
    let encoded = || Encoded::new(program, threads, true).ok();
    let (Some(one), Some(other)) = (encoded(), encoded()) else { return };
    disturb(&other);
    let (Some(first), Some(second)) = (certificate(engine, &one), certificate(engine, &other)) else {
        return;
    };
    let text = written(&one, &first);
    let shown = || String::from_utf8_lossy(&text).into_owned();
    assert_eq!(String::from_utf8_lossy(&written(&other, &second)), shown(), "{name}\n{engine}");
    // Each reads what the other wrote, and writes it again as it was.
    let again = read(&other, &text).unwrap_or_else(|bad| panic!("{name}\n{engine}: {bad}\n{}", shown()));
    match accepted(&other, &other.property(false), &again) {
        // A bound from above may start more threads than there are.
        Ok(()) | Err(Rejection::Stopped(_)) => {}
        Err(rejection) => panic!("{name}\n{engine}: {rejection}"),
    }
    assert_eq!(written(&other, &again), text, "{name}\n{engine}");
    tally.0 += 1;
    tally.1 += usize::from(first != second);
}

#[test]
fn evidence_does_not_depend_on_the_order_of_discovery() {
    for engine in ENGINES {
        let mut tally = (0, 0);
        for seed in seeds(60) {
            let text = text(seed, Mode::Threads);
            let Some(program) = aw::parse(text.as_bytes()).program else { continue };
            let threads = Threads { cut: None, ..Threads::of(&program, 2) };
            compare(&text, &program, &threads, engine, &mut tally);
        }
        println!("{engine}: {} texts, {} from different numbers", tally.0, tally.1);
        assert!(tally.0 >= 10 && tally.1 >= 3, "{engine}: {tally:?}");
    }
    let mut tally = (0, 0);
    for seed in seeds(100) {
        let text = text(seed, Mode::Threads).replace("[2]", "[*]");
        let Some(program) = aw::parse(text.as_bytes()).program else { continue };
        compare(&text, &program, &Threads::many(&program), "coverability", &mut tally);
    }
    println!("coverability: {} texts, {} from different numbers", tally.0, tally.1);
    assert!(tally.0 >= 3, "{tally:?}");
}
