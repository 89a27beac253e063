//! Small texts, and the programs they become: one line per edge, location by location.

use super::good;
use allways_model::program::{Binary, Expr, LocationId, Op, Place, Program, Target, Unary, slot_name};
use insta::assert_snapshot;

/// The locations of a program with what one can do there.
fn show(program: &Program) -> String {
    let mut text = String::new();
    for template in &program.templates {
        let body = &program.procedures[template.body].name;
        let spawned = if template.spawned { ", started" } else { "" };
        text += &format!("thread {}: {body}, {:?}{spawned}\n", template.name, template.count);
    }
    let initial = |variables: &[allways_model::program::Variable]| {
        let one = |variable: &allways_model::program::Variable| {
            let value = variable.initial[0].map_or("*".to_string(), |value| value.to_string());
            format!(" {}{}={value}", variable.name, if variable.mixed { "$" } else { "" })
        };
        variables.iter().map(one).collect::<String>()
    };
    text += &format!("shared{}\n", initial(&program.shared));
    for (number, location) in LocationId::each(&program.locations) {
        let procedure = &program.procedures[location.procedure];
        if procedure.entry == number {
            let (name, parameters, results) =
                (&procedure.name, procedure.parameters, procedure.results.len());
            text += &format!("{name}/{parameters}/{results}{}\n", initial(&procedure.locals));
        }
        let here = |label: &&allways_model::program::Label| label.location == number;
        let labels: String =
            program.labels.iter().filter(here).map(|label| format!("{}: ", label.name)).collect();
        for edge in &location.edges {
            text += &format!("  {number} {labels}{} -> {}\n", op(program, number, &edge.op), edge.to);
        }
        if location.edges.is_empty() {
            text += &format!("  {number} {labels}end\n");
        }
    }
    text
}

fn op(program: &Program, at: LocationId, op: &Op) -> String {
    let locals = &program.procedure_of(at).locals;
    let expr = |expr: &Expr| expression(program, at, expr);
    let list = |exprs: &[Expr]| exprs.iter().map(expr).collect::<Vec<_>>().join(", ");
    let places = |places: &[Place]| {
        let place = |place: &Place| match place.target {
            Target::Shared(slot) => slot_name(&program.shared, slot),
            Target::Local(slot) => slot_name(locals, slot),
            Target::Others(slot) => slot_name(locals, slot) + "$",
            _ => panic!("no arrays here"),
        };
        places.iter().map(place).collect::<Vec<_>>().join(", ")
    };
    match op {
        Op::Assign(targets, values, constraint) => {
            let constraint = constraint.as_ref().map_or(String::new(), |c| format!(" constrain {}", expr(c)));
            format!("{} := {}{constraint}", places(targets), list(values))
        }
        Op::Guard(condition, truth) => format!("[{}{}]", if *truth { "" } else { "not " }, expr(condition)),
        Op::Assert(condition) => format!("assert {}", expr(condition)),
        Op::Call(procedure, arguments, results) => {
            format!("{} := {}({})", places(results), program.procedures[*procedure].name, list(arguments))
        }
        Op::Return(results) => format!("return {}", list(results)),
        Op::Spawn(template, _) => format!("spawn {}", program.templates[*template].name),
        op => format!("{op:?}"),
    }
}

fn expression(program: &Program, at: LocationId, expr: &Expr) -> String {
    let show = |expr: &Expr| expression(program, at, expr);
    let locals = &program.procedure_of(at).locals;
    match expr {
        Expr::Constant(value) => value.to_string(),
        Expr::Shared(slot) => slot_name(&program.shared, *slot),
        Expr::Local(slot) => slot_name(locals, *slot),
        Expr::NextShared(slot) => format!("'{}", slot_name(&program.shared, *slot)),
        Expr::NextLocal(slot) => format!("'{}", slot_name(locals, *slot)),
        Expr::OtherLocal(slot) => format!("{}$", slot_name(locals, *slot)),
        Expr::NextOtherLocal(slot) => format!("'{}$", slot_name(locals, *slot)),
        Expr::Choose(0, 1) => "*".to_string(),
        Expr::Unary(Unary::Not, operand) => format!("!{}", show(operand)),
        Expr::Binary(operator, left, right, _) => {
            let symbol = match operator {
                Binary::And => "&",
                Binary::Or => "|",
                Binary::Equal => "=",
                Binary::Unequal => "!=",
                operator => panic!("no {operator:?} here"),
            };
            format!("({} {symbol} {})", show(left), show(right))
        }
        Expr::If(condition, then, other) => {
            format!("({} ? {} : {})", show(condition), show(then), show(other))
        }
        expr => panic!("no {expr:?} here"),
    }
}

fn shape(text: &str) -> String {
    show(&good(text))
}

