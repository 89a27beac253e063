//! `allways reach`: sets of visible states, JSON, statistics.

mod common;

use common::{allways, command};
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

#[test]
fn all_visible_states_and_no_others() {
    for engine in ["auto", "druba", "ai"] {
        let run = allways(&format!("reach lock-recursive.pds --states --engine {engine}"));
        assert_eq!(run.code, 0, "{run:?}");
        assert_eq!(run.verdict(), "converged: lock-recursive.pds has exactly 7 visible states");
        let states: Vec<&str> = run.out.lines().skip(1).collect();
        assert_eq!(states, ["0|0,0", "1|0,2", "1|0,3", "1|0,4", "1|2,0", "1|3,0", "1|4,0"]);
    }
}

#[test]
fn json_has_every_key() {
    let object = allways("reach lock-recursive.pds --json --engine druba").json();
    let expected = [
        ("engine", json!("druba")),
        ("threads", json!(2)),
        ("converged", json!(true)),
        ("visible_states", json!(7)),
        ("concrete_states", json!(null)),
        ("contexts", json!(null)),
        ("reason", json!(null)),
    ];
    for (key, value) in expected {
        assert_eq!(object.get(key), Some(&value), "{key}");
    }
    for key in ["stored_states", "rounds", "delays", "images", "peak_bytes"] {
        assert!(object[key].is_u64(), "{key}");
    }
    assert!(object["seconds"].is_f64());
    assert!(object.get("states").is_none() && object.get("walk").is_none());

    let listed = allways("reach lock-racy.pds --json --states --stats --engine free").json();
    assert_eq!(
        (&listed["concrete_states"], &listed["visible_states"]),
        (&json!(13), &json!(13)),
        "free is exact"
    );
    let states = listed["states"].as_array().expect("a list");
    assert_eq!((states.len(), &states[0]), (13, &json!("0|0,0")));
    assert!(listed["walk"].is_array());
}

#[test]
fn exactly_what_lies_within_a_bound() {
    let cells = [(1, 0, 2), (2, 0, 2), (2, 1, 2), (2, 2, 3), (3, 4, 3)];
    for (rounds, delays, visible) in cells {
        let run = allways(&format!("reach druba-example-8.pds --rounds {rounds} --delays {delays} --json"));
        assert_eq!(run.code, 0, "explored as asked: {run:?}");
        let object = run.json();
        assert_eq!(object["engine"], "rounds-delays");
        assert_eq!((&object["converged"], &object["visible_states"]), (&json!(false), &json!(visible)));
        assert_eq!(object["concrete_states"], json!(visible), "in this system nothing is hidden");
        assert_eq!((&object["rounds"], &object["delays"]), (&json!(rounds), &json!(delays)));
    }
    let run = allways("reach druba-example-8.pds --rounds 2 --delays 2");
    let expected =
        "bounded: druba-example-8.pds has exactly 3 visible states (3 concrete) within 2 rounds and 2 delays";
    assert_eq!(run.verdict(), expected);
}

#[test]
fn a_limit_is_not_a_set() {
    let run = allways("reach lock-recursive.pds --max-states 5 --json");
    assert_eq!(run.code, 5, "{run:?}");
    let object = run.json();
    assert_eq!((&object["engine"], &object["converged"]), (&json!("free"), &json!(false)));
    assert!(object["reason"].as_str().is_some_and(|reason| reason.contains("5 states")), "{object}");
    let deep = allways("reach lock-recursive.pds --max-depth 3");
    assert_eq!(deep.code, 0, "all states with shallow stacks are a set: {deep:?}");
    assert!(deep.out.starts_with("bounded: "));
}

#[test]
fn reach_knows_no_property() {
    assert_eq!(allways("reach lock-racy.pds").code, 0, "although its .spec is violated");
    let run = allways("reach lock-racy.pds --target *|2,2");
    assert_eq!(run.code, 2);
    assert!(run.err.contains("allways check"), "{run:?}");
}

#[test]
fn the_walk_of_table_1() {
    let run = allways("reach druba-example-8.pds --engine druba --stats");
    let grid = "
         d=0   d=1   d=2   d=3   d=4
  r=0      1
  r=1    ↓ 2
  r=2    ↓ 2   → 2   → 3
  r=3                ↓ 3   → 3   →[3]
";
    assert!(run.out.contains(grid), "{}", run.out);
    for part in
        ["  rounds  delays  visible  abstract  concrete  images  closed\n", "images during the last plateau"]
    {
        assert!(run.out.contains(part), "{}", run.out);
    }
    for part in ["0 disrespectful", "(state, finder) pairs", "bytes per pair", "images per second"] {
        assert!(run.out.contains(part), "{}", run.out);
    }
    let scratch = allways("reach druba-example-8.pds --engine druba --no-frontier --json").json();
    let frontier = allways("reach druba-example-8.pds --engine druba --json").json();
    assert_eq!((&scratch["rounds"], &scratch["delays"]), (&frontier["rounds"], &frontier["delays"]));
    assert!(scratch["images"].as_u64() > frontier["images"].as_u64());
}

#[test]
fn a_reader_may_go_away() {
    // More states than a pipe holds: two counters of 200 steps each.
    let folder = common::folder("pipe");
    let counter: String = (0..200).map(|symbol| format!("0 {symbol} -> 0 {}\n", symbol + 1)).collect();
    let path = common::file(&folder, "counters.pds", format!("1\n{0}{0}", format!("PDA 0 200\n{counter}")));
    let mut child = command(&format!("reach {path} --init 0|0,0 --states"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    let mut reader = BufReader::with_capacity(64, child.stdout.take().expect("a pipe"));
    reader.read_line(&mut line).expect("a line");
    drop(reader);
    assert!(line.starts_with("converged: "), "{line}");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

/// `--window` is where an engine starts: `sandwich` keeps more of each stack if so many symbols do not decide, `cuba` does not.
#[test]
fn a_window_is_kept_or_grows() {
    let folder = common::folder("window");
    for (engine, expected) in [("sandwich", "window 3"), ("cuba", "window 2")] {
        let path = folder.join(engine);
        let path = path.display();
        let run = allways(&format!("reach cuba-figure-1.pds --engine {engine} --window 2 --evidence {path}"));
        assert_eq!(run.code, 0, "{run:?}");
        let text = std::fs::read_to_string(path.to_string()).expect("an invariant");
        assert!(text.lines().any(|line| line == expected), "{engine}: {text}");
    }
}
