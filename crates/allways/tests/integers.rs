//! Programs with integers: proofs by views, as users get them, and what happens if the solver does not do its part.

mod common;

use allways_lang::aw;
use allways_model::program::semantics::{Outcome, State, steps};
use common::{Run, allways, command, file, folder, solver};
use std::collections::HashSet;
use std::fs;
use std::process::Command;

const LOCK: &str = "../aw/int-ticket-lock.aw";

#[test]
fn the_ticket_lock_is_proved_for_any_number_of_threads() {
    if !solver("z3") {
        return;
    }
    for program in [LOCK, "../aw/int-ticket-lock-predicates.aw"] {
        let answer = allways(&format!("check --json {program}")).json();
        assert_eq!(answer["verdict"], "safe", "{answer}");
        assert_eq!(answer["engine"], "views", "{answer}");
        assert_eq!(answer["any_number"], true, "{answer}");
        assert_eq!(answer["size"], 2, "{answer}");
        assert_eq!(answer["certified"], true, "{answer}");
    }
}

/// The fewest steps to a violation with two threads, by the reference semantics.
fn fewest_steps(text: &[u8]) -> usize {
    let program = aw::parse(text).program.expect("a program");
    let mut level = State::initial(&program, &[2]).expect("few");
    let mut seen: HashSet<State> = level.iter().cloned().collect();
    for steps_taken in 0.. {
        let mut next = Vec::new();
        for state in &level {
            if state.violated(&program).is_some() {
                return steps_taken;
            }
            for thread in 0..state.threads.len() {
                for step in steps(&program, state, thread) {
                    let Outcome::To(after) = step.outcome else { panic!("only `never` is violated") };
                    if seen.insert(after.clone()) {
                        next.push(after);
                    }
                }
            }
        }
        level = next;
    }
    unreachable!("it goes wrong")
}

#[test]
fn wrong_ticket_locks_have_shortest_traces() {
    for name in ["read", "twice", "two-steps"] {
        let file = format!("../aw/int-ticket-lock-{name}-wrong.aw");
        let answer = allways(&format!("check --json {file}")).json();
        let text = fs::read(common::corpus().join(&file)).expect("it is there");
        assert_eq!(answer["steps"].as_u64(), Some(fewest_steps(&text) as u64), "{answer}");
    }
}

/// An index out of bounds in a property is a violation, whatever stands beside it; unless it is not evaluated.
#[test]
fn what_goes_wrong_in_a_property_violates_it() {
    if !solver("z3") {
        return;
    }
    let folder = folder("wrong-properties");
    let proved = |name: &str, never: &str| {
        let text =
            format!("shared int x, y, a[3]; thread p[*] {{ loop {{ x = x + 1; m: skip; }} }} never {never};");
        let path = file(&folder, name, text);
        allways(&format!("check {path} --engine views --timeout 20s")).code == 0
    };
    for (index, wrong) in [
        "a[x] == 1 && y == 5",
        "!(a[x] != 1 || y != 5)",
        "a[x] == 1 && at(m) >= 1 && y == 5",
        "y == 5 && at(m) >= 9 || a[x] == 1 && at(m) >= 1 && y == 5",
        "!(y != 5 && at(m) < 1 || a[x] != 1)",
        "at(m) >= 0 && a[x] == 1 && y == 5",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(!proved(&format!("wrong{index}.aw"), wrong), "{wrong}");
    }
    for (index, right) in
        ["y == 5 && a[x] == 1", "y == 5 && a[x] == 1 && at(m) >= 1", "!(y != 5 || (at(m) < 1 || a[x] != 1))"]
            .into_iter()
            .enumerate()
    {
        assert!(proved(&format!("right{index}.aw"), right), "{right}");
    }
}

