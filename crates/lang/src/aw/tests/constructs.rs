//! Constructs that stand for others: each program does what the one does in which they are written out.

use super::runs::explored;
use super::{good, said};
use crate::aw::{Definition, Definitions, format, parse_with};
use insta::assert_snapshot;

/// Both programs have the same violations and the same values of shared variables.
#[track_caller]
fn same(short: &str, long: &str) {
    assert_eq!(explored(short), explored(long), "of\n{short}\nand\n{long}");
    let laid_out = format(short.as_bytes()).expect("it is well formed");
    assert_eq!(format(laid_out.as_bytes()).as_ref(), Ok(&laid_out), "layout is stable");
    assert_eq!(explored(&laid_out), explored(short), "the layout changes no meaning:\n{laid_out}");
}

#[test]
fn quantifiers() {
    let with = |condition: &str| {
        format!(
            "const N = 3; shared 0..2 a[N]; shared bool b[N]; shared 0..3 n; \
             thread p[2] {{ 0..2 i; i = *; a[i] = i; b[i] = a[0] != i; \
             if ({condition}) {{ n = 1; }} assert !({condition}) || a[2] != 2; }} never ({condition}) && n == 1;"
        )
    };
    for (short, long) in [
        ("forall i in 0..N - 1: a[i] == i", "a[0] == 0 && a[1] == 1 && a[2] == 2"),
        ("exists i in 1..2: b[i] && a[i] == i", "b[1] && a[1] == 1 || b[2] && a[2] == 2"),
        ("(count i in 0..2: b[i]) >= 2", "(b[0] ? 1 : 0) + (b[1] ? 1 : 0) + (b[2] ? 1 : 0) >= 2"),
        (
            "forall i in 0..1: exists j in i + 1..2: a[j] >= a[i]",
            "(a[1] >= a[0] || a[2] >= a[0]) && a[2] >= a[1]",
        ),
        ("(exists i in -1..-1: a[i + 1] == 0) == true", "a[0] == 0"),
        ("forall n in 0..0: n == 0", "true"),
    ] {
        same(&with(short), &with(long));
    }
}

/// A violation is one only as far as the parts before it do not decide.
#[test]
fn quantifiers_evaluate_from_left_to_right() {
    let program = |e: &str| format!("shared 0..3 z = *; shared bool b; thread p {{ b = {e}; }}");
    same(
        &program("forall i in 0..2: i != z && 6 / (i - 2) < 0"),
        &program("(0 != z && 6 / -2 < 0) && (1 != z && 6 / -1 < 0) && (2 != z && 6 / 0 < 0)"),
    );
    same(
        &program("exists i in 0..2: i == z || 6 / (i - 2) > 0"),
        &program("(0 == z || 6 / -2 > 0) || (1 == z || 6 / -1 > 0) || (2 == z || 6 / 0 > 0)"),
    );
}

#[test]
fn loops_over_ranges() {
    let program = |body: &str| {
        format!("shared 0..9 s, t; shared bool b = *; thread p {{ {body} }} thread q {{ t = s; }}")
    };
    let long = |low: i64, high: i64, body: &str| {
        format!(
            "int i = {low}; skip; goto inside; inside: skip; loop {{ loop {{ {body} break; }} \
             choose {{ atomic {{ assume i < {high}; i = i + 1; }} }} or {{ assume !(i < {high}); break; }} }}"
        )
    };
    same(&program("for i in 1..3 { s = s + i; }"), &program(&long(1, 3, "s = s + i;")));
    same(
        &program("for i in 0..3 { if (i == t) { continue; } if (b) { break; } s = s + i; } assert s != 5;"),
        &program(
            "int i = 0; again: if (i == t) { goto next; } if (b) { goto out; } s = s + i; \
             next: choose { atomic { assume i < 3; i = i + 1; } goto again; } or { assume i >= 3; } out: assert s != 5;",
        ),
    );
    same(
        &program("for i in 0..1 { for j in i..1 { s = s + j; } }").replace("j in i..1", "j in 0..1"),
        &program("s = s + 0; s = s + 1; s = s + 0; s = s + 1;"),
    );
    same(&program("for i in 2..2 { s = i; }"), &program("s = 2;"));
}

