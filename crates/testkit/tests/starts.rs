//! Programs with many initial states: values that are chosen when they are first read, against brute force.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::Budget;
use allways_engines::Question;
use allways_evidence::{Counterexample, Evidence, Subject, interpret, read_evidence};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Threads};
use allways_model::program::Program;
use allways_model::program::semantics::State;
use allways_testkit::conformance;
use allways_testkit::programs::{Limits, explore, starts};
use allways_testkit::random;

fn program(text: &str) -> Program {
    let parsed = aw::parse(text.as_bytes());
    parsed.program.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

/// Whether a program goes wrong, as the checkers accept, of evidence that was written and read by somebody else, and of a
/// trace the program's own semantics.
fn goes_wrong(encoding: &dyn Fn() -> Encoded, deadlock: bool, name: &str) -> bool {
    let (encoded, reader) = (encoding(), encoding());
    let question = Question { property: encoded.property(deadlock), ..Question::default() };
    let auto = conformance::named("auto");
    let verdict = conformance::run(auto, &encoded, &question, &Budget::unlimited()).verdict;
    let Some(evidence) = verdict.evidence() else { panic!("{name}: {verdict:?}") };
    let text = conformance::written(&encoded, evidence);
    let property = reader.property(deadlock);
    let subject = Subject::Pushdown { system: &reader, property: &property, inputs: None };
    let read = read_evidence(&subject, &text).unwrap_or_else(|bad| panic!("{name}: {bad:?}"));
    conformance::accepted(&reader, &property, &read).unwrap_or_else(|why| panic!("{name}: {why}"));
    let Evidence::Counterexample(Counterexample::Trace(trace)) = read else { return false };
    let run = interpret(&reader, &trace).unwrap_or_else(|why| panic!("{name}: {why}"));
    let program = reader.program();
    let starts = State::initial(program, &State::counts(program));
    assert!(starts.is_none_or(|starts| starts.contains(&run.initial)), "{name}: {:?}", run.initial);
    true
}

#[test]
fn values_that_are_chosen_late_change_no_verdict() {
    let limits = Limits { states: 100_000, threads: 4, depth: 4 };
    let (mut wrong, mut stuck, mut fine) = (0, 0, 0);
    for seed in random::seeds(1500) {
        let text = starts(seed);
        let program = program(&text);
        let explored = explore(&program, &State::counts(&program), limits).expect("a small program");
        let threads = Threads::of(&program, 1);
        let name = format!("{seed}\n{text}");
        for reduced in [false, true] {
            let late = || Encoded::with_initial(&program, &threads, reduced, 1).expect("an encoding");
            assert_eq!(goes_wrong(&late, false, &name), explored.violation, "{name}");
            assert_eq!(goes_wrong(&late, true, &name), explored.violation || explored.deadlock, "{name}");
        }
        match (explored.violation, explored.deadlock) {
            (true, _) => wrong += 1,
            (false, true) => stuck += 1,
            (false, false) => fine += 1,
        }
    }
    println!("{wrong} go wrong, {stuck} get stuck, {fine} do not");
}

/// What many values cannot be listed for is answered all the same.
#[test]
fn programs_with_very_many_initial_states_are_answered() {
    for (text, wrong) in [
        ("shared bool a[17] = *; thread p { a[0] = true; } never a[1];", true),
        ("shared bool a[17] = *; main { a[0] = true; } never a[1];", true),
        ("shared 0..99 a[17] = *; thread p { a[0] = 3; } never a[1] == 7;", true),
        ("shared bool a[40] = *; thread p { 0..39 i = *; if (a[i]) { assert a[(i + 1) % 40]; } }", true),
        ("shared bool a[40] = *; thread p { 0..3 i = *; a[i] = true; assert a[i]; }", false),
        ("shared bool a[40] = *, b; thread p[2] { 0..2 i = *; if (a[i]) { b = true; assert a[i]; } }", false),
        ("shared bool a[40] = *; thread p { 0..2 i = *; a[i] = !a[i]; assert a[i]; }", true),
    ] {
        let program = program(text);
        let threads = Threads::of(&program, 1);
        let encoded =
            || Encoded::new(&program, &threads, true).unwrap_or_else(|why| panic!("{text}: {why:?}"));
        assert_eq!(goes_wrong(&encoded, false, text), wrong, "{text}");
    }
}
