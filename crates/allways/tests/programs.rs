//! The corpus of programs, each with what its file says of it.
//!
//! `//! verdict: safe` is an expectation for `allways check FILE`; `threads`, `property`, `violation` and `switches` add to
//! it, and `//! run: OPTIONS => VERDICT` stands for a run with options of its own. See `corpus/aw/README.md`.

mod common;

use allways::{Engine, Engines};
use allways_engines::engine::Takes;
use common::{Run, allways, command, file, folder, solver};
use std::fs;
use std::path::{Path, PathBuf};

struct Expected {
    options: String,
    verdict: String,
    violation: Option<String>,
    switches: Option<u64>,
    /// Whether no engine proves it, but a proof with a solver does.
    needs_solver: bool,
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/aw");
    let entries = fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "aw")).collect();
    paths.sort();
    assert!(paths.len() > 50, "a corpus");
    paths
}

/// What a file says of itself.
fn expectations(path: &Path) -> Vec<Expected> {
    let text = fs::read_to_string(path).expect("text");
    let lines = text.lines().filter_map(|line| line.strip_prefix("//! ")?.split_once(": "));
    let (mut options, mut verdicts, mut violation, mut switches) = (String::new(), Vec::new(), None, None);
    let mut needs_solver = false;
    for (key, value) in lines {
        match key {
            "threads" => options += &format!(" --threads {value}"),
            "property" => options += &format!(" --{value}"),
            "violation" => violation = Some(value.to_string()),
            "switches" => switches = Some(value.parse().expect("a number")),
            "solver" if !solver("z3") => {
                println!("skipped, without a solver: {}", path.display());
                return Vec::new();
            }
            "solver" => needs_solver = true,
            "verdict" => verdicts.push((String::new(), value.to_string())),
            "run" => {
                let (options, verdict) = value.split_once(" => ").expect("OPTIONS => VERDICT");
                verdicts.push((options.to_string(), verdict.to_string()));
            }
            other => panic!("{}: `{other}` is not an expectation", path.display()),
        }
    }
    assert!(!verdicts.is_empty(), "{} expects nothing", path.display());
    let expected = |(own, verdict): (String, String)| Expected {
        needs_solver,
        options: format!("{options} {own}"),
        verdict,
        violation: violation.clone(),
        switches,
    };
    verdicts.into_iter().map(expected).collect()
}

fn check(path: &Path, options: &str) -> Run {
    Run::of(command("check --json").arg(path).args(options.split_whitespace()).output().expect("it starts"))
}

#[test]
fn every_program_has_the_verdict_it_states() {
    for path in programs() {
        for expected in expectations(&path) {
            let run = check(&path, &expected.options);
            let what = format!("{} {}: {run:?}", path.display(), expected.options);
            assert_eq!(run.err, "", "no complaint: {what}");
            let answer = run.json();
            assert_eq!(answer["verdict"], expected.verdict, "{what}");
            assert_eq!(answer["certified"], expected.verdict != "unknown", "{what}");
            if expected.verdict == "unsafe" {
                if let Some(violation) = &expected.violation {
                    assert_eq!(answer["violation"], violation.as_str(), "{what}");
                }
                if let Some(switches) = expected.switches {
                    assert_eq!(answer["switches"], switches, "{what}");
                }
            }
        }
    }
}

/// Each file with two engines, another two for each file; with `ALLWAYS_RANDOM` set, with all of them.
#[test]
fn engines_agree_on_programs() {
    let takes = |engine: &&'static dyn Engine| {
        let info = engine.info();
        info.needs.is_none() && matches!(info.takes, Takes::All | Takes::Pushdown)
    };
    let engines: Vec<&str> =
        Engines::default().iter().filter(takes).map(|engine| engine.info().name).collect();
    let all = std::env::var_os("ALLWAYS_RANDOM").is_some();
    let mut decided = 0;
    for (index, path) in programs().iter().enumerate() {
        for expected in expectations(path).iter().filter(|expected| expected.verdict != "unknown") {
            for (number, engine) in engines.iter().enumerate() {
                if !all && number % 5 != index % 5 {
                    continue;
                }
                let run = check(path, &format!("{} --engine {engine} --timeout 500ms", expected.options));
                let answer = run.json();
                let verdict = answer["verdict"].as_str().expect("a verdict").to_string();
                let agrees = verdict == expected.verdict || verdict == "unknown";
                assert!(agrees, "{engine} {} {}: {run:?}", path.display(), expected.options);
                decided += usize::from(verdict != "unknown");
            }
        }
    }
    assert!(decided > 100, "only {decided} were decided");
}