#[test]
fn values_of_arrays() {
    let program = |shared: &str, rest: &str| format!("shared {shared}; thread p {{ {rest} }}");
    same(
        &program("0..5 s", "0..5 l[2] = {1, 2}; s = l[0] + l[1]; assert l[1] == 2;"),
        &program("0..5 s", "s = 3;"),
    );
    same(
        &program("0..3 s", "s = 1; 0..3 l[2] = {s, s + 1}; s = l[1] + l[0];"),
        &program("0..3 s", "s = 1; 0..3 l[2]; l[0], l[1] = s, s + 1; s = l[1] + l[0];"),
    );
    let text = "shared bool a[3] = {true, *, false}; shared 0..9 b[2] = {7, 2 + 1}; thread p { a[0] = a[1] && b[0] == 1; }";
    let program = good(text);
    assert_eq!(program.shared[0].initial, [Some(1), None, Some(0)]);
    assert_eq!(program.shared[1].initial, [Some(7), Some(3)]);
}

#[test]
fn reading_and_writing_in_one_step() {
    let head = "shared 0..3 x, y, a[2]; shared bool free = true;";
    let program = |body: &str| format!("{head} thread p[2] {{ 0..3 l; bool ok; {body} }}");
    for (short, long) in [
        ("l = exchange(x, self + 1); y = l;", "l, x = x, self + 1; y = l;"),
        ("l = fetch_add(x, 1); y = l;", "l, x = x, x + 1; y = l;"),
        ("fetch_add(a[self], 2);", "a[self] = a[self] + 2;"),
        ("fetch_add(x, 2); x = 0;", "x = x + 2; x = 0;"),
        (
            "ok = cas(x, 0, self + 1); assert ok || x != 0; y = x;",
            "ok, x = x == 0, x == 0 ? self + 1 : x; assert ok || x != 0; y = x;",
        ),
        ("cas(a[self], 0, 1); y = a[self];", "a[self] = a[self] == 0 ? 1 : a[self]; y = a[self];"),
        (
            "while (!cas(free, true, false)) {} fetch_add(x, 1); y = x; free = true;",
            "loop { atomic { ok = free; free = free ? false : free; } if (ok) { break; } } x = x + 1; y = x; free = true;",
        ),
        (
            "await cas(free, true, false); fetch_add(x, 1); y = x; free = true;",
            "atomic { assume free; free = false; } x = x + 1; y = x; free = true;",
        ),
        (
            "if (cas(x, self, self + 1)) { y = 1; } else if (cas(x, 2, 3)) { y = 2; } else { y = 3; }",
            "choose { atomic { assume x == self; x = self + 1; } y = 1; } or { assume x != self; \
             choose { atomic { assume x == 2; x = 3; } y = 2; } or { assume x != 2; y = 3; } }",
        ),
        (
            "x = 3; ok = cas(x, 2, x + 1); cas(x, 1, 6 / (x - 3)); await !cas(x, 2, x + 1); y = x;",
            "x = 3; ok, x = x == 2, x == 2 ? x + 1 : x; x = x == 1 ? 6 / (x - 3) : x; await x != 2; y = x;",
        ),
        ("0..3 x = exchange(x, 1); y = x;", "0..3 m; m, x = x, 1; y = m;"),
    ] {
        same(&program(short), &program(long));
    }
    // A procedure of this name is called.
    same(
        "shared 0..3 x; proc cas(0..3 n) : bool { x = n; return true; } thread p { bool b = cas(2); assert b; }",
        "shared 0..3 x; proc set(0..3 n) : bool { x = n; return true; } thread p { bool b = set(2); assert b; }",
    );
}