/// Formulas that would be too large are not begun.
#[test]
fn large_formulas_are_unknown_in_time() {
    let folder = folder("large-formulas");
    let twice = "x = x > 3 ? x - 3 : x + 1; ".repeat(40);
    let nested = format!("await {}x % 64{} == 0;", "a[".repeat(12), "]".repeat(12));
    for (name, body, never) in [
        ("at.aw", "x = x + 1; m: skip;".to_string(), "at(m) > 1000000000000"),
        ("atomic.aw", format!("atomic {{ {twice} y = y + 1; }} m: skip;"), "y < 0 && at(m) > 1"),
        ("sum.aw", format!("atomic {{ {} }} m: skip;", "x = x + x; ".repeat(60)), "x > 5 && at(m) > 1"),
        ("nested.aw", format!("{nested} x = x + 1; m: skip;"), "at(m) > 1"),
    ] {
        let text = format!(
            "shared int x = 1, y; shared 0..63 a[64]; thread p[*] {{ loop {{ {body} }} }} never {never};"
        );
        let run = allways(&format!("check {} --engine views --timeout 5s", file(&folder, name, text)));
        assert!([0, 5].contains(&run.code), "{name}: {run:?}");
    }
}

#[test]
fn a_number_of_threads_can_be_given() {
    if !solver("z3") {
        return;
    }
    let folder = folder("numbers");
    let proof = folder.join("proof").display().to_string();
    let run = allways(&format!("check {LOCK} --threads client=3 --evidence {proof}"));
    assert!(run.out.contains("never goes wrong (views"), "{run:?}");
    let run = allways(&format!("certify {LOCK} {proof} --threads client=3"));
    assert_eq!(run.code, 0, "{run:?}");
    let run = allways(&format!("certify {LOCK} {proof}"));
    assert!(run.code == 20 && run.out.contains("--threads"), "{run:?}");
}

/// Each query on which a proof rests, and the proof as a whole, put to another solver.
#[test]
fn another_solver_agrees() {
    if !solver("z3") || !solver("cvc5") {
        return;
    }
    let folder = folder("another-solver");
    let proof = folder.join("proof").display().to_string();
    for program in
        ["int-ticket-lock", "int-reader-count", "int-sequence-lock", "int-locked-sum", "int-bakery"]
    {
        let dump = folder.join(program);
        let options = format!("--engine views --smt-dump {} --evidence {proof}", dump.display());
        let run = allways(&format!("check --quiet ../aw/{program}.aw {options}"));
        assert_eq!(run.code, 0, "{run:?}");
        let mut files = 0;
        for entry in fs::read_dir(&dump).expect("a folder") {
            let path = entry.expect("an entry").path();
            let output = Command::new("cvc5").arg(&path).output().expect("it starts");
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "unsat", "{}", path.display());
            files += 1;
        }
        assert!(files > 10, "{program}: {files}");
        let run = allways(&format!("certify ../aw/{program}.aw {proof} --solver cvc5"));
        assert_eq!(run.code, 0, "{run:?}");
    }
}

#[test]
fn another_solver_finds_proofs() {
    if !solver("cvc5") {
        return;
    }
    let run = allways(&format!("check --quiet {LOCK} --engine views --solver cvc5"));
    assert_eq!(run.code, 0, "{run:?}");
}

fn unknown(run: &Run, why: &str) {
    assert!(run.code == 5 && run.out.starts_with("unknown: ") && run.out.contains(why), "{why}: {run:?}");
}

#[test]
fn a_solver_that_fails_gives_no_verdict() {
    let folder = folder("failing-solvers");
    let check = |solver: &str, options: &str| {
        let mut check = command(&format!("check --quiet {LOCK} {options}"));
        Run::of(check.args(["--solver", solver]).output().expect("it starts"))
    };
    let views = "--engine views";
    unknown(&check("no-such-solver", views), "apt-get install z3");
    unknown(&check("no-such-solver", "--timeout 1s"), "apt-get install z3");
    unknown(&check("true", views), "the solver failed");
    unknown(&check("cat", views), "the solver failed");
    unknown(&check("sleep 1000", &format!("{views} --timeout 1s")), "time limit");
    let liar =
        file(&folder, "liar", "while read line; do case $line in *check-sat*) echo unsat;; esac; done\n");
    unknown(&check(&format!("sh {liar}"), views), "the solver failed");
    if solver("z3") {
        // It ends after some answers, as if it had been killed.
        let some_lines = "i=0; while [ $i -lt 300 ] && IFS= read -r line; do printf '%s\\n' \"$line\"; i=$((i+1)); done | z3 -in\n";
        let dying = file(&folder, "dying", some_lines);
        unknown(&check(&format!("sh {dying}"), views), "the solver failed");
        let by_variable =
            command(&format!("check --quiet {LOCK} {views}")).env("ALLWAYS_SOLVER", "true").output();
        unknown(&Run::of(by_variable.expect("it starts")), "the solver failed");
    }
}