#[test]
fn reductions_change_no_verdict() {
    for path in programs() {
        for expected in expectations(&path).iter().filter(|expected| expected.verdict != "unknown") {
            let run = check(&path, &format!("{} --unreduced --timeout 20s", expected.options));
            let answer = run.json();
            let verdict = answer["verdict"].as_str().expect("a verdict");
            assert!(verdict == expected.verdict || verdict == "unknown", "{}: {run:?}", path.display());
        }
    }
}

/// Sixty variables with any initial value, of which ten can matter: the rest are computed from each other for nothing.
#[test]
fn a_program_costs_what_matters() {
    let mut text = String::new();
    (0..10).for_each(|number| text += &format!("shared bool m{number} = *;\n"));
    (0..50).for_each(|number| text += &format!("shared bool x{number} = *;\n"));
    text += "thread t[2] {\n  bool y;\n  loop {\n";
    for number in 0..50 {
        text += &format!("    x{number} = x{} || m{};\n", (number + 7) % 50, number % 10);
    }
    text += "    y = x3;\n    m0, m1 = m1, m0;\n";
    (2..10).for_each(|number| text += &format!("    assume m{number} == m0 || *;\n"));
    text += "    assert m0 || !m0;\n    x0 = y;\n  }\n}\n";
    let folder = folder("costs");
    let file = file(&folder, "sixty.aw", text);
    let run = allways(&format!("check --quiet --timeout 60s {file}"));
    assert!(run.out.starts_with("safe: "), "{run:?}");
    let all = allways(&format!("check --quiet --timeout 2s --unreduced {file}"));
    assert_eq!(all.code, 5, "too many values to choose between: {all:?}");
}

/// Where a program is converted, what is converted has the same verdict; where it is not, there is a reason and a place.
#[test]
fn conversions_change_no_verdict() {
    let folder = folder("converted");
    let mut converted = [0; 3];
    for path in programs() {
        let Some(expected) = expectations(&path).into_iter().next() else { continue };
        if expected.verdict == "unknown" || expected.options.contains("deadlock") {
            continue;
        }
        // The rules of many threads take long to write down: no conversion, no verdict.
        for (index, to) in ["pds", "bp", "aw"].into_iter().enumerate() {
            if expected.needs_solver && to != "aw" {
                continue;
            }
            let output = folder.join(format!("converted.{to}"));
            let own = if to == "pds" { expected.options.as_str() } else { "" };
            let mut convert = command(&format!("convert --quiet --timeout 1s --to {to}{own}"));
            let run = Run::of(convert.arg(&path).arg("-o").arg(&output).output().expect("it starts"));
            if run.code != 0 {
                assert_eq!(run.code, 2, "{to} {}: {run:?}", path.display());
                assert!(run.err.starts_with("error: "), "{to} {}: {run:?}", path.display());
                continue;
            }
            let options = match to {
                "aw" => expected.options.as_str(),
                "bp" if expected.options.contains("--threads") => continue,
                _ => "",
            };
            let run = check(&output, options);
            // In a Boolean program all threads are started by the first one, perhaps more than are tried.
            let unknown = to == "bp" && run.json()["verdict"] == "unknown";
            let agrees = unknown || run.json()["verdict"] == expected.verdict.as_str();
            assert!(agrees, "{to} {}: {run:?}", path.display());
            converted[index] += usize::from(!unknown);
        }
    }
    assert!(converted[0] > 60 && converted[1] > 2 && converted[2] > 60, "few were converted: {converted:?}");
}

