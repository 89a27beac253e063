//! Threads that use `self` only to say who is meant: renumbering them turns steps into steps, verdicts up to renumbering are
//! those of brute force, proofs are accepted and damaged ones are not, and runs are walked by the program.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_engines::below::orbits::Orbits;
use allways_engines::confirm::confirm;
use allways_engines::{Budget, Engine, Forms, Question};
use allways_evidence::{Certificate, Rejection, Verdict, check_numbers, interpret};
use allways_lang::aw;
use allways_model::encoding::{Encoded, Renumbering, Threads};
use allways_model::program::Program;
use allways_model::program::reduction::reduce;
use allways_model::property::Property;
use allways_model::pushdown::{Pushdown, Rule, Word};
use allways_model::task::{Model, Task};
use allways_testkit::conformance::{accepted, read, written};
use allways_testkit::programs::{Limits, explore, numbered};
use allways_testkit::{random, reference};
use std::sync::Arc;
use std::time::Duration;

const LIMITS: Limits = Limits { states: 4000, threads: 10, depth: 4 };

fn parsed(text: &str) -> Program {
    let parsed = aw::parse(text.as_bytes());
    parsed.program.unwrap_or_else(|| panic!("{text}\n{:?}", parsed.diagnostics))
}

fn joined(program: &Program) -> Encoded {
    let threads = Threads::of(program, 2);
    Encoded::joined(Arc::new(program.clone()), Arc::new(reduce(program)), &threads).expect("an encoding")
}

/// Whether the checker says that threads can be renumbered.
fn judged(system: &Encoded) -> Option<Result<(), Rejection>> {
    Renumbering::of(system).map(|renumbering| check_numbers(system, renumbering.numbers()))
}

#[test]
fn who_is_only_meant_can_be_renumbered() {
    for (text, expected) in [
        ("shared bool f[3]; thread p[3] { f[self] = true; assert f[self]; }", true),
        ("shared 0..2 o; thread p[3] { o = self; await o != self; }", true),
        // Shifted, with 0 for nobody.
        ("shared 0..3 t; shared bool h[4]; thread p[3] { t = self + 1; h[t] = true; await t == 0; }", true),
        ("shared 0..3 t; thread p[3] { t = t == self + 1 ? 0 : t; t = self + 1; await t > 0; }", true),
        // A local variable, an array of numbers, a lock.
        (
            "shared 0..2 o, n[3]; thread p[3] { 0..2 w; w = o; n[w] = self; await n[self] == w; o = self; }",
            true,
        ),
        (
            "lock m; shared 0..2 o; thread p[3] { acquire(m); o = self; assert o == self; release(m); await o != self; }",
            true,
        ),
        // Who holds a lock of an array is kept, since it is not known that only they release it.
        (
            "lock m[3]; shared 0..2 o; thread p[3] { acquire(m[self]); o = self; await o != self; release(m[self]); }",
            false,
        ),
        // The initial value is that of one thread; that of another would do as well.
        ("shared 0..2 o = 1; thread p[3] { await o == self; o = self; assert o == self; }", true),
        // A certain thread, an order, a sum, an element of the wrong one.
        ("shared 0..2 o; thread p[3] { o = self; await o == 0; }", false),
        ("shared bool f[3]; thread p[3] { f[self] = true; await f[1]; }", false),
        ("shared bool f[3]; thread p[3] { f[self] = true; await self < 2; }", false),
        ("shared 0..2 o; thread p[3] { o = self; await o <= 1; }", false),
        ("shared bool f[3]; thread p[3] { f[(self + 1) % 3] = true; await f[self]; }", false),
        ("shared bool f[4]; thread p[3] { f[self] = true; await f[self + 1]; }", false),
        (
            "shared bool f[3]; thread p[3] { 0..3 k; while (k < 3) { await !f[k]; k = k + 1; } f[self] = true; }",
            false,
        ),
        // Not each has an element, and not each number fits.
        ("shared bool f[2]; thread p[3] { f[self] = true; await f[self]; }", false),
        ("shared 0..1 o; thread p[3] { o = self; await o != self; }", false),
        // What must not be speaks of one of them.
        (
            "shared bool f[3]; thread p[3] { f[self] = true; skip; f[self] = false; } never f[0] && f[1];",
            false,
        ),
        // Calls are not looked into.
        ("shared 0..2 o; proc f() { skip; } thread p[3] { o = self; f(); await o != self; }", false),
    ] {
        let system = joined(&parsed(text));
        let said = judged(&system);
        assert_eq!(said == Some(Ok(())), expected, "{text}\n{said:?}");
    }
}