#[test]
fn options_for_solvers_are_for_views() {
    for arguments in [
        format!("check {LOCK} --engine free --solver z3"),
        format!("check {LOCK} --engine views --deadlock"),
        format!("reach {LOCK} --engine views"),
        "check lock-racy.pds --engine views".to_string(),
        format!("check {LOCK} --engine views --rounds 2 --delays 1"),
    ] {
        let run = allways(&arguments);
        assert!(run.code == 2 && run.err.starts_with("error: "), "{arguments}: {run:?}");
    }
}

/// Integers have no end: what would be wrong with 64 bits is right.
#[test]
fn large_numbers() {
    let folder = folder("large-numbers");
    let doubling = "shared int x = 1;\nthread p { loop { x = x + x; } }\nnever x < 0;\n";
    let doubling = file(&folder, "doubling.aw", doubling);
    let run = allways(&format!("check --quiet {doubling} --engine free"));
    assert!(run.code == 5, "the explorer stops where its numbers do: {run:?}");
    let limit = format!("shared int x = {};\nthread p {{ x = x + 1; assert x > 0; }}\n", i64::MAX);
    let limit = file(&folder, "limit.aw", limit);
    assert_eq!(allways(&format!("check --quiet {limit} --engine free")).code, 5);
    if solver("z3") {
        assert_eq!(allways(&format!("check --quiet {doubling}")).code, 0);
        assert_eq!(allways(&format!("check --quiet {limit}")).code, 0);
    }
}

/// What the method cannot say is not guessed.
#[test]
fn what_views_cannot_speak_of() {
    let folder = folder("not-views");
    let cases = [
        ("shared int x; proc f() { x = x + 1; if (x < 5) { f(); } } thread p { f(); }", "a procedure"),
        ("shared int x; thread p { atomic { while (x < 9999) { x = x + 1; } } }", "an atomic section"),
    ];
    for (index, (text, what)) in cases.into_iter().enumerate() {
        let file = file(&folder, &format!("{index}.aw"), text);
        unknown(&allways(&format!("check --quiet {file} --engine views")), what);
    }
}

/// Procedures and events are taken out first.
#[test]
fn what_is_inlined_is_proved() {
    if !solver("z3") {
        return;
    }
    let folder = folder("inlined");
    let lock = "shared int serving, next; proc take(): int { atomic { next = next + 1; return next - 1; } }
                proc enter() { int mine; mine = take(); await serving == mine; }
                thread p[*] { loop { enter(); crit: skip; serving = serving + 1; } } never at(crit) >= 2;";
    let event = "event e; shared int x; thread p { wait e; assert x > 0; } thread q { loop { x = x + 1; broadcast e; } }";
    for (index, text) in [lock, event].into_iter().enumerate() {
        let program = file(&folder, &format!("{index}.aw"), text);
        let proof = folder.join("proof").display().to_string();
        let run = allways(&format!("check {program} --engine views --evidence {proof} --json"));
        let json = run.json();
        assert_eq!((run.code, &json["certified_against"]), (0, &"abstract program".into()), "{run:?}");
        assert_eq!(allways(&format!("certify {program} {proof}")).code, 0);
        let wrong = text.replace("next - 1", "next - 2").replace("x > 0", "x > 1");
        let program = file(&folder, &format!("{index}-wrong.aw"), wrong);
        assert_eq!(allways(&format!("certify {program} {proof}")).code, 20, "a proof of another program");
    }
}

