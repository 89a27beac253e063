//! The Bluetooth driver: verdicts as in the literature, the corpus as the generator makes it.

use allways_engines::Question;
use allways_evidence::Verdict;
use allways_lang::pds::parse_target;
use allways_model::property::Property;
use allways_model::pushdown::{Explicit, Symbol};
use allways_testkit::conformance::ask;
use allways_testkit::conformance::{engines, named};
use allways_testkit::{corpus, families, reference};
use std::collections::BTreeSet;

fn driver(version: u32, adders: usize, stoppers: usize) -> (Explicit, Property) {
    let family = families::bluetooth(version, adders, stoppers);
    let system = corpus::system(family.pds.as_bytes(), family.init.as_bytes());
    let spec = family.spec.expect("a specification");
    let bad = parse_target(&system, spec.as_bytes()).expect("a pattern");
    (system, Property { bad: vec![bad], ..Property::default() })
}

/// Qadeer and Wu found the fault of version 1 with one adder and one stopper; those of version 2, which needs one more of
/// either, were found by Chaki et al. and by Suwimonteerabuth et al.
#[test]
fn verdicts() {
    let mut cases = vec![(1, 1, 1, false), (1, 1, 2, false), (1, 2, 1, false)];
    cases.extend([(2, 1, 1, true), (2, 1, 2, false), (2, 2, 1, false), (2, 2, 2, false)]);
    cases.extend([(3, 1, 1, true), (3, 1, 2, true), (3, 2, 1, true), (3, 2, 2, true), (3, 2, 3, true)]);
    for version in 1..=3 {
        cases.extend([(version, 0, 2, true), (version, 3, 0, true)]);
    }
    for (version, adders, stoppers, safe) in cases {
        let (system, property) = driver(version, adders, stoppers);
        let verdict = ask(named("auto"), &system, &Question { property, ..Question::default() }).verdict;
        let right =
            if safe { matches!(verdict, Verdict::Safe(_)) } else { matches!(verdict, Verdict::Unsafe(_)) };
        assert!(right, "version {version}, {adders} + {stoppers}");
    }
}

/// The visible states: every method that is expected to converge, and brute force where it is quick.
#[test]
fn counts() {
    for (version, adders, stoppers, expected) in [
        (1, 1, 1, 272),
        (2, 1, 1, 267),
        (3, 1, 1, 190),
        (2, 1, 2, 2634),
        (3, 1, 2, 945),
        (3, 2, 1, 2870),
        (3, 2, 2, 14131),
        (3, 2, 3, 66123),
    ] {
        let (system, _) = driver(version, adders, stoppers);
        for name in ["free", "scheme1", "sandwich", "ai"] {
            let engine = engines().iter().find(|engine| engine.info().name == name).expect("an engine");
            let report = ask(*engine, &system, &Question::default());
            assert!(report.exact && matches!(report.verdict, Verdict::Safe(_)), "{name} on {version}");
            assert_eq!(report.visible.count(), expected, "{name} on {version}, {adders} + {stoppers}");
        }
        if expected < 5000 {
            let (states, cut) = reference::reachable(&system, 10, 20_000).expect("few states");
            assert_eq!((reference::visible(&states).len() as u128, cut), (expected, false));
        }
    }
}

/// The counter does count: its stack is as deep as there are adders at work, one for the driver, and at most so deep.
#[test]
fn the_counter() {
    for (version, lowest) in [(1, -1), (2, -1), (3, 0)] {
        let (system, _) = driver(version, 1, 1);
        let (states, _) = reference::reachable(&system, 10, 20_000).expect("few states");
        let count = |state: &allways_model::pushdown::State| {
            let stack = &state.stacks[2];
            let depth = stack.depth() as i32;
            // Symbol 2, which is the third, counts below zero.
            if stack.top() == Symbol(3) { -depth } else { depth }
        };
        let counts: BTreeSet<i32> = states.iter().map(count).collect();
        assert_eq!(counts, (lowest..=2).collect(), "version {version}");
    }
}

/// The rules in the corpus are the generator's; the comments before them are not.
#[test]
fn the_corpus_is_what_the_generator_makes() {
    for version in 1..=3 {
        let path = corpus::folder().join(format!("bluetooth-{version}-1-1.pds"));
        let read = |extension| std::fs::read_to_string(path.with_extension(extension)).expect("a file");
        let rules: String =
            read("pds").split_inclusive('\n').skip_while(|line| line.starts_with('#')).collect();
        let family = families::bluetooth(version, 1, 1);
        assert_eq!(rules, family.pds, "{}", path.display());
        assert_eq!((read("init"), Some(read("spec"))), (family.init, family.spec));
    }
}
