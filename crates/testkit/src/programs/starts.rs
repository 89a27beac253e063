//! Small random programs whose shared variables start with any values.

use fastrand::Rng;
use std::fmt::Write;

/// The program of a number: some shared variables and arrays start with any values, and few of them are read.
pub fn starts(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let length = rng.usize(2..=4);
    let called = rng.bool();
    let mut text =
        format!("shared bool a[{length}] = *;\nshared 0..2 n = *;\nshared bool b = *, c;\nevent e;\n");
    text += "proc f() : 0..2 { return n; }\n";
    let index = |rng: &mut Rng| match rng.u8(..3) {
        0 => "n".to_string(),
        1 => "l".to_string(),
        _ => rng.usize(..length).to_string(),
    };
    let condition = |rng: &mut Rng| {
        let a = index(rng);
        match rng.u8(..7) {
            0 => format!("a[{a}]"),
            1 => format!("!a[{a}]"),
            2 => format!("a[{a}] == a[{}]", index(rng)),
            3 => "b".to_string(),
            4 => format!("n == {}", rng.u8(..3)),
            5 => format!("b && a[{a}]"),
            _ => "c".to_string(),
        }
    };
    for thread in 0..rng.usize(1..=2) {
        writeln!(text, "thread t{thread} {{\n  0..2 l;").expect("a string takes whatever is written");
        for _ in 0..rng.usize(1..=4) {
            let (a, test) = (index(&mut rng), condition(&mut rng));
            let line = match rng.u8(..13) {
                0 | 1 => format!("a[{a}] = !a[{a}];"),
                2 => format!("a[{a}] = {test};"),
                3 => "l = n;".to_string(),
                4 => "b = *;".to_string(),
                5 => format!("c, b = {test}, c;"),
                6 => format!("await {test};"),
                7 => format!("assert {test} || {};", condition(&mut rng)),
                8 => format!("if ({test}) {{ c = true; }} else {{ n = l; }}"),
                9 => format!("atomic {{ b = {test}; assume {}; }}", condition(&mut rng)),
                10 if called => format!("a[{a}] = b; l = f();"),
                11 => "choose { broadcast e; } or { await c; }".to_string(),
                12 => format!("choose {{ await {test}; }} or {{ a[{a}] = true; }}"),
                _ => "loop { n = 1; break; }".to_string(),
            };
            writeln!(text, "  {line}").expect("a string takes whatever is written");
        }
        text += "}\n";
    }
    match rng.u8(..4) {
        0 => text += "never a[1] && c;\n",
        1 => text += "never c && !b;\n",
        _ => {}
    }
    text
}
