//! Counter systems from the command line: verdicts, exit codes, JSON, evidence, conversions, and what is refused.

mod common;

use common::{Run, allways, command, file, folder};
use std::fs;
use std::path::Path;

fn corpus(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/counters");
    folder.join(name).display().to_string()
}

fn check(name: &str, options: &str) -> Run {
    allways(&format!("check {} {options}", corpus(name)))
}

#[test]
fn verdicts_and_exit_codes() {
    for (name, code, word) in [("msi.spec", 0, "safe: "), ("test-then-set.tts", 10, "unsafe: ")] {
        for engine in ["coverability", "backward"] {
            let run = check(name, &format!("--engine {engine}"));
            assert_eq!((run.code, run.err.as_str()), (code, ""), "{run:?}");
            assert!(run.out.starts_with(word) && run.out.contains("certified"), "{run:?}");
        }
    }
    let plain = check("conserved.spec", "--engine karp-miller --stats");
    assert!(plain.code == 0 && plain.out.contains("stored states"), "{plain:?}");
    let gave_up = check("msi.spec", "--engine karp-miller");
    assert!(gave_up.code == 5 && gave_up.out.contains("does more than take and give"), "{gave_up:?}");
    let forward = check("conserved.spec", "--engine forward");
    assert!(forward.code == 5 && forward.out.starts_with("unknown: "), "a search forward proves nothing");
    let several = allways(&format!("check {} {}", corpus("msi.spec"), corpus("woken.tts")));
    assert_eq!((several.code, several.out.lines().count()), (10, 2), "{several:?}");
}

#[test]
fn what_is_assumed_of_the_start_is_said() {
    let any = check("any-start.tts", "");
    assert!(any.code == 10 && any.err.contains("any number of threads start in 0|0"), "{any:?}");
    let one = check("any-start.tts", "--init 0|0");
    assert_eq!((one.code, one.err.as_str()), (0, ""), "{one:?}");
}

#[test]
fn limits_are_heeded() {
    let run = check("turnstile.tts", "--engine forward --timeout 200ms");
    assert!(run.code == 5 && run.out.contains("time limit"), "{run:?}");
    let run = check("msi.spec", "--timeout 0s --json");
    assert_eq!((run.code, &run.json()["verdict"]), (5, &"unknown".into()), "{run:?}");
}

#[test]
fn json() {
    let run = check("test-then-set.tts", "--json --engine backward");
    let answer = run.json();
    assert_eq!(
        (run.code, answer["verdict"].as_str(), answer["certified"].as_bool()),
        (10, Some("unsafe"), Some(true))
    );
    let trace = answer["trace"].as_array().expect("a trace");
    assert_eq!(answer["steps"].as_u64(), Some(trace.len() as u64 - 1));
    assert_eq!((trace[0]["state"].as_str(), trace[0]["line"].is_null()), (Some("0|0"), true));
    assert_eq!((answer["engine"].as_str(), answer["threads"].as_u64()), (Some("backward"), Some(3)));
    let safe = check("msi.spec", "--json").json();
    assert_eq!((safe["verdict"].as_str(), safe["trace"].is_null()), (Some("safe"), true));
}

#[test]
fn evidence_is_certified_and_replayed() {
    let folder = folder("counters-evidence");
    for (name, kind) in [("msi.spec", "basis"), ("woken.tts", "run"), ("readers-writers.spec", "basis")] {
        let (path, evidence) = (corpus(name), folder.join(name).display().to_string());
        check(name, &format!("--evidence {evidence}"));
        let run = allways(&format!("certify {path} {evidence} --json"));
        assert_eq!((run.code, run.json()["kind"].as_str()), (0, Some(kind)), "{run:?}");
        let replayed = allways(&format!("replay {path} {evidence}"));
        assert_eq!(replayed.code, if kind == "run" { 0 } else { 2 }, "{replayed:?}");
        // Evidence for another system, and evidence that was tampered with.
        let other = allways(&format!("certify {} {evidence}", corpus("test-then-set.tts")));
        assert_eq!(other.code, 20, "{other:?}");
        let text = fs::read_to_string(&evidence).expect("evidence");
        let cut = file(&folder, "cut", text.rsplit_once("end").expect("an end").0);
        let run = allways(&format!("certify {path} {cut}"));
        assert!(run.code == 20 && run.out.contains("cut short"), "{run:?}");
    }
    let none = file(&folder, "none", "hello");
    assert_eq!(allways(&format!("certify {} {none}", corpus("msi.spec"))).code, 2);
    let wrong = file(&folder, "wrong", "allways counter-proof 1\nbound none\nbasis modified^2\nend 1\n");
    let run = allways(&format!("certify {} {wrong}", corpus("msi.spec")));
    assert!(run.code == 20 && run.out.starts_with("rejected: "), "{run:?}");
}

