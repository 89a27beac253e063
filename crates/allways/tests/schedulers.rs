//! `allways check --scheduler` and `allways convert --sequentialize`.

mod common;

use common::{Run, command, file, folder};
use std::path::Path;

const TASKS: &str = "shared 0..3 g;
main { post add(1); post add(2); post check(); }
task add(0..2 by) { 0..3 old = g; yield; g = old + by; }
task check() { assert g != 2; }
";

const SAFE: &str = "shared bool first, second;
main { post b(); post a(); }
task a() { first = true; }
task b() { await first; second = true; }
never second && !first;
";

const ENDLESS: &str = "shared bool x;
main { post again(); }
task again() { x = !x; post again(); post again(); }
never x && !x;
";

fn run(folder: &Path, arguments: &str) -> Run {
    Run::of(command(arguments).current_dir(folder).output().expect("it starts"))
}

#[test]
fn the_fewest_delays_of_a_bug() {
    let folder = folder("fewest-delays");
    file(&folder, "tasks.aw", TASKS);
    for (scheduler, delays) in
        [("bag", 0), ("bounded-bag=1", 0), ("round-robin", 1), ("depth-first", 1), ("reverse-depth-first", 2)]
    {
        let found = run(&folder, &format!("check tasks.aw --scheduler {scheduler} --json --evidence proof"));
        assert_eq!(found.code, 10, "{found:?}");
        let json = found.json();
        assert_eq!((&json["delays"], &json["certified"]), (&delays.into(), &true.into()), "{json}");
        assert_eq!((&json["violation"], &json["exhausted"]), (&"assert".into(), &false.into()), "{json}");
        let accepted = run(&folder, "certify tasks.aw proof --threads add=2,check=1");
        assert_eq!(accepted.code, 0, "{accepted:?}");
        assert_eq!(run(&folder, "replay tasks.aw proof --threads add=2,check=1").code, 0);
        if delays > 0 {
            let fewer = format!("check tasks.aw --scheduler {scheduler} --delays {}", delays - 1);
            assert_eq!(run(&folder, &fewer).code, 5);
        }
    }
}

#[test]
fn every_schedule() {
    let folder = folder("every-schedule");
    file(&folder, "safe.aw", SAFE);
    for scheduler in ["bag", "round-robin", "depth-first", "reverse-depth-first"] {
        let safe = run(&folder, &format!("check safe.aw --scheduler {scheduler} --json --evidence proof"));
        assert_eq!(safe.code, 0, "{safe:?}");
        assert_eq!((&safe.json()["exhausted"], &safe.json()["certified"]), (&true.into(), &true.into()));
        assert_eq!(run(&folder, "certify safe.aw proof --threads a=1,b=1").code, 0);
    }
    // What it drops might have gone wrong.
    assert_eq!(run(&folder, "check safe.aw --scheduler bounded-bag=1").code, 5);
    file(&folder, "endless.aw", ENDLESS);
    let bound = run(&folder, "check endless.aw --scheduler bag --timeout 100ms");
    assert_eq!(bound.code, 5, "{bound:?}");
    assert!(bound.out.contains("because the time limit was reached (bag, "), "{bound:?}");
}

#[test]
fn what_is_refused() {
    let folder = folder("schedulers-refused");
    file(&folder, "tasks.aw", TASKS);
    file(&folder, "threads.aw", "shared bool x;\nthread p { x = true; }\nnever x && !x;\n");
    for (arguments, expected) in [
        ("check threads.aw --scheduler bag", "supports programs with tasks only"),
        ("check tasks.aw --scheduler fair", "expected bag, bounded-bag=K, round-robin"),
        ("check tasks.aw --scheduler bounded-bag=0", "expected bag, bounded-bag=K, round-robin"),
        ("check tasks.aw --delays 2", "--delays requires --rounds"),
        ("reach tasks.aw --delays 2", "--delays requires --rounds"),
        ("check tasks.aw --scheduler bag --deadlock", "cannot be used with '--deadlock'"),
        ("check tasks.aw --scheduler bag --engine free", "cannot be used with '--engine"),
        ("convert tasks.aw --to pds --sequentialize 1", "--sequentialize makes a program of a program"),
        ("convert threads.aw --to aw --sequentialize 1", "only programs with tasks"),
    ] {
        let refused = run(&folder, arguments);
        assert_eq!(refused.code, 2, "{arguments}: {refused:?}");
        assert!(refused.err.contains(expected), "{arguments}: {refused:?}");
    }
    file(&folder, "int.aw", "shared int x;\nmain { post a(); }\ntask a() { x = 1; }\nnever x == 2;\n");
    let refused = run(&folder, "convert int.aw --to aw --sequentialize 0");
    assert!(refused.err.contains("its values cannot be guessed: give it a range"), "{refused:?}");
}

/// Within as many delays as it needs, the sequential program goes wrong, too, and not before.
#[test]
fn sequential_programs_are_decided() {
    let folder = folder("sequential");
    file(&folder, "tasks.aw", TASKS);
    for (delays, code) in [(0, 0), (1, 10)] {
        let written = run(&folder, &format!("convert tasks.aw --to aw --sequentialize {delays} -o s.aw"));
        assert_eq!(written.code, 0, "{written:?}");
        assert_eq!(run(&folder, "check s.aw").code, code, "{delays}");
    }
}
