//! Progress, as users ask for it: the corpus, runs that are told and replayed, certificates, and what is refused.

mod common;

use allways_lang::aw;
use allways_model::program::semantics::State;
use allways_testkit::programs::{Limits, kept};
use common::{Run, allways, command, file, folder};
use std::fs;
use std::path::{Path, PathBuf};

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/progress");
    let entries = fs::read_dir(folder).expect("the corpus").map(|entry| entry.expect("an entry").path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|ending| ending == "aw")).collect();
    paths.sort();
    assert!(paths.len() > 12, "a corpus");
    paths
}

fn check(path: &Path, options: &str) -> Run {
    Run::of(command("check --json").arg(path).args(options.split_whitespace()).output().expect("it starts"))
}

/// The words after a key in the header of a file.
fn stated<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix("//! ")?.strip_prefix(key)?.strip_prefix(": "))
}

#[test]
fn the_corpus_has_the_verdicts_it_states_and_brute_force_finds_the_same() {
    let folder = folder("progress-corpus");
    for path in corpus() {
        let text = fs::read_to_string(&path).expect("text");
        let name = path.display();
        let stuck = stated(&text, "property") == Some("stuck");
        let options = if stuck { "--stuck" } else { "" };
        let evidence = folder.join("evidence").display().to_string();
        let run = check(&path, &format!("{options} --evidence {evidence}"));
        let answer = run.json();
        assert_eq!(answer["verdict"], stated(&text, "verdict").expect("a verdict"), "{name}: {run:?}");
        assert_eq!((run.err.as_str(), &answer["certified"]), ("", &true.into()), "{name}: {run:?}");
        let safe = answer["verdict"] == "safe";
        assert_eq!(answer["evidence"], if safe { "ranking" } else { "lasso" }, "{name}: {run:?}");
        if !safe {
            assert_eq!(answer["violation"], stated(&text, "violation").expect("what"), "{name}: {run:?}");
        }
        let again = format!("{name} {evidence} {options}");
        let certified = allways(&format!("certify {again}"));
        assert!(certified.code == 0 && certified.out.starts_with("accepted: "), "{name}: {certified:?}");
        let replayed = allways(&format!("replay {again}"));
        assert_eq!(replayed.code, if safe { 2 } else { 0 }, "{name}: {replayed:?}");
        // Nothing is stuck, and no promise made, in another question.
        let other = allways(&format!("certify {name} {evidence} {}", if stuck { "" } else { "--stuck" }));
        assert!(other.code == 20 || !safe || stuck, "{name}: {other:?}");
        let program = aw::parse(text.as_bytes()).program.expect("a program");
        let limits = Limits { states: 100_000, threads: 4, depth: 4 };
        if answer["verdict"] == "safe" && fs::metadata(&evidence).expect("it is there").len() > 400_000 {
            continue;
        }
        let known = kept(&program, &State::counts(&program), limits).expect("few states");
        let holds = known.goals.iter().all(|&kept| kept) && (!stuck || known.unstuck) && !known.violation;
        assert_eq!(holds, safe, "{name}: {known:?}");
    }
}

#[test]
fn a_lost_wakeup_of_threads_that_run_on_is_no_deadlock() {
    let path = corpus().into_iter().find(|path| path.ends_with("futex-mutex-wrong.aw")).expect("it is there");
    assert_eq!(check(&path, "--deadlock").json()["verdict"], "safe");
    let run = allways(&format!("check {} --stuck", path.display()));
    assert_eq!(run.code, 10, "{run:?}");
    assert!(run.out.contains("is stuck for ever: await !asleep[self]"), "{run:?}");
}

#[test]
fn a_cycle_is_told_after_the_way_to_it() {
    let path = corpus().into_iter().find(|path| path.ends_with("test-and-set.aw")).expect("it is there");
    let run = allways(&format!("check {}", path.display()));
    let (before, after) = run.out.split_once("  then for ever:\n").expect("a cycle");
    assert!(before.contains("line") && after.contains("taken = false"), "{run:?}");
    assert!(after.trim_end().ends_with("always eventually crit"), "{run:?}");
    let answer = check(&path, "").json();
    let (steps, cycle) =
        (answer["steps"].as_u64().expect("steps"), answer["cycle"].as_u64().expect("a cycle"));
    let trace = answer["trace"].as_array().expect("a trace");
    assert_eq!(trace.len() as u64, steps + 1);
    assert_eq!(trace[cycle as usize]["state"], trace[steps as usize]["state"], "the cycle closes");
}