/// Products and quotients of variables: equal operands give equal results, and a little more is known.
#[test]
fn what_is_known_of_products() {
    if !solver("z3") {
        return;
    }
    let folder = folder("products");
    let cases = [
        "shared int x, y = 3, area; thread p[*] { x, area = x + 1, (x + 1) * y; } thread q { assert area == x * y; }",
        "shared int n, price = 7, total; thread p[*] { n, total = n + 1, total + price; } never total != n * price;",
        "shared int n, price = 7, total; thread q { price = 8; } never n * price != price * n;",
        "shared int size = 1; thread grow { loop { size = size + 1; } }
         thread p[*] { int n; n = 100; assert n % size < size && n / size <= n; }",
    ];
    for (index, text) in cases.into_iter().enumerate() {
        let program = file(&folder, &format!("{index}.aw"), text);
        let run = allways(&format!("check --quiet {program} --timeout 60s"));
        assert_eq!(run.code, 0, "{text}\n{run:?}");
    }
    let wrong = file(&folder, "wrong.aw", cases[0].replace("(x + 1) * y", "(x + 1) * (y - 1)"));
    assert_eq!(allways(&format!("check --quiet {wrong} --timeout 60s")).code, 10);
}

/// Products, quotients and threads that are started later: nothing follows from them here, and nothing goes wrong.
#[test]
fn what_views_speak_of_without_precision() {
    if !solver("z3") {
        return;
    }
    let folder = folder("coarse-views");
    let cases = [
        ("shared int x, y; thread p { x = x * y; }", 0),
        ("shared int x, y = 1; thread p { x = x / y; }", 0),
        ("shared int x, y; thread p { y = 1; x = x / y; } thread q { y = 0; }", 10),
        ("shared int x; thread p { spawn q; } thread q[0] { x = x + 1; assert x > 0; }", 0),
        ("shared int x; thread p { spawn q; } thread q[0] { x = x + 1; assert x > 1; }", 10),
    ];
    for (index, (text, code)) in cases.into_iter().enumerate() {
        let file = file(&folder, &format!("{index}.aw"), text);
        let run = allways(&format!("check --quiet {file} --timeout 60s"));
        assert_eq!(run.code, code, "{text}: {run:?}");
    }
}

/// The walk of DrUBA, Figure 1, for the abstractions of its section 5: it ends with the paper's numbers of abstract states.
#[test]
fn the_walk_through_program_p() {
    if !solver("z3") {
        return;
    }
    let folder = folder("walks");
    let text =
        fs::read_to_string(common::corpus().join("../aw/int-druba-figure-1-predicates.aw")).expect("text");
    let third = file(&folder, "third.aw", &text);
    let second = file(&folder, "second.aw", text.replace("predicate m == 0;\n", ""));
    for (program, threads, states) in [(&second, 2, 12), (&second, 3, 13), (&third, 3, 14), (&third, 4, 14)] {
        let run = allways(&format!("check --engine views --stats {program} --threads {threads}"));
        assert_eq!(run.code, 0, "{run:?}");
        assert!(run.out.contains(&format!("→[{states}]")), "{threads} threads: {}", run.out);
    }
}

/// A predicate about threads of another kind than that of thread 0 is no part of what it sees.
#[test]
fn the_walk_leaves_out_predicates_about_other_kinds_of_threads() {
    if !solver("z3") {
        return;
    }
    let folder = folder("walk-of-two-kinds");
    let text = |first: &str, second: &str| {
        format!(
            "shared int n; thread a {{ {first} loop {{ n = n + 1; }} }}
             thread b {{ {second} loop {{ u = n; assert n >= u; }} }} predicate n >= u; predicate n > 0;"
        )
    };
    for (name, text) in [
        ("none.aw", text("", "int u;")),
        ("fewer.aw", text("int x; x = 1;", "int v, u; v = 2;")),
        ("as-many.aw", text("int x; x = 1;", "int u;")),
    ] {
        let path = file(&folder, name, text);
        let run = allways(&format!("check --quiet --engine views --stats {path}"));
        assert_eq!((run.code, run.err.as_str()), (0, ""), "{name}: {}", run.out);
        assert!(run.out.contains("d=0"), "{name}: a walk in {}", run.out);
    }
}

