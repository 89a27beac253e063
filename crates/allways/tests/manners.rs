//! What users expect of every command: standard input, repeated options, objects for errors, programs that state their verdict.

mod common;

use common::{Run, allways, command, file, folder};
use std::io::Write;
use std::process::Stdio;

const RACE: &str =
    "shared 0..2 x; thread p[2] { 0..2 l = x; x = l + 1; done: skip; } never at(done) == 2 && x == 1;\n";

/// Runs the program with a text on standard input.
fn piped(arguments: &str, text: &str) -> Run {
    let mut command = command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("it reads");
    Run::of(child.wait_with_output().expect("it ends"))
}

#[test]
fn a_program_on_standard_input_is_checked() {
    let run = piped("check - --json", RACE);
    assert_eq!((run.code, run.json()["verdict"].as_str()), (10, Some("unsafe")), "{run:?}");
    assert_eq!(run.json()["file"], "standard input");
    let run = piped("check -", "thread p { y = 1; }\n");
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("standard input:1:12"), "{run:?}");
    let run = piped("check - --threads 1", RACE);
    assert_eq!(run.code, 0, "the other options apply: {run:?}");
}

#[test]
fn the_last_of_repeated_options_counts() {
    let folder = folder("repeated");
    let race = file(&folder, "race.aw", RACE);
    assert_eq!(allways(&format!("check {race} --threads 2 --threads 1")).code, 0);
    assert_eq!(allways(&format!("check {race} --threads 1 --threads 2")).code, 10);
    let run = allways(&format!("check {race} --engine free --engine sandwich --json"));
    assert_eq!(run.json()["engine"], "sandwich");
}

#[test]
fn a_file_with_an_error_has_an_object() {
    let folder = folder("objects");
    let wrong = file(&folder, "wrong.aw", "shared bool x;\nthread p { x = 1 +; }\nthread q { z = x; }\n");
    let race = file(&folder, "race.aw", RACE);
    let run = allways(&format!("check --json {wrong} {race} nowhere.aw"));
    assert_eq!(run.code, 2, "{run:?}");
    let objects: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(objects.len(), 3, "one for each file: {run:?}");
    assert_eq!(objects[0]["verdict"], "error");
    assert_eq!(objects[0]["file"], wrong.as_str());
    assert_eq!(
        (&objects[0]["errors"][0]["line"], &objects[0]["errors"][0]["column"]),
        (&2.into(), &19.into())
    );
    assert_eq!(objects[1]["verdict"], "unsafe");
    assert_eq!(objects[2]["errors"][0]["message"], "cannot read nowhere.aw: there is no such file");
    assert!(objects[2]["errors"][0]["line"].is_null());
    for command in [format!("reach --json {wrong}"), format!("certify --json {wrong} {race}")] {
        let run = allways(&command);
        assert_eq!((run.code, run.json()["verdict"].as_str()), (2, Some("error")), "{run:?}");
        assert!(run.err.contains("wrong.aw:2:19"), "and in words: {run:?}");
    }
}

#[test]
fn programs_are_as_they_state() {
    let folder = folder("stated");
    let text = |header: &str| format!("// Two threads\n{header}{RACE}");
    let right = "//! verdict: unsafe\n//! violation: never\n//! switches: 2\n//! run: --threads 1 => safe\n";
    file(&folder, "a.aw", text(right));
    file(&folder, "notes.txt", "//! verdict: safe\n");
    file(&folder, "silent.aw", RACE);
    let run = allways(&format!("test {}", folder.display()));
    assert_eq!((run.code, run.out.lines().count()), (0, 3), "{run:?}");
    assert_eq!(
        run.out.lines().last().and_then(|line| line.rsplit_once(" (")).map(|(line, _)| line),
        Some("passed: 2 runs, 0 otherwise than stated, nothing stated in 1 file")
    );

    let inner = folder.join("inner");
    std::fs::create_dir(&inner).expect("a folder");
    for (name, header, found) in [
        ("verdict.aw", "//! verdict: safe\n", "unsafe"),
        ("switches.aw", "//! verdict: unsafe\n//! switches: 1\n", "unsafe, 2 switches"),
        ("violation.aw", "//! verdict: unsafe\n//! violation: assert\n", "unsafe, never"),
        ("run.aw", "//! run: --threads 1 => unsafe\n", "safe"),
    ] {
        let path = file(&inner, name, text(header));
        let run = allways(&format!("test --json {path}"));
        assert_eq!(run.code, 1, "{run:?}");
        let object = run.json();
        assert_eq!((&object["as_stated"], &object["found"]), (&false.into(), &found.into()), "{run:?}");
    }
    let run = allways(&format!("test {}", folder.display()));
    assert_eq!(run.out.lines().filter(|line| line.starts_with("otherwise: ")).count(), 4, "{run:?}");
    assert_eq!(run.code, 1);
}

