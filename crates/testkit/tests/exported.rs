//! Programs with one thread in C and in Boogie, compared with what they mean.
//!
//! C is compiled, without warnings, and run once for every way of choosing (`exported/harness.c`): the values at the end, and
//! whether an assertion fails, must be those of the reference semantics. Where CBMC and Boogie are installed, they are asked
//! for verdicts; where they are not, the tests say so.
//!
//! `ALLWAYS_RANDOM=N` sets the number of programs.

use allways_lang::{aw, bp, write};
use allways_model::program::sequential::sequential;
use allways_model::program::{Count, Expr, Program, Value};
use allways_testkit::programs::{Mode, boolean, posting, summarize, terse, text};
use allways_testkit::random;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const STATES: usize = 30_000;

fn parsed(text: &str) -> Program {
    aw::parse(text.as_bytes()).program.unwrap_or_else(|| panic!("a program\n{text}"))
}

/// A program of threads, of which one is left.
fn alone(mut program: Program) -> Program {
    for (number, template) in program.templates.iter_mut().enumerate() {
        template.count = Count::Fixed(usize::from(number == 0));
    }
    program.never.retain(|never| {
        let mut at = false;
        never.expr.visit(&mut |expr| at |= matches!(expr, Expr::At(_)));
        !at
    });
    program
}

