//! Random programs of two or three threads that share variables, array elements, members and cells, some of them locked,
//! some atomic.

use super::dice::Dice;
use std::fmt::Write as _;

/// A random program.
pub fn program(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text =
        "int x, y, n; int a[3]; struct { int p, q; int r : 2, s : 3; } m; _Atomic int v; int *w = &x;\n\
        pthread_mutex_t k, l; int *h;\n"
            .to_string();
    let threads = 1 + dice.roll(2);
    for thread in 0..threads {
        let body = statements(&mut dice, 2);
        writeln!(text, "void *f{thread}(void *arg) {{ int i = {};\n{body}  return 0; }}", dice.roll(3)).ok();
    }
    text.push_str("int main(void) { int i = 1; h = (int *)calloc(2, sizeof(int));\n");
    for thread in 0..threads {
        writeln!(text, "  pthread_t t{thread}; pthread_create(&t{thread}, 0, f{thread}, 0);").ok();
        if dice.roll(3) == 0 {
            writeln!(text, "  pthread_join(t{thread}, 0);").ok();
        }
    }
    text.push_str(&statements(&mut dice, 2));
    text.push_str("}\n");
    text
}

/// A random program in which most accesses are protected: by one of two mutexes, by a read-write lock, by a result of `trylock`, or since
/// nobody else is there.
pub fn locked(seed: u64) -> String {
    let mut dice = Dice::new(seed);
    let mut text =
        "int x, y, n, a[20]; struct { int p, q; int r : 2, s : 3; } m; _Atomic int v; int *w = &x;\n\
        pthread_mutex_t k, l; pthread_rwlock_t o; int *h;\n"
            .to_string();
    let threads = 1 + dice.roll(2);
    // Where something is protected by the same lock everywhere, programs are right.
    let careless = dice.roll(3);
    for thread in 0..threads {
        let body = sections(&mut dice, careless);
        writeln!(text, "void *f{thread}(void *arg) {{ int i = {};\n{body}  return 0; }}", dice.roll(3)).ok();
    }
    let alone = statements(&mut dice, 0);
    writeln!(text, "int main(void) {{ int i = 1; h = (int *)calloc(2, sizeof(int));\n{alone}").ok();
    let loops = dice.once_in(4);
    for thread in 0..threads {
        writeln!(text, "  pthread_t t{thread}; pthread_create(&t{thread}, 0, f{thread}, 0);").ok();
    }
    if loops {
        writeln!(text, "  pthread_t u[2]; for (int j = 0; j < 2; j++) pthread_create(&u[j], 0, f0, 0);").ok();
    }
    text.push_str(&sections(&mut dice, careless));
    if dice.once_in(2) {
        for thread in 0..threads {
            writeln!(text, "  pthread_join(t{thread}, 0);").ok();
        }
        if loops {
            writeln!(text, "  for (int j = 0; j < 2; j++) pthread_join(u[j], 0);").ok();
        }
        text.push_str(&statements(&mut dice, 0));
    }
    text.push_str("}\n");
    text
}

/// Statements of which each is in a section of the lock of what it accesses, most often.
fn sections(dice: &mut Dice, careless: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(2) {
        let of_k = ["x", "n", "a[i]", "a[1]", "*w"];
        let of_l = ["y", "m.p", "m.q", "m.r", "h[i & 1]"];
        let (which, own) = if dice.once_in(2) { ("k", of_k) } else { ("l", of_l) };
        let lock = if careless > 1 && dice.once_in(4) { "k" } else { which };
        let (to, from) = (*dice.pick(&own), *dice.pick(&own));
        let access = match dice.roll(3) {
            0 => format!("{to} = {from} + 1;"),
            1 => format!("if ({from}) {to} = i;"),
            _ => format!("{to}++; i = i ? 0 : 1;"),
        };
        match dice.roll(8) {
            0 => writeln!(text, "  if (!pthread_mutex_trylock(&{lock})) {{ {access} pthread_mutex_unlock(&{lock}); }}"),
            1 => writeln!(
                text,
                "  {{ int z = pthread_mutex_trylock(&{lock}); if (i > 7) v++; if (!z) {{ {access} pthread_mutex_unlock(&{lock}); }} }}"
            ),
            2 => writeln!(
                text,
                "  {{ pthread_mutex_t *z = &{lock}; if (i == {}) z = &l; pthread_mutex_lock(z); {access} pthread_mutex_unlock(z); }}",
                2 + dice.roll(2) * 7
            ),
            3 => writeln!(
                text,
                "  pthread_rwlock_{}lock(&o); m.s{}; pthread_rwlock_unlock(&o);",
                if dice.once_in(2) { "rd" } else { "wr" },
                if dice.once_in(3) { " = i" } else { "" }
            ),
            4 if careless > 0 => writeln!(text, "  {access}"),
            5 => writeln!(text, "  if (v) {{ pthread_mutex_lock(&{lock}); {access} pthread_mutex_unlock(&{lock}); }} else v = 1;"),
            _ => writeln!(text, "  pthread_mutex_lock(&{lock}); {access} pthread_mutex_unlock(&{lock});"),
        }
        .ok();
    }
    text
}

/// Something that is read or written.
fn place(dice: &mut Dice) -> &'static str {
    const PLACES: [&str; 13] =
        ["x", "y", "n", "a[0]", "a[1]", "a[i]", "m.p", "m.q", "m.r", "m.s", "v", "*w", "h[i & 1]"];
    PLACES[dice.roll(PLACES.len())]
}

fn value(dice: &mut Dice) -> String {
    match dice.roll(6) {
        0 | 1 => format!("{}", dice.roll(3)),
        2 => "i".to_string(),
        3 => format!("({} && {})", place(dice), place(dice)),
        4 => format!("(i || {})", place(dice)),
        _ => place(dice).to_string(),
    }
}

fn statements(dice: &mut Dice, deep: usize) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.roll(2) {
        let inner = if deep > 0 { statements(dice, deep - 1) } else { "  i = i ? 0 : 1;\n".to_string() };
        match dice.roll(10) {
            0 | 1 => writeln!(text, "  {} = {};", place(dice), value(dice)),
            2 => writeln!(text, "  {}++;", place(dice)),
            3 => writeln!(text, "  pthread_mutex_lock(&k);\n{inner}  pthread_mutex_unlock(&k);"),
            4 => {
                writeln!(text, "  if (!pthread_mutex_trylock(&l)) {{\n{inner}  pthread_mutex_unlock(&l); }}")
            }
            5 => writeln!(text, "  if ({}) {{\n{inner}  }}", value(dice)),
            6 => writeln!(text, "  __sync_fetch_and_add(&{}, 1);", ["x", "y", "a[1]", "m.p"][dice.roll(4)]),
            7 => {
                let (to, from) = (place(dice), place(dice));
                writeln!(text, "  __VERIFIER_atomic_begin(); {to} = {from}; __VERIFIER_atomic_end();")
            }
            8 => writeln!(text, "  i = {} ? 1 : 0;", place(dice)),
            _ => writeln!(text, "  w = &{};", ["x", "y", "a[1]"][dice.roll(3)]),
        }
        .ok();
    }
    text
}
