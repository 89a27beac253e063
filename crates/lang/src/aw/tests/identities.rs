//! Variables that hold a thread.

use super::runs::explored;
use super::{good, said};
use allways_model::program::{Expr, Op, Target};

/// What can go wrong in a program, `stuck` among it.
#[track_caller]
fn wrong(text: &str, expected: &[&str]) {
    assert_eq!(explored(text).0.into_iter().collect::<Vec<_>>(), expected, "of {text}");
}

#[test]
fn a_thread_knows_whether_it_is_the_one() {
    for (body, violations) in [
        ("atomic { v = self; assert v == self && v != none; }", &[][..]),
        ("v = self; assert v == self;", &["assert"][..]),
        ("v = self; skip; assert v == self;", &["assert"][..]),
        ("await v == none; v = self; assert v == self;", &["assert", "stuck"]),
        ("atomic { await v == none; v = self; } assert self == v; v = none;", &[]),
        ("while (!cas(v, none, self)) {} assert v == self && v != none; cas(v, self, none);", &[]),
        ("bool got = cas(v, none, self); assert got; assert v == self;", &["assert"]),
        ("v, w = self, v; assert v != self || w != self;", &[]),
        ("v = self; w = v; assert w == self;", &["assert"]),
        ("atomic { v = self; w = v; v = none; } assert v == none || v == self;", &[]),
        // What was held before is no longer, even by those who held it.
        (
            "atomic { v = self; v = none; } atomic { await v == none; v = self; } assert v == self; skip;",
            &["assert", "stuck"],
        ),
    ] {
        wrong(&format!("shared p v, w = none;\nthread p[2] {{ {body} }}"), violations);
    }
    wrong("shared p v; thread p[2] { v = self; }\nthread q { v = none; assert v == none; }", &["assert"]);
    wrong(
        "shared p v; thread p[0] { v = self; assert v == self; v = none; }\nthread q { spawn p; spawn p; }",
        &["assert"],
    );
}

/// The thread that stores itself has its bit from then on, and no other; a copy takes all bits along.
#[test]
fn who_is_stored_takes_the_place_of_all_others() {
    let program = good(
        "shared p v, w; thread p[*] { v = self; w = v; v = none; await w != self; } never w == none && at(x) > 0; thread q { x: v = none; await v == none; }",
    );
    let locals = &program.procedures[0].locals;
    assert_eq!(
        locals.iter().map(|local| (&*local.name, local.mixed)).collect::<Vec<_>>(),
        [("#v", true), ("#w", true)]
    );
    assert!(program.procedures[1].locals.is_empty() && !program.templates[0].uses_self);
    let edges = program.locations.iter().flat_map(|location| &location.edges);
    let assigned: Vec<(Vec<Target>, &[Expr])> = edges
        .filter_map(|edge| match &edge.op {
            Op::Assign(places, values, None) => {
                Some((places.iter().map(|place| place.target.clone()).collect(), &values[..]))
            }
            _ => None,
        })
        .collect();
    use Target::{Local, Others, Shared};
    let (yes, no) = (Expr::Constant(1), Expr::Constant(0));
    assert_eq!(assigned[0], (vec![Shared(0), Local(0), Others(0)], &[yes.clone(), yes, no.clone()][..]));
    let copied = [Expr::Shared(0), Expr::Local(0), Expr::OtherLocal(0)];
    assert_eq!(assigned[1], (vec![Shared(1), Local(1), Others(1)], &copied[..]));
    assert_eq!(assigned[2], (vec![Shared(0), Local(0)], &[no.clone(), no.clone()][..]));
    assert_eq!(assigned[3], (vec![Shared(0)], &[no][..]));
}

#[test]
fn what_is_wrong_with_them() {
    for (text, remarks) in [
        (
            "shared p v[2]; thread p[*] { skip; }",
            &["expected one variable that holds a thread, found the array `v`"][..],
        ),
        ("shared p v = 1; thread p[*] { v = none; }", &["expected `none`, with which `v` starts"]),
        ("shared p v = {none}; thread p[*] { v = none; }", &["expected `none`, with which `v` starts"]),
        (
            "struct S { p m; } thread p[*] { skip; }",
            &["expected a type, found `p`, a thread", "outside of bodies by itself"],
        ),
        ("chan c[1] of p; thread p[*] { skip; }", &["expected a type, found `p`, a thread"]),
        ("proc f(p x) { skip; } thread p[*] { skip; }", &["expected a type, found `p`, a thread"]),
        ("thread p[*] { p mine; skip; }", &["expected a type, found `p`, a thread"]),
        ("shared t v; main { post t(); } task t() { skip; }", &["expected a type"]),
        (
            "shared p v; shared int x; thread p[*] { x = v; }",
            &["expected a number or a Boolean, found `v`, which holds a thread"],
        ),
        (
            "shared p v; shared int x; thread p[*] { v = x; }",
            &["expected `self`, `none` or another variable that holds a thread, since `v` is one"],
        ),
        ("shared p v; thread p[*] { v = 1; }", &["expected `self`, `none` or another variable"]),
        (
            "shared p v, w; thread p[*] { await v == w; }",
            &["expected `self` or `none`, found another variable that holds a thread"],
        ),
        (
            "shared p v; shared q w; thread p[*] { v = w; } thread q[*] { skip; }",
            &["expected one of the same threads, found `w`"],
        ),
        (
            "shared p v; thread p[*] { exchange(v, self); }",
            &["expected a variable with a number or a Boolean, found `v`"],
        ),
        (
            "shared p v; thread p[*] { fetch_add(v, 1); }",
            &["expected a variable with a number or a Boolean, found `v`"],
        ),
        ("shared p v; thread p[*] { cas(v, 1, self); }", &["expected `self`, `none` or another variable"]),
        (
            "shared p v; thread p[*] { v, v = self, none; }",
            &["expected different variables, found `v` twice"],
        ),
        (
            "shared p v; thread p[*] { v = none; } thread q { v = self; }",
            &["expected `none` here", "only `p` can store itself there"],
        ),
        ("shared p v; thread p[*] { v = none; } thread q { assert v == self; }", &["expected `none` here"]),
        ("shared p v; thread p[*] { v = none; } never v == self;", &["expected `none` here"]),
        (
            "shared p v; thread p[*] { v = self; } never v;",
            &["expected a number or a Boolean, found `v`, which holds a thread"],
        ),
        ("shared p v; proc f() { assert v == self; } thread p[*] { f(); }", &["expected `none` here"]),
        (
            "shared p v; proc f() { v = none; } thread p[*] { v = self; f(); }",
            &["expected no call in a program with a variable that holds a thread"],
        ),
        (
            "shared p v; proc f(ref bool b) { b = true; } thread p[*] { f(v); }",
            &["expected a variable with a number or a Boolean, found `v`"],
        ),
        (
            "thread p[*] { assert self == 0; }",
            &["found `self`, which has no value here", "`shared p x;` holds a thread"],
        ),
        (
            "const N = 2; shared p v; shared 0..3 x[2 + (v == none ? 1 : 0)]; thread p[*] { v = self; }",
            &["expected a constant, found the variable `v`"],
        ),
    ] {
        let said = said(text);
        for remark in remarks {
            assert!(said.contains(remark), "{text}\n{said}");
        }
    }
}