#[test]
fn statements_are_locations_in_the_order_of_the_text() {
    let text = "decl x := 1, y; void main() begin decl l := *, m := F;
        0: skip; 1: goto 0, 2; 2: x, l := y, *; 3: assume(x & l); 4: assert(!x | m); abortif l;
        dead x, m; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared x=1 y=*
    main/0/0 l=* m=0
      0 0: Skip -> 1
      1 1: Skip -> 0
      1 1: Skip -> 2
      2 2: x, l := y, * -> 3
      3 3: [(x & l)] -> 4
      4 4: assert (!x | m) -> 5
      5 [not l] -> 6
      6 x, m := *, * -> 7
      7 end
    ");
}

#[test]
fn what_is_enforced_restricts_the_whole_function() {
    let text = "decl x; void main() begin f(); x := 0; end
        void f() begin decl l; skip; enforce x | l; if l then x := 0; fi assert(l); x, l := *, * constrain 'x; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared x=*
    main/0/0
      0  := f() -> 1
      1 x := 0 -> 2
      2 end
    f/0/0 l=*
      3 [(x | l)] -> 4
      4 [(x | l)] -> 5
      5 [((x | l) & l)] -> 6
      5 [((x | l) & !l)] -> 7
      6 x := 0 constrain ((x | l) & ('x | 'l)) -> 7
      7 assert !((x | l) & !l) -> 8
      8 x, l := *, * constrain (((x | l) & ('x | 'l)) & 'x) -> 9
      9 return  -> 9
    ");
}

#[test]
fn conditions_and_loops() {
    let text = "decl a, b; void main() begin
        if a then skip; elsif b then a := 1; b := 0 else while a do a := *; od; fi;
        if !a then goto L; fi; if b then goto L, M; else goto M; fi
        while b do od
        L: if a then M: skip fi end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared a=* b=*
    main/0/0
      0 [a] -> 1
      0 [not a] -> 2
      1 Skip -> 7
      2 [b] -> 3
      2 [not b] -> 5
      3 a := 1 -> 4
      4 b := 0 -> 7
      5 [a] -> 6
      5 [not a] -> 7
      6 a := * -> 5
      7 [!a] -> 11
      7 [not !a] -> 8
      8 [b] -> 9
      8 [not b] -> 12
      9 Skip -> 11
      9 Skip -> 12
      10 [b] -> 10
      10 [not b] -> 11
      11 L: [a] -> 12
      11 L: [not a] -> 13
      12 M: Skip -> 13
      13 end
    ");
}

#[test]
fn constraints_know_before_and_after() {
    let text = "decl s; void main() begin decl l; s, l := *, !s constrain (('s | l) & !'l); end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared s=*
    main/0/0 l=*
      0 s, l := *, !s constrain (('s | l) & !'l) -> 1
      1 end
    ");
}

#[test]
fn operators_and_constants() {
    let text = "decl a, b, c; void main() begin
        a := schoose[a, b]; a := (a => b) ^ (c != a); a := a ? b : c ? T : F; a := ~!a && *; a := 1 || false;
        a := a & b & c & !a & 0; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared a=* b=* c=*
    main/0/0
      0 a := ((* & !b) | a) -> 1
      1 a := ((!a | b) != (c != a)) -> 2
      2 a := (a ? b : (c ? 1 : 0)) -> 3
      3 a := (a & *) -> 4
      4 a := (1 | 0) -> 5
      5 a := (((a & b) & (c & !a)) & 0) -> 6
      6 end
    ");
}

#[test]
fn calls_pass_values_and_results() {
    let text = "decl g; void main() begin decl x, y; x, y := two(x, *); one(); x := one(); end
        bool<2> two(a, b) begin decl c := 0; if a then return b, c; fi; end
        dfs bool one() begin return g; end
        void stub() begin decl unused; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared g=*
    main/0/0 x=* y=*
      0 x, y := two(x, *) -> 1
      1  := one() -> 2
      2 x := one() -> 3
      3 end
    two/2/2 a=* b=* c=0
      4 [a] -> 5
      4 [not a] -> 6
      5 return b, c -> 5
      6 return *, * -> 6
    one/0/1
      7 return g -> 7
      8 return * -> 8
    ");
}

#[test]
fn threads_start_at_a_statement_with_a_copy() {
    let text = "decl g; void main() begin decl l;
        1: start_thread goto 3; 2: start_thread g := l; ASYNC_7: l := g; 3: end_thread; 4: skip; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared g=*
    main/0/0 l=*
      0 1: Fork(5) -> 1
      1 2: Fork(2) -> 3
      2 g := l -> 7
      3 ASYNC_7: Fork(4) -> 5
      4 l := g -> 7
      5 3: Skip -> 7
      6 4: Skip -> 7
      7 end
    ");
}

#[test]
fn functions_start_threads_too() {
    let text = "void main() begin f(); end void f() begin start_thread goto l; l: end_thread; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared
    main/0/0
      0  := f() -> 1
      1 end
    f/0/0
      2 Fork(3) -> 3
      3 l: Skip -> 5
      4 return  -> 4
      5 end
    ");
}

#[test]
fn atomic_sections_waits_and_broadcasts() {
    let text =
        "decl g; void main() begin start_thread goto w; atomic_begin; g := 1; atomic_end; broadcast; f();
        w: wait; end void f() begin skip; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared g=*
    main/0/0
      0 Fork(6) -> 1
      1 AtomicBegin -> 2
      2 g := 1 -> 3
      3 AtomicEnd -> 4
      4 Broadcast(0) -> 5
      5  := f() -> 6
      6 w: Wait(0) -> 7
      7 end
    f/0/0
      8 Skip -> 9
      9 return  -> 9
    ");
}

#[test]
fn other_threads_variables_are_written() {
    let text = "void main() begin decl x; 0: start_thread goto 1; 1: x, x$ := 0, !x; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared
    main/0/0 x$=*
      0 0: Fork(1) -> 1
      1 1: x, x$ := 0, !x -> 2
      2 end
    ");
}

#[test]
fn constraints_speak_of_other_threads() {
    let text = "void main() begin decl x, y; 0: start_thread goto 1; 1: x$ := * constrain ('x$ = y$) & ('y | !x$); end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared
    main/0/0 x$=* y$=*
      0 0: Fork(1) -> 1
      1 1: x$ := * constrain (('x$ = y$) & ('y | !x$)) -> 2
      2 end
    ");
}

#[test]
fn threads_meet() {
    let text = "void main() begin decl sync; start_thread goto l; sync e; l: sync := 1; sync sync; end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1), started
    shared e waits=0 e came=0 sync waits=0 sync came=0
    main/0/0 sync=*
      0 Fork(2) -> 1
      1 e waits := 1 constrain (!e waits & !e came) -> 5
      1 e came := 1 constrain (e waits & !e came) -> 2
      2 l: sync := 1 -> 3
      3 sync waits := 1 constrain (!sync waits & !sync came) -> 6
      3 sync came := 1 constrain (sync waits & !sync came) -> 4
      4 end
      5 e waits, e came := 0, 0 constrain e came -> 2
      6 sync waits, sync came := 0, 0 constrain sync came -> 4
    ");
}

#[test]
fn variables_of_each_thread_belong_to_main() {
    let text = "decl thread_local t; decl s; void main() begin decl l; t := s & l; end void stub() begin end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared s=*
    main/0/0 t=* l=*
      0 t := (s & l) -> 1
      1 end
    ");
}

#[test]
fn labels_may_nest_and_repeat() {
    let text = "void main() begin l1: PC1: skip; PC1: goto l1; PC2: end";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    shared
    main/0/0
      0 l1: PC1: Skip -> 1
      1 PC1: Skip -> 0
      2 PC2: Skip -> 3
      3 end
    ");
}

#[test]
fn notation_of_c() {
    let text = "bool x := 1, y; decl z = false;
        void foo() { if (*) call foo(); while (x) { } x := true; }
        void bar() { 3: if (x) 4: y := true; else if (y) { y := 0; return; } else z := 1; while (!y); }
        void main() { create_thread(&foo); thread_create(&bar); create_thread(&bar); return; }";
    assert_snapshot!(shape(text), @"
    thread main: main, Fixed(1)
    thread foo: thread foo, Fixed(0), started
    thread bar: bar, Fixed(0), started
    shared x=1 y=* z=0
    foo/0/0
      0 [*] -> 1
      0 [not *] -> 2
      1  := foo() -> 2
      2 [x] -> 2
      2 [not x] -> 3
      3 x := 1 -> 4
      4 return  -> 4
    bar/0/0
      5 3: [x] -> 6
      5 3: [not x] -> 7
      6 4: y := 1 -> 11
      7 [y] -> 8
      7 [not y] -> 10
      8 y := 0 -> 9
      9 Skip -> 12
      10 z := 1 -> 11
      11 [!y] -> 11
      11 [not !y] -> 12
      12 end
    main/0/0
      13 spawn foo -> 14
      14 spawn bar -> 15
      15 spawn bar -> 16
      16 Skip -> 17
      17 end
    thread foo/0/0
      18  := foo() -> 19
      19 end
    ");
}

#[test]
fn main_may_be_called() {
    let text = "void main(a) begin if a then main(0); fi; end";
    assert_snapshot!(shape(text), @"
    thread main: thread main, Fixed(1)
    shared
    main/1/0 a=*
      0 [a] -> 1
      0 [not a] -> 2
      1  := main(0) -> 2
      2 return  -> 2
    thread main/0/0
      3  := main(*) -> 4
      4 end
    ");
}
