//! Variables that hold a thread.

use super::runs::expect;
use super::{good, graph, said};
use insta::assert_snapshot;

#[test]
fn a_thread_knows_whether_it_is_the_one() {
    for (body, violations) in [
        ("v = self; assert v == self;", &[][..]),
        ("v = self; skip; assert v == self;", &[("assert", 2)][..]),
        ("await v == none; v = self; assert v == self;", &[("assert", 2)]),
        ("atomic { await v == none; v = self; } assert self == v; v = none;", &[]),
        ("while (!cas(v, none, self)) {} assert v == self && v != none; cas(v, self, none);", &[]),
        ("bool got = cas(v, none, self); assert got; assert v == self;", &[("assert", 2)]),
        ("v, w = self, v; assert v != self || w != self;", &[]),
        ("v = self; w = v; assert w == self;", &[("assert", 2)]),
        ("atomic { v = self; w = v; v = none; } assert v == none || v == self;", &[]),
        // What was held before is no longer, even by those who held it.
        (
            "atomic { v = self; v = none; } atomic { await v == none; v = self; } assert v == self; skip;",
            &[("assert", 2)],
        ),
    ] {
        expect(&format!("shared p v, w = none;\nthread p[2] {{ {body} }}"), violations);
    }
    expect(
        "shared p v; thread p[2] { v = self; }\nthread q { v = none; assert v == none; }",
        &[("assert", 2)],
    );
    expect(
        "shared p v; thread p[0] { v = self; assert v == self; v = none; }\nthread q { spawn p; spawn p; }",
        &[("assert", 1)],
    );
}

#[test]
fn who_is_stored_takes_the_place_of_all_others() {
    assert_snapshot!(graph(&good("shared p v, w; thread p[*] { v = self; w = v; v = none; await w != self; } never w == none && at(x) > 0; thread q { x: v = none; }")), @"");
}

#[test]
fn what_is_wrong_with_them() {
    assert_snapshot!(said("shared p v[2]; shared p w = 1; shared p u = {none, none}; struct S { p m; } chan c[1] of p; proc f(p x) : p { return x; } thread p[*] { p mine; }"), @"");
    assert_snapshot!(said("shared p v; shared q w; shared int x; proc f() { v = none; await v == self; } thread p[*] { f(); v = 1; x = v; v = w; await v == w; v = x; v = v + 1; exchange(v, self); cas(v, 1, self); } thread q { v = self; assert v == self; } never v == self || v;"), @"");
    assert_snapshot!(said("shared p v; proc f() { v = none; } proc g(ref bool b) { b = true; } thread p[*] { v, v = self, none; f(); g(v); assert self == 0; }"), @"");
    assert_snapshot!(said("shared t v; main { post t(); } task t() { v = self; }"), @"");
}
