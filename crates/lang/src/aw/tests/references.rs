//! Parameters that stand for variables, and signals, which wake one thread: what they mean.

use super::constructs::same;
use super::runs::{expect, explored};
use super::{parse, said};
use insta::assert_snapshot;

#[test]
fn a_reference_is_another_name_for_a_variable() {
    for (short, long) in [
        (
            "shared bool a, b; proc take(ref bool flag) { await !flag; flag = true; } proc give(ref bool f) { f = false; }
             thread p[2] { take(a); take(b); crit: skip; give(b); give(a); } never at(crit) >= 2;",
            "shared bool a, b; proc take_a() { await !a; a = true; } proc take_b() { await !b; b = true; } proc give_a() { a = false; } proc give_b() { b = false; }
             thread p[2] { take_a(); take_b(); crit: skip; give_b(); give_a(); } never at(crit) >= 2;",
        ),
        // Elements: the index is evaluated once.
        (
            "shared 0..3 a[2]; shared 0..1 i; proc add(ref 0..3 x, 0..2 n) : 0..3 { i = 1 - i; x = x + n; return x; }
             thread p { 0..3 r = add(a[i], 1); r = add(a[1], r); a[i] = r; }",
            "shared 0..3 a[2]; shared 0..1 i; proc add(0..1 k, 0..2 n) : 0..3 { i = 1 - i; a[k] = a[k] + n; return a[k]; }
             thread p { 0..3 r = add(i, 1); r = add(1, r); a[i] = r; }",
        ),
        // Members, structures, two dimensions, locks, and `cas`.
        (
            "struct Node { 0..3 next; lock m; bool b[2]; } shared Node n[2], h; shared 0..3 g[2][2];
             proc set(ref Node x, ref 0..3 y, ref lock l, ref bool b) { acquire(l); x.next = y; if (cas(b, false, true)) { y = 1; } x.b[0] = true; release(l); }
             thread p[2] { set(n[self], g[1][self], n[1 - self].m, h.b[1]); set(h, n[0].next, h.m, n[1].b[self]); }",
            "shared 0..3 nx[2]; lock nm[2]; shared bool nb[4]; shared 0..3 hx; lock hm; shared bool hb[2]; shared 0..3 g[4];
             proc one(0..1 i, 0..1 j, 0..1 k) { acquire(nm[k]); nx[i] = g[2 + j]; if (cas(hb[1], false, true)) { g[2 + j] = 1; } nb[2 * i] = true; release(nm[k]); }
             proc two(0..1 k) { acquire(hm); hx = nx[0]; if (cas(nb[2 + k], false, true)) { nx[0] = 1; } hb[0] = true; release(hm); }
             thread p[2] { one(self, self, 1 - self); two(self); }",
        ),
        // References that are passed on, changed places, and recursion.
        (
            "shared 0..3 x = 3, y; proc swap(ref 0..3 a, ref 0..3 b, 0..3 n) { if (n > 0) { a, b = b, a; swap(b, a, n - 1); } } proc twice(ref 0..3 a) { swap(a, y, 1); swap(y, a, 2); }
             thread p { twice(x); assert x == 3; } thread q { swap(x, y, 0); }",
            "shared 0..3 x = 3, y; proc xy(0..3 n) { if (n > 0) { x, y = y, x; yx(n - 1); } } proc yx(0..3 n) { if (n > 0) { y, x = x, y; xy(n - 1); } } proc twice() { xy(1); yx(2); }
             thread p { twice(); assert x == 3; } thread q { xy(0); }",
        ),
        // One that nobody calls, and a local variable of which a property speaks.
        (
            "shared 0..3 x; proc none(ref 0..3 a, ref lock l) { acquire(l); a = 1; } proc inc(ref 0..3 a) { a = a + 1; }
             thread w[2] { 0..3 l; inc(l); inc(x); } never exists p in w: p.l == 2;",
            "shared 0..3 x; shared 0..3 l[2]; proc inc_l(0..1 i) { l[i] = l[i] + 1; } proc inc_x() { x = x + 1; }
             thread w[2] { inc_l(self); inc_x(); } never l[0] == 2 || l[1] == 2;",
        ),
    ] {
        // The order of shared variables differs where one becomes shared.
        match short.contains("exists p") {
            true => assert_eq!(explored(short).0, explored(long).0),
            false => same(short, long),
        }
    }
}