#[test]
fn what_goes_wrong_is_found_as_ever() {
    let folder = folder("progress-wrong");
    let text = "shared 0..3 x; thread p[2] { loop { here: x = x + 1; } } always eventually here;";
    let answer = check(Path::new(&file(&folder, "wrong.aw", text)), "").json();
    assert_eq!((&answer["verdict"], &answer["violation"]), (&"unsafe".into(), &"range".into()));
    let text = "lock m; thread p[2] { acquire(m); here: skip; } eventually here;";
    let answer = check(Path::new(&file(&folder, "locked.aw", text)), "--deadlock").json();
    assert_eq!((&answer["verdict"], &answer["violation"]), (&"unsafe".into(), &"deadlock".into()));
    // Where it is not asked for deadlocks, the run ends there, and the promise is broken.
    let answer = check(Path::new(&file(&folder, "locked.aw", text)), "").json();
    assert_eq!((&answer["violation"], &answer["cycle"]), (&"eventually".into(), &serde_json::Value::Null));
}

#[test]
fn what_is_not_checked_is_refused_at_once() {
    let folder = folder("progress-refused");
    let fixed = "shared bool x; thread p[2] { loop { here: x = !x; } } eventually here;";
    let fixed = file(&folder, "fixed.aw", fixed);
    let open = file(&folder, "open.aw", "shared bool x; thread p[*] { here: x = !x; } eventually here;");
    let integers = file(&folder, "int.aw", "shared int x; thread p { here: x = x + 1; } eventually here;");
    let spawned = "thread p { spawn q; here: skip; } thread q[0] { skip; } eventually here;";
    let spawned = file(&folder, "spawned.aw", spawned);
    let tasks = file(&folder, "tasks.aw", "shared bool x; main { post t(); } task t() { x = true; }");
    let c = file(&folder, "some.c", "int main(void) { return 0; }");
    for (arguments, why) in [
        (open.clone(), "any number of threads"),
        (integers.clone(), "`x` is an integer without bounds"),
        (spawned.clone(), "dynamically created threads"),
        (format!("{tasks} --stuck"), "tasks"),
        (format!("{c} --stuck"), "--stuck is for .aw and .bp files"),
        ("lock-racy.pds --stuck".to_string(), "--stuck is for programs"),
        (format!("{fixed} --engine sandwich"), "does not check progress"),
        (format!("{fixed} --contexts 2"), "does not check progress"),
        (format!("{fixed} --workers 2"), "does not check progress"),
    ] {
        let run = allways(&format!("check {arguments}"));
        assert!(run.code == 2 && run.err.contains(why), "{arguments}: {run:?}");
    }
    for (arguments, why) in [
        (format!("{fixed} --to bp"), "`eventually` is written in the .aw language only"),
        (format!("{fixed} --to pds"), "`eventually` is written in the .aw language only"),
    ] {
        let run = allways(&format!("convert {arguments}"));
        assert!(run.code == 2 && run.err.contains(why), "{arguments}: {run:?}");
    }
    assert_eq!(allways(&format!("check {open} --threads 2")).code, 0);
}

/// Workers do not check progress, so an answer without one does not speak of them.
#[test]
fn what_helps_is_something_that_can_be_tried() {
    let folder = folder("progress-large");
    let large = "thread p[9] { 0..9 x; here: skip; loop { x = 9 - x; choose { x = 0; } or { x = 5; } or { skip; } } } eventually here;";
    let large = file(&folder, "large.aw", large);
    let run = allways(&format!("check {large} --timeout 300ms --json"));
    let answer = run.json();
    assert_eq!(answer["verdict"], "unknown", "{run:?}");
    assert_eq!(answer["next"][0], "next: a longer --timeout", "{run:?}");
}
