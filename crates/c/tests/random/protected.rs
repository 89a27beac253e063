//! Programs with sections of locks, most of them kept and some not: programs of which only proofs are asked, in which such a section is
//! one step, hide no error.

use super::dice::{Dice, seeds};
use super::ours::programs;
use super::values::explored;
use allways_c::read;
use allways_c::source::LineMap;
use allways_c::typed::DataModel;
use std::fmt::Write;

/// What is done with the variables under lock `a`, those under lock `b`, and those of nobody.
const UNDER: [&[&str]; 3] = [
    &[
        "x = x + 1; y = y + 1;",
        "x = 2; y = 2;",
        "y = x;",
        "check(x == y);",
        "if (x == y) { x = 0; y = 0; }",
        "t = x; check(t == y);",
    ],
    &["u = u + 1; v = u;", "v = u;", "check(u == v);", "t = v; check(t == u);", "if (u) { v = 1; u = 1; }"],
    &["z = t;", "t = z;", "check(z != 9);", "z = 1;", "t = 1;"],
];

/// Statements of a section, now and then one that another lock protects, or none.
fn statements(dice: &mut Dice, lock: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(3) {
        let from = if dice.once_in(12) { dice.roll(3) } else { lock };
        let _ = write!(text, "{} ", dice.pick(UNDER[from]));
    }
    text
}

fn section(dice: &mut Dice) -> String {
    let lock = dice.roll(2);
    let (name, other) = (["a", "b"][lock], ["b", "a"][lock]);
    let (one, two, three) = (statements(dice, lock), statements(dice, lock), statements(dice, 1 - lock));
    let (take, give) = (format!("pthread_mutex_lock(&{name});"), format!("pthread_mutex_unlock(&{name});"));
    let (take_other, give_other) =
        (format!("pthread_mutex_lock(&{other});"), format!("pthread_mutex_unlock(&{other});"));
    match dice.roll(12) {
        0..5 => format!("{take} {one} {give}"),
        5 => format!("{take} {one} {take_other} {three} {give_other} {two} {give}"),
        6 => format!("{take} {one} {take_other} {two} {give} {three} {give_other}"),
        7 => format!("if (pthread_mutex_trylock(&{name}) == 0) {{ {one} {give} }} else {{ t = 1; }}"),
        8 => format!("{take} {one} pthread_cond_wait(&c, &{name}); {two} {give}"),
        9 => format!("pthread_cond_signal(&c); {take} {one} {give} {}", statements(dice, 2)),
        10 => format!("{take} if (t) {{ {one} }} else {{ {two} }} {give}"),
        _ => match dice.roll(4) {
            0 => one,
            1 => format!("{take} {one} if (t) {{ {give} }} {two} if (!t) {{ {give} }}"),
            2 => format!("__VERIFIER_assume(f == 0); f = 1; {} f = 0;", statements(dice, 2)),
            _ => format!(
                "__VERIFIER_atomic_begin(); __VERIFIER_assume(f == 0); f = 1; __VERIFIER_atomic_end(); {} f = 0;",
                statements(dice, 2)
            ),
        },
    }
}

fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text = String::from(
        "typedef unsigned long pthread_t; typedef struct { int x; } pthread_mutex_t; typedef struct { int y; } pthread_cond_t;\n\
         int pthread_create(pthread_t *, const void *, void *(*)(void *), void *); int pthread_join(pthread_t, void **);\n\
         int pthread_mutex_lock(pthread_mutex_t *); int pthread_mutex_unlock(pthread_mutex_t *); int pthread_mutex_trylock(pthread_mutex_t *);\n\
         int pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *); int pthread_cond_signal(pthread_cond_t *);\n\
         void __VERIFIER_assume(int); void __VERIFIER_atomic_begin(void); void __VERIFIER_atomic_end(void);\n\
         void reach_error(void);\n\
         void check(int holds) { if (!holds) reach_error(); }\n\
         int x, y, u, v, z, f; pthread_mutex_t a, b; pthread_cond_t c;\n",
    );
    for name in ["first", "second"] {
        let _ = writeln!(
            text,
            "void *{name}(void *unused) {{ int t = 0; {} {} return 0; }}",
            section(&mut dice),
            section(&mut dice)
        );
    }
    let before = if dice.once_in(2) { statements(&mut dice, 0) } else { String::new() };
    let meanwhile = section(&mut dice);
    let after = if dice.once_in(2) { statements(&mut dice, 1) } else { String::new() };
    let join = if dice.once_in(2) { "pthread_join(p, 0); pthread_join(q, 0);" } else { "" };
    let _ = writeln!(
        text,
        "int main(void) {{ pthread_t p, q; int t = 0; {before} pthread_create(&p, 0, first, 0); pthread_create(&q, 0, second, 0); \
         {meanwhile} {join} {after} return 0; }}"
    );
    text
}

#[test]
fn sections_of_locks_that_are_one_step_hide_no_error() {
    let (mut compared, mut wrong, mut asked, mut proved) = (0, 0, 0, 0);
    for seed in seeds(200) {
        let text = program(seed);
        let [plain, _] = programs(&text).unwrap_or_else(|why| panic!("{seed}: {why}\n{text}"));
        let Some(fails) = explored(&plain, &|_| {}) else { continue };
        compared += 1;
        wrong += usize::from(fails);
        let map = LineMap::identity(text.as_bytes());
        let lowered = read(text.as_bytes(), &map, DataModel::Lp64, Default::default()).expect("it was read");
        for program in [lowered.bounded, lowered.part, lowered.coarse].into_iter().flatten() {
            let Some(fails_so) = explored(&program, &|_| {}) else { continue };
            asked += 1;
            proved += usize::from(!fails_so);
            assert!(fails_so || !fails, "{seed}: an error is hidden\n{text}");
        }
    }
    println!("{compared} programs compared, {wrong} go wrong; of {asked} made of them, {proved} are right");
    assert!(compared < 150 || wrong > 30 && proved > 50);
}
