//! Answers as a whole: twenty that nothing is known, each with what to try next, and ten traces in 80 columns.
//!
//! What is expected is in `panels/`, one file for each panel. `ALLWAYS_PANELS=write cargo test -p allways --test panels` writes
//! what is answered there, to be looked at before it is kept. Figures that differ from run to run are replaced: times by `T`, and
//! how many states were seen within a limit of time or memory by `N`.

mod common;

use common::{Run, command, file, folder};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// The programs of the panel of unknown answers, by the names of their files.
const PROGRAMS: [(&str, &str); 12] = [
    // Counts without end.
    ("counts.aw", "shared int x;\n\nthread p[2] {\n  loop { x = x + 1; }\n}\n\nnever x < 0;\n"),
    (
        "recurses.aw",
        "shared bool x;\n\nproc f() {\n  if (*) { f(); }\n  x = !x;\n}\n\nthread p[2] {\n  f();\n}\n\nnever x && !x;\n",
    ),
    (
        "starts.aw",
        "shared 0..9 n;\n\nthread boss {\n  loop { spawn worker; }\n}\n\nthread worker[0] {\n  n = (n + 1) % 10;\n  n = n * 3 % 10;\n}\n\nnever n == 7 && n == 8;\n",
    ),
    ("large.aw", "shared int x = 9223372036854775807;\n\nthread p[2] {\n  x = x + 1;\n}\n\nnever x == 3;\n"),
    (
        "tasks.aw",
        "shared 0..3 x;\n\nmain {\n  loop { post t(); }\n}\n\ntask t() {\n  0..3 old = x;\n  yield;\n  x = (old + 1) % 4;\n}\n\nnever x > 3;\n",
    ),
    (
        "small.aw",
        "shared 0..3 x, y;\n\nthread p[2] {\n  loop { x = (x + 1) % 4; y = x; }\n}\n\nnever x > 3;\n",
    ),
    ("open.aw", "shared 0..7 x;\n\nthread p[*] {\n  loop { x = (x + 3) % 8; }\n}\n\nnever x > 7;\n"),
    (
        "deep.aw",
        "shared 0..2 x;\n\nproc f() {\n  choose { f(); f(); } or { x = (x + 1) % 3; }\n}\n\nthread p {\n  f();\n}\n\nthread q {\n  loop { await x == 2; x = 0; }\n}\n\nnever x > 2;\n",
    ),
    (
        "waits.aw",
        "shared bool go;\nevent e;\n\nthread p[2] {\n  loop { wait e; go = !go; }\n}\n\nthread q {\n  loop { broadcast e; }\n}\n\nnever go && !go;\n",
    ),
    // Chooses between too many values in one step.
    ("wide.aw", "shared 0..99999 x;\n\nthread p {\n  loop { x = *; }\n}\n\nnever x == 77777;\n"),
    // Of threads that are counted, only some numbers are tried by an engine that lists states.
    (
        "any-number.aw",
        "shared 0..7 x;\n\nthread p[*] {\n  x = (x + 1) % 8;\n  x = (x + 2) % 8;\n}\n\nnever x > 7;\n",
    ),
    (
        "signals.aw",
        "shared 0..2 n;\nevent e;\n\nthread p[*] {\n  wait e;\n  n = (n + 1) % 3;\n}\n\nthread q {\n  loop { signal e; }\n}\n\nnever n > 2;\n",
    ),
];

/// How each is asked, and by which of the programs. All of these are answered alike on every machine.
const UNKNOWN: [&str; 20] = [
    "small.aw --engine walks --max-states 20",
    "counts.aw --engine free --timeout 300ms",
    "small.aw --rounds 2 --delays 1",
    "small.aw --contexts 2",
    "any-number.aw --engine free --max-states 200",
    "recurses.aw --engine free --max-depth 4",
    "counts.aw --engine free --memory 40M",
    "counts.aw --deadlock",
    "recurses.aw --stuck",
    "wide.aw --engine free",
    "tasks.aw --engine free --max-states 50 --threads t=2",
    "tasks.aw --engine sandwich --threads t=1",
    "waits.aw --engine modular --deadlock",
    "counts.aw --engine predicates --solver no-such-solver",
    "deep.aw --engine cuba",
    "large.aw --engine free",
    "starts.aw --engine free",
    "open.aw --engine free",
    "signals.aw --engine modular",
    "signals.aw --engine coverability",
];

/// The traces: programs of the corpus that go wrong.
const TRACES: [&str; 10] = [
    "peterson-wrong.aw",
    "szymanski-n-wrong.aw",
    "vyukov-queue-wrong.aw",
    "michael-scott-queue-wrong.aw",
    "condition-signal-wrong.aw --deadlock",
    "raft-election-wrong.aw",
    "epochs-wrong.aw",
    "futex-signal-wrong.aw --deadlock",
    "two-phase-commit-crash-wrong.aw",
    "philosophers.aw --deadlock",
];