#[test]
fn constants_given_from_outside() {
    let text = "const N = 2, DEBUG = false, M = N + 1; shared 0..M a[N]; thread p[N] { a[0] = M; }\nnever DEBUG && a[0] == 1;";
    let definitions = |list: &[(&str, Definition)]| -> Definitions {
        list.iter().map(|&(name, value)| (name.to_string(), value)).collect()
    };
    let given = definitions(&[("N", Definition::Number(4)), ("DEBUG", Definition::Bool(true))]);
    let same = text.replace("N = 2", "N = 4").replace("DEBUG = false", "DEBUG = true ");
    let (read, expected) = (parse_with(text.as_bytes(), &given).program, good(&same));
    let read = read.expect("it is well formed");
    assert_eq!(read.shared[0].length, expected.shared[0].length);
    assert_eq!(read.shared[0].ty, expected.shared[0].ty);
    assert_eq!(read.templates[0].count, expected.templates[0].count);
    assert_eq!(read.never[0].expr, expected.never[0].expr);
    for (name, value) in
        [("M_", Definition::Number(1)), ("N", Definition::Bool(true)), ("a", Definition::Number(1))]
    {
        assert_eq!(parse_with(text.as_bytes(), &definitions(&[(name, value)])).program, None, "{name}");
    }
}

