//! `allways check`: verdicts, exit codes, JSON.

mod common;

use common::{allways, command, file, folder};
use serde_json::json;
use std::fs;

#[test]
fn a_safe_system() {
    let run = allways("check lock-recursive.pds");
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(run.verdict(), "safe: lock-recursive.pds never reaches *|2,2");
    assert!(run.out.contains("7 visible states, certified, "), "{run:?}");
    assert_eq!(run.out.lines().count(), 1);
    assert_eq!(run.err, "");
}

#[test]
fn an_unsafe_system_and_its_trace() {
    let run = allways("check lock-racy.pds --engine druba");
    assert_eq!(run.code, 10, "{run:?}");
    assert_eq!(run.verdict(), "unsafe: lock-racy.pds reaches 1|2,2 in 4 steps");
    assert!(run.out.contains("(druba, 2 context switches, shortest, certified, "), "{run:?}");
    let rows: Vec<&str> = run.out.lines().skip(1).collect();
    assert_eq!(rows.len(), 6, "a header, the initial state, four steps");
    assert!(rows[0].starts_with("  step  thread  line  rule "));
    assert!(rows[1].ends_with("  0|0,0") && rows[5].ends_with("  1|2,2"), "{rows:?}");
    let column = rows[0].find("state").expect("a header");
    assert!(rows.iter().all(|row| row.as_bytes()[column - 1] == b' ' && row.as_bytes()[column] != b' '));
    assert!(run.out.contains("# the lock is free"), "the rule as it is in the source");
    let quiet = allways("check lock-racy.pds --quiet");
    assert_eq!((quiet.code, quiet.out.lines().count()), (10, 1));
}

#[test]
fn an_exhausted_bound_is_unknown() {
    let safe = allways("check lock-recursive.pds --rounds 3 --delays 2");
    assert_eq!(safe.code, 5, "{safe:?}");
    assert_eq!(
        safe.verdict(),
        "unknown: whether lock-recursive.pds reaches *|2,2, because only what lies within 3 rounds and 2 delays was \
         explored"
    );
    assert!(safe.out.contains("(rounds-delays, "));
    assert_eq!(allways("check lock-racy.pds --rounds 0 --delays 0").code, 5);
    assert_eq!(allways("check lock-racy.pds --rounds 3 --delays 2").code, 10);
    assert_eq!(allways("check lock-recursive.pds --max-depth 3").code, 5);
    assert_eq!(allways("check lock-recursive.pds --max-states 3").code, 5);
}

#[test]
fn arguments_win_over_files() {
    assert_eq!(allways("check lock-recursive.pds --target *|2,2 --target 1|4,0").code, 10);
    assert_eq!(allways("check lock-recursive.pds --target *|2,4").code, 0);
    let other = allways("check lock-racy.pds --init 1|0,0");
    assert_eq!((other.code, other.verdict()), (0, "safe: lock-racy.pds never reaches *|2,2"));
}

#[test]
fn deadlocks() {
    let crossed = allways("check locks-crossed.pds --deadlock");
    assert_eq!(crossed.code, 10, "{crossed:?}");
    assert_eq!(crossed.verdict(), "unsafe: locks-crossed.pds reaches the deadlock 3|1,1 in 2 steps");
    assert_eq!(allways("check locks-crossed.pds").code, 0, "the deadlock is no state to avoid");
    let order = allways("check locks-in-order.pds --deadlock");
    assert_eq!((order.code, order.verdict()), (0, "safe: locks-in-order.pds never reaches a deadlock"));
    let both = allways("check locks-in-order.pds --deadlock --target *|2,2");
    assert_eq!(both.verdict(), "safe: locks-in-order.pds never reaches *|2,2 or a deadlock");
    let other = allways("check locks-crossed.pds --deadlock --target 0|-,-");
    assert_eq!(other.code, 10, "{other:?}");
}

#[test]
fn json_of_each_verdict() {
    let safe = allways("check lock-recursive.pds --json --engine druba").json();
    let keys: Vec<&str> = safe.as_object().expect("an object").keys().map(String::as_str).collect();
    let expected =
        ["certified", "engine", "evidence", "file", "peak_bytes", "reason", "seconds", "verdict", "version"];
    assert_eq!(keys, expected);
    assert_eq!((&safe["verdict"], &safe["engine"]), (&json!("safe"), &json!("druba")));
    assert_eq!((&safe["certified"], &safe["reason"]), (&json!(true), &json!(null)));
    assert!(safe["seconds"].as_f64() > Some(0.0) && safe["peak_bytes"].as_u64() > Some(100_000));

    let run = allways("check lock-racy.pds --json --stats");
    let bad = run.json();
    assert_eq!((run.code, &bad["verdict"]), (10, &json!("unsafe")));
    let trace = bad["trace"].as_array().expect("a list");
    assert_eq!(trace[0], json!({"thread": null, "state": "0|0,0", "line": null}));
    assert_eq!(trace.len(), 5);
    assert_eq!((&bad["steps"], &bad["switches"], &bad["shortest"]), (&json!(4), &json!(2), &json!(true)));
    assert!(bad["shortening_seconds"].is_f64());
    let bounded = allways("check lock-racy.pds --json --rounds 3 --delays 2").json();
    assert_eq!((&bounded["verdict"], &bounded["shortest"]), (&json!("unsafe"), &json!(false)));
    assert_eq!(trace[4]["state"], "1|2,2");
    assert!(trace[4]["thread"].is_u64() && trace[4]["line"].is_u64());
    assert!(bad["walk"].is_array());

    let unknown = allways("check lock-recursive.pds --json --rounds 1 --delays 0").json();
    assert_eq!((&unknown["verdict"], &unknown["certified"]), (&json!("unknown"), &json!(false)));
    assert_eq!(unknown["reason"], "explored everything within 1 round and 0 delays");
}