#[test]
fn conversions() {
    let folder = folder("counters-convert");
    let net = folder.join("net.spec").display().to_string();
    let run = allways(&format!("convert {} --to spec -o {net}", corpus("test-then-set.tts")));
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(allways(&format!("check {net} --quiet")).code, 10);
    let back = folder.join("back.tts").display().to_string();
    let run = allways(&format!("convert {} --to tts -o {back}", corpus("turnstile.tts")));
    assert_eq!((run.code, allways(&format!("check {back}")).code), (0, 0), "{run:?}");
    let no = allways(&format!("convert {} --to tts", corpus("readers-writers.spec")));
    assert!(no.code == 2 && no.err.contains("rule 1"), "{no:?}");
    assert_eq!(allways("convert lock-racy.pds --to spec").code, 2);
    assert_eq!(allways(&format!("convert {} --to pds", corpus("msi.spec"))).code, 2);
}

/// The counter system of a program has the program's verdict, in both notations.
#[test]
fn programs_as_counter_systems() {
    let folder = folder("counters-programs");
    let programs = common::corpus().join("../aw");
    let names = ["any-condition", "any-condition-wrong", "any-ticket", "any-counter-cas-wrong", "peterson"];
    for (name, code) in names.into_iter().zip([0, 10, 0, 10, 0]) {
        let program = programs.join(name).with_extension("aw").display().to_string();
        for notation in ["spec", "tts"] {
            let written = folder.join(name).with_extension(notation).display().to_string();
            let run = allways(&format!("convert {program} --to {notation} -o {written}"));
            assert_eq!(run.code, 0, "{name}: {run:?}");
            assert_eq!(allways(&format!("check {written} --quiet")).code, code, "{written}");
        }
    }
    let recursive = programs.join("lock-recursive.aw").display().to_string();
    let no = allways(&format!("convert {recursive} --to tts"));
    assert!(no.code == 2 && no.err.contains("more than one symbol"), "{no:?}");
    let no = allways(&format!("convert {recursive} --to spec --sequentialize 1"));
    assert!(no.code == 2 && no.err.contains("--sequentialize"), "{no:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = |run: Run, part: &str| assert!(run.code == 2 && run.err.contains(part), "{part}: {run:?}");
    refused(check("msi.spec", "--engine druba"), "engines that support it: auto, coverability, backward");
    refused(allways("check lock-racy.pds --engine backward"), "supports counter systems");
    refused(check("msi.spec", "--threads 3"), "--threads");
    refused(check("msi.spec", "--contexts 3"), "--contexts");
    refused(check("msi.spec", "--deadlock"), "--deadlock");
    refused(check("msi.spec", "--explain"), "--explain");
    refused(allways(&format!("certify {} x --deadlock", corpus("msi.spec"))), "--deadlock");
    refused(allways(&format!("reach {}", corpus("msi.spec"))), "reach is not for");
    refused(check("msi.spec", "--target '0|1'"), "expected a variable");
    refused(check("msi.spec", "--init '0|1'"), "has its own");
    refused(check("test-and-set.tts", "--target 9|1"), "expected a shared state below 2");
    refused(check("test-and-set.tts", "--init *|1"), "expected a shared state, found `*`");
    refused(check("absent.tts", ""), "there is no such file");
    let folder = folder("counters-refused");
    let bare = file(&folder, "bare.tts", "1 1\n0 0 -> 0 0\n");
    refused(allways(&format!("check {bare}")), "nothing to check");
    let faulty = file(&folder, "faulty.spec", "vars a\nrules\n  a > 1 -> ;\ninit a = 1\ntarget a >= 1\n");
    refused(allways(&format!("check {faulty}")), "faulty.spec:3:5");
    // The `.spec` file beside a `.pds` file is not one of these.
    refused(allways("check lock-racy.spec"), "expected `vars`");
}

#[test]
fn files_of_all_kinds_are_checked_in_one_run_and_told_alike() {
    let files = ["msi.spec", "test-then-set.tts", "../aw/any-spin-lock.aw", "../pds/lock-racy.pds"];
    let files = files.map(corpus).join(" ");
    let run = allways(&format!("check {files} --json --stats"));
    assert_eq!(run.code, 10, "{run:?}");
    let objects: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let verdicts: Vec<&str> = objects.iter().filter_map(|object| object["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["safe", "unsafe", "safe", "unsafe"]);
    for object in &objects {
        for key in ["version", "engine", "evidence", "certified", "search_seconds", "images", "runs"] {
            assert!(!object[key].is_null(), "{key}: {object}");
        }
        assert_eq!(object["verdict"] == "unsafe", object["trace"].is_array(), "{object}");
    }
    assert_eq!(objects[0]["any_number"], true, "as of programs");
}

/// What is asked of a net may be said on the command line.
#[test]
fn nets_are_asked_about_other_targets() {
    let folder = folder("net-targets");
    let net = file(&folder, "net.spec", "vars a b rules a >= 1 -> a' = a - 1, b' = b + 1; init a = 2, b = 0");
    let run = allways(&format!("check {net}"));
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("nothing to check"), "{run:?}");
    let asked = |target: &str| {
        let output = command(&format!("check --json --quiet {net}")).args(["--target", target]).output();
        Run::of(output.expect("it starts"))
    };
    assert_eq!(asked("b >= 2").json()["verdict"], "unsafe");
    assert_eq!(asked("b >= 3").json()["verdict"], "safe");
    assert_eq!(asked("a >= 1, b >= 2").json()["verdict"], "safe");
    assert_eq!(asked("a >= 1, b >= 2 b >= 1").json()["verdict"], "unsafe");
    assert_eq!(asked("c >= 1").code, 2);
}
