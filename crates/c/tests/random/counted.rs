//! Programs whose loops create threads: the program that counts them goes wrong just where the program does.

use super::dice::{Dice, seeds};
use super::ours::programs;
use super::values::explored;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use std::fmt::Write;

/// A program in which a loop creates a few threads, of which one cannot see how many there are; in some, another loop creates more.
fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from(
        "typedef unsigned long pthread_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
         void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void); int __VERIFIER_nondet_int(void);\n\
         void reach_error(void);\n\
         void check(int holds) { if (!holds) reach_error(); }\n\
         int begun, done, level, wanted, step;\n",
    );
    const STEPS: [&str; 9] = [
        "begun++;",
        "done++;",
        "mine = level;",
        "level = mine + 1;",
        "level = mine - 1;",
        "check(done < begun);",
        "check(level <= wanted);",
        "check(begun <= wanted);",
        "check(begun - done < 3);",
    ];
    for worker in ["first", "second"] {
        let _ = writeln!(text, "void *{worker}(void *unused) {{\n  int mine = 0;");
        for _ in 0..2 + dice.roll(3) {
            let line = *dice.pick(&STEPS);
            let _ = match dice.once_in(2) {
                true => writeln!(text, "  __VERIFIER_atomic_begin(); {line} __VERIFIER_atomic_end();"),
                false => writeln!(text, "  {line}"),
            };
        }
        text.push_str("  return 0;\n}\n");
    }
    text.push_str("int main(void) {\n  pthread_t t;\n  int i;\n");
    // What `main` stores while it is alone.
    for _ in 0..dice.roll(4) {
        let line = *dice.pick(&[
            "level = 1;",
            "done = 0;",
            "level = begun;",
            "begun = 1;",
            "level = 2;",
            "done = level;",
        ]);
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("  step = 1;\n  if (__VERIFIER_nondet_int()) wanted = 1; else wanted = 2;\n");
    let repeat = *dice.pick(&[
        "for (i = 0; i < wanted; i += step)",
        "for (i = wanted; i > 0; i--)",
        "while (i++ < wanted)",
        "for (i = 0; i < wanted; i += __VERIFIER_nondet_int() ? 1 : 2)",
    ]);
    let _ = writeln!(text, "  i = 0;\n  {repeat} {{\n    pthread_create(&t, 0, first, 0);");
    if dice.once_in(3) {
        let _ = writeln!(text, "    level = {};", dice.roll(2));
    }
    text.push_str("  }\n");
    if dice.once_in(3) {
        text.push_str("  for (i = 1; i < wanted; i += step)\n    pthread_create(&t, 0, second, 0);\n");
    }
    if dice.once_in(3) {
        text.push_str("  check(begun < 3);\n");
    }
    text.push_str("  return 0;\n}\n");
    text
}

#[test]
fn programs_that_count_their_threads_go_wrong_where_others_do() {
    let (mut compared, mut wrong, mut counted) = (0, 0, 0);
    for seed in seeds(150) {
        let text = program(seed);
        let [plain, _] = programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let Some(fails) = explored(&plain, &|_| {}) else { continue };
        compared += 1;
        let map = LineMap::identity(text.as_bytes());
        let lowered = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).expect("it was read");
        let Some(bounded) = lowered.bounded else { continue };
        if !bounded.shared.iter().any(|variable| variable.name.starts_with("#begun")) {
            continue;
        }
        let Some(fails_counted) = explored(&bounded, &|_| {}) else { continue };
        assert_eq!(fails_counted, fails, "{seed}: counting threads makes a difference\n{text}");
        counted += 1;
        wrong += usize::from(fails);
    }
    println!("{compared} programs compared, {counted} count threads, {wrong} of these go wrong");
    assert!(counted > 60 && wrong > 20 && counted - wrong > 20);
}