#[test]
fn a_statement_that_is_none_is_an_error() {
    let folder = folder("statements");
    for header in [
        "//! verdikt: safe\n",
        "//! verdict: sure\n",
        "//! run: --threads 1\n",
        "//! switches: two\n",
        "//! run: --thread 1 => safe\n",
        "//! options: --no-such-option\n//! verdict: safe\n",
    ] {
        let path = file(&folder, "x.aw", format!("{header}{RACE}"));
        let run = allways(&format!("test {path}"));
        assert_eq!(run.code, 2, "{header}: {run:?}");
        assert!(run.err.contains("x.aw"), "{header}: {run:?}");
    }
    let harm = folder.join("harm");
    for option in [
        format!("--evidence {}", harm.display()),
        format!("--smt-dump {}", harm.display()),
        format!("--witness {}", harm.display()),
        format!("--html {}", harm.display()),
        format!("--sarif {}", harm.display()),
        format!("--junit {}", harm.display()),
        "--watch".to_string(),
        "--cpp true".to_string(),
        "--solver true".to_string(),
        "/etc/hostname".to_string(),
    ] {
        let path = file(&folder, "x.aw", format!("//! options: {option}\n//! verdict: unsafe\n{RACE}"));
        let right = file(&folder, "y.aw", format!("//! verdict: unsafe\n{RACE}"));
        let run = allways(&format!("test {path} {right}"));
        assert_eq!(run.code, 2, "{option}: {run:?}");
        assert!(run.out.contains("y.aw is unsafe"), "the rest is checked: {run:?}");
        assert!(!harm.exists(), "{option}: comments write nothing");
    }
    let prose =
        file(&folder, "prose.aw", format!("//! A race: both read first\n//! verdict: unsafe\n{RACE}"));
    assert_eq!(allways(&format!("test {prose}")).code, 0);
}

#[test]
fn a_file_that_is_not_formatted_has_a_code_of_its_own() {
    let folder = folder("formatted");
    let untidy = file(&folder, "untidy.aw", "shared   bool x; thread p{x=true;}\n");
    assert_eq!(allways(&format!("fmt --check {untidy}")).code, 1);
    assert_eq!(allways(&format!("fmt {untidy}")).code, 0);
    assert_eq!(allways(&format!("fmt --check {untidy}")).code, 0);
}

#[test]
fn a_new_program_is_as_it_states() {
    let folder = folder("new");
    let at = |arguments: &str| Run::of(command(arguments).current_dir(&folder).output().expect("it starts"));
    assert_eq!(at("new lock").code, 0);
    let text = std::fs::read_to_string(folder.join("lock.aw")).expect("a program");
    assert!(text.contains("allways check lock.aw "), "{text}");
    assert_eq!(at("test lock.aw").code, 0);
    assert_eq!(at("fmt --check lock.aw").code, 0);
    let run = at("check lock.aw");
    assert!(run.err.is_empty() && run.code == 10, "no warnings: {run:?}");
    let again = at("new lock.aw");
    assert_eq!(again.code, 2, "what is there stays: {again:?}");
    assert_eq!(std::fs::read_to_string(folder.join("lock.aw")).expect("a program"), text);
    let whole = "atomic { await !taken; taken = true; }";
    let fixed = text.replace("    await !taken;              // waits until it is true; each statement is one step\n    taken = true;", whole);
    assert_ne!(fixed, text);
    file(&folder, "lock.aw", fixed.replace("worker[2]", "worker[*]"));
    let run = at("check lock.aw");
    assert!(run.code == 0 && run.out.contains("any number of threads"), "{run:?}");
}

