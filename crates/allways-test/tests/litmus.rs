//! Litmus tests of weak memory: exactly the outcomes that RC11 allows, without load buffering.
//!
//! Each row has the threads, and the registers that may come out, as published for the shapes or derived from the axioms by hand
//! (docs/testing-rust.md). `x=1` stores, `a=x` loads, `x+1` adds (and loads), `fence` stands alone; the ordering follows: `rlx`,
//! `rel`, `acq`, `ar`, `sc`. The outcome is what the loads and additions have read, thread by thread, and then the final values of the
//! variables that the row names.

use allways_test::sync::atomic::{AtomicUsize, Ordering, fence};
use allways_test::{Check, Outcome, StopReason, thread};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
enum Action {
    Store(usize, usize, Ordering),
    Load(usize, Ordering),
    Add(usize, usize, Ordering),
    Compare(usize, usize, usize, Ordering),
    Fence(Ordering),
}

fn variable(name: &str) -> usize {
    ["x", "y", "z"].iter().position(|one| *one == name).unwrap_or_else(|| panic!("{name}"))
}

fn parse(text: &str) -> Action {
    let (action, order) = text.trim().rsplit_once(' ').unwrap();
    let order = match order {
        "rlx" => Ordering::Relaxed,
        "acq" => Ordering::Acquire,
        "rel" => Ordering::Release,
        "ar" => Ordering::AcqRel,
        "sc" => Ordering::SeqCst,
        other => panic!("{other}"),
    };
    if action == "fence" {
        Action::Fence(order)
    } else if let Some((name, value)) = action.split_once('=') {
        Action::Store(variable(name), value.parse().unwrap(), order)
    } else if let Some((name, value)) = action.split_once('+') {
        Action::Add(variable(name), value.parse().unwrap(), order)
    } else if let Some((name, values)) = action.split_once('?') {
        let (old, new) = values.split_once('>').unwrap();
        Action::Compare(variable(name), old.parse().unwrap(), new.parse().unwrap(), order)
    } else {
        Action::Load(variable(action), order)
    }
}

/// What the threads have read, and the final values that are asked for.
fn outcomes(program: &str, finals: &str, reduce: bool) -> (BTreeSet<String>, u64) {
    let threads: Vec<Vec<Action>> =
        program.split("||").map(|thread| thread.split(';').map(parse).collect()).collect();
    let finals: Vec<usize> = finals.split_whitespace().map(variable).collect();
    let found = Arc::new(Mutex::new(BTreeSet::new()));
    let there = Arc::clone(&found);
    let mut check = Check::new().weak_memory().every_schedule();
    if !reduce {
        check = check.no_reduction().schedules(30_000);
    }
    let report = check.explore(move || {
        let variables: Arc<[AtomicUsize; 3]> = Arc::default();
        let running: Vec<_> = threads
            .iter()
            .cloned()
            .map(|actions| {
                let variables = Arc::clone(&variables);
                thread::spawn(move || {
                    let mut seen = String::new();
                    for action in actions {
                        match action {
                            Action::Store(x, value, order) => variables[x].store(value, order),
                            Action::Load(x, order) => seen += &variables[x].load(order).to_string(),
                            Action::Add(x, value, order) => {
                                seen += &variables[x].fetch_add(value, order).to_string()
                            }
                            Action::Compare(x, old, new, order) => {
                                let result =
                                    variables[x].compare_exchange(old, new, order, Ordering::Relaxed);
                                seen += &result.map_or_else(|old| format!("f{old}"), |_| "s".to_string());
                            }
                            Action::Fence(order) => fence(order),
                        }
                    }
                    seen
                })
            })
            .collect();
        let mut seen: Vec<String> = running.into_iter().map(|thread| thread.join().unwrap()).collect();
        let last: String = finals.iter().map(|&x| variables[x].load(Ordering::Relaxed).to_string()).collect();
        seen.push(last);
        seen.retain(|part| !part.is_empty());
        there.lock().unwrap().insert(seen.join(" "));
    });
    assert!(
        matches!(
            report.outcome,
            Outcome::EverySchedule | Outcome::Stopped(StopReason::Schedules(_) | StopReason::NeverMet(_))
        ),
        "{program}: {report}"
    );
    let found = found.lock().unwrap().clone();
    (found, if report.every_schedule() { report.schedules } else { 0 })
}

