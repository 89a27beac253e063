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