/// A solver by the name of z3 that writes down what it was told and then is z3.
#[cfg(unix)]
#[test]
fn z3_gets_what_is_left_of_the_memory() {
    use std::os::unix::fs::PermissionsExt;
    if !solver("z3") {
        return;
    }
    let folder = folder("solver-memory");
    let told = folder.join("told").display().to_string();
    let z3 = file(&folder, "z3", format!("#!/bin/sh\necho \"$*\" >{told}\nexec z3 \"$@\"\n"));
    fs::set_permissions(&z3, fs::Permissions::from_mode(0o755)).expect("a program");
    let memory = |options: &str| -> usize {
        let run = allways(&format!("check --quiet {LOCK} --engine views --solver {z3} {options}"));
        assert_eq!(run.code, 0, "{run:?}");
        let arguments = fs::read_to_string(&told).expect("it was started");
        let memory = arguments.trim().split(' ').find_map(|word| word.strip_prefix("-memory:"));
        memory.expect("a limit").parse().expect("a number")
    };
    // Some is in use already.
    let left = memory("--memory 1500M");
    assert!((1000..1500).contains(&left), "{left}");
    assert!(memory("--memory 5G") > 4096, "also more than is enough for most");
    assert!(memory("") > 0, "part of what the machine has");
}

/// Where integers take ever new values, nothing here proves that there is no deadlock, and the search for one ends by itself. A
/// deadlock that is near is found, and where there is an end of states, they are listed.
#[test]
fn deadlocks_are_excluded_where_there_is_an_end_of_states() {
    let folder = folder("integers-and-deadlocks");
    let ticket = "thread client[2] { int mine; loop { mine, next = next, MORE; await serving == mine; serving = LESS; } }";
    let ticket = |next: &str, serving: &str| {
        format!("shared int serving, next; {}", ticket.replace("MORE", next).replace("LESS", serving))
    };
    let (grows, wraps) = (ticket("next + 1", "serving + 1"), ticket("(next + 1) % 4", "(serving + 1) % 4"));
    let tasks = "shared int g; main { loop { post t(); yield; } } task t() { g = g + 1; }";
    let large = "shared int x, y; thread p { while (x < 700) { x = x + 1; } await y == 700; } \
                 thread q { while (y < 700) { y = y + 1; } await x == 700; }";
    for (text, code, expected) in [
        (&*grows, 5, "`serving` and `next` seem to take ever new values"),
        (&*wraps, 0, ""),
        ("shared int n; thread p[2] { loop { n = n + 1; } }", 5, "`n` seems to take ever new values"),
        (
            "shared int n; thread p[2] { int l; loop { l = l - 3; n = n % 2; } }",
            5,
            "`p.l` seems to take ever new values",
        ),
        (
            "shared int a[2]; thread p { loop { a[1] = a[1] + a[0]; a[0] = a[0] + 1; } }",
            5,
            "`a[0]` seems to take",
        ),
        ("shared int n; proc f(int by) { n = n + by; } thread p[2] { loop { f(1); } }", 5, "`n` seems"),
        (
            "shared int n; shared bool l; thread p[*] { loop { await cas(l, false, true); n = n + 1; l = false; } }",
            5,
            "`n` seems to take ever new values",
        ),
        (tasks, 5, "`g` seems to take ever new values"),
        // Compared with a large number, it stops there.
        ("shared int n; thread p { while (n < 70000) { n = n + 1; } }", 0, ""),
        ("shared int n; thread p { while (n < 500) { n = n + 1; } await false; }", 10, ""),
        (large, 0, ""),
        (
            "shared int x; thread p[2] { loop { x = x + 1; await x > 0; } } thread q { await x < 0; }",
            5,
            "`x`",
        ),
    ] {
        let path = file(&folder, "x.aw", text);
        let run = allways(&format!("check {path} --deadlock --json"));
        let object = run.json();
        assert_eq!(run.code, code, "{text}: {object}");
        assert!(object["reason"].as_str().unwrap_or_default().contains(expected), "{text}: {object}");
        let next = object["next"].to_string();
        assert!(code != 5 || next.contains("wraps round"), "{text}: {object}");
    }
}