#[test]
fn shells_and_manuals_know_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = allways(&format!("completions {shell}"));
        assert_eq!(run.code, 0, "{run:?}");
        for word in ["certify", "--sarif", "serve", "lsp"] {
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(run.out.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(allways("completions tcl").code, 2);
    let page = allways("man");
    assert!(page.out.contains(".TH allways 1") && page.out.contains("allways\\-check(1)"), "{page:?}");
    let folder = folder("man");
    let run = Run::of(command("man").arg(&folder).output().expect("it starts"));
    assert_eq!(run.code, 0, "{run:?}");
    let check = std::fs::read_to_string(folder.join("allways-check.1")).expect("a page");
    assert!(check.contains("timeout") && check.contains("sarif"), "{check}");
    assert!(!check.contains("story"), "what is hidden is not told");
}

#[test]
fn watching_checks_again_when_a_file_changes() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let folder = folder("watch");
    let path = file(&folder, "race.aw", RACE);
    let mut watching = command("check --watch --quiet")
        .arg(&path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(watching.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("a text");
    assert!(next().starts_with("unsafe: "));
    file(&folder, "race.aw", "thread p { skip; }\n");
    let mut line = next();
    // A file that is being written may be seen empty, which is a program that never goes wrong.
    if line.starts_with("unsafe: ") {
        line = next();
    }
    assert!(line.starts_with("safe: "), "{line}");
    watching.kill().expect("it runs");
    watching.wait().expect("it ends");
}

/// A run of which every step is known: one thread can move at a time, and each moves three times before the next.
#[test]
fn a_trace_of_two_hundred_steps_and_six_threads_fits_eighty_columns() {
    let text = "shared 0..5 turn;\nshared 0..67 n;\nthread worker[6] {\n  loop {\n    await turn == self;\n    n = n + 1;\n    \
                turn = (turn + 1) % 6;\n  }\n}\nnever n == 67;\n";
    let path = file(&folder("two-hundred"), "turns.aw", text);
    let run = Run::of(command(&format!("check {path}")).env("COLUMNS", "80").output().expect("it starts"));
    assert_eq!(run.code, 10, "{run:?}");
    let lines: Vec<&str> = run.out.lines().skip(1).collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{run:?}");
    let mut told = lines.iter().skip_while(|line| !line.contains("worker["));
    for step in 0..200 {
        let (turn, part) = (step / 3, step % 3);
        if part == 0 {
            assert_eq!(told.next().map(|line| line.trim()), Some(format!("worker[{}]:", turn % 6).as_str()));
        }
        let (line, text, changed) = [
            (5, "await turn == self", String::new()),
            (6, "n = n + 1", format!("n = {}", turn + 1)),
            (7, "turn = (turn + 1) % 6", format!("turn = {}", (turn + 1) % 6)),
        ][part]
            .clone();
        let words = format!("{line} {text} {changed}");
        let words: Vec<&str> = words.split_whitespace().collect();
        let row = told.next().unwrap_or_else(|| panic!("step {step}: {run:?}"));
        assert_eq!(row.split_whitespace().collect::<Vec<&str>>(), words, "step {step}");
    }
    assert_eq!(told.next().map(|line| line.trim()), Some("line 10: violated: never n == 67"));
    assert_eq!(told.next(), None);
}

#[test]
fn standard_input_may_be_in_any_notation() {
    let bp = "decl x := 0;\nvoid main() begin\n  x := 1;\n  assert(!x);\nend\n";
    assert_eq!(piped("check - --notation bp", bp).code, 10);
    let pds = "2\nPDA 0 2\n0 0 -> 0 1\n0 1 -> 1 2\n1 1 -> 1 2\nPDA 0 2\n0 0 -> 0 1\n0 1 -> 1 2\n1 1 -> 1 2\n";
    let run = piped("check - --notation pds --init 0|0,0 --target *|2,2", pds);
    assert_eq!(run.code, 10, "{run:?}");
    let run = piped("check - --notation pds --target *|2,2", pds);
    assert!(run.code == 2 && run.err.contains("standard input has no initial state"), "{run:?}");
    assert!(!run.err.contains("-.init"), "{run:?}");
    let run = piped("check - --notation pds --init 0|0,0", pds);
    assert!(run.code == 2 && run.err.contains("standard input: nothing to check"), "{run:?}");
    let spec = "vars x y\nrules x >= 1 -> x' = x - 1, y' = y + 1;\ninit x = 1, y = 0\ntarget y >= 1\n";
    assert_eq!(piped("check - --notation spec", spec).code, 10);
    assert_eq!(piped("check - --notation tts --init 0|0 --target *|1", "1 2\n0 0 -> 0 1\n").code, 10);
    let run = piped("check - --notation cobol", RACE);
    assert!(run.code == 2 && run.err.contains("aw, bp, pds"), "{run:?}");
    if std::process::Command::new("cc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler `cc` to preprocess programs with");
        return;
    }
    let c =
        "#include <assert.h>\n#define TWO 2\nint x = 1;\nint main(void) { assert(x == TWO); return 0; }\n";
    let run = piped("check - --notation c --json", c);
    assert_eq!((run.code, run.json()["verdict"].as_str()), (10, Some("unsafe")), "{run:?}");
    assert!(run.json()["end"].as_str().is_some_and(|end| end.starts_with("line 4")), "{run:?}");
    assert_eq!(piped("check - --notation c", &c.replace("int x = 1", "int x = 2")).code, 0);
    let run = piped("check - --notation c", &c.replace("x == TWO", "y == TWO"));
    assert!(run.code == 2 && run.err.contains("standard input:4:"), "{run:?}");
}

/// What a trace is about: `unused` plays no part in it, and the atomic block has three effects and a test.
const EFFECTS: &str = "enum Phase { idle, busy }
shared 0..3 x, y, unused;
shared Phase phase;
thread p {
  atomic { x = 1; if (y == 0) { y = 2; } phase = busy; }
  x = x + y;
  x = x + 1;
}
never unused == 3;
never phase == idle && x == 3;
";

#[test]
fn traces_are_short_full_or_json() {
    let folder = folder("trace-forms");
    let effects = file(&folder, "effects.aw", EFFECTS);
    let evidence = folder.join("effects.trace").display().to_string();
    let short = allways(&format!("check {effects} --evidence {evidence}"));
    assert_eq!(short.code, 10, "{short:?}");
    let lines: Vec<&str> = short.out.lines().collect();
    assert!(lines[0].contains("line 7: p stores 4, out of range 0..3: x = x + 1"), "{short:?}");
    let rows = [
        "x = 0, y = 0, phase = idle",
        "5  atomic",
        "5    x = 1         x = 1",
        "5    y = 2         y = 2",
        "5    phase = busy  phase = busy",
        "6  x = x + y       x = 3",
        "7  x = x + 1",
    ];
    assert_eq!(lines[2..9].iter().map(|line| line.trim()).collect::<Vec<_>>(), rows, "{short:?}");
    assert_eq!(
        allways(&format!("check {effects} --trace short")).out.lines().skip(1).collect::<Vec<_>>(),
        lines[1..]
    );
    let replayed = allways(&format!("replay {effects} {evidence}"));
    assert_eq!(replayed.out.lines().skip(1).collect::<Vec<_>>(), lines[1..]);

    let full = allways(&format!("check {effects} --trace full"));
    let inside: Vec<&str> = full.out.lines().skip(2).map(str::trim).collect();
    assert!(inside[0].ends_with("x = 0, y = 0, unused = 0, phase = idle"), "{full:?}");
    assert_eq!(inside[3], "5    if (y == 0) (true)", "{full:?}");
    let replayed = allways(&format!("replay {effects} {evidence} --trace full"));
    assert_eq!(
        replayed.out.lines().skip(1).collect::<Vec<_>>(),
        full.out.lines().skip(1).collect::<Vec<_>>()
    );

    let json = allways(&format!("check {effects} --trace json"));
    assert_eq!(json.code, 10, "{json:?}");
    assert!(json.err.starts_with("unsafe: ") || json.err.contains("\nunsafe: "), "{json:?}");
    let steps: serde_json::Value = serde_json::from_str(&json.out).expect("one JSON value, and nothing else");
    let steps = steps.as_array().expect("an array");
    assert_eq!((steps.len(), &steps[0]["thread"]), (4, &serde_json::Value::Null));
    assert_eq!(steps[0]["changed"], serde_json::json!(["x = 0", "y = 0", "unused = 0", "phase = idle"]));
    assert_eq!(steps[1]["inside"].as_array().map(Vec::len), Some(4));
    assert_eq!((&steps[2]["text"], &steps[2]["line"]), (&"x = x + y".into(), &6.into()));
    let replayed = allways(&format!("replay {effects} {evidence} --trace json"));
    assert_eq!((replayed.code, &replayed.out), (0, &json.out));
    let report = allways(&format!("check {effects} --json")).json();
    assert_eq!(report["trace"][1]["inside"], steps[1]["inside"]);

    let safe = file(&folder, "safe.aw", "shared bool x;\nthread p { x = !x; }\nnever x && !x;\n");
    let json = allways(&format!("check {safe} --trace json"));
    assert_eq!((json.code, json.out.as_str()), (0, "[]\n"), "{json:?}");
    assert_eq!(allways(&format!("check {safe} --trace json --json")).code, 2);
    let last = allways(&format!("check {effects} --trace json --trace short"));
    assert!(last.out.starts_with("unsafe: "), "the last one counts: {last:?}");
}

/// A value that does not fit is said, wherever it comes from.
#[test]
fn the_value_that_does_not_fit_is_said() {
    let folder = folder("misfits");
    for (number, (text, said)) in [
        ("shared 0..3 x; thread p { loop { x = x + 1; } }", "p stores 4, out of range 0..3: x = x + 1"),
        (
            "shared 0..9 x = 9; proc f(0..2 a) : int { return a; } thread p { x = f(x - 4); }",
            "p stores 5, out of range 0..2:",
        ),
        (
            "shared 0..9 x = 9; proc f() : 0..2 { return x; } thread p { x = f(); }",
            "p stores 9, out of range 0..2: return x",
        ),
        (
            "shared 0..2 x; proc f() : 0..5 { return 5; } thread p { x = f(); }",
            "p stores 5, out of range 0..2: x = f()",
        ),
        (
            "shared 0..3 x = 3; thread p { atomic { x = 2; x = x + 2; } }",
            "p stores 4, out of range 0..3: x = x + 2",
        ),
        ("shared int a[4], i = 7; thread p { a[i] = 1; }", "p uses index 7, out of bounds 0..3: a[i] = 1"),
        (
            "shared int a[4], i = -1; thread p { await a[i] == 1; }",
            "p uses index -1, out of bounds 0..3: a[i]",
        ),
        (
            "shared 0..9 g[2][3], i = 3; thread p { g[1][i] = 1; }",
            "p uses index 3, out of bounds 0..2: g[1][i]",
        ),
        (
            "shared 0..9 g[2][3], i = 2; thread p { g[i][2] = 1; }",
            "p uses index 2, out of bounds 0..1: g[i][2]",
        ),
        (
            "shared 0..9 g[2][3], i = 2, j = 3; thread p { g[i][j] = 1; }",
            "p uses index 3, out of bounds 0..2: g[i][j]",
        ),
        (
            "struct S { int n; } shared S s[3]; shared int i = 3; thread p { s[i].n = 1; }",
            "p uses index 3, out of bounds 0..2: s[i].n",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let path = file(&folder, &format!("misfit-{number}.aw"), format!("{text}\n"));
        let run = allways(&format!("check {path} --quiet"));
        assert!(run.out.contains(said), "{text}: {run:?}");
    }
}

/// A variable that holds a thread is shown with its name, from the start on.
#[test]
fn traces_say_which_thread_a_variable_holds() {
    let folder = folder("holders");
    let text = "shared p owner;\nthread p[*] {\n  owner = self;\n  assert owner == self;\n}\n";
    let run = allways(&format!("check {} --trace json", file(&folder, "over.aw", text)));
    let steps: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let changed: Vec<&str> =
        steps.as_array().expect("an array").iter().filter_map(|step| step["changed"][0].as_str()).collect();
    assert_eq!(changed[0], "owner = none");
    // One stores itself, the other takes its place, and the first notices.
    assert!(
        matches!(changed[1..], ["owner = p[0]", "owner = p[1]"] | ["owner = p[1]", "owner = p[0]"]),
        "{run:?}"
    );
}
