//! Time, memory and interruption: what is known is said, and no verdict comes of it.

mod common;

use common::{Run, allways, command, endless, file, folder};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[test]
fn time_runs_out() {
    let path = endless(&folder("time"));
    let started = Instant::now();
    let run = allways(&format!("reach {path} --engine druba --timeout 1s --json"));
    assert_eq!(run.code, 5, "{run:?}");
    let object = run.json();
    assert_eq!(object["reason"], "the time limit was reached");
    assert_eq!(object["converged"], false);
    assert!(
        object["visible_states"].as_u64() > Some(100) && object["images"].as_u64() > Some(1000),
        "{object}"
    );
    let seconds = object["seconds"].as_f64().expect("a number");
    assert!((1.0..3.0).contains(&seconds) && started.elapsed() < Duration::from_secs(5), "{seconds}");
    let run = allways(&format!("check {path} --engine druba --target 2|2,2,2,2,2,2,2,2,2,2 --timeout 500ms"));
    assert_eq!(run.code, 5, "{run:?}");
    assert!(run.verdict().ends_with(", because the time limit was reached"), "{run:?}");
}

/// What is reported is the time of the process: nothing that takes long is left to do when the clock is read, such as to free
/// what was stored. (States that are listed are written after that, since the time is a part of what is written.)
///
/// Both times are of one run, so how fast the machine is does not matter. A machine that is busy may keep a process waiting after
/// it has read the clock, but not each time: one run of five has to be right, and work that is done after the clock is read is
/// done in all of them.
#[test]
fn the_time_reported_is_the_time_taken() {
    let path = endless(&folder("reported"));
    for command in [
        format!("reach {path} --engine druba --timeout 1500ms --json"),
        format!("reach {path} --engine free --timeout 1500ms --json"),
        format!("check {path} --engine druba --target 2|2,2,2,2,2,2,2,2,2,2 --timeout 1500ms --json"),
    ] {
        let ratio = || {
            let started = Instant::now();
            let run = allways(&command);
            let taken = started.elapsed().as_secs_f64();
            assert!(taken > 1.0, "{taken} s");
            run.json()["seconds"].as_f64().expect("a number") / taken
        };
        let ratios: Vec<f64> = (0..5).map(|_| ratio()).take_while(|ratio| *ratio < 0.9).collect();
        assert!(ratios.len() < 5, "{command}: {ratios:?} of the time is reported");
    }
}

#[test]
fn absurd_times() {
    let run = allways("check lock-racy.pds --timeout 0s");
    assert!(run.code == 5 && run.out.contains("the time limit was reached"), "{run:?}");
    assert_eq!(allways("check lock-racy.pds --timeout 0s --json").json()["verdict"], "unknown");
    assert_eq!(allways("reach lock-racy.pds --timeout 0s --json").json()["visible_states"], 0);
    assert_eq!(allways("check lock-racy.pds --timeout 99999999999999999999999h").code, 10);
    assert_eq!(allways("check lock-racy.pds --memory 99999999999999999999999T").code, 10);
}

#[test]
fn memory_runs_out() {
    let path = endless(&folder("memory"));
    let limited = |engine: &str| {
        let run = allways(&format!("reach {path} --engine {engine} --memory 200M --timeout 5m --json"));
        assert_eq!(run.code, 5, "{run:?}");
        let object = run.json();
        assert_eq!(object["reason"], "the memory limit was reached");
        object["peak_bytes"].as_u64().expect("a number")
    };
    let peak = limited("druba");
    assert!(peak < (200 << 20) * 105 / 100, "{peak} bytes");
    limited("free");
    let run = allways("check lock-racy.pds --memory 1k");
    assert!(run.code == 5 && run.out.contains("the memory limit was reached"), "{run:?}");
}

#[test]
fn reading_has_limits_too() {
    let rules: String = (0..3_000_000).map(|rule| format!("0 {rule} -> 0 {rule} {rule}\n")).collect();
    let folder = folder("reading");
    let path = file(&folder, "x.pds", format!("1\nPDA 0 3000000\n{rules}"));
    let run = allways(&format!("reach {path} --init 0|0 --timeout 20ms"));
    assert!(
        run.code == 5
            && run.verdict().ends_with("was not read to the end, because the time limit was reached"),
        "{run:?}"
    );
    let run = allways(&format!("reach {path} --init 0|0 --memory 20M"));
    assert!(run.code == 5 && run.out.contains("the memory limit was reached"), "{run:?}");
    std::fs::remove_file(path).expect("gone");
}

