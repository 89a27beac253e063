//! Random programs whose threads use `self` to index arrays and to leave word of who they are, in the `.aw` language. A few of
//! them ask for a certain thread all the same, or compare numbers, or go through them in order.

use fastrand::Rng;
use std::fmt::Write;

/// The program of this number.
pub fn numbered(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let threads = rng.usize(2..=3);
    let mut text = format!("const N = {threads};\n");
    // Numbers from 0 on, and from 1 on with 0 for nobody.
    text += "shared 0..N - 1 owner;\nshared 0..N tail;\nshared bool flag[N];\nshared 0..2 level[N];\n";
    text += "shared 0..N next[N + 1];\nshared bool held[N + 1];\nlock m;\n";
    let _ = writeln!(text, "thread p[N] {{\n  0..N - 1 who;\n  0..N before;\n  bool b;\n  0..2 c;");
    let asymmetric = rng.u32(0..8) == 0;
    let count = rng.usize(3..=7);
    let endless = rng.bool();
    if endless {
        text += "  loop {\n";
    }
    for line in 0..count {
        let statement = statement(&mut rng, asymmetric, 0);
        let label = if line == count / 2 { "here: " } else { "" };
        let _ = writeln!(text, "  {label}{statement}");
    }
    text += if endless { "  }\n}\n" } else { "}\n" };
    if rng.u32(0..3) == 0 {
        let _ = writeln!(text, "thread q[2] {{ {} {} }}", other(&mut rng), other(&mut rng));
    }
    match rng.u32(0..4) {
        0 => text += "never at(here) >= 2;\n",
        1 => text += "never tail != 0 && at(here) >= 1;\n",
        2 if asymmetric => text += "never flag[0] && tail == 1;\n",
        _ => {}
    }
    text
}

/// What a thread without a number does.
fn other(rng: &mut Rng) -> &'static str {
    ["tail = 0;", "await tail != 0;", "held[tail] = true;", "level[owner] = 0;", "skip;"][rng.usize(0..5)]
}

fn statement(rng: &mut Rng, asymmetric: bool, depth: usize) -> String {
    if asymmetric && rng.u32(0..3) == 0 {
        let odd = [
            "await self < 1;",
            "owner = 0;",
            "flag[0] = true;",
            "tail = 2;",
            "assert self != 1 || !b;",
            "if (who < self) { b = true; }",
            "c = self;",
            "who = (who + 1) % N;",
            "assert owner == who || tail != 1;",
        ];
        return odd[rng.usize(0..odd.len())].to_string();
    }
    match rng.u32(0..if depth < 2 { 26 } else { 20 }) {
        0 => "flag[self] = !flag[self];".to_string(),
        1 => "flag[self] = true;".to_string(),
        2 => "owner = self;".to_string(),
        3 => "who = owner;".to_string(),
        4 => "level[self] = (level[self] + 1) % 3;".to_string(),
        5 => "before, tail = tail, self + 1;".to_string(),
        6 => "if (before != 0) { next[before] = self + 1; }".to_string(),
        7 => "held[self + 1] = true;".to_string(),
        8 => "held[next[self + 1]] = false;".to_string(),
        9 => "tail = tail == self + 1 ? 0 : tail;".to_string(),
        10 => "level[who] = 0;".to_string(),
        11 => "b = flag[who];".to_string(),
        12 => "c = level[owner];".to_string(),
        13 => "who = self;".to_string(),
        14 => "c = b ? 2 : 0;".to_string(),
        15 => "before = next[self + 1];".to_string(),
        16 | 17 => format!("await {};", condition(rng)),
        18 | 19 => format!("assert {};", condition(rng)),
        20 | 21 => format!(
            "if ({}) {{ {} }} else {{ {} }}",
            condition(rng),
            statement(rng, asymmetric, depth + 1),
            statement(rng, asymmetric, depth + 1)
        ),
        22 => format!("atomic {{ {} {} }}", statement(rng, asymmetric, 2), statement(rng, asymmetric, 2)),
        23 => format!("acquire(m); {} release(m);", statement(rng, asymmetric, 2)),
        24 => format!("while ({}) {{ {} }}", condition(rng), statement(rng, asymmetric, depth + 1)),
        _ => "tail = before;".to_string(),
    }
}

fn condition(rng: &mut Rng) -> String {
    let all = [
        "owner == self",
        "owner != self",
        "who == self",
        "who != owner",
        "!flag[self]",
        "!flag[owner]",
        "flag[who]",
        "level[self] < 2",
        "level[who] != 1",
        "tail == 0",
        "tail != self + 1",
        "before != 0",
        "next[self + 1] == 0",
        "!held[self + 1]",
        "held[tail]",
        "tail > 0",
        "b",
        "c == 2",
        "next[before] == tail",
    ];
    let one = all[rng.usize(0..all.len())];
    match rng.u32(0..3) {
        0 => format!("({one} || {})", all[rng.usize(0..all.len())]),
        _ => one.to_string(),
    }
}