/// Each step of each reachable state, with any two threads of a template having changed places, is a step.
fn steps_stay_steps(system: &Encoded, text: &str) -> Option<usize> {
    let renumbering = Renumbering::of(system)?;
    let (states, _) = reference::reachable(system, 4, 3000)?;
    let threads = system.threads();
    let rules = |thread: usize, shared, top| {
        let mut rules: Vec<Rule> = Vec::new();
        system.rules(thread, shared, top, &mut rules);
        let mut rules: Vec<_> = rules.iter().map(|rule| (rule.shared, rule.word)).collect();
        rules.sort_unstable();
        rules
    };
    let mut compared = 0;
    for state in &states {
        for one in 0..threads {
            for other in one + 1..threads {
                if system.roles()[one].template != system.roles()[other].template {
                    continue;
                }
                let mut names: Vec<usize> = (0..threads).collect();
                names.swap(one, other);
                let shared = renumbering.shared(state.shared, &names);
                assert_eq!(renumbering.shared(shared, &names), state.shared, "{text}");
                for (thread, stack) in state.stacks.iter().enumerate() {
                    let top = renumbering.symbol(stack.top(), &names);
                    let mut expected: Vec<_> = rules(thread, state.shared, stack.top())
                        .into_iter()
                        .map(|(shared, word)| {
                            let symbol = renumbering.symbol(word.symbols()[0], &names);
                            (renumbering.shared(shared, &names), Word::one(symbol))
                        })
                        .collect();
                    expected.sort_unstable();
                    assert_eq!(rules(names[thread], shared, top), expected, "{names:?}\n{text}");
                    assert_eq!(system.ended(thread, stack.top()), system.ended(names[thread], top));
                    compared += 1;
                }
            }
        }
    }
    Some(compared)
}

#[test]
fn random_programs() {
    let (mut renumbered, mut refused, mut safe, mut wrong, mut compared) = (0, 0, 0, 0, 0);
    let (mut listed, mut all) = (0, 0);
    for seed in random::seeds(300) {
        let text = numbered(seed);
        let program = parsed(&text);
        let system = joined(&program);
        match judged(&system) {
            Some(Ok(())) => renumbered += 1,
            _ => {
                refused += 1;
                continue;
            }
        }
        let Some(explored) = explore(&program, &Threads::of(&program, 2).running, LIMITS) else { continue };
        if seed % 4 == 0 {
            compared += steps_stay_steps(&system, &text).unwrap_or(0);
        }
        for deadlock in [false, true] {
            let task = Task {
                property: Property { deadlock, ..Property::default() },
                ..Task::new(Model::Program(Arc::new(program.clone())))
            };
            let forms = Forms::new(&task, &Question::default());
            let mut outcome = Orbits.run(&forms, &Budget::of_time(Duration::from_secs(60)));
            confirm(&forms, &mut outcome, &Budget::unlimited());
            assert!(outcome.rejected.is_none(), "{seed}: {:?}\n{text}", outcome.rejected);
            let bad = explored.violation || deadlock && explored.deadlock;
            let Some(Ok(encoded)) = forms.encoding() else { panic!("{text}") };
            match &outcome.verdict {
                Verdict::Safe(certificate) => {
                    assert!(!bad && outcome.certified, "{seed}\n{text}");
                    safe += 1;
                    let Certificate::Invariant(invariant) = certificate else { panic!("{text}") };
                    listed += invariant.states().len();
                    all += explored.states.len();
                    damaged_proofs_are_rejected(&encoded, deadlock, certificate, seed);
                }
                Verdict::Unsafe(counterexample) => {
                    assert!(bad && outcome.certified, "{seed}\n{text}");
                    wrong += 1;
                    let run = interpret(&encoded, counterexample.trace().expect("a trace"));
                    run.unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
                }
                Verdict::Unknown(reason) => panic!("{seed}: {reason}\n{text}"),
            }
        }
    }
    println!("{renumbered} programs with threads that can be renumbered, {refused} without");
    println!("{safe} proofs with {listed} states for {all}, {wrong} runs, {compared} steps compared");
    assert!(3 * renumbered > refused && safe > 0 && wrong > 0 && compared > 0);
}

/// As text and back it is the same proof, and without one of its states it is none.
fn damaged_proofs_are_rejected(system: &Encoded, deadlock: bool, certificate: &Certificate, seed: u64) {
    let property = system.property(deadlock);
    let text = written(system, certificate);
    let again = read(system, &text).expect("what was written can be read");
    assert_eq!(accepted(system, &property, &again), Ok(()));
    let Certificate::Invariant(invariant) = certificate else { return };
    let width = 1 + system.threads();
    let count = invariant.states().len();
    for part in 0..3 {
        let mut less = invariant.clone();
        let row = (seed as usize * 7 + part * count / 3) % count;
        less.rows.drain(row * width..(row + 1) * width);
        let judged = accepted(system, &property, &Certificate::Invariant(less));
        assert!(matches!(judged, Err(Rejection::NotClosed(_))), "{seed}: {judged:?}");
    }
    if count > 1 {
        // Up to renumbering it is a proof, and as it stands mostly none.
        let mut plain = invariant.clone();
        plain.renumbered = false;
        let kept = accepted(system, &property, &Certificate::Invariant(plain));
        assert!(kept.is_ok() || matches!(kept, Err(Rejection::Missing { .. })), "{seed}: {kept:?}");
    }
}