/// Small programs that once had a wrong answer, or none.
#[test]
fn pinned_programs() {
    let passive = |values: &str, deed: &str| {
        format!(
            "void main() begin decl x := 0; L0: start_thread goto A; {deed} L4: end_thread; A: {values} end"
        )
    };
    let cases = [
        // What is given to the others may be a choice, inside an atomic section, and before they are started.
        ("choice.bp", passive("assert(!x);", "L1: x$ := *;"), "", "unsafe"),
        ("both.bp", passive("assert(!x);", "L1: x, x$ := 1, 1 & *;"), "", "unsafe"),
        ("own.bp", passive("assert(!x);", "L1: x, x$ := *, 0;"), "", "safe"),
        ("atomic.bp", passive("assert(!x);", "L1: atomic_begin; L2: x$ := 1; L3: atomic_end;"), "", "unsafe"),
        (
            "before.bp",
            "decl c := 0; void main() begin decl x := 0; L0: x$ := 1; L1: start_thread goto L4;
             L2: start_thread goto L5; L3: end_thread; L4: c := 1; LE: end_thread; L5: assert(!c | x); end"
                .to_string(),
            "",
            "unsafe",
        ),
        // A bound from above counts threads that are never started, and numbers that are never reached.
        (
            "spawn.aw",
            "shared bool x; proc f() { skip; } thread a { f(); spawn w; f(); } thread w[0] { x = true; }
             never !x && x;"
                .to_string(),
            "",
            "safe",
        ),
        (
            "double.aw",
            "shared int x = 1; proc f() { skip; } thread a { f(); x = x * 2; f(); } never x == 3;"
                .to_string(),
            "",
            "safe",
        ),
        (
            "dry.aw",
            "shared bool x; thread boss { while (!x) { spawn w; } await false; } thread w[0] { x = true; }"
                .to_string(),
            "--deadlock",
            "unsafe",
        ),
        // The checker of traces cannot follow a step with a million outcomes, of which few matter.
        (
            "many.aw",
            "shared bool x; thread p { bool a[20] = *; x = a[0]; assert !x || a[19]; }".to_string(),
            "",
            "unknown",
        ),
        (
            "result.aw",
            "shared int y; proc f(int k): 0..3 { return k + 7; } thread p { y = f(y); }".to_string(),
            "",
            "unsafe",
        ),
    ];
    let folder = folder("pinned");
    for (name, text, options, verdict) in cases {
        let file = file(&folder, name, text);
        for more in ["", " --unreduced"] {
            let run = allways(&format!("check --json --quiet {file} {options}{more}"));
            let unknown = name == "many.aw" || run.json()["verdict"] == verdict;
            assert!(unknown, "{name}{more}: {run:?}");
        }
        let run = allways(&format!("check --json --quiet {file} {options}"));
        assert_eq!(run.json()["verdict"], verdict, "{name}: {run:?}");
    }
}

#[test]
fn numbers_of_threads_are_said_once() {
    let folder = folder("said-once");
    let file = file(&folder, "two.aw", "thread p { skip; } thread q { skip; }");
    for (threads, why) in
        [("q=1,q=2", "says twice"), ("r=1", "no thread"), ("2", "not clear"), ("q=x", "number")]
    {
        let run = allways(&format!("check {file} --threads {threads}"));
        assert!(run.code == 2 && run.err.contains(why), "{threads}: {run:?}");
    }
}

/// A constant that is given on the command line, to `check` and to those who look at its evidence.
#[test]
fn constants_are_given_from_outside() {
    let folder = folder("constants");
    let text = "const N = 2; shared 0..9 x; thread p[N] { fetch_add(x, 1); } never x == 4;";
    let (path, trace) = (file(&folder, "count.aw", text), folder.join("trace").display().to_string());
    assert_eq!(allways(&format!("check {path}")).code, 0);
    assert_eq!(allways(&format!("check {path} -D N=3")).code, 0);
    assert_eq!(allways(&format!("check {path} -D N=4 --evidence {trace}")).code, 10);
    assert_eq!(allways(&format!("certify {path} {trace} -D N=4")).code, 0);
    assert_ne!(allways(&format!("certify {path} {trace}")).code, 0);
    for (wrong, said) in [("M=4", "a constant `M`"), ("N=x", "a number, true or false"), ("N", "NAME=VALUE")]
    {
        let run = allways(&format!("check {path} -D {wrong}"));
        assert!(run.code == 2 && run.err.contains(said), "{run:?}");
    }
    let rules = file(&folder, "rules.pds", "");
    let run = allways(&format!("check {rules} -D N=4"));
    assert!(run.code == 2 && run.err.contains("-D is for .aw files"), "{run:?}");
}