/// The random program of a number, with one thread.
fn program(seed: u64) -> Option<Program> {
    let delays = (seed / 8 % 2) as usize;
    let made = |text: String| sequential(&parsed(&text), delays).ok().map(|made| made.program);
    match seed % 8 {
        0 => made(terse(seed)),
        1 => made(asserting(seed)),
        2 => made(posting(seed)),
        3 => bp::parse(boolean(seed).as_bytes()).program.map(alone),
        _ => Some(alone(parsed(&text(seed, Mode::Threads)))),
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// What a tool says, if there is such a tool.
fn tool(name: &str, arguments: &[&str]) -> Option<Output> {
    Command::new(name).args(arguments).output().ok()
}

/// The variables of a text in C, elements of arrays one by one.
fn variables(text: &str) -> Vec<String> {
    let declarations = text.lines().filter_map(|line| line.strip_prefix("static ")?.strip_suffix(';'));
    let mut names = Vec::new();
    for declaration in declarations.filter(|declaration| !declaration.contains('(')) {
        let name = declaration.rsplit(' ').next().unwrap_or_default();
        match name.split_once('[') {
            None => names.push(name.to_string()),
            Some((array, length)) => {
                let length: usize = length.trim_end_matches(']').parse().expect("a length");
                names.extend((0..length).map(|index| format!("{array}[{index}]")));
            }
        }
    }
    names
}

/// The values at the end and whether something goes wrong, by running C; unless there is too much to run.
fn run(folder: &Path, text: &str, slots: usize, name: &str) -> Option<(BTreeSet<Vec<Value>>, bool)> {
    let names = &variables(text)[..slots];
    let format = vec!["%lld"; slots].join(" ");
    let values: String = names.iter().map(|name| format!(", (long long) {name}")).collect();
    fs::write(folder.join("program.c"), text).expect("written");
    let harness = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exported/harness.c");
    let compiled = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-o", "program", "-I."])
        // What recurses without end does so in the program, too.
        .arg("-Wno-infinite-recursion")
        .arg("-DPROGRAM=\"program.c\"")
        .arg(format!("-DFINAL=printf(\"{format}\\n\"{values});"))
        .arg(harness)
        .current_dir(folder)
        .output()
        .expect("a C compiler");
    assert!(compiled.status.success(), "{name}\n{}\n{text}", String::from_utf8_lossy(&compiled.stderr));
    let output = Command::new(folder.join("program")).output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    // A loop without choices, or recursion without end, is stopped by a signal.
    if !output.status.success() || said.lines().any(|line| line == "cut" || line == "beyond") {
        return None;
    }
    let number = |word: &str| word.parse().expect("a number");
    let ended = said.lines().filter(|line| *line != "wrong");
    let ended = ended.map(|line| line.split_whitespace().map(number).collect()).collect();
    Some((ended, said.lines().any(|line| line == "wrong")))
}

#[test]
fn c_does_the_same() {
    let folder = folder("c");
    let (mut refused, mut large, mut wrong, mut compared) = (0, 0, 0, 0);
    for seed in random::seeds(40) {
        let Some(program) = program(seed) else { continue };
        let Ok(text) = write::c(&program) else {
            refused += 1;
            continue;
        };
        let name = format!("program {seed}");
        let Some(found) = summarize(&program, STATES) else {
            large += 1;
            continue;
        };
        let Some((ended, violation)) = run(&folder, &text, program.shared_slots(), &name) else {
            large += 1;
            continue;
        };
        let expected: BTreeSet<Vec<Value>> = found.ended.into_iter().map(|state| state.shared).collect();
        assert_eq!((violation, ended), (found.violation, expected), "{name}\n{text}");
        compared += 1;
        wrong += usize::from(violation);
    }
    println!("{compared} compared, of which {wrong} go wrong; {refused} refused, {large} too large");
    assert!(compared > 0);
}

/// Names may be words of C or of its library; numbers may be as large as they get.
#[test]
fn any_name_and_any_number_can_be_written() {
    let text =
        "shared int log = 0, number = 9223372036854775807; shared bool auto, sin; shared 0..3 switch[2] = *;
        proc exit(int abs, bool nondet_bool) : int { abs = abs / -2; return nondet_bool ? abs % 3 : -abs; }
        thread main_ { log = exit(7, *); auto, sin = sin, !auto; switch[0], switch[1] = switch[1], 1;
        number = number - 1; while (log < 0 && sin) { log = log + 2; } assert log != 0 || switch[0] < 3; }";
    let program = parsed(text);
    let written = write::c(&program).expect("one thread");
    let found = summarize(&program, STATES).expect("it is small");
    let expected: BTreeSet<Vec<Value>> = found.ended.into_iter().map(|state| state.shared).collect();
    let ran = run(&folder("names"), &written, program.shared_slots(), "names");
    assert_eq!(ran, Some((expected, found.violation)));
    let beyond = parsed("shared int x = 9223372036854775807; thread t { x = x + 1; }");
    let written = write::c(&beyond).expect("one thread");
    assert_eq!(run(&folder("beyond"), &written, 1, "beyond"), None);
}

/// A random program in which one of the tasks expects something.
fn asserting(seed: u64) -> String {
    let text = terse(seed);
    let expected = if text.contains("bool x") { "!x" } else { "x != 2" };
    text.replace("task b() {", &format!("task b() {{\nassert {expected};"))
}

/// The verdicts of a tool on sequential programs for tasks.
fn verdicts(name: &str, mut ask: impl FnMut(&Program, usize) -> bool) {
    let (mut wrong, mut compared) = (0, 0);
    for seed in random::seeds(9) {
        let delays = (seed % 3) as usize;
        let text = asserting(seed);
        let Ok(made) = sequential(&parsed(&text), delays) else { continue };
        let Some(found) = summarize(&made.program, STATES) else { continue };
        let violation = ask(&made.program, delays);
        assert_eq!(violation, found.violation, "{name}, {delays} delays\n{text}");
        compared += 1;
        wrong += usize::from(violation);
    }
    println!("{name}: {compared} compared, of which {wrong} go wrong");
    assert!(compared > 0);
}

#[test]
fn cbmc_agrees() {
    if tool("cbmc", &["--version"]).is_none() {
        println!("skipped: there is no cbmc");
        return;
    }
    let file = folder("cbmc").join("program.c");
    let path = file.to_str().expect("a path");
    verdicts("CBMC", |program, delays| {
        fs::write(&file, write::c(program).expect("one thread")).expect("written");
        let unwind = (delays + 2).to_string();
        let output = tool("cbmc", &["--unwind", &unwind, "--unwinding-assertions", path]).expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let failed: Vec<&str> = said.lines().filter(|line| line.ends_with(": FAILURE")).collect();
        assert!(failed.iter().all(|line| !line.contains("unwinding")), "{said}");
        assert!(
            said.contains(if failed.is_empty() { "VERIFICATION SUCCESSFUL" } else { "VERIFICATION FAILED" }),
            "{said}"
        );
        !failed.is_empty()
    });
}

#[test]
fn boogie_agrees() {
    if tool("boogie", &["/help"]).is_none() {
        println!("skipped: there is no boogie");
        return;
    }
    let file = folder("boogie").join("program.bpl");
    let path = file.to_str().expect("a path");
    verdicts("Boogie", |program, delays| {
        fs::write(&file, write::boogie(program).expect("one thread")).expect("written");
        let output = tool("boogie", &[&format!("/loopUnroll:{}", delays + 2), path]).expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let end = said.lines().rev().find(|line| line.contains("verifier finished with"));
        let end = end.unwrap_or_else(|| panic!("{said}"));
        assert!(!end.contains("inconclusive") && !end.contains("time out"), "{said}");
        !end.contains(" 0 errors")
    });
}

/// Both languages have the same statements in the same blocks.
#[test]
fn boogie_is_written_like_c() {
    let mut compared = 0;
    for seed in random::seeds(200) {
        let Some(program) = program(seed) else { continue };
        let (Ok(c), Ok(boogie)) = (write::c(&program), write::boogie(&program)) else { continue };
        let count =
            |text: &str, what: &str| text.lines().filter(|line| line.trim_start().starts_with(what)).count();
        let helpers = |what| {
            count(&c, what) - c.lines().filter(|line| line.starts_with("  __CPROVER_assert(LLONG")).count()
        };
        assert_eq!(helpers("__CPROVER_assert("), count(&boogie, "assert {"), "program {seed}");
        let opened = |letter| boogie.chars().filter(|&other| other == letter).count();
        assert_eq!((opened('{'), opened('(')), (opened('}'), opened(')')), "program {seed}");
        compared += 1;
    }
    assert!(compared > 0);
}