#[test]
fn what_is_wrong_with_them() {
    let body = |text: &str| {
        said(&format!("shared int x, a[3]; shared bool b;\nthread t {{ b = x == a[0] && b;\n{text}\n}}"))
    };
    assert_snapshot!(body("for i in 0..2 { i = 1; }"), @"
    3:17: `i` cannot be assigned to: its `for` gives it its values
    ");
    assert_snapshot!(body("for i in 2..0 { x = i; }"), @"
    3:10: expected a range with a value in it, found 2..0
      a range goes from its least value to its greatest
    ");
    assert_snapshot!(body("for i in 0..=2 { x = i; }"), @"
    3:13: expected the upper bound of the range, found `=`
      a range includes both ends: write `0..3`
    ");
    assert_snapshot!(body("for i in a { x = i; }"), @"
    3:12: expected `..`, found `{`
      the values are given as a range, both ends included: `i in 0..3`
    ");
    assert_snapshot!(body("b = forall i in 0..x: a[i] == 0;"), @"
    3:20: expected a constant, found `x`, a variable
    ");
    assert_snapshot!(body("b = forall i in 0..2: a[i];"), @"
    3:23: expected a Boolean after `:`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(body("b = forall i in 0..3: a[i] == 0;"), @"
    3:25: warning: expected an index from 0 to 2, found 3
      a violation, if this is ever executed
    ");
    assert_snapshot!(body("b = exists i in 0..1000: exists j in 0..2000: i == x + j;"), @"
    3:47: expected quantifiers over at most 1048576 expressions in all, found more
    3:52: expected quantifiers over at most 1048576 expressions in all, found more
    ");
    assert_snapshot!(body("int l[2] = {1, 2, 3};"), @"
    3:12: expected 2 values, one for each element, found 3
      a single value without braces is that of all elements
    ");
    assert_snapshot!(body("int l = {1};"), @"
    3:9: expected one value, found values in braces
      values in braces are those of an array: `int a[2] = {1, 2};`
    ");
    assert_snapshot!(body("x = cas(x, 0, 1);"), @"
    3:1: expected a number for the result, found a Boolean
    ");
    assert_snapshot!(body("b = cas(x, 0);"), @"
    3:5: expected 3 arguments for `cas`, found 2
      write `cas(x, old, new)`
    ");
    assert_snapshot!(body("b = cas(x + 1, 0, 1) && true;"), @"
    3:5: expected no `cas` inside an expression
      it is a statement, the right side of an assignment or, if it is `cas`, a whole condition
    ");
    assert_snapshot!(body("b = cas(x + 1, 0, 1);"), @"
    3:9: expected a variable that is read and written
      write `cas(x, old, new)`
    ");
    assert_snapshot!(body("cas(a[5], 0, 1);"), @"
    3:7: warning: expected an index from 0 to 2, found 5
      a violation, if this is ever executed
    ");
    assert_snapshot!(body("cas(b, *, true);"), @"
    3:8: expected a comparison without choices, found `*`
      a choice is made in a step of its own, before
    ");
    assert_snapshot!(body("x = exchange(x, 1);"), @"
    3:1: expected different variables, found one twice
      what was read would be lost, or what was stored
    ");
    assert_snapshot!(body("fetch_add(b, 1);"), @"
    3:11: expected a number that is added to, found a Boolean
    ");
    assert_snapshot!(body("if (fetch_add(x, 1)) { skip; }"), @"
    3:5: expected no `fetch_add` inside an expression
      it is a statement, the right side of an assignment or, if it is `cas`, a whole condition
    ");
}

#[test]
fn enumerations() {
    let program = |declaration: &str, ty: &str, idle: &str, busy: &str, done: &str| {
        format!(
            "{declaration} shared {ty} phase, all[2] = {{{busy}, *}}; shared bool _seen; \
             proc next({ty} now) : {ty} {{ if (now == {done}) {{ return {idle}; }} return now + 1; }} \
             thread p[2] {{ {ty} mine = {busy}; loop {{ mine = next(phase); phase = mine; _seen = phase > {idle}; }} }} \
             never all[1] == {done} && phase == {done};"
        )
    };
    let short = program("enum Phase { idle, busy, done }", "Phase", "idle", "busy", "done");
    same(&short, &program("", "0..2", "0", "1", "2"));
    let names =
        |variable: &allways_model::program::Variable| variable.names.as_ref().map(|names| names.join(" "));
    let lowered = good(&short);
    let named: Vec<_> = lowered.shared.iter().map(names).collect();
    let phases = Some("idle busy done".to_string());
    assert_eq!(named, [phases.clone(), phases.clone(), None]);
    for procedure in &lowered.procedures {
        let named = procedure.locals.iter().filter(|local| !local.name.starts_with('#')).map(names);
        assert!(named.clone().all(|name| name == phases), "{}", procedure.name);
    }
    // A single value; words that are names elsewhere; the type before its values.
    same(
        "enum One { only } shared One enum; thread p { One x = only; enum = x; } never enum == only;",
        "shared 0..0 enum; thread p { 0..0 x = 0; enum = x; } never enum == 0;",
    );
    same(
        "enum E { a, b } shared a..b x; thread p { for i in a..b { x = i; } assert forall i in a..b: i <= b; }",
        "shared 0..1 x; thread p { for i in 0..1 { x = i; } assert forall i in 0..1: i <= 1; }",
    );
}

#[test]
fn enumerations_that_are_none() {
    let complaints = [
        "enum E { } thread p { skip; }",
        "enum E { a, a } thread p { skip; }",
        "enum E { a, b } shared int b; thread p { skip; }",
        "shared E x; enum E { a, b } thread p { x = b; }",
        "enum E { a, b } thread p { E = a; }",
        "enum E { a, b } shared E x = 2; thread p { x = true; }",
        "enum E { a, b thread p { skip; }",
        "enum E; thread p { skip; }",
    ]
    .map(said);
    assert_snapshot!(complaints.join("\n"), @r#"
    1:10: expected the name of a value, found `}`

    1:13: `a` is declared twice, first in line 1

    1:28: `b` is declared twice, first in line 1

    1:8: `E` is used before it is declared, in line 1
      move the declaration up

    1:28: expected a variable, found `E`, a type

    1:30: expected an initial value of type `0..1`, found 2

    1:15: expected `}`, found `thread`

    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `enum`
      an enumeration is declared by `enum Phase { idle, busy }`
    "#);
}