#[cfg(unix)]
/// All that one thread does is a single step here, and nobody looks at the clock inside of a step.
#[test]
fn a_single_step_that_takes_long_does_not_hold_up_the_answer() {
    let mut text = String::from("int __VERIFIER_nondet_int(void);\nint main(void) {\n  int s = 0;\n");
    for number in 0..9000 {
        text += &format!(
            "  int x{number} = __VERIFIER_nondet_int(); if (x{number} == s + {number}) s += x{number};\n"
        );
    }
    text += "  return 0;\n}\n";
    let path = file(&folder("step"), "step.i", &text);
    let started = Instant::now();
    let run = allways(&format!("check {path} --timeout 4s"));
    assert!(run.code == 5 && run.verdict().ends_with("because the time limit was reached"), "{run:?}");
    assert!(started.elapsed() < Duration::from_secs(9), "{:?}", started.elapsed());
}

#[test]
fn an_interruption_is_answered_with_what_is_known() {
    let path = endless(&folder("interrupt"));
    for (signal, arguments) in [
        ("-INT", format!("reach {path} --engine druba")),
        ("-INT", format!("check {path} {path} --engine druba --target 2|2,2,2,2,2,2,2,2,2,2")),
        ("-TERM", format!("reach {path} --engine druba")),
    ] {
        let child =
            command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        sleep(Duration::from_millis(500));
        let pid = child.id().to_string();
        let sent = Command::new("kill").args([signal, &pid]).status().expect("kill is there");
        assert!(sent.success());
        let asked = Instant::now();
        let run = Run::of(child.wait_with_output().expect("it ends"));
        assert!(asked.elapsed() < Duration::from_secs(3), "{:?}", asked.elapsed());
        assert_eq!(run.code, 130, "{run:?}");
        assert!(run.verdict().ends_with("because it was interrupted"), "{run:?}");
        assert_eq!(run.out.lines().count(), 1, "further files are left alone");
    }
}

/// Rules that take two tokens and give two, from one place in two, by a simple generator of numbers.
fn net(places: u64, rules: u64, target: u64) -> String {
    let mut seed: u64 = 7;
    let mut next = |used: &[u64]| loop {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let place = (seed >> 33) % places;
        if !used.contains(&place) {
            return place;
        }
    };
    let list = |of: &dyn Fn(u64) -> String, count: u64, between: &str| -> String {
        (0..count).map(of).collect::<Vec<_>>().join(between)
    };
    let mut text = format!("vars {}\nrules\n", list(&|place| format!("p{place}"), places, " "));
    for _ in 0..rules {
        let mut used = Vec::new();
        (0..4).for_each(|_| used.push(next(&used)));
        let [a, b, c, d] = used[..] else { unreachable!("four places") };
        text += &format!(
            "p{a} >= 1, p{b} >= 1 -> p{a}' = p{a} - 1, p{b}' = p{b} - 1, p{c}' = p{c} + 1, p{d}' = p{d} + 1;\n"
        );
    }
    let init = list(&|place| format!("p{place} = {}", place % 2), places, ", ");
    text + &format!("init {init}\ntarget {}\n", list(&|place| format!("p{place} >= 2"), target, ", "))
}

/// Every phase of a search in a net looks at the clock: reading it, invariants, linear programs, trees, and what is written.
/// A machine that is busy is given a few seconds more.
#[test]
fn large_nets_keep_the_time_limit() {
    let folder = folder("large-nets");
    for (places, rules, target) in
        [(60, 200, 10), (300, 3_000, 100), (1_000, 40_000, 450), (5_000, 5_000, 2_000)]
    {
        let file = file(&folder, "net.spec", net(places, rules, target));
        for engine in ["auto", "backward", "karp-miller", "forward", "directed"] {
            let started = Instant::now();
            let run = allways(&format!("check {file} --engine {engine} --timeout 300ms --json --quiet"));
            let spent = started.elapsed();
            assert!([0, 5, 10].contains(&run.code), "{places} {engine}: {run:?}");
            assert!(spent < Duration::from_secs(10), "{places} {engine}: {spent:?}");
        }
    }
}