/// A line without times.
fn without_times(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in line.split(' ') {
        let unit = word.trim_end_matches([')', ',']);
        let number = words.last().is_some_and(|last| {
            let last = last.trim_start_matches('(');
            !last.is_empty() && last.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
        });
        if number && matches!(unit, "ms" | "s" | "µs" | "min" | "h") {
            let open = if words.pop().is_some_and(|last| last.starts_with('(')) { "(" } else { "" };
            words.push(format!("{open}T{}", &word[unit.len()..]));
        } else {
            words.push(word.to_string());
        }
    }
    words.join(" ")
}

fn panel(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/panels").join(name)
}

/// Compares answers with those of a file, or writes them there.
fn compare(name: &str, answers: &BTreeMap<usize, String>) {
    let text: String = answers.values().map(String::as_str).collect::<Vec<_>>().join("\n");
    let path = panel(name);
    if std::env::var_os("ALLWAYS_PANELS").is_some() {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        return fs::write(&path, text).expect("a file");
    }
    let expected = fs::read_to_string(&path).expect("the panel");
    let (expected, found): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), text.lines().collect());
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        assert_eq!(found, expected, "line {} of {name}", number + 1);
    }
    assert_eq!(found.len(), expected.len(), "as many lines as {name}");
}

/// A line without numbers of states.
fn without_states(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let is_number = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let of_states = |number: usize| {
        words[number + 1..].iter().take(2).any(|word| word.starts_with("state")) && is_number(words[number])
    };
    let shown = |number: usize| if of_states(number) { "N" } else { words[number] };
    (0..words.len()).map(shown).collect::<Vec<_>>().join(" ")
}

/// The whole of an answer, below how it was asked.
fn whole(question: &str, run: &Run) -> String {
    let mut text = format!("$ allways check {question}\n");
    let limited = run.out.contains("limit was reached");
    for line in run.out.lines() {
        let line = without_times(line);
        let _ = writeln!(text, "{}", if limited { without_states(&line) } else { line });
    }
    text
}

#[test]
fn unknown_answers_say_what_to_try_next() {
    let place = folder("panel-of-unknown-answers");
    for (name, text) in PROGRAMS {
        file(&place, name, text);
    }
    let mut answers = BTreeMap::new();
    for (number, question) in UNKNOWN.into_iter().enumerate() {
        let run =
            Run::of(command(&format!("check {question}")).current_dir(&place).output().expect("it starts"));
        assert!(run.out.starts_with("unknown: "), "{question}: {run:?}");
        let last = run.out.lines().last().unwrap_or_default();
        let advises = last.trim_start().starts_with("next: ")
            || run.out.lines().next().is_some_and(|line| line.contains("--"));
        assert!(advises, "{question} has a next step: {run:?}");
        answers.insert(number, whole(question, &run));
    }
    compare("unknown.txt", &answers);
}

#[test]
fn traces_fit_eighty_columns_and_are_those_of_replay() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aw");
    let place = folder("panel-of-traces");
    let mut answers = BTreeMap::new();
    for (number, question) in TRACES.into_iter().enumerate() {
        let evidence = place.join(format!("{number}.trace"));
        let evidence = evidence.to_str().expect("a plain path");
        let asked = format!("check {question} --engine free --evidence {evidence}");
        let run = Run::of(command(&asked).current_dir(&corpus).output().expect("it starts"));
        assert!(run.out.starts_with("unsafe: "), "{question}: {run:?}");
        for line in run.out.lines() {
            assert!(line.chars().count() <= 80 || line.starts_with("unsafe: "), "{question}: {line}");
        }
        // The steps of the replay of the evidence are those of the answer.
        let replay = format!("replay {question} {evidence}");
        let replayed = Run::of(command(&replay).current_dir(&corpus).output().expect("it starts"));
        assert_eq!(steps(&run), steps(&replayed), "{question}: {replayed:?}");
        assert!(!steps(&run).is_empty(), "{question}");
        answers.insert(number, whole(question, &run));
    }
    compare("traces.txt", &answers);
}

/// The lines of the steps of a trace: all below its header.
fn steps(run: &Run) -> Vec<String> {
    let is_step = |line: &&str| line.trim_start().starts_with(|letter: char| letter.is_ascii_digit());
    run.out.lines().filter(is_step).map(str::to_string).collect()
}

#[test]
fn times_are_left_out() {
    assert_eq!(without_times("safe: a (free, 12 states, 1.5 ms)"), "safe: a (free, 12 states, T)");
    assert_eq!(without_times("3 s"), "T");
    assert_eq!(without_times("2 states, 7 msgs"), "2 states, 7 msgs");
}
