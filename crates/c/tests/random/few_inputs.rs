//! Programs that pass inputs on in loops: where only a few inputs at a time are any value, no error is hidden.

use super::dice::{Dice, seeds};
use super::ours::programs;
use super::wide::goes;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use std::fmt::Write;

/// A program with more states is left out.
const MOST_STATES: usize = 8_000;

/// What is done with a queue that works: both arrays have the same inputs, and checks know it.
fn tidy_step(dice: &mut Dice) -> String {
    let cell = dice.roll(3);
    match dice.roll(5) {
        0 | 1 => "queue[i] = x; noted[i] = x;".to_string(),
        2 => format!("check(queue[{cell}] == noted[{cell}]);"),
        3 => "check(!queue[i] == !noted[i]);".to_string(),
        _ => format!("y = queue[{cell}]; check(y <= noted[{cell}]);"),
    }
}

/// What a thread does with an input, with what was passed on, and where it checks that; now and then an input steers.
fn step(dice: &mut Dice) -> String {
    let (cell, other) = (dice.roll(3), dice.roll(3));
    let index = *dice.pick(&["i", "0", "1", "i & 1"]);
    let relation = *dice.pick(&["==", "!=", "<", "<="]);
    match dice.roll(12) {
        0..3 => format!("queue[{index}] = x;"),
        3 => format!("noted[{index}] = x;"),
        4 => format!("y = queue[{index}];"),
        5 => format!("noted[{cell}] = queue[{other}];"),
        6 => format!("y = queue[{index}] {relation} noted[{cell}];"),
        7 => format!("y = !queue[{index}];"),
        8 => format!("check(!(queue[{cell}] == 1 && noted[{other}] {relation} {}));", dice.roll(3)),
        9 => format!("check(queue[{index}] {relation} noted[{other}] || y != {});", dice.roll(3)),
        10 => format!("check(x != 2 || noted[{cell}] {relation} queue[{other}]);"),
        _ => match dice.roll(5) {
            0 => "if (x == 1) y = 2;".to_string(),
            1 => "queue[x] = 1;".to_string(),
            2 => "y = (y + x) % 3;".to_string(),
            3 => "check(y == 2 || x < 2);".to_string(),
            _ => "flag = 1;".to_string(),
        },
    }
}

fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from(
        "typedef unsigned long pthread_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
         void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         unsigned char __VERIFIER_nondet_uchar(void);\n\
         void reach_error(void);\n\
         void check(int holds) { if (!holds) reach_error(); }\n\
         int queue[3], noted[3], flag;\n",
    );
    let tidy = dice.once_in(2);
    let step = |dice: &mut Dice| if tidy && !dice.once_in(12) { tidy_step(dice) } else { step(dice) };
    for (name, inputs) in [("producer", true), ("consumer", dice.once_in(4))] {
        let _ = writeln!(text, "void *{name}(void *unused) {{\n  int i, x = 0, y = 0;");
        let atomic = tidy || dice.once_in(2);
        let (begin, end) = match atomic {
            true => ("  __VERIFIER_atomic_begin();\n", "  __VERIFIER_atomic_end();\n"),
            false => ("", ""),
        };
        let _ = writeln!(text, "{begin}  for (i = 0; i < {}; i++) {{", 2 + dice.roll(2));
        if inputs {
            text.push_str("    x = __VERIFIER_nondet_uchar() % 3;\n");
        }
        for _ in 0..2 + dice.roll(3) {
            let _ = writeln!(text, "    {}", step(&mut dice));
        }
        let _ = write!(text, "  }}\n{end}");
        for _ in 0..dice.roll(if tidy { 1 } else { 3 }) {
            let line = step(&mut dice).replace("[i", "[flag");
            let _ = writeln!(text, "  {line}");
        }
        text.push_str("  return 0;\n}\n");
    }
    text.push_str("int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, producer, 0);\n");
    if dice.once_in(2) {
        text.push_str("  pthread_create(&t, 0, consumer, 0);\n");
    } else {
        text.push_str("  consumer(0);\n");
    }
    text.push_str("  return 0;\n}\n");
    text
}

#[test]
fn a_few_inputs_at_a_time_hide_no_error() {
    let (mut compared, mut spared, mut proved, mut wrong) = (0, 0, 0, 0);
    for seed in seeds(40) {
        let text = program(seed);
        let [plain, _] = programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let Some((fails, false)) = goes(&plain, MOST_STATES) else { continue };
        compared += 1;
        let map = LineMap::identity(text.as_bytes());
        let lowered = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).expect("it was read");
        for program in [lowered.coarse, lowered.part].into_iter().flatten() {
            let mut locals = program.procedures.iter().flat_map(|procedure| &procedure.locals);
            if !locals.any(|local| local.name == "#inputs") {
                continue;
            }
            let Some((spared_fails, beyond)) = goes(&program, MOST_STATES) else { continue };
            assert!(spared_fails || beyond || !fails, "{seed}: an error is hidden\n{text}");
            spared += 1;
            proved += usize::from(!spared_fails && !beyond);
            wrong += usize::from(fails);
        }
    }
    println!(
        "{compared} programs compared; {spared} with few inputs, of which {wrong} go wrong and {proved} are proved"
    );
    assert!(spared > 8 && wrong > 2 && proved > 2);
}
