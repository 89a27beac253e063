//! Any number of threads, as users see it.

mod common;

use common::{Run, allways, command, folder};
use std::fs;
use std::path::Path;

const LOCK: &str = "shared bool taken;

thread p[*] {
  loop {
    atomic { await !taken; taken = true; }
    crit: skip;
    taken = false;
  }
}

never at(crit) >= 2;
";

fn run(arguments: &str, files: &[&Path]) -> Run {
    Run::of(command(arguments).args(files).output().expect("it starts"))
}

#[test]
fn a_lock_is_proved_and_certified_for_any_number_of_threads() {
    let folder = folder("any-number");
    let (program, evidence) = (folder.join("lock.aw"), folder.join("lock.evidence"));
    fs::write(&program, LOCK).expect("a file");
    let checked = Run::of(
        command("check --json").arg(&program).arg("--evidence").arg(&evidence).output().expect("it starts"),
    );
    assert_eq!((&checked.json()["verdict"], &checked.json()["any_number"]), (&"safe".into(), &true.into()));
    let text = fs::read_to_string(&evidence).expect("evidence");
    assert!(text.starts_with("allways products 1\nany 0\n"), "{text}");
    let certified = run("certify", &[&program, &evidence]);
    assert!(certified.code == 0 && certified.out.contains("with any number of threads"), "{certified:?}");
    // It says nothing about a given number of threads that are told apart, nor without one of its sets.
    assert_eq!(run("certify --threads 2", &[&program, &evidence]).code, 20);
    let less: Vec<&str> = text.lines().collect();
    for index in
        (2..less.len()).filter(|&index| less[index].starts_with("rest") || less[index].starts_with("mover"))
    {
        let mut less = less.clone();
        less.remove(index);
        fs::write(&evidence, less.join("\n")).expect("a file");
        let rejected = run("certify", &[&program, &evidence]);
        assert_eq!(rejected.code, 20, "{rejected:?}");
    }
    // Without the word `any`, it would be about one thread, and there may be more.
    fs::write(&evidence, text.replace("any 0\n", "")).expect("a file");
    assert_eq!(run("certify", &[&program, &evidence]).code, 5);
    let fixed = run("check --threads 3", &[&program]);
    assert!(fixed.code == 0 && !fixed.out.contains("any number"), "{fixed:?}");
}

#[test]
fn wrong_programs_are_wrong_with_any_number_of_threads() {
    let folder = folder("any-number-wrong");
    for (index, (from, to)) in [
        ("atomic { await !taken; taken = true; }", "await !taken; taken = true;"),
        ("never at(crit) >= 2", "never at(crit) >= 1"),
        ("taken = false;", "taken = false; taken = false;"),
    ]
    .into_iter()
    .enumerate()
    {
        let program = folder.join(format!("wrong-{index}.aw"));
        fs::write(&program, LOCK.replace(from, to)).expect("a file");
        let checked = run("check", &[&program]);
        assert_eq!(checked.code, 10, "{checked:?}");
    }
    // Where threads start, any number of them is.
    for (bound, code) in [("== 3", 10), (">= 1", 10), ("== 0", 10), ("< 0", 0)] {
        let program = folder.join("entry.aw");
        fs::write(
            &program,
            format!("shared bool x;\nthread p[*] {{\n  here: x = true;\n}}\nnever at(here) {bound};\n"),
        )
        .expect("a file");
        let checked = run("check", &[&program]);
        assert_eq!(checked.code, code, "{bound}: {checked:?}");
    }
}

#[test]
fn a_lost_proof_is_explained() {
    let folder = folder("explain");
    let program = folder.join("two.aw");
    let thread = |name: &str| {
        format!(
            "thread {name} {{ atomic {{ await !m; m = true; }} busy = true; assert busy; busy = false; m = false; }}\n"
        )
    };
    fs::write(&program, format!("shared bool m, busy;\n{}{}", thread("a"), thread("b"))).expect("a file");
    let checked = run("check --explain --engine modular", &[&program]);
    assert_eq!(checked.code, 5, "{checked:?}");
    assert!(
        checked.out.contains("after 1 step they contain a spurious state, m=1;busy=0 with"),
        "{checked:?}"
    );
    let json = run("check --explain --json", &[&program]).json();
    assert_eq!(json["verdict"], "safe");
    assert!(json["explanation"].as_str().is_some_and(|text| text.contains("cannot prove it")), "{json}");
    let proved = run("check --explain --engine modular-quadratic", &[&program]);
    assert!(proved.out.contains("no spurious state matters"), "{proved:?}");
}

#[test]
fn rules_have_thread_modular_proofs_too() {
    // Who moved last must be known, and it is enough.
    for (engine, code) in
        [("modular", 5), ("modular-relaxed", 5), ("modular-quadratic", 0), ("modular-both", 0)]
    {
        let checked = allways(&format!("check locks-in-order.pds --target *|2,2 --engine {engine}"));
        assert_eq!(checked.code, code, "{checked:?}");
    }
    let refused = allways("check locks-in-order.pds --target *|2,2 --engine modular --window 2");
    assert_eq!(refused.code, 2, "{refused:?}");
}