/// Name, threads, variables whose final value matters, and the outcomes; `not` lists those that are forbidden, of all
/// combinations of 0 and 1.
const TESTS: &[(&str, &str, &str, &str)] = &[
    ("SB, relaxed", "x=1 rlx; y rlx || y=1 rlx; x rlx", "", "0 0, 0 1, 1 0, 1 1"),
    ("SB, release and acquire", "x=1 rel; y acq || y=1 rel; x acq", "", "0 0, 0 1, 1 0, 1 1"),
    ("SB, sequentially consistent", "x=1 sc; y sc || y=1 sc; x sc", "", "0 1, 1 0, 1 1"),
    ("SB, fences", "x=1 rlx; fence sc; y rlx || y=1 rlx; fence sc; x rlx", "", "0 1, 1 0, 1 1"),
    ("SB, one fence", "x=1 rlx; fence sc; y rlx || y=1 rlx; x rlx", "", "0 0, 0 1, 1 0, 1 1"),
    ("SB, a fence and accesses", "x=1 rlx; fence sc; y rlx || y=1 sc; x sc", "", "0 1, 1 0, 1 1"),
    (
        "SB, acquire-release fences",
        "x=1 rlx; fence ar; y rlx || y=1 rlx; fence ar; x rlx",
        "",
        "0 0, 0 1, 1 0, 1 1",
    ),
    ("SB, updates", "x+1 ar; y acq || y+1 ar; x acq", "", "00 00, 00 01, 01 00, 01 01"),
    ("SB, sequentially consistent updates", "x+1 sc; y sc || y+1 sc; x sc", "", "00 01, 01 00, 01 01"),
    ("SB, stores sequentially consistent only", "x=1 sc; y rlx || y=1 sc; x rlx", "", "0 0, 0 1, 1 0, 1 1"),
    ("MP, relaxed", "x=1 rlx; y=1 rlx || y rlx; x rlx", "", "00, 01, 10, 11"),
    ("MP, release and acquire", "x=1 rlx; y=1 rel || y acq; x rlx", "", "00, 01, 11"),
    ("MP, release only", "x=1 rlx; y=1 rel || y rlx; x rlx", "", "00, 01, 10, 11"),
    ("MP, acquire only", "x=1 rlx; y=1 rlx || y acq; x rlx", "", "00, 01, 10, 11"),
    ("MP, fences", "x=1 rlx; fence rel; y=1 rlx || y rlx; fence acq; x rlx", "", "00, 01, 11"),
    ("MP, release fence and acquire load", "x=1 rlx; fence rel; y=1 rlx || y acq; x rlx", "", "00, 01, 11"),
    ("MP, release store and acquire fence", "x=1 rlx; y=1 rel || y rlx; fence acq; x rlx", "", "00, 01, 11"),
    ("MP, release fence only", "x=1 rlx; fence rel; y=1 rlx || y rlx; x rlx", "", "00, 01, 10, 11"),
    (
        "MP, acquire fence before the load",
        "x=1 rlx; y=1 rel || fence acq; y rlx; x rlx",
        "",
        "00, 01, 10, 11",
    ),
    (
        "MP, release fence after the stores",
        "x=1 rlx; y=1 rlx; fence rel || y acq; x rlx",
        "",
        "00, 01, 10, 11",
    ),
    ("MP, sequentially consistent", "x=1 sc; y=1 sc || y sc; x sc", "", "00, 01, 11"),
    (
        "MP, through an update",
        "x=1 rlx; y=1 rel || y?1>2 rlx || y acq; x rlx",
        "",
        "f0 00, f0 01, f0 11, s 00, s 01, s 11, s 21",
    ),
    (
        "MP, a store breaks the release sequence",
        "x=1 rlx; y=1 rel; y=2 rlx || y acq; x rlx",
        "",
        "00, 01, 11, 20, 21",
    ),
    ("LB, relaxed", "x rlx; y=1 rlx || y rlx; x=1 rlx", "", "0 0, 0 1, 1 0"),
    ("LB, acquire and release", "x acq; y=1 rel || y acq; x=1 rel", "", "0 0, 0 1, 1 0"),
    ("LB, sequentially consistent", "x sc; y=1 sc || y sc; x=1 sc", "", "0 0, 0 1, 1 0"),
    (
        "IRIW, acquire",
        "x=1 rel || y=1 rel || x acq; y acq || y acq; x acq",
        "",
        "00 00, 00 01, 00 10, 00 11, 01 00, 01 01, 01 10, 01 11, 10 00, 10 01, 10 10, 10 11, 11 00, 11 01, 11 10, 11 11",
    ),
    (
        "IRIW, sequentially consistent",
        "x=1 sc || y=1 sc || x sc; y sc || y sc; x sc",
        "",
        "00 00, 00 01, 00 10, 00 11, 01 00, 01 01, 01 10, 01 11, 10 00, 10 01, 10 11, 11 00, 11 01, 11 10, 11 11",
    ),
    (
        "IRIW, fences between the loads",
        "x=1 rlx || y=1 rlx || x rlx; fence sc; y rlx || y rlx; fence sc; x rlx",
        "",
        "00 00, 00 01, 00 10, 00 11, 01 00, 01 01, 01 10, 01 11, 10 00, 10 01, 10 11, 11 00, 11 01, 11 10, 11 11",
    ),
    ("CoRR", "x=1 rlx || x rlx; x rlx", "", "00, 01, 11"),
    ("CoRR, two stores", "x=1 rlx; x=2 rlx || x rlx; x rlx", "", "00, 01, 02, 11, 12, 22"),
    (
        "CoRR, two writers and two readers",
        "x=1 rlx || x=2 rlx || x rlx; x rlx || x rlx; x rlx",
        "",
        "00 00, 00 01, 00 02, 00 11, 00 12, 00 21, 00 22, 01 00, 01 01, 01 02, 01 11, 01 12, 01 21, 01 22, 02 00, 02 01, \
         02 02, 02 11, 02 12, 02 21, 02 22, 11 00, 11 01, 11 02, 11 11, 11 12, 11 21, 11 22, 12 00, 12 01, 12 02, 12 11, \
         12 12, 12 22, 21 00, 21 01, 21 02, 21 11, 21 21, 21 22, 22 00, 22 01, 22 02, 22 11, 22 12, 22 21, 22 22",
    ),
    ("CoWW", "x=1 rlx; x=2 rlx", "x", "2"),
    ("CoWR", "x=1 rlx; x rlx || x=2 rlx", "x", "1 1, 1 2, 2 2"),
    ("CoRW", "x rlx; x=1 rlx || x=2 rlx", "x", "0 1, 0 2, 2 1"),
    ("2+2W, relaxed", "x=1 rlx; y=2 rlx || y=1 rlx; x=2 rlx", "x y", "11, 12, 21, 22"),
    ("2+2W, release", "x=1 rel; y=2 rel || y=1 rel; x=2 rel", "x y", "11, 12, 21, 22"),
    ("2+2W, sequentially consistent", "x=1 sc; y=2 sc || y=1 sc; x=2 sc", "x y", "12, 21, 22"),
    ("2+2W, fences", "x=1 rlx; fence sc; y=2 rlx || y=1 rlx; fence sc; x=2 rlx", "x y", "12, 21, 22"),
    ("S, relaxed", "x=2 rlx; y=1 rlx || y rlx; x=1 rlx", "x", "0 1, 0 2, 1 1, 1 2"),
    ("S, release and acquire", "x=2 rlx; y=1 rel || y acq; x=1 rlx", "x", "0 1, 0 2, 1 1"),
    ("R, release and acquire", "x=1 rel; y=1 rel || y=2 rel; x acq", "y", "0 1, 0 2, 1 1, 1 2"),
    ("R, sequentially consistent", "x=1 sc; y=1 sc || y=2 sc; x sc", "y", "0 1, 1 1, 1 2"),
    ("R, fences", "x=1 rlx; fence sc; y=1 rlx || y=2 rlx; fence sc; x rlx", "y", "0 1, 1 1, 1 2"),
    (
        "WRC, release and acquire",
        "x=1 rel || x acq; y=1 rel || y acq; x acq",
        "",
        "0 00, 0 01, 0 10, 0 11, 1 00, 1 01, 1 11",
    ),
    (
        "WRC, relaxed",
        "x=1 rlx || x rlx; y=1 rlx || y rlx; x rlx",
        "",
        "0 00, 0 01, 0 10, 0 11, 1 00, 1 01, 1 10, 1 11",
    ),
    (
        "WRC, the first relaxed",
        "x=1 rlx || x rlx; y=1 rel || y acq; x rlx",
        "",
        "0 00, 0 01, 0 10, 0 11, 1 00, 1 01, 1 11",
    ),
    (
        "ISA2",
        "x=1 rlx; y=1 rel || y acq; z=1 rel || z acq; x rlx",
        "",
        "0 00, 0 01, 0 10, 0 11, 1 00, 1 01, 1 11",
    ),
    (
        "ISA2, relaxed in between",
        "x=1 rlx; y=1 rel || y rlx; z=1 rel || z acq; x rlx",
        "",
        "0 00, 0 01, 0 10, 0 11, 1 00, 1 01, 1 10, 1 11",
    ),
    (
        "RWC, fences",
        "x=1 rlx || x rlx; fence sc; y rlx || y=1 rlx; fence sc; x rlx",
        "",
        "00 0, 00 1, 01 0, 01 1, 10 1, 11 0, 11 1",
    ),
    ("updates are atomic", "x+1 rlx || x+1 rlx", "x", "0 1 2, 1 0 2"),
    (
        "three updates are atomic",
        "x+1 rlx || x+1 rlx || x+1 rlx",
        "x",
        "0 1 2 3, 0 2 1 3, 1 0 2 3, 1 2 0 3, 2 0 1 3, 2 1 0 3",
    ),
    ("an update and a store", "x+1 rlx || x=5 rlx", "x", "0 5, 5 6"),
    ("one wins", "x?0>1 rlx || x?0>2 rlx", "x", "f2 s 2, s f1 1"),
    ("MP, updates relaxed", "x=1 rlx; y+1 rlx || y+1 rlx; x rlx", "", "0 10, 0 11, 1 00, 1 01"),
    ("MP, updates", "x=1 rlx; y+1 rel || y+1 acq; x rlx", "", "0 11, 1 00, 1 01"),
    ("a fence orders what came before", "x=1 rlx; fence sc || fence sc; x rlx", "", "0, 1"),
    ("SB with a third variable in between", "x=1 sc; z=1 rlx; y sc || y=1 sc; x sc", "", "0 1, 1 0, 1 1"),
];

#[test]
fn exactly_the_outcomes_that_are_allowed() {
    assert!(TESTS.len() >= 40);
    let mut wrong = Vec::new();
    for (name, program, finals, expected) in TESTS {
        let expected: BTreeSet<String> =
            expected.split(", ").map(|outcome| outcome.trim().to_string()).collect();
        let (found, schedules) = outcomes(program, finals, true);
        println!(
            "| {name} | `{program}` | {} | {schedules} |",
            found.iter().cloned().collect::<Vec<_>>().join(", ")
        );
        if found != expected {
            let missing: Vec<_> = expected.difference(&found).collect();
            let extra: Vec<_> = found.difference(&expected).collect();
            wrong.push(format!("{name}: missing {missing:?}, not allowed {extra:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
