//! What cannot be written, and why.

use super::*;

/// The reason for a refusal, and its place.
fn reason(written: Written<String>) -> String {
    let Refusal { reason, span } = written.expect_err("refused");
    format!("{}:{}: {reason}", span.line, span.column)
}

#[test]
fn boolean_programs_are_about_booleans() {
    let reasons: Vec<String> = [
        "shared int x; thread t { x = 1; }",
        "shared bool x; thread t { 0..3 y; x = y == 2; }",
        "lock m; thread t { acquire(m); release(m); }",
        "shared bool a[2]; thread t[2] { a[self] = true; }",
        "event a, b; thread t { broadcast a; broadcast b; }",
        "thread t { l: skip; } never at(l) >= 1;",
        "thread t[2] { assert self != 1; }",
        "proc f() { spawn t; } thread t[0] { skip; } thread u { f(); }",
        "event e; shared bool g; thread t[0] { bool x = true; wait e; g = x; } thread u { spawn t; }",
    ]
    .into_iter()
    .map(|text| reason(bp(&read_aw(text))))
    .collect();
    assert_snapshot!(reasons.join("\n"), @"
    1:12: `x` is a number, and a Boolean program has Booleans only
    1:32: `y` is a number, and a Boolean program has Booleans only
    1:6: `m` is a lock, and a Boolean program has Booleans only
    1:33: an index is not constant, and a Boolean program has no arrays
    1:37: `b` is a second event, and a Boolean program has one
    1:23: a Boolean program cannot say how many threads are at a label
    1:15: `self` is a number, and a Boolean program has Booleans only
    1:12: a procedure starts a thread, which in a Boolean program would have to run that procedure
    1:32: a thread is started that waits at once, but must first be given its values
    ");
}

#[test]
fn the_language_has_no_such_thing() {
    let reasons: Vec<String> = [
        "void main() begin decl x; start_thread goto l; l: x, x$ := 0, 1; end",
        "void main() begin decl x, y; x, y := f(); assert(x | y); end bool<2> f() begin return 0, 1; end",
        "void main() begin f(); end void f() begin end_thread; end",
        "void main() begin decl x; start_thread goto l; broadcast; l: wait; assert(x); end",
        "void main() begin decl x; l: wait; assert(x); end",
        "decl g; void main() begin atomic_begin; f(); atomic_end; end void f() begin atomic_begin; g := 1; atomic_end; end",
        "decl g; void main() begin atomic_begin; if g then goto l; fi; atomic_end; g := 0; l: atomic_end; wait; end",
    ]
    .into_iter()
    .map(|text| reason(aw(&read_bp(text))))
    .collect();
    assert_snapshot!(reasons.join("\n"), @"
    1:54: the local variables of other threads are assigned
    1:70: `f` has several results
    1:55: a thread ends inside a procedure
    1:62: a thread is started that waits at once, but must first be given its values
    1:30: a thread waits at once, but must first be given any values
    1:41: an atomic section calls a procedure that has one itself
    1:98: an atomic section ends in several places, at one of which the thread waits
    ");
    assert_snapshot!(reason(aw(&read_aw("main { post t(); } task t() { skip; }"))), @"1:25: `t` is a task, and tasks are not written");
}

#[test]
fn c_and_boogie_are_for_one_thread() {
    let reasons = [
        ("thread t[2] { skip; }", "1:8: there is more than one thread `t`"),
        (
            "thread t { skip; } thread u { skip; }",
            "1:27: this is a second thread, and only one can be written",
        ),
        (
            "main { post a(); } task a() { skip; }",
            "1:25: a program with tasks is not sequential: give --sequentialize K",
        ),
        (
            "thread t { spawn u; } thread u[0] { skip; }",
            "1:12: a thread is started, and only one thread can be written",
        ),
        ("event e; thread t { wait e; }", "1:21: an event is for others, and only one thread can be written"),
        (
            "thread t { l: skip; } never at(l) >= 1;",
            "1:23: a property that asks where a thread is cannot be written",
        ),
        (
            "shared bool a[5000]; thread t { a[0] = true; }",
            "1:13: more than 4096 variables cannot be given initial values one by one",
        ),
    ];
    for (text, expected) in reasons {
        let program = read_aw(text);
        assert_eq!([reason(c(&program)), reason(boogie(&program))], [expected, expected]);
    }
    let several =
        "void main() begin decl x, y; x, y := f(); assert(x | y); end bool<2> f() begin return 0, 1; end";
    assert_eq!(reason(c(&read_bp(several))), "1:70: `f` has several results");
    assert!(boogie(&read_bp(several)).unwrap().contains("call value, value_2 := f();"));
}

/// The condition was read after the assignment, which changed what it reads.
#[test]
fn a_condition_may_read_by_an_index_what_its_step_assigns() {
    for text in [
        "shared 0..1 a[2]; thread t[2] { bool _b = cas(a[0], a[self], 1); }",
        "shared 0..2 a[2], i; thread t[2] { if (cas(a[i], self, self + 1)) { i = 1; } assert a[1] != 2; }",
        // What is stored goes wrong only if the condition holds, and an index in any case.
        "shared 0..1 a[2] = 1; thread t[2] { cas(a[self], 0, 5); assert a[0] == 1; }",
        "shared 0..2 a[2]; shared 0..2 i = 2; thread t[2] { cas(a[i], 0, 1); }",
    ] {
        let program = read_aw(text);
        let written = aw(&program).expect("it can be written");
        super::same(&program, &read_aw(&written), text, &written);
    }
}