#[test]
fn labels_in_procedures_with_references_are_counted_together() {
    let text = "shared bool a, b;\nproc take(ref bool f) { here: f = true; }\nthread p { take(a); } thread q { take(b); }\n";
    expect(&format!("{text}never at(here) == 2 && !a;"), &[("never", 4)]);
    expect(&format!("{text}never at(take.here) == 2 && a;"), &[]);
    let program = parse(text.as_bytes()).program.expect("it is well formed");
    let names: Vec<&str> = program.procedures.iter().map(|procedure| procedure.name.as_str()).collect();
    assert_eq!(names, ["take", "p", "q", "take(a)", "take(b)"]);
}

#[test]
fn an_index_of_a_reference_that_is_none_is_a_violation_of_the_call() {
    expect(
        "shared bool a[2]; shared 0..2 i = *;\nproc set(ref bool x) { x = !x; }\nthread p {\nset(a[i]); }",
        &[("range", 4)],
    );
    expect(
        "shared bool a[2][2]; shared 0..2 i = *;\nproc set(ref bool x) { x = !x; }\nthread p {\nset(a[0][i]); }",
        &[("range", 4)],
    );
}

#[test]
fn what_is_wrong_with_references() {
    let of = |body: &str| {
        said(&format!(
            "shared 0..3 x, a[2]; shared bool b; lock m; struct S {{ int v; }} shared S s; const N = 1;\n\
             proc f(ref 0..3 y, bool c) {{ y = c ? x : a[0]; }} proc g(ref lock l) {{ acquire(l); }} proc h(ref S t) {{ t.v = 1; }} proc k(ref bool z) {{ z = b; }}\n\
             thread t {{ f(x, b); g(m); h(s); k(b); {body} }}"
        ))
    };
    assert_snapshot!(of("f(1, true);"), @"
    3:41: expected a variable, found another expression
      the parameter is declared by `ref`: it stands for a shared variable
    ");
    assert_snapshot!(of("0..3 l = 1; f(l, true);"), @"
    3:53: expected a shared variable, found `l`, a local one
      the parameter is declared by `ref`: it stands for a shared variable
    ");
    assert_snapshot!(of("f(b, true);"), @"
    3:41: expected a variable of type `0..3` for the reference, found `b`, one of type `bool`
      a reference has the very type of its variable
    ");
    assert_snapshot!(of("f(a, true);"), @"
    3:41: expected a variable of type `0..3` for the reference, found `a`, an array
      a reference has the very type of its variable
    ");
    assert_snapshot!(of("f(m, true); g(x);"), @"
    3:41: expected a variable of type `0..3` for the reference, found `m`, one of type `lock`
      a reference has the very type of its variable
    3:53: expected a variable of type `lock` for the reference, found `x`, one of type `0..3`
      a reference has the very type of its variable
    ");
    assert_snapshot!(of("f(N, true); f(u, true);"), @"
    3:41: expected a variable, found `N`, a constant
    3:53: expected a variable, found the unknown name `u`
    ");
    assert_snapshot!(of("h(s.v); f(s, true);"), @"
    3:41: expected a variable of the structure for the reference, found `s`, one of type `int`
      a reference has the very type of its variable
    3:49: expected a variable of type `0..3` for the reference, found `s`, a structure
      a reference has the very type of its variable
    ");
    assert_snapshot!(of("f(x);"), @"
    3:39: expected 2 arguments for `f`, found 1
    ");
    assert_snapshot!(of("f(a[x + 1], true); f(a[2], true);"), @"
    1:83: warning: `N` is never used
    3:62: warning: expected an index from 0 to 1, found 2
      a violation, if this is ever executed
    ");
    assert_snapshot!(said("shared int x; main { post t(x); } task t(ref int y) { y = 1; }"), @"
    1:50: expected a value for the parameter `y` of a task, found a reference
    ");
    assert_snapshot!(said("shared int x; proc f(ref int y) { y = z; int l; } thread t { f(x); }"), @"
    1:39: expected a variable or constant, found the unknown name `z`
    ");
    assert_snapshot!(said("shared int x; proc f(ref int y) { int l; y = 5; } thread t { f(x); assert x == 1; }"), @"
    1:39: warning: `l` is never read
      a name that starts with `_` is not warned about
    ");
    assert_snapshot!(said("shared int x, y; proc f(ref int v) { atomic { v = 1; } } thread t { atomic { f(x); f(y); } assert x == y; }"), @"
    1:78: `f(x)` cannot be called inside `atomic`: it contains `atomic`
      an `atomic` block is one step of one thread
    1:84: `f(y)` cannot be called inside `atomic`: it contains `atomic`
      an `atomic` block is one step of one thread
    ");
}

#[test]
fn a_signal_wakes_one_thread() {
    let lost = &[("stuck", 0)][..];
    for (text, violations) in [
        // Threads that wait at the start.
        ("thread w[2] { wait e; } thread s { signal e; }", lost),
        ("thread w[2] { wait e; } thread s { signal e; signal e; }", &[]),
        ("thread w[2] { wait e; } thread s { broadcast e; }", &[]),
        // None waits: the signal is lost.
        ("shared bool b; thread w { b = !b; wait e; } thread s { signal e; }", lost),
        ("shared bool b; thread w { b = true; wait e; } thread s { await b; signal e; }", &[]),
        // Nobody wakes itself.
        ("thread w { signal e; wait e; }", lost),
        ("thread w { signal e; wait e; } thread s { signal e; wait e; }", lost),
        // One is woken, and no more; whichever.
        ("shared 0..2 n; thread w[2] { wait e; n = n + 1; } thread s { signal e; }\nnever n == 2;", lost),
        (
            "shared 0..2 n; thread w[2] { wait e; n = n + 1; } thread s { signal e; }\nnever n == 1;",
            &[("never", 2), ("stuck", 0)],
        ),
        (
            "shared 0..2 x; thread a { wait e; x = 1; } thread b { wait e; x = 2; } thread s { signal e; }\nnever x == 1;\nnever x == 2;",
            &[("never", 2), ("never", 3), ("stuck", 0)],
        ),
        // Who is woken goes past its `wait` in the same step.
        (
            "shared bool b; thread w { here: wait e; } thread s { b = !b; signal e; after: skip; }\nnever at(after) == 1 && at(here) == 1;",
            &[],
        ),
        // Who waits twice is woken twice; other events are none of its business.
        ("thread w { wait e; wait e; } thread s { signal e; }", lost),
        ("thread w { wait e; wait e; } thread s { signal e; signal e; }", &[]),
        ("event d; thread w { wait e; wait d; } thread s { signal d; signal e; }", lost),
    ] {
        let text = format!("event e; {text}");
        expect(&text, violations);
    }
    // A name elsewhere.
    expect("shared 0..1 signal; thread p { signal = 1; assert signal == 1; }", &[]);
    assert_snapshot!(said("event e; thread p { wait e; } thread q { signal e; atomic { signal e; } signal f; signal(e); }"), @"
    1:61: expected no `signal` inside `atomic`, found one
      an `atomic` block is one step of one thread
    1:80: expected an event, found the unknown name `f`
    1:83: unknown procedure `signal`
      to wake one thread that waits, write `signal e;`
    ");
}
