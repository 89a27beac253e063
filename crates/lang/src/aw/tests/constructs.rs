//! Constructs that stand for others: each program does what the one does in which they are written out.

use super::runs::explored;
use super::{good, said};
use crate::aw::{Definition, Definitions, format, parse_with};
use insta::assert_snapshot;

/// Both programs have the same violations and the same values of shared variables.
#[track_caller]
pub(super) fn same(short: &str, long: &str) {
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
    same(
        &program("0..3 s", "s = 1; 0..1 l[2] = {* for all}; s = l[1] + 2 * l[0];"),
        &program("0..3 s", "s = 1; 0..1 l[2] = {*, *}; s = l[1] + 2 * l[0];"),
    );
    let text = "shared bool a[3] = {true, *, false}; shared 0..9 b[2] = {7, 2 + 1}; thread p { a[0] = a[1] && b[0] == 1; }";
    let program = good(text);
    assert_eq!(program.shared[0].initial, [Some(1), None, Some(0)]);
    assert_eq!(program.shared[1].initial, [Some(7), Some(3)]);
    let initial = |declarations: &str| {
        let text = format!("{declarations} thread p {{ skip; }}");
        let program = crate::aw::parse(text.as_bytes()).program.expect("a program");
        program.shared.iter().flat_map(|variable| variable.initial.clone()).collect::<Vec<_>>()
    };
    let five = Some(5);
    assert_eq!(initial("shared 0..9 a[3] = {2 + 3 for all};"), [five; 3]);
    assert_eq!(initial("shared 0..9 a[2] = {* for all};"), [None; 2]);
    assert_eq!(initial("shared 0..9 a[2][2] = {5 for all};"), [five; 4]);
    assert_eq!(initial("shared 0..9 a[2][2] = {{1, 2} for all};"), [Some(1), Some(2), Some(1), Some(2)]);
    assert_eq!(initial("shared 0..9 a[2][2] = {{5 for all}, {1, 2}};"), [five, five, Some(1), Some(2)]);
    assert_eq!(
        initial("struct S { 0..9 n; bool b[2]; } shared S s[2] = {{5, {true for all}} for all};"),
        [five, five, Some(1), Some(1), Some(1), Some(1)]
    );
    assert_eq!(
        initial("const all = 1; shared 0..9 for, a[2] = {all for all};"),
        [Some(0), Some(1), Some(1)],
        "these are names elsewhere"
    );
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
    assert_snapshot!(body("int l = {1 for all};"), @"
    3:9: expected the value of something that is no array
      `{e for all}` is the value of all elements of an array
    ");
    assert_snapshot!(body("int l[2] = {1, 2 for all};"), @"
    3:18: expected `}`, found `for`
      `for all` stands after one value: `= {0 for all}`
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
      it is a statement, the right side of an assignment or, if it gives a Boolean, a whole condition
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
      it is a statement, the right side of an assignment or, if it gives a Boolean, a whole condition
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

#[test]
fn channels() {
    let short = |body: &str| {
        format!(
            "chan c[2] of 0..3; shared 0..3 x, a[2]; shared bool b; \
             thread p[2] {{ {body} }} thread q {{ 0..3 y; choose {{ recv(c, y); x = y; }} or {{ send(c, 3); }} }} \
             never len(c) == 2 && x == 3;"
        )
    };
    let long = |body: &str| {
        format!(
            "shared 0..3 c[2]; shared 0..2 n; shared 0..3 x, a[2]; shared bool b; \
             thread p[2] {{ {body} }} thread q {{ 0..3 y; choose {{ {} x = y; }} or {{ {} }} }} \
             never n == 2 && x == 3;",
            received("y"),
            sent("3")
        )
    };
    for (one, other) in [
        ("send(c, self + 1);".to_string(), sent("self + 1")),
        ("send(c, 1); recv(c, x);".to_string(), format!("{} {}", sent("1"), received("x"))),
        ("send(c, *); recv(c, a[x]);".to_string(), format!("0..3 v = *; {} {}", sent("v"), received("a[x]"))),
        (
            "if (try_send(c, 2)) { x = 1; } else { x = 2; }".to_string(),
            format!("choose {{ {} x = 1; }} or {{ await n == 2; x = 2; }}", sent("2")),
        ),
        (
            "while (!try_recv(c, x)) { send(c, 2); }".to_string(),
            format!("loop {{ choose {{ {} break; }} or {{ await n == 0; {} }} }}", received("x"), sent("2")),
        ),
        (
            "b = try_send(c, 6 / x); try_recv(c, x);".to_string(),
            format!(
                "choose {{ atomic {{ {} b = true; }} }} or {{ atomic {{ await n == 2; b = false; }} }} \
                 choose {{ {} }} or {{ await n == 0; }}",
                sent("6 / x"),
                received("x")
            ),
        ),
        ("await !try_send(c, 9 / 0); error;".to_string(), "await n == 2; error;".to_string()),
        (
            "atomic { send(c, 1); send(c, 2); }".to_string(),
            format!("atomic {{ {} {} }}", sent("1"), sent("2")),
        ),
        ("x = len(c); assert len(c) < 2;".to_string(), "x = n; assert n < 2;".to_string()),
        ("skip; 0..2 l = len(c); x = l + len(c);".to_string(), "skip; 0..2 l = n; x = l + n;".to_string()),
    ] {
        same(&short(&one), &long(&other));
    }
}

/// What `send` does, written out; `e` is not evaluated while the channel is full.
fn sent(value: &str) -> String {
    format!("atomic {{ await n < 2; c[n] = {value}; n = n + 1; }}")
}

/// What `recv` does, written out.
fn received(place: &str) -> String {
    format!("atomic {{ await n > 0; {place} = c[0]; c[0] = c[1]; c[1] = 0; n = n - 1; }}")
}

#[test]
fn channels_of_one_value_and_of_tasks() {
    same(
        "chan c[1] of bool; shared bool b; thread p { loop { send(c, true); recv(c, b); } }",
        "shared bool c[1]; shared 0..1 n; shared bool b; thread p { loop { \
         atomic { await n < 1; c[0] = true; n = 1; } atomic { await n > 0; b = c[0]; c[0] = false; n = 0; } } }",
    );
    same(
        "chan c[1] of 0..2; shared 0..2 x; main { post p(); post q(); } \
         task p() { send(c, 1); send(c, 2); x = 1; } task q() { 0..2 y; recv(c, y); x = y; recv(c, x); }",
        "shared 0..2 c[1]; shared 0..1 n; shared 0..2 x; main { post p(); post q(); } \
         task p() { await n < 1; c[0], n = 1, 1; await n < 1; c[0], n = 2, 1; x = 1; } \
         task q() { 0..2 y; await n > 0; y, c[0], n = c[0], 0, 0; x = y; await n > 0; x, c[0], n = c[0], 0, 0; }",
    );
}

#[test]
fn channels_are_checked() {
    assert_snapshot!(said("chan c[0] of int; chan d of int; chan e[2] of; chan f[2] bool; thread t { skip; }"), @"
    1:26: expected `[`, found `of`
      a channel is declared by `chan c[4] of 0..9;`: how many values it holds, and of which type
    1:46: expected a type: `bool`, `int`, or a range such as `0..3`, found `;`
    1:58: expected `of`, found `bool`
      a channel is declared by `chan c[4] of 0..9;`: how many values it holds, and of which type
    ");
    assert_snapshot!(said("chan c[2] of 0..3; shared int x; shared bool b; thread t { send(c); send(x, 1); recv(c, 1); recv(c, b); x = c; x = send(c, 1); b = len(c); send(c, true); x = len(x); send(c, 4); recv(c, x); }"), @"
    1:60: expected 2 arguments for `send`, found 1
      write `send(c, value)`
    1:74: expected a channel, found `x`, a variable
      a channel is declared by `chan c[4] of 0..9;`
    1:89: expected a variable for what is received
      write `recv(c, x)`
    1:101: expected a Boolean for `b`, found a number, which the channel has
    1:109: expected a variable or constant, found `c`, a channel
    1:112: expected an operation with a result, found one without
      `try_send` and `try_recv` give whether they did something
    1:132: expected a Boolean, since the type is `bool`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    1:148: expected a number, since the type is `0..3`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    1:163: expected a channel, found `x`, a variable
      a channel is declared by `chan c[4] of 0..9;`
    1:175: warning: expected a value of type `0..3`, found 4
      a violation, if this is ever executed
    ");
    assert_snapshot!(said("chan c[2] of 0..3; const N = len(c); thread t { if (send(c, 1)) { skip; } b = try_recv(c, x); }"), @"
    1:30: expected a constant, found the length of a channel
    1:53: expected no `send` inside an expression
      it is a statement, the right side of an assignment or, if it gives a Boolean, a whole condition
    1:75: expected a variable, found the unknown name `b`
    1:91: expected a variable, found the unknown name `x`
    ");
    assert_snapshot!(said("chan c[0] of int; chan d[65] of bool; thread t { skip; }"), @"
    1:8: expected a capacity from 1 to 64, found 0
    1:26: expected a capacity from 1 to 64, found 65
    ");
    assert_snapshot!(said("chan c[2] of 0..3; main { atomic { send(c, 1); } }"), @"
    1:36: expected no `send` inside `atomic`, found one
      an `atomic` block is one step of one thread
    ");
    assert_snapshot!(said("chan c[2] of 0..3; proc send(int x) { skip; } thread t { send(1); }"), @"
    1:6: warning: `c` is never used
    1:34: warning: `x` is never read
      a name that starts with `_` is not warned about
    ");
}

#[test]
fn leaving_atomic() {
    let program = |rest: &str| {
        format!(
            "shared bool taken; shared 0..3 x; {rest} thread p[2] {{ bool got = try(); if (got) {{ x = x + 1; assert x == 1; x = x - 1; taken = false; }} }}"
        )
    };
    same(
        &program(
            "proc try() : bool { atomic { if (taken) { return false; } taken = true; return x == 0; } }",
        ),
        &program(
            "proc try() : bool { bool r; atomic { if (!taken) { taken = true; r = x == 0; } } return r; }",
        ),
    );
    let program = |body: &str| {
        format!(
            "shared 0..3 x; shared bool b; proc f() {{ {body} }} thread p {{ f(); b = true; }} thread q {{ x = 3; x = 0; }} never b && x == 1;"
        )
    };
    for (short, long) in [
        ("atomic { if (x == 0) { return; } x = 1; }", "atomic { if (x != 0) { x = 1; } }"),
        (
            "loop { atomic { if (x == 2) { break; } if (x == 3) { continue; } x = x + 1; } }",
            "bool out; loop { atomic { if (x == 2) { out = true; } else if (x != 3) { x = x + 1; } } if (out) { break; } }",
        ),
        (
            "atomic { x = 1; while (true) { if (x == 1) { goto out; } } } x = 2; out: skip;",
            "atomic { x = 1; }",
        ),
        (
            "atomic { x = 1; goto out, in; in: x = 2; } x = 3; out: skip;",
            "choose { atomic { x = 1; } } or { atomic { x = 1; x = 2; } x = 3; }",
        ),
    ] {
        same(&program(short), &program(long));
    }
    // What is returned must fit, inside of the block.
    assert_eq!(
        explored("shared int x; proc f() : 0..1 { atomic { x = 2; return x; } } thread p { x = f(); }").0,
        ["range"].into()
    );
}

#[test]
fn numbers_of_threads_in_procedures() {
    let program = |head: &str, call: &str, who: &str| {
        format!(
            "shared 0..3 a[3]; proc set({head}0..3 v) {{ a[{who}] = v; }} \
             proc twice({head}0..3 v) {{ set({call}v); if (*) {{ set({call}3); }} }} \
             thread p[2] {{ {} assert a[self] != 0; }} thread q {{ {} }}",
            if head.is_empty() { "twice(self);" } else { "twice(self, self);" },
            if head.is_empty() { "set(1);" } else { "set(self, 1);" },
        )
    };
    same(&program("", "", "self"), &program("int who, ", "who, ", "who"));
    assert_snapshot!(said("shared int x; proc f() { x = self; } proc g() { f(); } thread t[*] { g(); }"), @"
    1:30: expected an expression, found `self`, which has no value when `t` calls this
      there is no number of a thread among any number of them
    ");
    assert_snapshot!(said("shared int x; proc f() { x = self; } thread t[2] { f(); } thread u { spawn t; }"), @"
    1:76: expected a thread without `self`, found `t`, which uses it
      threads that are spawned have no numbers
    ");
    assert_snapshot!(said("shared int x; proc f() { x = self; } main { f(); }"), @"
    1:30: expected an expression, found `self`, which has no value when `main` calls this
      tasks have no numbers
    ");
}
