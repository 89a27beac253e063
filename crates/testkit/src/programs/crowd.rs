//! Random Boolean broadcast programs as in UCOB, section II: threads without procedures that start others, wait, and wake all
//! that wait. In the notation `.bp`.

use fastrand::Rng;
use std::fmt::Write;

/// The Boolean broadcast program of this number.
pub fn crowd(seed: u64) -> String {
    let mut rng = Rng::with_seed(seed);
    let shared = rng.usize(1..=2);
    let locals = rng.usize(0..=1);
    let mut names: Vec<String> = (0..shared).map(|number| format!("g{number}")).collect();
    let mut text = String::new();
    for name in &names {
        let initial = [":= 0", ":= 0", ":= 1", ":= *"][rng.usize(0..4)];
        let _ = writeln!(text, "decl {name} {initial};");
    }
    text += "void main() begin\n";
    for number in 0..locals {
        let _ = writeln!(text, "  decl x{number} := 0;");
        names.push(format!("x{number}"));
    }
    let lines = rng.usize(4..=9);
    let mut statements: Vec<String> = (0..lines).map(|_| statement(&mut rng, &names, lines)).collect();
    if rng.u32(0..3) > 0 {
        // Few would come to wake anybody by chance.
        let wait = rng.usize(2..lines);
        statements[0] = format!("start_thread goto l{wait}");
        statements[rng.usize(1..wait)] = "broadcast".to_string();
        statements[wait] = "wait".to_string();
    }
    for (line, statement) in statements.iter().enumerate() {
        let _ = writeln!(text, "l{line}: {statement};");
    }
    text + "end\n"
}

fn statement(rng: &mut Rng, names: &[String], lines: usize) -> String {
    let target = |rng: &mut Rng| format!("l{}", rng.usize(0..lines));
    match rng.u32(0..22) {
        0..=3 => assignment(rng, names),
        4 => format!("assume({})", condition(rng, names)),
        5..=7 => format!("assert({})", condition(rng, names)),
        8 => format!("goto {}", target(rng)),
        9 => format!("goto {}, {}", target(rng), target(rng)),
        10..=12 => format!("start_thread goto {}", target(rng)),
        13 | 14 => {
            let (condition, assignment) = (condition(rng, names), assignment(rng, names));
            format!("atomic_begin; assume({condition}); {assignment}; atomic_end")
        }
        15..=17 => "wait".to_string(),
        18..=20 => "broadcast".to_string(),
        _ => "end_thread".to_string(),
    }
}

fn assignment(rng: &mut Rng, names: &[String]) -> String {
    let name = &names[rng.usize(0..names.len())];
    match rng.u32(0..4) {
        0 => format!("{name} := *"),
        1 => format!("{name} := !{}", names[rng.usize(0..names.len())]),
        value => format!("{name} := {}", value - 2),
    }
}

fn condition(rng: &mut Rng, names: &[String]) -> String {
    let literal = |rng: &mut Rng| {
        let sign = if rng.bool() { "!" } else { "" };
        format!("{sign}{}", names[rng.usize(0..names.len())])
    };
    match rng.u32(0..3) {
        0 => format!("{} | {}", literal(rng), literal(rng)),
        1 => format!("{} & {}", literal(rng), literal(rng)),
        _ => literal(rng),
    }
}
