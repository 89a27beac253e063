//! Programs run as the reference semantics says: what can go wrong in them is what their text says.

use super::examples::{EVENTS, PETERSON, TASKS};
use super::{good, parse};
use allways_model::program::semantics::{Outcome, State, steps};
use allways_model::program::{Program, Value};
use std::collections::{BTreeSet, HashSet};

/// What can go wrong: one word and the line of each violation, and whether some state is stuck.
pub(super) fn violations(text: &str) -> BTreeSet<(&'static str, u32)> {
    run(&good(text)).0
}

/// What can go wrong, without lines; and the values that the shared variables can have together.
pub(super) fn explored(text: &str) -> (BTreeSet<&'static str>, BTreeSet<Vec<Value>>) {
    let program = parse(text.as_bytes()).program.unwrap_or_else(|| panic!("an error in {text}"));
    let (violations, shared) = run(&program);
    (violations.into_iter().map(|(word, _)| word).collect(), shared)
}

fn run(program: &Program) -> (BTreeSet<(&'static str, u32)>, BTreeSet<Vec<Value>>) {
    let (mut found, mut shared) = (BTreeSet::new(), BTreeSet::new());
    let mut todo = State::initial(program, &State::counts(program)).expect("few initial states");
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    while let Some(state) = todo.pop() {
        assert!(seen.len() < 1_000_000, "too many states");
        shared.insert(state.shared.to_vec());
        let mut outcomes: Vec<Outcome> = state.violated(program).into_iter().collect();
        for thread in 0..state.threads.len() {
            outcomes.extend(steps(program, &state, thread).into_iter().map(|step| step.outcome));
        }
        if state.deadlocked(program) {
            found.insert(("stuck", 0));
        }
        for outcome in outcomes {
            match outcome {
                Outcome::To(next) => {
                    if seen.insert(next.clone()) {
                        todo.push(next);
                    }
                }
                Outcome::Wrong(violation) => {
                    found.insert((violation.kind.word(), violation.line));
                }
                Outcome::Beyond(span) => panic!("a limit in line {}", span.line),
            }
        }
    }
    (found, shared)
}

#[track_caller]
pub(super) fn expect(text: &str, expected: &[(&'static str, u32)]) {
    assert_eq!(violations(text).into_iter().collect::<Vec<_>>(), expected, "of {text}");
}

#[test]
fn examples() {
    expect(PETERSON, &[]);
    expect(&PETERSON.replace("turn = 1 - self;", "turn = self;"), &[("never", 14)]);
    // Both updates may read 0, so 2 is a possible result.
    expect(TASKS, &[("assert", 5)]);
    expect(&TASKS.replace("yield; ", ""), &[("assert", 5)]);
    expect(&TASKS.replace("g != 2", "g <= 3"), &[]);
    expect(EVENTS, &[]);
    expect(&EVENTS.replace("ready = true; broadcast go;", "broadcast go; ready = true;"), &[("assert", 5)]);
}

#[test]
fn the_label_of_a_loop_is_where_every_round_begins() {
    for round in [
        "L: loop { choose { } or { g = 1; } skip; }",
        "L: loop { choose { skip; } or { g = 1; } skip; }",
        "L: loop { { } choose { } or { g = 1; } skip; }",
        "L: loop { loop { break; } g = 1; }",
        "L: loop { { break; } } g = 1; goto L;",
        "L: { loop { choose { } or { g = 1; } skip; } }",
        "_A: L: loop { choose { continue; } or { g = 1; } skip; }",
        "L: loop { choose { choose { } or { skip; } } or { g = 1; } }",
        "L: loop { _B: choose { } or { g = 1; } }",
        "L: loop { _B: { } g = 1; }",
        "L: loop { atomic { } g = 1; }",
        "L: loop { if (g == 0) { } g = 1; }",
        "L: while (true) { choose { } or { g = 1; } }",
        "L: while (*) { if (*) { g = 1; } else { continue; } }",
        "g = 1; L: loop { }",
        "loop { L: choose { } or { } choose { } or { g = 1; } }",
        "loop { L: { } g = 1; }",
    ] {
        let text = format!("shared 0..1 g; thread p {{ {round} }}\nnever at(L) == 1 && g == 1;");
        expect(&text, &[("never", 2)]);
    }
    // Control stays at the label of a loop that does nothing, or comes back to it.
    expect("shared 0..1 g; thread p { g = 1; L: loop { } }\nnever g == 1 && at(L) == 0;", &[]);
}

#[test]
fn choices_do_not_commit() {
    let text = "shared bool x, y; thread t { choose { await x; } or { await y; } } thread u { y = true; }";
    expect(text, &[]);
    expect(
        &text.replace("choose {", "choose { l:").replace("thread u", "never at(l) > 1; thread u"),
        &[("stuck", 0)],
    );
    expect("shared bool x = *; thread t { choose { await x; } or {} }", &[]);
    expect("shared bool x = *; thread t { l: m: goto l, k, m; k: await x; assert x; }", &[]);
}

#[test]
fn atomic_blocks_are_one_step() {
    let lost = "shared int x, done; thread t[2] { int l; l = x; x = l + 1; done = done + 1; } thread u { await done == 2; assert x == 2; }";
    assert!(violations(lost).contains(&("assert", 1)));
    expect(
        &lost.replace("l = x; x = l + 1; done = done + 1;", "atomic { l = x; x = l + 1; done = done + 1; }"),
        &[],
    );
}

#[test]
fn procedures_return_values() {
    let text = "shared int x; proc fact(int n) : int { if (n <= 1) { return 1; } int r = fact(n - 1); return n * r; }
thread t { x = fact(5); assert x == 120; fact(1); assert x == 119; }";
    expect(text, &[("assert", 2)]);
    expect("shared bool b = *; proc f() : int { if (b) { return 1; }\n} thread t { f(); }", &[("result", 2)]);
}

#[test]
fn a_return_leads_to_the_next_statement_in_the_same_step() {
    let quick = "shared 0..1 x; proc f() : 0..1 { return 1; }\nthread p { x = f(); loop { l: skip; } }";
    expect(&format!("{quick} never x == 1 && at(l) == 0;"), &[]);
    let element = "shared 0..1 a[2]; proc f() : 0..1 { return 1; }\nthread p { a[1] = f(); l: await false; }";
    expect(&format!("{element} never a[1] == 1 && at(l) == 0;"), &[("stuck", 0)]);
    let told = "shared 0..1 x; event e; proc f() : 0..1 { return 1; }
thread p { x = f(); wait e; } thread q { await x == 1; broadcast e; }";
    expect(told, &[]);
}

#[test]
fn locks_events_and_tasks() {
    let philosophers = "lock fork[3]; thread p[3] { acquire(fork[self]); acquire(fork[(self + 1) % 3]); release(fork[self]); release(fork[(self + 1) % 3]); }";
    expect(philosophers, &[("stuck", 0)]);
    expect("lock m; thread t { release(m); }", &[("release", 1)]);
    let waits =
        "shared int x; main { post set(); await x == 1; assert x == 1; x = 2; } task set() { x = 1; }";
    expect(waits, &[]);
    expect("shared int x; main { post t(); x = 1; x = 2; } task t() {\nassert x == 2; }", &[]);
    expect(
        "shared int x; main { post t(); x = 1; yield; x = 2; } task t() {\nassert x == 2; }",
        &[("assert", 2)],
    );
}
