//! Programs with inputs of many values: what is narrowed goes wrong exactly if the program does, and what is made coarse does
//! so at least if the program does.

use super::dice::{Dice, seeds};
use super::ours::programs;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::HashSet;
use std::fmt::Write;

/// A program with more states is left out.
const MOST_STATES: usize = 400_000;

const SHARED: [&str; 3] = ["a", "b", "n"];

struct Writer {
    dice: Dice,
    inputs: usize,
    text: String,
}

impl Writer {
    fn variable(&mut self) -> String {
        match self.dice.roll(8) {
            0..4 => SHARED[self.dice.roll(SHARED.len())].to_string(),
            4..7 => ["x", "y"][self.dice.roll(2)].to_string(),
            _ => format!("m[{} & 1]", ["x", "y"][self.dice.roll(2)]),
        }
    }

    fn constant(&mut self) -> usize {
        [0, 1, 2, 5, 69][self.dice.roll(5)]
    }

    fn value(&mut self) -> String {
        let variable = self.variable();
        match self.dice.roll(9) {
            0..3 => variable,
            3 => self.constant().to_string(),
            4 => format!("({variable} + {}) % 70", self.constant()),
            5 => format!("{variable} & 3"),
            6 => format!("{variable} == {}", self.variable()),
            _ if self.inputs > 0 => {
                self.inputs -= 1;
                "__VERIFIER_nondet_uchar() % 70".to_string()
            }
            _ => variable,
        }
    }

    fn condition(&mut self) -> String {
        let (variable, other, constant) = (self.variable(), self.variable(), self.constant());
        match self.dice.roll(6) {
            0 | 1 => format!("{variable} == {other}"),
            2 => format!("{variable} != {constant}"),
            3 => format!("{variable} < {constant}"),
            4 => format!("{variable} <= {other}"),
            _ => format!("{variable} != {other}"),
        }
    }

    fn statement(&mut self) {
        let line = match self.dice.roll(7) {
            6 if self.inputs > 0 => {
                self.inputs -= 1;
                let (place, low) = (["x", "y", "a", "n"][self.dice.roll(4)], self.dice.roll(6));
                let high = low + self.dice.roll(4);
                format!(
                    "{place} = __VERIFIER_nondet_uchar(); __VERIFIER_assume({place} >= {low} && {place} <= {high});"
                )
            }
            0..4 => format!("{} = {};", self.variable(), self.value()),
            4 => format!("if ({}) {} = {};", self.condition(), self.variable(), self.value()),
            _ => format!("check({});", self.condition()),
        };
        let _ = writeln!(self.text, "  {line}");
    }
}

/// A program of `main` and one thread or two, which it may join, or create one after the other.
fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let inputs = 1 + dice.roll(3);
    let (two, early) = (dice.roll(3) == 0, dice.roll(2) == 0);
    let mut writer = Writer { dice, inputs, text: String::new() };
    writer.text.push_str(
        "typedef unsigned long pthread_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *);\n\
         int pthread_join(pthread_t, void **);\n\
         unsigned char __VERIFIER_nondet_uchar(void);\n\
         void __VERIFIER_assume(int);\n\
         void reach_error(void);\n\
         void check(int holds) { if (!holds) reach_error(); }\n\
         unsigned char a, b = 5, m[2];\nint n;\n",
    );
    for name in ["other", "another"].iter().take(1 + usize::from(two)) {
        let _ = writeln!(writer.text, "void *{name}(void *unused) {{\n  unsigned char x = 0;\n  int y = 1;");
        (0..1 + writer.dice.roll(3)).for_each(|_| writer.statement());
        writer.text.push_str("  return 0;\n}\n");
    }
    writer.text.push_str("int main(void) {\n  pthread_t t, u;\n  unsigned char x = 2;\n  int y = 0;\n");
    if writer.dice.roll(4) == 0 {
        writer.text.push_str("  for (y = 0; y < 2; y++) m[y] = __VERIFIER_nondet_uchar() % 70;\n");
    }
    (0..1 + writer.dice.roll(3)).for_each(|_| writer.statement());
    writer.text.push_str("  pthread_create(&t, 0, other, 0);\n");
    (0..writer.dice.roll(3)).for_each(|_| writer.statement());
    if early {
        writer.text.push_str("  pthread_join(t, 0);\n");
        (0..1 + writer.dice.roll(2)).for_each(|_| writer.statement());
    }
    if two {
        writer.text.push_str("  pthread_create(&u, 0, another, 0);\n");
        (0..writer.dice.roll(2)).for_each(|_| writer.statement());
    }
    if writer.dice.roll(3) > 0 {
        writer.text.push_str(if two { "  pthread_join(u, 0);\n" } else { "" });
        (0..1 + writer.dice.roll(2)).for_each(|_| writer.statement());
    }
    writer.text.push_str("  return 0;\n}\n");
    writer.text
}

/// Whether a run goes wrong, and whether one is not followed; nothing if there are more states than this.
pub fn goes(program: &Program, most: usize) -> Option<(bool, bool)> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut beyond = false;
    while let Some(state) = todo.pop() {
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) => {
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(_) => return Some((true, beyond)),
                    Outcome::Beyond(_) => beyond = true,
                }
            }
        }
        if seen.len() > most {
            return None;
        }
    }
    Some((false, beyond))
}

#[test]
fn fewer_values_change_no_verdict_and_a_coarse_program_hides_no_error() {
    let (mut compared, mut coarse, mut proved, mut wrong) = (0, 0, 0, 0);
    for seed in seeds(60) {
        let text = program(seed);
        let [plain, fused] = programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let Some((fails, false)) = goes(&plain, MOST_STATES) else { continue };
        let Some((fused_fails, fused_beyond)) = goes(&fused, MOST_STATES) else { continue };
        assert!(!fused_beyond, "{seed}: not followed\n{text}");
        compared += 1;
        wrong += usize::from(fails);
        assert_eq!(fails, fused_fails, "{seed}: narrowed\n{text}");
        let map = LineMap::identity(text.as_bytes());
        let lowered = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).expect("it was read");
        let Some(program) = lowered.coarse else { continue };
        coarse += 1;
        let Some((coarse_fails, beyond)) = goes(&program, MOST_STATES) else { continue };
        assert!(coarse_fails || beyond || !fails, "{seed}: coarse\n{text}");
        proved += usize::from(!coarse_fails && !beyond);
    }
    println!("{compared} programs compared, {wrong} go wrong, {coarse} made coarse, {proved} proved so");
    assert!(compared > 20 && wrong > 5 && coarse > 5 && proved > 2);
}
