//! Programs whose threads are created in one loop and joined in another: with counters instead of numbers, they do what they did.

use super::dice::{Dice, seeds};
use super::ours::initialise;
use super::wide::goes;
use allways_c::property::Property;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_model::program::Program;
use std::fmt::Write;

/// A program with more states is left out.
const MOST_STATES: usize = 40_000;

/// What a thread does, or `main` between the loops.
fn step(dice: &mut Dice) -> String {
    let number = dice.roll(3);
    match dice.roll(9) {
        0 => "x = x + 1;".to_string(),
        1 => "mine = x;".to_string(),
        2 => format!("x = mine + {number};"),
        3 => "__sync_fetch_and_add(&x, 1);".to_string(),
        4 => format!("if (y == {number}) x = {number};"),
        5 => format!("y = {number};"),
        6 => "pthread_mutex_lock(&m); y = y + 1; pthread_mutex_unlock(&m);".to_string(),
        7 => format!("if (x > {number}) pthread_exit(0);"),
        _ => format!("assert(x != {} || y != {number});", 4 + dice.roll(3)),
    }
}

/// The program of a seed; in one that jumps, no threads are counted.
fn program(seed: u64, jumps: bool) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from(
        "typedef unsigned long pthread_t; typedef struct { int there; } pthread_mutex_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
         int pthread_join(pthread_t, void **); void pthread_exit(void *);\n\
         int pthread_mutex_lock(pthread_mutex_t *), pthread_mutex_unlock(pthread_mutex_t *);\n\
         int __VERIFIER_nondet_int(void);\n\
         void reach_error(void);\n\
         void assert(int holds) { if (!holds) reach_error(); }\n\
         pthread_mutex_t m; int x, y;\n\
         void *worker(void *unused) {\n  int mine = 0;\n",
    );
    for _ in 0..1 + dice.roll(3) {
        let _ = writeln!(text, "  {}", step(&mut dice));
    }
    let (first, rounds) = (dice.roll(2), 4 + usize::from(dice.once_in(3)));
    let last = first + rounds;
    let literal = last.to_string();
    let room = *dice.pick(&["8", "8", "room"]);
    let _ = writeln!(
        text,
        "  return 0;\n}}\nint main(void) {{\n  int i, mine = 0, err = 7, n = {last}, room = 8;\n  pthread_t t[{room}];"
    );
    if jumps {
        text.push_str("  if (0) goto done;\n");
    }
    if dice.once_in(3) {
        let _ =
            writeln!(text, "  n = __VERIFIER_nondet_int(); if (n < {} || n > {last}) return 0;", last - 2);
    }
    let limit = *dice.pick(&["n", "n", &literal[..]]);
    let between = |dice: &mut Dice, text: &mut String| {
        for _ in 0..dice.roll(3) {
            let _ = writeln!(text, "  {}", step(dice).replace("pthread_exit(0)", "return 0"));
        }
    };
    let leaves = *dice.pick(&["", "", "", " if (x == 2) break;"]);
    let creates = *dice.pick(&[
        "pthread_create(&t[i], 0, worker, 0);",
        "if (pthread_create(&t[i], 0, worker, 0) != 0) return 1;",
        "int failed = pthread_create(&t[i], 0, worker, 0);",
    ]);
    let _ = writeln!(text, "  for (i = {first}; i < {limit}; i++) {{ {creates}{leaves} }}");
    between(&mut dice, &mut text);
    let limit = *dice.pick(&["n", "n", "n", "i", "n - 1", &literal[..]]);
    let joins = *dice.pick(&[
        "pthread_join(t[j], 0);",
        "err = pthread_join(t[j], 0);",
        "if (0 != (err = pthread_join(t[j], 0))) return 1;",
        "if (pthread_join(t[j], 0)) x = 0;",
    ]);
    let _ = writeln!(text, "  for (int j = {first}; j < {limit}; j++) {{ {joins} }}");
    if dice.once_in(3) {
        text.push_str("  assert(err == 7 || x < 4);\n");
    }
    between(&mut dice, &mut text);
    let _ = write!(
        text,
        "  assert(x < {});\n{}  return 0;\n}}\n",
        3 + dice.roll(4),
        if jumps { "done:\n" } else { "" }
    );
    text
}

fn lowered(text: &str, property: Property) -> Program {
    let map = LineMap::identity(text.as_bytes());
    let lowered = read(text.as_bytes(), &map, DataModel::Lp64, property);
    let mut program = lowered.unwrap_or_else(|why| panic!("{why:?}\n{text}")).program;
    initialise(&mut program);
    program
}

#[test]
fn counted_threads_do_what_numbered_ones_do() {
    let races = Property::named("no-data-race").expect("this is a property");
    let (mut compared, mut wrong, mut beyond) = (0, 0, 0);
    for seed in seeds(30) {
        for property in [Property::default(), races] {
            let text = program(seed, false);
            let crew = lowered(&text, property);
            if !crew.shared.iter().any(|variable| variable.name.starts_with("#crew")) {
                continue;
            }
            let numbered = lowered(&program(seed, true), property);
            assert!(!numbered.shared.iter().any(|variable| variable.name.starts_with("#crew")), "{seed}");
            let Some((fails, left)) = goes(&crew, MOST_STATES) else { continue };
            let Some((should_fail, should_leave)) = goes(&numbered, MOST_STATES) else { continue };
            compared += 1;
            assert!(should_fail || !fails, "{seed}: an error that is none\n{text}");
            assert!(fails || left || !should_fail, "{seed}: an error is hidden\n{text}");
            assert!(fails || left || !should_leave, "{seed}: what is not followed is hidden\n{text}");
            wrong += usize::from(fails);
            beyond += usize::from(left && !should_leave);
        }
    }
    println!(
        "{compared} programs compared, {wrong} go wrong, {beyond} are not followed because threads are counted"
    );
    assert!(compared > 10 && wrong > 5 && wrong < compared);
}
