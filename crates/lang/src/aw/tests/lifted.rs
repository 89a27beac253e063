//! Local variables of threads in properties: what is said of them is what a property says of shared variables in their place.

use super::constructs::same;
use super::runs::expect;
use super::said;
use insta::assert_snapshot;

#[test]
fn properties_see_local_variables() {
    let text =
        "shared 0..2 n;\nthread worker[2] { 0..3 x; x = n + 1; n = x; x = 0; }\nthread rest { skip; }\n";
    for (property, violated) in [
        ("exists p in worker: p.x > 2", false),
        ("exists p in worker: p.x > 1", true),
        ("forall p in worker: p.x == 1", true),
        ("forall p in worker: p.x == 2", false),
        ("(count p in worker: p.x == 2) >= 2", false),
        ("(count p in worker: p.x >= 1) >= 2", true),
        ("exists p in worker: exists q in worker: p != q && p.x == 2 && q.x == 1", true),
        ("exists p in worker: exists q in worker: p == q && p.x != q.x", false),
        ("exists p in worker: p == 2", false),
        ("n == 2 && forall p in worker: p.x == 0", true),
        ("(count p in rest: true) != 1", false),
    ] {
        let violations: &[_] = if violated { &[("never", 4)] } else { &[] };
        expect(&format!("{text}never {property};"), violations);
    }
}

#[test]
fn a_local_variable_of_which_is_spoken_is_what_it_was() {
    for (short, long) in [
        (
            "shared 0..2 n; thread w[2] { 0..2 x = 1; n = x; x = *; 0..2 y = n; loop { bool b; b = y == x; n = b ? 1 : 0; } }
             never exists p in w: p.x == 2 && p.y == 0 && !p.b;",
            "shared 0..2 n; shared 0..2 x[2] = 1; shared 0..2 y[2]; shared bool b[2];
             thread w[2] { n = x[self]; x[self] = *; y[self] = n; loop { b[self] = false; b[self] = y[self] == x[self]; n = b[self] ? 1 : 0; } }
             never x[0] == 2 && y[0] == 0 && !b[0] || x[1] == 2 && y[1] == 0 && !b[1];",
        ),
        (
            "shared 0..5 n; struct S { 0..3 a; bool b[2]; } proc f(0..3 v) : 0..3 { return v % 3 + 1; }
             thread w[2] { S s = {2, {true, false}}; S t; 0..3 c[2] = {1, 2}; s.a = f(c[self]); t.b[s.a % 2] = true; c[t.a] = fetch_add(s.a, 0); if (cas(s.b[1], false, t.b[0])) { n = 1; } 0..3 z = f(s.a); n = z; }
             never forall p in w: p.s.a == 2 && p.s.b[1] && p.t.b[0] && p.c[1] == 2 && p.z == 3;",
            "shared 0..5 n; shared 0..3 sa[2] = 2; shared bool sb[4] = {true, false, true, false}; shared 0..3 ta[2]; shared bool tb[4]; shared 0..3 c[4] = {1, 2, 1, 2}; shared 0..3 z[2];
             proc f(0..3 v) : 0..3 { return v % 3 + 1; }
             thread w[2] { sa[self] = f(c[2 * self + self]); tb[2 * self + sa[self] % 2] = true; c[2 * self + ta[self]] = fetch_add(sa[self], 0); if (cas(sb[2 * self + 1], false, tb[2 * self])) { n = 1; } z[self] = f(sa[self]); n = z[self]; }
             never (sa[0] == 2 && sb[1] && tb[0] && c[1] == 2 && z[0] == 3) && (sa[1] == 2 && sb[3] && tb[2] && c[3] == 2 && z[1] == 3);",
        ),
        // One thread, and none.
        (
            "shared 0..2 n; thread one { 0..2 x; x = 2; n = x; } thread none[0] { int y = 1; assert y == 2; } never exists p in one: p.x == n && n == 2; never exists p in none: p.y == 1;",
            "shared 0..2 n; shared 0..2 x; thread one { x = 2; n = x; } shared int y = 1; never x == n && n == 2;",
        ),
    ] {
        same(short, long);
    }
}

#[test]
fn what_is_wrong_with_them() {
    let of = |property: &str| {
        said(&format!(
            "shared 0..2 n; event e; thread w[2] {{ 0..2 x; x = n; {{ int y = x; n = y; }} {{ int y = n; n = y; }} for i in 0..1 {{ n = i; }} }}\n\
             thread any[*] {{ 0..2 x = n; n = x; }} thread late[0] {{ 0..2 x = n; n = x; }} thread boss {{ spawn late; broadcast e; }} proc f() {{ n = 1; }} thread z {{ f(); wait e; }}\n{property}"
        ))
    };
    assert_snapshot!(of("never exists p in w: p.xx == 1;"), @"
    3:24: expected a local variable of `w`, found `xx`
      did you mean `x`?
    ");
    assert_snapshot!(of("never exists p in w: p.y == 1;"), @"
    3:24: expected the name of one local variable, found `y`, which is several: in line 1 and in line 1
      give one of them another name
    ");
    assert_snapshot!(of("never exists p in w: p.i == 1;"), @"
    3:24: expected a local variable of `w`, found `i`
    ");
    assert_snapshot!(of("never exists p in any: p.x == 1;"), @"
    3:19: expected a fixed number of threads `any`, found any number
      what their local variables must not be is said inside the body, by `assert`
    ");
    assert_snapshot!(of("never exists p in late: p.x == 1;"), @"
    3:19: expected a fixed number of threads `late`, found threads that are started later
      what their local variables must not be is said inside the body, by `assert`
    ");
    assert_snapshot!(of("never exists p in f: p.x == 1;"), @"
    3:19: expected the name of threads, found `f`, a procedure
      values are given as a range, both ends included: `i in 0..3`
    ");
    assert_snapshot!(of("never exists p in n: p.x == 1;"), @"
    3:19: expected the name of threads, found `n`, a variable
      values are given as a range, both ends included: `i in 0..3`
    ");
    assert_snapshot!(of("never exists p in w: p.x;"), @"
    3:22: expected a Boolean after `:`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(of("never exists p in w: p.x[1] == 1;"), @"
    3:24: expected an array, found `x`, which is none
    ");
    assert_snapshot!(of("never exists p in 0..1: p.x == 1;"), @"
    3:25: expected a structure, found `p`, which is none
    ");
    assert_snapshot!(of("never exists p in w: p.x == 1; predicate x == 1;"), @"
    3:42: expected the name of one local variable, found `x`, which is several: in line 2 and in line 2
      give one of them another name
    ");
    assert_snapshot!(of("never x == 1;"), @"
    3:7: expected a shared variable, found `x`, local to `w`
      `never` speaks of local variables by `exists p in worker: p.x`; inside a body, use `assert`
    ");
    assert_snapshot!(said("shared int n; thread w[2] { int x = n; n = x; assert exists p in w: p.x == 1; }"), @"
    1:66: expected a range, found the name of threads
      what threads are like can be said in `never`
    ");
}
