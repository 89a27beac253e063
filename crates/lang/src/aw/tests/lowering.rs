//! Statements and the steps that they become.

use super::*;
use allways_model::program::{Count, Type, Value};
use insta::assert_snapshot;

/// The graph of a text that may be warned about.
#[track_caller]
fn shape(text: &str) -> String {
    let Parsed { program, diagnostics } = parse(text.as_bytes());
    graph(&program.unwrap_or_else(|| panic!("{}", remarks(text.as_bytes(), &diagnostics))))
}

/// The graph of one thread.
#[track_caller]
fn body(text: &str) -> String {
    shape(&format!("shared int x, y; shared bool b; event e; lock m; proc f(int n) : int {{ return n; }} thread t {{ {text} }}"))
        .lines()
        .skip(2)
        .map(|line| format!("{line}\n"))
        .collect()
}

#[test]
fn conditions_are_steps() {
    assert_snapshot!(body("if (b) { x = 1; } else if (x == 2) { x = 2; } else { x = 3; } y = 1;"), @"
    t:
      1 [b] -> 2 | [not b] -> 3
      2 x = 1 -> 6
      3 [(x Equal 2)] -> 4 | [not (x Equal 2)] -> 5
      4 x = 2 -> 6
      5 x = 3 -> 6
      6 y = 1 -> 7
      7
    ");
    assert_snapshot!(body("if (b) {} y = 1;"), @"
    t:
      1 [b] -> 2 | [not b] -> 2
      2 y = 1 -> 3
      3
    ");
    assert_snapshot!(body("while (b) { if (*) { break; } if (*) { continue; } x = 1; } y = 1;"), @"
    t:
      1 [b] -> 2 | [not b] -> 5
      2 [0..1] -> 5 | [not 0..1] -> 3
      3 [0..1] -> 1 | [not 0..1] -> 4
      4 x = 1 -> 1
      5 y = 1 -> 6
      6
    ");
    assert_snapshot!(body("loop { loop { break; } x = 1; }"), @"
    t:
      1 x = 1 -> 1
    ");
}

#[test]
fn branches_are_edges_of_one_location() {
    assert_snapshot!(body("choose { x = 1; } or { assume b; x = 2; } or { if (b) { x = 3; } } y = 1;"), @"
    t:
      1 x = 1 -> 4 | [b] -> 2 | [b] -> 3 | [not b] -> 4
      2 x = 2 -> 4
      3 x = 3 -> 4
      4 y = 1 -> 5
      5
    ");
    assert_snapshot!(body("choose { x = 1; } or {} y = 1;"), @"
    t:
      1 x = 1 -> 2 | y = 1 -> 3
      2 y = 1 -> 3
      3
    ");
    assert_snapshot!(body("choose { choose { x = 1; } or { x = 2; } } or { x = 3; }"), @"
    t:
      1 x = 1 -> 2 | x = 2 -> 2 | x = 3 -> 2
      2
    ");
    assert_snapshot!(body("l: x = 1; m: x = 2; goto l, m;"), @"
    t:
      1 l: x = 1 -> 2
      2 m: x = 2 -> 3
      3 x = 1 -> 2 | x = 2 -> 3
    ");
    assert_snapshot!(body("l: x = 1; if (b) { goto l; } goto l;"), @"
    t:
      1 l: x = 1 -> 2
      2 [b] -> 1 | [not b] -> 1
    ");
}

#[test]
fn a_branch_that_waits_or_ends_is_chosen_by_a_step() {
    assert_snapshot!(body("choose { wait e; } or { x = 1; }"), @"
    t:
      1 skip -> 2 | x = 1 -> 3
      2 wait e -> 3
      3
    ");
    assert_snapshot!(body("choose {} or { await b; }"), @"
    t:
      1 skip -> 2 | [b] -> 2
      2
    ");
    assert_snapshot!(body("choose { wait e; }"), @"
    t:
      1 wait e -> 2
      2
    ");
}

#[test]
fn a_branch_where_threads_are_counted_is_chosen_by_a_step() {
    let text = "shared int x; thread t { choose { l: x = 1; } or { m: x = 2; } goto l, m; }";
    assert_snapshot!(shape(text), @"
    t:
      0 x = 1 -> 1 | x = 2 -> 1
      1 x = 1 -> 1 | x = 2 -> 1
    ");
    assert_snapshot!(shape(&format!("{text} never at(l) > 1;")), @"
    t:
      0 skip -> 1 | x = 2 -> 2
      1 l: x = 1 -> 2
      2 skip -> 1 | x = 2 -> 2
    ");
    assert_snapshot!(shape(&format!("{text} never at(l) + at(m) > 1;")), @"
    t:
      0 skip -> 1 | skip -> 2
      1 l: x = 1 -> 3
      2 m: x = 2 -> 3
      3 skip -> 1 | skip -> 2
    ");
}

#[test]
fn a_label_has_a_place_of_its_own() {
    assert_snapshot!(body("l: x = 1; m: goto l;"), @"
    t:
      1 l: x = 1 -> 2
      2 m: skip -> 1
    ");
    assert_snapshot!(body("l: loop { x = 1; }"), @"
    t:
      1 l: x = 1 -> 1
    ");
    assert_snapshot!(body("k: x = 1; l: loop { goto k; }"), @"
    t:
      1 k: x = 1 -> 2
      2 l: skip -> 1
    ");
    assert_snapshot!(body("l: loop { m: break; } n: return;"), @"
    t:
      1 l: m: skip -> 2
      2 n: skip -> 3
      3
    ");
    assert_snapshot!(body("l: choose { x = 1; } or { x = 2; }"), @"
    t:
      1 l: x = 1 -> 2 | x = 2 -> 2
      2
    ");
    assert_snapshot!(body("l: choose { x = 1; } or {} k: m: x = 2;"), @"
    t:
      1 l: skip -> 2
      2 x = 1 -> 3 | x = 2 -> 4
      3 k: m: x = 2 -> 4
      4
    ");
    assert_snapshot!(body("l: {} x = 2;"), @"
    t:
      1 l: skip -> 2
      2 x = 2 -> 3
      3
    ");
}

#[test]
fn to_go_in_circles_is_a_step() {
    assert_snapshot!(body("loop {}"), @"
    t:
      1 skip -> 1
    ");
    assert_snapshot!(body("l: goto l;"), @"
    t:
      1 l: skip -> 1
    ");
    assert_snapshot!(body("l: { goto m; } m: { goto l; }"), @"
    t:
      1 l: skip -> 2
      2 m: skip -> 1
    ");
    assert_snapshot!(body("loop { choose {} or { await b; x = 1; } }"), @"
    t:
      1 [b] -> 2 | skip -> 1
      2 x = 1 -> 1
    ");
}

#[test]
fn declarations_are_initial_values_or_steps() {
    assert_snapshot!(body("int i = 2 + 3; bool c; 1..3 r; int a[2] = 7; int j = x; int k; x = i + j + k + r + a[0];"), @"
    t:
      1 j = x -> 2
      2 k = 0 -> 3
      3 x = ((((i Plus j) Plus k) Plus r) Plus a[0]) -> 4
      4
    ");
    assert_snapshot!(body("l: int i = 1; 0..3 r = *; { bool i = b; b = i; } x = i + r;"), @"
    t:
      1 l: i = 1 -> 2
      2 r = 0..3 -> 3
      3 i@1:128 = b -> 4
      4 b = i@1:128 -> 5
      5 x = (i Plus r) -> 6
      6
    ");
    assert_snapshot!(body("0..1 a[2] = *; loop { 2..3 c[2]; a[0], c[x] = c[0], a[y]; }"), @"
    t:
      1 a[0], a[1] = 0..1, 0..1 -> 2
      2 c[0], c[1] = 2, 2 -> 3
      3 a[0], c[0]+x = c[0], a[0]+y -> 2
    ");
    let text = "thread t { int i = 2, a[2] = 7, j = i; loop { 1..3 i; i = j; } }";
    let program = parse(text.as_bytes()).program.unwrap();
    let locals = &program.procedures[0].locals;
    let shown: Vec<_> =
        locals.iter().map(|local| (local.name.as_str(), local.slot, local.initial.clone())).collect();
    let some = |values: &[Value]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [("i", 0, some(&[2])), ("a", 1, some(&[7, 7])), ("j", 3, some(&[0])), ("i@1:52", 4, some(&[1]))]
    );
    assert_eq!(locals[3].ty, Type::Range(1, 3));
}

#[test]
fn shared_variables_have_initial_values() {
    let text = "const N = 1 + 1; shared bool a[N] = true, b = *; shared N..3*N c, d = 5; lock m[2]; shared int e = -7;
        thread t { acquire(m[e]); b = a[c] && a[d] && b; }";
    let program = good(text);
    let shown: Vec<_> =
        program.shared.iter().map(|one| (one.name.as_str(), one.slot, one.initial.clone())).collect();
    let some = |values: &[Value]| values.iter().map(|&value| Some(value)).collect::<Vec<_>>();
    assert_eq!(
        shown,
        [
            ("a", 0, some(&[1, 1])),
            ("b", 2, vec![None]),
            ("c", 3, some(&[2])),
            ("d", 4, some(&[5])),
            ("m", 5, some(&[0, 0])),
            ("e", 7, some(&[-7]))
        ]
    );
}

#[test]
fn calls_return_to_the_next_statement() {
    assert_snapshot!(body("x = f(1); f(2); int i = f(x); y = i;"), @"
    t:
      1 x = f(1) -> 2
      2 f(2) -> 3
      3 i = f(x) -> 4
      4 y = i -> 5
      5
    ");
    assert_snapshot!(body("f(1); l: x = 1; f(2); wait e; f(3);"), @"
    t:
      1 f(1) -> 2
      2 l: x = 1 -> 3
      3 f(2) -> 4
      4 wait e -> 5
      5 f(3) -> 6
      6
    ");
    assert_snapshot!(body("loop { l: x = f(1); }"), @"
    t:
      1 l: x = f(1) -> 1
    ");
}

#[test]
fn procedures_end_with_a_return() {
    assert_snapshot!(shape("proc f() {} proc g(int n) : int { if (n > 0) { return n - 1; } } proc h() { return; } thread t {}"), @"
    f:
      0 return  -> 0
    g:
      1 [(n Greater 0)] -> 2 | [not (n Greater 0)] -> 3
      2 return (n Minus 1) -> 2
      3 no result -> 3
    h:
      4 return  -> 4
    t:
      5
    ");
}

#[test]
fn atomic_blocks_begin_and_end() {
    assert_snapshot!(body("atomic { x = 1; atomic { x = 2; } while (b) { break; } } x = 3;"), @"
    t:
      1 { -> 2
      2 x = 1 -> 3
      3 x = 2 -> 4
      4 [b] -> 5 | [not b] -> 5
      5 } -> 6
      6 x = 3 -> 7
      7
    ");
    assert_snapshot!(body("l: atomic {} choose { atomic { await b; } } or { x = 1; }"), @"
    t:
      1 l: { -> 2
      2 } -> 3
      3 { -> 4 | x = 1 -> 6
      4 [b] -> 5
      5 } -> 6
      6
    ");
}

#[test]
fn locks_and_elements() {
    let text = "lock one, many[3]; shared int a[3];
        thread t[3] { acquire(one); acquire(many[self]); a[self] = a[2] + a[(self + 1) % 3]; release(many[1]); release(one); }";
    assert_snapshot!(shape(text), @"
    t:
      0 acquire one -> 1
      1 acquire many[0]+self -> 2
      2 a[0]+self = (a[2] Plus a[0]+((self Plus 1) Remainder 3)) -> 3
      3 release many[1] -> 4
      4 release one -> 5
      5
    ");
}

#[test]
fn constants_are_computed() {
    assert_snapshot!(body("x = 2 * 3 - -4; x = 1 / 0; b = !(1 < 2) || true && 3 != 4; x = true ? x : 1 / 0; b = x > 9223372036854775807 + 1;"), @"
    t:
      1 x = 10 -> 2
      2 x = (1 Divide 0) -> 3
      3 b = 1 -> 4
      4 x = x -> 5
      5 b = (x Greater (9223372036854775807 Plus 1)) -> 6
      6
    ");
}

#[test]
fn tasks_take_turns() {
    let text = "shared int x; main { x = 1; yield; if (x == 2) { return; } post t(x); } task t(int n) { await x == n; p(); x = n; }
        proc p() { await x > 0; yield; }";
    assert_snapshot!(shape(text), @"
    main:
      0 x = 1 -> 1
      1 #running = 0 -> 2
      2 #running = 1 if (#running Equal 0) -> 3
      3 [(x Equal 2)] -> 5 | [not (x Equal 2)] -> 4
      4 spawn t(x) -> 5
      5 #running = 0 -> 6
      6
    t:
      7 #running = 1 if (#running Equal 0) -> 8
      8 [(x Equal n)] -> 11 | [not (x Equal n)] -> 9
      9 #running = 0 -> 10
      10 #running = 1 if (#running Equal 0) -> 8
      11 p() -> 12
      12 x = n -> 13
      13 #running = 0 -> 14
      14
    p:
      15 [(x Greater 0)] -> 18 | [not (x Greater 0)] -> 16
      16 #running = 0 -> 17
      17 #running = 1 if (#running Equal 0) -> 15
      18 #running = 0 -> 19
      19 #running = 1 if (#running Equal 0) -> 20
      20 return  -> 20
    ");
    let program = good(text);
    let counts: Vec<_> = program.templates.iter().map(|one| (one.count, one.spawned, one.vanishes)).collect();
    assert_eq!(counts, [(Count::Fixed(1), false, false), (Count::Fixed(0), true, true)]);
    assert_eq!(
        program.shared.last().map(|one| (one.name.as_str(), one.initial.clone())),
        Some(("#running", vec![Some(1)]))
    );
}

#[test]
fn threads_are_counted() {
    let text = "const K = 3; shared int x; thread one { x = x + 1; spawn none; } thread three[K] { x = self; } thread any[*] { x = 2; } thread none[0] { x = 3; }";
    let program = good(text);
    let shown: Vec<_> = program.templates.iter().map(|one| (one.count, one.spawned, one.uses_self)).collect();
    assert_eq!(
        shown,
        [
            (Count::Fixed(1), false, false),
            (Count::Fixed(3), false, true),
            (Count::Any, false, false),
            (Count::Fixed(0), true, false)
        ]
    );
}

#[test]
fn properties_count_threads_at_labels() {
    let text = "shared int x; proc f() { l: x = x; } thread t { l: f(); m: skip; } thread u { l: skip; }
        never at(l) > 1 && x == 0; never named: at(t.l) + at(f.l) + at(m) == 2;";
    let program = good(text);
    let place = |procedure: usize, name: &str| {
        let label = program.labels.iter().find(|label| {
            label.name == name && program.locations[label.location].procedure.index() == procedure
        });
        label.unwrap().location
    };
    let mut counted = Vec::new();
    for never in &program.never {
        never.expr.visit(&mut |expr| {
            if let Expr::At(locations) = expr {
                counted.push(locations.clone());
            }
        });
    }
    let all = vec![place(0, "l"), place(1, "l"), place(2, "l")];
    assert_eq!(counted, [all, vec![place(1, "l")], vec![place(0, "l")], vec![place(1, "m")]]);
    assert_eq!(program.never[1].name.as_deref(), Some("named"));
    assert_eq!(program.never[0].name, None);
}

#[test]
fn hints_speak_of_local_variables() {
    let program = good(super::examples::TICKET);
    let shown = format!("{:?}", program.hints[2]);
    assert!(shown.starts_with("Binary(Unequal, Local(0), OtherLocal(0)"), "{shown}");
    assert_eq!(program.hints.len(), 3);
}

#[test]
fn promises_are_made_to_each_thread_that_has_the_label() {
    let text = "shared bool x; thread p[2] { loop { here: x = !x; } } thread q { here: x = true; there: skip; } \
                eventually here; always eventually p.here; eventually q . there;";
    let program = good(text);
    let told: Vec<_> = program
        .progress
        .iter()
        .map(|one| {
            let place = program.locations[one.locations[0]].span;
            let text = &text[place.start as usize..place.end as usize];
            (one.again, program.templates[one.template].name.as_str(), one.label.as_str(), text)
        })
        .collect();
    let expected = [
        (false, "p", "here", "x = !x"),
        (false, "q", "here", "x = true"),
        (true, "p", "here", "x = !x"),
        (false, "q", "there", "skip"),
    ];
    assert_eq!(told, expected);
    assert_eq!(program.goals(&[2, 1]).len(), 2 + 1 + 2 + 1);
    let laid_out = crate::aw::format(text.as_bytes()).expect("it is well formed");
    assert!(
        laid_out.ends_with("eventually here;\nalways eventually p.here;\neventually q.there;\n"),
        "{laid_out}"
    );
}

#[test]
fn a_thread_can_be_seen_where_it_should_come_to() {
    // Without the promise, which branch is taken is decided by the first step in it.
    let chooses = |promise: &str| {
        good(&format!("thread p {{ choose {{ _l: skip; }} or {{ skip; }} }} {promise}")).locations.len()
    };
    assert!(chooses("eventually _l;") > chooses(""));
}

#[test]
fn words_of_promises_are_names_elsewhere() {
    good(
        "shared bool always, eventually; thread p { always = eventually; eventually: eventually = always; } eventually eventually;",
    );
    good("thread always { eventually: skip; } always eventually always.eventually;");
}

#[test]
fn promises_speak_of_labels_of_threads() {
    let body = "proc f() { inner: skip; } thread p { f(); here: skip; }";
    for (promise, message) in [
        ("eventually her;", "unknown label `her`"),
        ("eventually p.inner;", "unknown label `inner` in `p`"),
        ("eventually inner;", "expected a label in the body of a thread"),
        ("eventually f.inner;", "expected a label in the body of a thread"),
        ("eventually q.here;", "found the unknown name `q`"),
        ("eventually here", "`;`"),
        ("eventually at(here) > 0;", "expected a label"),
        ("always here;", "expected a declaration"),
    ] {
        let told = super::said(&format!("{body} {promise}"));
        assert!(told.contains(message), "{promise}: {told}");
    }
    let told = super::said("main { post t(); } task t() { here: skip; } eventually here;");
    assert!(told.contains("progress is not checked of tasks"), "{told}");
}

#[test]
fn places_are_those_of_the_source() {
    let text = "shared int x;\n// é\nthread t {\n  /* é */ x = 1; while (x == 1) { skip; }\n}\n";
    let program = good(text);
    let spans: Vec<_> = program.locations.iter().map(|location| location.span).collect();
    let shown: Vec<_> = spans
        .iter()
        .map(|span| (&text[span.start as usize..span.end as usize], span.line, span.column))
        .collect();
    assert_eq!(shown, [("x = 1", 4, 11), ("while (x == 1)", 4, 18), ("skip", 4, 35), ("}", 5, 1)]);
}