/// Before the search, and not only as the reason why it found nothing.
#[test]
fn a_missing_solver_is_named_at_once() {
    let folder = folder("missing-solver");
    let safe = "shared int n; thread p { loop { n = n + 1; } } never n < 0;";
    let path = file(&folder, "count.aw", safe);
    let run = allways(&format!("check {path} --solver no-such-solver --timeout 300ms"));
    assert!(run.err.starts_with("warning: the solver `no-such-solver` cannot be started"), "{run:?}");
    let finite = file(&folder, "finite.aw", "shared int n; thread p { n = 1; } never n > 1;");
    let run = allways(&format!("check {finite} --solver no-such-solver"));
    assert!(run.code == 0 && run.err.contains("no-such-solver"), "decided without: {run:?}");
}

/// A sequence lock in C whose number goes up to a billion, with any data and any number of readers.
const SEQUENCE_LOCK: &str = r"
#include <assert.h>
#include <pthread.h>
extern int __VERIFIER_nondet_int(void);
unsigned sequence;
int left, right;
void *writer(void *unused) {
    while (sequence < 1000000000) {
        int value = __VERIFIER_nondet_int();
        sequence++;
        left = value;
        right = value;
        sequence++;
    }
    return NULL;
}
void *reader(void *unused) {
    for (;;) {
        unsigned before = sequence;
        if (before % 2 != 0) continue;
        int x = left;
        int y = right;
        if (sequence != before) continue;
        assert(x == y);
    }
}
int main(void) {
    pthread_t one;
    pthread_create(&one, NULL, writer, NULL);
    for (;;) pthread_create(&one, NULL, reader, NULL);
}
";

#[test]
fn a_sequence_lock_of_a_machine_is_proved_with_bounds() {
    if !solver("z3") {
        return;
    }
    let folder = folder("sequence-lock");
    let program = file(&folder, "lock.c", SEQUENCE_LOCK);
    let proof = folder.join("proof");
    let options = format!("--engine predicates --evidence {}", proof.display());
    let answer = allways(&format!("check --json {program} {options}")).json();
    assert_eq!(answer["verdict"], "safe", "{answer}");
    assert_eq!(answer["any_number"], true, "{answer}");
    assert_eq!(answer["certified_against"], "abstract program", "{answer}");
    let again = allways(&format!("certify {program} {}", proof.display()));
    assert_eq!(again.code, 0, "{}", again.err);
}

/// What threads read and write back with one more is at most the number of those that have begun, less those that are still to
/// write. With two more, it is not.
#[test]
fn what_threads_write_back_is_at_most_their_number() {
    if !solver("z3") {
        return;
    }
    let text = "shared 0..1000000 total, created;\nshared int begun;\nshared 1..1000 n = *;\n\
        thread creator { loop { await created < n; created = created + 1; } }\n\
        thread auditor { assert total <= n; }\n\
        thread clerk[*] { int seen; atomic { await begun < created; begun = begun + 1; } seen = total; total = seen + 1; }\n";
    let folder = folder("stale-total");
    let safe = file(&folder, "total.aw", text);
    let run = allways(&format!("check {safe} --engine views --timeout 60s"));
    assert_eq!(run.code, 0, "{run:?}");
    let wrong = file(&folder, "wrong.aw", text.replace("seen + 1", "seen + 2"));
    let run = allways(&format!("check {wrong} --timeout 60s"));
    assert_eq!(run.code, 10, "{run:?}");
}