#[test]
fn of_several_files_the_worst_counts() {
    let run = allways("check lock-recursive.pds lock-racy.pds");
    assert_eq!((run.code, run.out.lines().count()), (10, 2));
    let run = allways("check lock-racy.pds nowhere.pds lock-recursive.pds --json");
    assert_eq!(run.code, 2, "{run:?}");
    let verdicts: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let verdicts: Vec<&serde_json::Value> = verdicts.iter().map(|object| &object["verdict"]).collect();
    assert_eq!(verdicts, [&json!("unsafe"), &json!("error"), &json!("safe")], "and the rest is checked");
    let run = allways("check lock-recursive.pds lock-racy.pds --evidence x");
    assert_eq!(run.code, 2);
}

#[test]
fn options_that_make_no_sense() {
    let engine = allways("check lock-racy.pds --engine drub");
    assert_eq!(engine.code, 2);
    for part in ["druba, ", "free, ", "similar value exists: 'druba'"] {
        assert!(engine.err.contains(part), "{engine:?}");
    }
    for arguments in [
        "",
        "check",
        "chekc lock-racy.pds",
        "check lock-racy.pds --rounds 3",
        "check lock-racy.pds --delays 3",
        "check lock-racy.pds --rounds -3 --delays 1",
        "check lock-racy.pds --engine druba --rounds 3 --delays 1",
        "check lock-racy.pds --engine druba --max-states 3",
        "check lock-racy.pds --engine free --no-frontier",
        "check lock-racy.pds --engine rounds-delays",
        "check lock-racy.pds --engine contexts",
        "check lock-racy.pds --contexts 3 --rounds 3 --delays 1",
        "check lock-racy.pds --timeout soon",
        "check lock-racy.pds --timeout -1s",
        "check lock-racy.pds --memory -1",
        "check lock-racy.pds --color blue",
        "check lock-racy.pds --evidence no/such/folder",
        "check lock-racy.pds --evidence .",
        "convert lock-racy.pds --to c",
    ] {
        let run = allways(arguments);
        assert_eq!(run.code, 2, "{arguments}: {run:?}");
        assert!(run.out.is_empty() && !run.err.is_empty(), "{arguments}: {run:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for arguments in ["--help", "-h", "check --help", "--version", "engines"] {
        let run = allways(arguments);
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{arguments}");
        assert!(!run.out.is_empty(), "{arguments}");
    }
    let engines = allways("engines").out;
    assert!(
        ["druba ", "ai ", "free ", "rounds-delays "].iter().all(|name| engines.contains(name)),
        "{engines}"
    );
}

#[test]
fn nothing_to_check() {
    let run = allways("check druba-example-8.pds");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--target") && run.err.contains("druba-example-8.spec"), "{run:?}");
}

#[test]
fn convert_reads_back_as_the_same_system() {
    let folder = folder("convert");
    for name in ["lock-racy.pds", "cuba-figure-2.pds", "merges-lose-schedules.pds"] {
        let once = allways(&format!("convert {name} --to pds"));
        assert_eq!(once.code, 0, "{once:?}");
        let path = file(&folder, name, &once.out);
        let twice = folder.join("twice");
        assert_eq!(allways(&format!("convert {path} --to pds -o {}", twice.display())).code, 0);
        assert_eq!(fs::read_to_string(twice).expect("written"), once.out);
    }
    assert_eq!(allways("convert lock-racy.pds --to pds -o no/such/folder").code, 2);
}

#[test]
fn colours_only_when_asked_for() {
    assert!(!allways("check lock-racy.pds").out.contains('\x1b'));
    assert!(allways("check lock-racy.pds --color always").out.starts_with("\x1b[1;31munsafe\x1b[0m: "));
    assert!(allways("check nowhere.pds --color always").err.contains('\x1b'));
    let plain = command("check lock-racy.pds").env("NO_COLOR", "1").output().expect("it starts");
    assert!(!plain.stdout.contains(&0x1b));
}
