//! Programs with counters, arrays, locks and flags: every state that they reach is within the values that are known of it, and the
//! program of which only proofs are asked hides no error.

use super::dice::{Dice, seeds};
use super::ours::programs;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use allways_c::values::Values;
use allways_model::program::Program;
use allways_model::program::semantics::{Outcome, State, steps};
use std::collections::HashSet;
use std::fmt::Write;

/// A program with more states is left out.
const MOST_STATES: usize = 60_000;

const TAKE: [&str; 4] = [
    "__VERIFIER_atomic_begin(); __VERIFIER_assume(flag == 0); flag = 1; __VERIFIER_atomic_end();",
    "__VERIFIER_atomic_begin(); __VERIFIER_assume(flag != 1); flag = 1; __VERIFIER_atomic_end();",
    "pthread_mutex_lock(&lock);",
    "__VERIFIER_assume(flag == 0); flag = 1;",
];

struct Writer {
    dice: Dice,
    text: String,
}

impl Writer {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "  {line}");
    }

    fn simple(&mut self) {
        const SIMPLE: [&str; 21] = [
            "x = n;",
            "n = x + 2;",
            "if (n + 2 - 1 <= 7) { x = n; n = n + 2; }",
            "if (n < 6) n += 3;",
            "store[x] = y;",
            "store[x + 1] = n;",
            "store[x & 7] = 1;",
            "if (x < 8 && x >= 0) store[x] = y;",
            "y = x * 2;",
            "y = n - x;",
            "top = x;",
            "top = n;",
            "store[n] = x;",
            "store[y + 3] = x;",
            "check(x != 5);",
            "check(n != 4);",
            "check(y > 0);",
            "check(n < 9);",
            "check(top != 0 || y < 4);",
            "if (top == x) top = y; else y = top;",
            "x = y ? 3 : n;",
        ];
        let line = *self.dice.pick(&SIMPLE);
        self.line(line);
    }

    fn statement(&mut self) {
        let guarded = self.dice.roll(5);
        match guarded {
            0 | 1 => {
                let take = if self.dice.once_in(4) { self.dice.roll(4) } else { [0, 2][self.dice.roll(2)] };
                self.line(TAKE[take]);
                (0..1 + self.dice.roll(3)).for_each(|_| self.simple());
                let give = if self.dice.once_in(12) { 5 - take } else { take };
                self.line(if give == 2 { "pthread_mutex_unlock(&lock);" } else { "flag = 0;" });
            }
            2 => {
                self.line("__VERIFIER_atomic_begin();");
                (0..1 + self.dice.roll(3)).for_each(|_| self.simple());
                self.line("__VERIFIER_atomic_end();");
            }
            _ => self.simple(),
        }
    }

    fn body(&mut self) {
        let loops = self.dice.once_in(2);
        if loops {
            self.line("for (i = 0; i < 3; i++) {");
        }
        (0..1 + self.dice.roll(3)).for_each(|_| self.statement());
        if loops {
            self.line("}");
        }
    }
}

/// A program of `main` and one thread or two.
fn program(seed: u64) -> String {
    let mut writer = Writer { dice: Dice::new(seed), text: String::new() };
    writer.text.push_str(
        "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);\n\
         int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *);\n\
         void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         void reach_error(void);\n\
         void check(int holds) { if (!holds) reach_error(); }\n\
         int n = 1, top, flag, store[8]; pthread_mutex_t lock;\n\
         void *worker(void *unused) {\n  int x = 0, y = 1, i;\n",
    );
    writer.body();
    writer.text.push_str("  return 0;\n}\nint main(void) {\n  pthread_t t[2];\n  int x = 1, y = 0, i;\n");
    if writer.dice.once_in(2) {
        writer.body();
    }
    let threads = 1 + writer.dice.roll(2);
    (0..threads).for_each(|one| writer.line(&format!("pthread_create(&t[{one}], 0, worker, 0);")));
    writer.body();
    if writer.dice.once_in(2) {
        (0..threads).for_each(|one| writer.line(&format!("pthread_join(t[{one}], 0);")));
        writer.body();
    }
    writer.text.push_str("  return 0;\n}\n");
    writer.text
}

/// Whether a run goes wrong or is not followed, while every state is looked at; nothing if there are too many states.
pub(crate) fn explored(program: &Program, look: &dyn Fn(&State)) -> Option<bool> {
    let mut todo = State::initial(program, &State::counts(program))?;
    let mut seen: HashSet<State> = todo.iter().cloned().collect();
    let mut wrong = false;
    while let Some(state) = todo.pop() {
        look(&state);
        for thread in 0..state.threads.len() {
            for step in steps(program, &state, thread) {
                match step.outcome {
                    Outcome::To(next) => {
                        if seen.insert(next.clone()) {
                            todo.push(next);
                        }
                    }
                    Outcome::Wrong(_) | Outcome::Beyond(_) => wrong = true,
                }
            }
        }
        if seen.len() > MOST_STATES {
            return None;
        }
    }
    Some(wrong)
}

#[test]
fn values_contain_every_state_and_programs_made_of_them_hide_no_error() {
    let (mut compared, mut wrong, mut bounded, mut easier, mut proved) = (0, 0, 0, 0, 0);
    let (mut parts, mut proved_by_parts) = (0, 0);
    for seed in seeds(150) {
        let text = program(seed);
        let [plain, _] = programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let known = [Values::of(&plain), Values::smashing(&plain, 1)];
        let [Some(values), Some(smashed)] = known else { panic!("{seed}: no values\n{text}") };
        let look = |state: &State| {
            for thread in &state.threads {
                let Some(top) = thread.top() else { continue };
                // Of a thread that waits to be created it is known what it will find; one that has ended sees nothing.
                let template = &plain.templates[thread.template];
                let waits = template.name != "main" && top.location == plain.procedures[template.body].entry;
                if waits || plain.locations[top.location].edges.is_empty() {
                    continue;
                }
                for values in [&values, &smashed] {
                    assert!(
                        values.admit(top.location, &top.locals, &state.shared),
                        "{seed}: {:?} {:?}\n{text}",
                        top,
                        state.shared
                    );
                }
            }
        };
        let Some(fails) = explored(&plain, &look) else { continue };
        compared += 1;
        wrong += usize::from(fails);
        let map = LineMap::identity(text.as_bytes());
        let lowered = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).expect("it was read");
        if let Some(fails_bounded) = lowered.bounded.and_then(|program| explored(&program, &|_| {})) {
            bounded += 1;
            assert_eq!(fails_bounded, fails, "{seed}: bounds do not hold, or hide an error\n{text}");
        }
        if let Some(part_fails) = lowered.part.and_then(|program| explored(&program, &|_| {})) {
            parts += 1;
            assert!(part_fails || !fails, "{seed}: a part hides an error\n{text}");
            proved_by_parts += usize::from(!part_fails);
        }
        let Some(program) = lowered.coarse else { continue };
        easier += 1;
        let Some(easier_fails) = explored(&program, &|_| {}) else { continue };
        assert!(easier_fails || !fails, "{seed}: an error is hidden\n{text}");
        proved += usize::from(!easier_fails);
    }
    println!(
        "{compared} programs compared, {wrong} go wrong, {bounded} have bounds, {easier} made easier, {proved} proved so, \
         {parts} have parts, {proved_by_parts} proved so"
    );
    assert!(compared > 60 && wrong > 20 && bounded > 20 && easier > 20 && proved > 20);
    assert!(parts > 20 && proved_by_parts > 5);
}