#[test]
fn a_deadlock_of_few_threads_is_one_of_any_number() {
    let folder = folder("any-number-deadlock");
    let program = folder.join("stuck.aw");
    fs::write(&program, "shared bool x;\nthread p[*] {\n  await x;\n}\n").expect("a file");
    let checked = run("check --deadlock", &[&program]);
    assert!(checked.code == 10 && checked.out.contains("--threads p=1"), "{checked:?}");
    // Who may be started later may be the one who helps.
    fs::write(
        &program,
        "shared bool x;\nthread p {\n  spawn q;\n  await x;\n}\nthread q[0] {\n  x = true;\n}\n",
    )
    .expect("a file");
    assert_eq!(run("check --deadlock", &[&program]).code, 0);
}

#[test]
fn counted_threads_prove_and_refute() {
    let folder = folder("counted");
    let (program, evidence) = (folder.join("two.aw"), folder.join("two.evidence"));
    let text = |most: u32| {
        let step = "atomic { await n < 2; n = n + 1; } in: skip; n = n - 1;";
        format!("shared 0..2 n;\nthread p[*] {{\n  loop {{ {step} }}\n}}\nnever at(in) >= {most};\n")
    };
    fs::write(&program, text(3)).expect("a file");
    let checked = Run::of(
        command("check --json").arg(&program).arg("--evidence").arg(&evidence).output().expect("it starts"),
    );
    let json = checked.json();
    assert_eq!((&json["verdict"], &json["engine"]), (&"safe".into(), &"coverability".into()), "{json}");
    assert_eq!(run("certify", &[&program, &evidence]).code, 0);
    // Every line of the proof is needed, and it is no proof of more.
    let proof = fs::read_to_string(&evidence).expect("evidence");
    let lines: Vec<&str> = proof.lines().collect();
    let last = lines.len() - 1;
    for index in
        (2..last).filter(|&index| lines[index].starts_with("rest") || lines[index].starts_with("basis"))
    {
        let mut less = lines.clone();
        let removed = less.remove(index);
        let basis: usize =
            lines[last].strip_prefix("end ").and_then(|count| count.parse().ok()).expect("a count");
        let end = format!("end {}", basis - usize::from(removed.starts_with("basis")));
        less[last - 1] = &end;
        fs::write(&evidence, less.join("\n")).expect("a file");
        assert_eq!(run("certify", &[&program, &evidence]).code, 20, "without {removed}");
    }
    fs::write(&evidence, &proof).expect("a file");
    fs::write(&program, text(2)).expect("a file");
    assert_eq!(run("certify", &[&program, &evidence]).code, 20, "two can be there");
    // Wrong with six threads, and not with five.
    fs::write(
        &program,
        "shared 0..6 n;\nthread p[*] {\n  atomic { await n < 6; n = n + 1; }\n  assert n < 6;\n}\n",
    )
    .expect("a file");
    let checked = run("check", &[&program]);
    assert!(checked.code == 10 && checked.out.contains("--threads p=6"), "{checked:?}");
    assert_eq!(run("check --threads 5", &[&program]).code, 0);
}

#[test]
fn initial_states_that_are_too_many_are_not_left_out() {
    let folder = folder("any-number-crowded");
    let program = folder.join("crowded.aw");
    // Many kinds of threads that are counted where they start: wrong with two of each.
    let kinds: String = (0..7).map(|kind| format!("thread t{kind}[*] {{ l{kind}: x = true; }}\n")).collect();
    let together = (0..7).map(|kind| format!("at(l{kind}) >= 2")).collect::<Vec<_>>().join(" && ");
    fs::write(&program, format!("shared bool x;\n{kinds}never {together};\n")).expect("a file");
    assert_eq!(run("check", &[&program]).code, 10);
    // A large cap: wrong with three hundred of each, and nobody tries so many.
    let threads = "thread a[*] { s: x = true; }\nthread b[*] { t: x = false; }\n";
    fs::write(&program, format!("shared bool x;\n{threads}never at(s) >= 300 && at(t) >= 300;\n"))
        .expect("a file");
    assert_eq!(run("check --timeout 5s", &[&program]).code, 5);
    assert_eq!(run("check --threads a=300,b=300", &[&program]).code, 10);
    // Many values at the start.
    let thread = "thread w[*] { start: skip; }\n";
    fs::write(&program, format!("shared 0..11999 x = *;\n{thread}never at(start) >= 2 && x == 11999;\n"))
        .expect("a file");
    assert_eq!(run("check", &[&program]).code, 10);
}

#[test]
fn many_counters_cost_no_more_than_the_limits_allow() {
    let folder = folder("any-number-counters");
    let (program, evidence) = (folder.join("many.aw"), folder.join("many.evidence"));
    let labels: String = (0..30).map(|label| format!("  l{label}: skip;\n")).collect();
    let all = (0..30).map(|label| format!("at(l{label}) >= 1")).collect::<Vec<_>>().join(" && ");
    fs::write(&program, format!("shared bool x;\nthread w[*] {{\n{labels}}}\nnever {all} && x;\n"))
        .expect("a file");
    let counts = (0..30).map(|label| format!("at#{label}=3")).collect::<Vec<_>>().join(";");
    let text = format!("allways products 1\nany 0\nproduct 1\nrest 0: x=0;{counts}|w:3\nnext 1\nend 1\n");
    fs::write(&evidence, text).expect("a file");
    let certified = run("certify --timeout 20s --memory 1G", &[&program, &evidence]);
    assert_eq!(certified.code, 20, "{certified:?}");
}
