//! Structures and arrays of several dimensions: the same as variables and arrays of which each stands for itself.

use super::constructs::same;
use super::runs::{expect, explored};
use super::{parse, said};
use insta::assert_snapshot;

#[test]
fn a_structure_is_a_variable_for_each_member() {
    for (short, long) in [
        (
            "struct Node { 0..3 next; bool used; } shared Node n[3], head;
             thread p[2] { 0..2 i; i = *; n[i].next = self + 1; n[i].used = n[i].next == 2; head.next = n[2].next;
             assert !n[i].used || n[i].next <= 2; if (cas(n[i].next, 2, 3)) { head.used = true; } }
             never head.used && n[0].next == 1;",
            "shared 0..3 n_next[3]; shared bool n_used[3]; shared 0..3 head_next; shared bool head_used;
             thread p[2] { 0..2 i; i = *; n_next[i] = self + 1; n_used[i] = n_next[i] == 2; head_next = n_next[2];
             assert !n_used[i] || n_next[i] <= 2; if (cas(n_next[i], 2, 3)) { head_used = true; } }
             never head_used && n_next[0] == 1;",
        ),
        // Local ones, with values, in both places of a declaration.
        (
            "struct Pair { 0..9 a; 0..9 b; } shared 0..9 x, y;
             thread p { Pair q = {1, 2}; x = q.a + q.b; { Pair q = {x, x + 1}; y = q.b; q.a = 9; } y = q.a; Pair r; x = r.b; }
             thread z { y = 7; }",
            "shared 0..9 x, y;
             thread p { 0..9 a = 1, b = 2; x = a + b; { 0..9 c, d; c, d = x, x + 1; y = d; c = 9; } y = a; 0..9 e; x = e; }
             thread z { y = 7; }",
        ),
        // Structures and arrays inside of structures.
        (
            "struct In { 0..1 v[2]; bool b; } struct Out { In i[2]; 0..3 n; In one; } shared Out o[2], p;
             thread t[2] { 0..1 k; k = *; o[k].i[1 - k].v[self] = 1; o[1].one.b = o[0].i[k].v[k] == 1; p.one.v[k] = o[k].one.v[0]; p.n = o[1].n + 1; }",
            "shared 0..1 oiv[8]; shared bool oib[4]; shared 0..3 on[2]; shared 0..1 oov[4]; shared bool oob[2];
             shared 0..1 piv[4]; shared bool pib[2]; shared 0..3 pn; shared 0..1 pov[2]; shared bool pob;
             thread t[2] { 0..1 k; k = *; oiv[k * 4 + (1 - k) * 2 + self] = 1; oob[1] = oiv[k * 2 + k] == 1; pov[k] = oov[k * 2]; pn = on[1] + 1; }",
        ),
        // Locks in structures.
        (
            "struct Cell { lock m; 0..3 v; } shared Cell c[2]; thread p[2] { acquire(c[self].m); acquire(c[1].m); c[1].v = c[1].v + 1; release(c[1].m); }",
            "lock m[2]; shared 0..3 v[2]; thread p[2] { acquire(m[self]); acquire(m[1]); v[1] = v[1] + 1; release(m[1]); }",
        ),
        // Names of values, and a call whose result is a member.
        (
            "enum E { a, b } struct S { E e; bool f; } shared S s[2] = {{b, true}, {a, *}}; proc g(E x) : E { return 1 - x; }
             thread p { 0..1 k; k = *; s[k].e = g(s[k].e); E l = g(s[1 - k].e); s[0].f = l == b; }",
            "enum E { a, b } shared E e[2] = {b, a}; shared bool f[2] = {true, *}; proc g(E x) : E { return 1 - x; }
             thread p { 0..1 k; k = *; e[k] = g(e[k]); E l = g(e[1 - k]); f[0] = l == b; }",
        ),
        // Channels and reads that write.
        (
            "struct S { 0..3 x; bool ok[2]; } shared S s; chan c[1] of 0..3; thread p { send(c, 2); } thread q { s.ok[1] = try_recv(c, s.x); fetch_add(s.x, 1); }",
            "shared 0..3 x; shared bool ok[2]; chan c[1] of 0..3; thread p { send(c, 2); } thread q { ok[1] = try_recv(c, x); fetch_add(x, 1); }",
        ),
    ] {
        same(short, long);
    }
}

/// All indices from -2 to one past the end of the flat array, for reading and writing, shared and local.
#[test]
fn each_index_is_one_of_its_own_dimension() {
    let (rows, columns) = (2, 3);
    for i in -2..8 {
        for j in -2..8 {
            let inside = (0..rows).contains(&i) && (0..columns).contains(&j);
            for [first, second] in [
                [i.to_string(), j.to_string()],
                ["i".to_string(), "j".to_string()],
                [i.to_string(), "j".to_string()],
                ["i".to_string(), j.to_string()],
                ["i + 0".to_string(), "0 + j".to_string()],
            ] {
                let head =
                    format!("shared -2..9 i = {i}, j = {j}; shared 0..9 g[2][3]; shared 0..9 x; thread p");
                for (body, expected) in [
                    (format!("{{ g[{first}][{second}] = 7; }}"), 7),
                    (format!("{{ g[1][2] = 5; x = g[{first}][{second}]; }}"), 5),
                    (format!("{{ 0..9 l[2][3]; l[0][1] = 3; l[{first}][{second}] = 4; x = l[0][1]; }}"), 3),
                    (format!("{{ 0..9 l[2][3] = {{1, {{2, 3, 4}}}}; x = l[{first}][{second}]; }}"), 4),
                    (format!("{{ x = fetch_add(g[{first}][{second}], 2); }}"), 2),
                ] {
                    let (wrong, states) = explored(&format!("{head} {body}"));
                    assert_eq!(wrong.contains("index"), !inside, "{body} with {i} and {j}");
                    assert!(wrong.len() == usize::from(!inside), "{body} with {i} and {j}: {wrong:?}");
                    let Some(last) = states.iter().max_by_key(|state| state[2..].iter().sum::<i64>()) else {
                        continue;
                    };
                    let element = usize::try_from(i * columns + j).unwrap_or(99);
                    match body.contains("= 7") || body.contains("fetch") {
                        true if inside => assert_eq!(last[2 + element], expected, "{body} with {i} and {j}"),
                        true => {
                            assert!(last[2..8].iter().all(|&value| value == 0), "nothing else is written")
                        }
                        false => {}
                    }
                    let read = match (inside, body.contains("g[1][2] = 5"), body.contains("{2, 3, 4}")) {
                        (true, true, _) => Some(if (i, j) == (1, 2) { 5 } else { 0 }),
                        (true, _, true) => Some(if i == 0 { 1 } else { 2 + j }),
                        (true, ..) if body.contains("l[0][1]") => Some(if (i, j) == (0, 1) { 4 } else { 3 }),
                        _ => None,
                    };
                    if let Some(read) = read {
                        assert!(
                            states.iter().any(|state| state[8] == read),
                            "{body} with {i} and {j}: {states:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn three_dimensions_and_locks() {
    same(
        "shared 0..1 g[2][2][3]; shared -1..3 j = *; thread p[2] { 0..2 k; k = *; g[self][j][k] = 1; }",
        "shared 0..1 g[12]; shared -1..3 j = *; thread p[2] { 0..2 k; k = *; g[0 <= j && j < 2 ? self * 6 + j * 3 + k : -1] = 1; }",
    );
    same(
        "lock m[2][2]; shared 0..2 j = *; thread p[2] { acquire(m[self][j]); acquire(m[0][j]); release(m[self][j]); }",
        "lock m[4]; shared 0..2 j = *; thread p[2] { acquire(m[j < 2 ? self * 2 + j : -1]); acquire(m[j < 2 ? j : -1]); release(m[j < 2 ? self * 2 + j : -1]); }",
    );
    expect(
        "shared 0..1 _g[2][2];\nthread p { 0..3 j; j = *; await j != 2;\n_g[0][j] = 1; }",
        &[("index", 3), ("stuck", 0)],
    );
    expect(
        "shared 0..1 g[2][2]; shared 0..3 i = *;\nthread p { skip; }\nnever g[i][0] == 1;",
        &[("index", 3)],
    );
    expect(
        "shared bool g[2][2] = {{true, false}, {false, true}};\nthread p { g[0][1] = g[1][1]; }\n\
         never exists i in 0..1: forall j in 0..1: g[i][j];",
        &[("never", 3)],
    );
}

#[test]
fn parts_have_names_for_people() {
    let program = parse(
        b"struct Node { 0..3 next; bool used[2]; } shared Node n[2], head; shared 0..3 g[2][3], a[2]; lock m[2][2];
         thread p { Node n; { Node n; n.next = 1; n.used[0] = true; } n.next = n.used[1] ? 1 : 2; a[0] = g[1][2]; acquire(m[1][0]); head.next = 1; a[1] = n.next; }",
    );
    let program = program.program.expect("it is well formed");
    let names = |variables: &[allways_model::program::Variable]| -> Vec<String> {
        let of = |variable: &allways_model::program::Variable| variable.element_name(variable.slots() - 1);
        variables.iter().map(of).collect()
    };
    assert_eq!(
        names(&program.shared),
        ["n[1].next", "n[1].used[1]", "head.next", "head.used[1]", "g[1][2]", "a[1]", "m[1][1]"]
    );
    assert_eq!(program.shared[4].element_name(3), "g[1][0]");
    assert_eq!(program.shared[1].element_name(1), "n[0].used[1]");
    assert_eq!(
        names(&program.procedures[0].locals),
        ["n.next", "n.used[1]", "n@2:36.next", "n@2:36.used[1]"]
    );
}

#[test]
fn what_is_wrong_with_parts() {
    let body = |text: &str| {
        said(&format!(
            "struct Node {{ 0..3 next; bool used; lock m; }} struct Pair {{ int a; int b[2]; }} shared Node n[3], head; shared int x, g[2][3];\n\
             thread t {{ x = n[0].next + g[0][0] + head.next; Pair q; x = q.a; acquire(n[0].m);\n{text}\n}}"
        ))
    };
    assert_snapshot!(body("n.next = 1;"), @"
    3:3: expected a structure before `.`, found `n`, an array of them
      a member of an element is written `a[i].x`
    ");
    assert_snapshot!(body("n[0].nxt = 1;"), @"
    3:6: expected a member of `n`, found `nxt`
      did you mean `next`?
    ");
    assert_snapshot!(body("n[0] = n[1];"), @"
    3:1: expected a variable, found the structure `n`
      its members are used one by one: `x.next`
    3:8: expected a number or a Boolean, found the structure `n`
      its members are used one by one: `x.next`
    ");
    assert_snapshot!(body("x = head;"), @"
    3:5: expected a number or a Boolean, found the structure `head`
      its members are used one by one: `x.next`
    ");
    assert_snapshot!(body("x = x.y;"), @"
    3:7: expected a structure before `.`, found `x`, which is none
    ");
    assert_snapshot!(body("x = g[1];"), @"
    3:5: expected a number or a Boolean, found the array `g`
      an element is written `a[i]`
    ");
    assert_snapshot!(body("x = g[1][2][3];"), @"
    3:5: expected an array, found `g`, which is none
    ");
    assert_snapshot!(body("x = q.b;"), @"
    3:5: expected a number or a Boolean, found the array `q.b`
      an element is written `a[i]`
    ");
    assert_snapshot!(body("x = g[1][* ? 0 : 1] + g[* ? 0 : 1][x];"), @"
    3:10: expected an index without choices, found `*`
      a choice is made in a step of its own, before
    ");
    assert_snapshot!(body("x = g[1][3];"), @"
    1:115: warning: `x` is never read
      a name that starts with `_` is not warned about
    3:10: warning: expected an index from 0 to 2, found 3
      a violation, if this is ever executed
    ");
    assert_snapshot!(body("x = head.m; head.m = 1;"), @"
    3:5: expected a number or a Boolean, found a lock of `head`
      a lock is taken by `acquire(m);` and given back by `release(m);`
    3:13: expected a variable, found a lock of `head`
      a lock is taken by `acquire(m);` and given back by `release(m);`
    ");
    assert_snapshot!(body("acquire(head.next); acquire(x); acquire(n[1]); acquire(q);"), @"
    3:9: expected a lock, found a variable of `head`
      a lock is declared by `lock m;`
    3:29: expected a lock, found `x`, a variable
      a lock is declared by `lock m;`
    3:41: expected a lock, found the structure `n`
      its members are used one by one: `x.next`
    3:56: expected a lock, found `q`, a variable
      a lock is declared by `lock m;`
    ");
    assert_snapshot!(body("Node l; x = l.next;"), @"
    3:6: expected a structure without locks for `l`, found one with a lock
      locks are shared: `shared Node n;`
    3:15: expected a structure before `.`, found `l`, which is none
    ");
    assert_snapshot!(body("Pair l = {1}; x = l.a;"), @"
    3:10: expected 2 values, one for each member, found 1
    ");
    assert_snapshot!(body("Pair l = 1; x = l.a;"), @"
    3:10: expected the values of a structure
      the values of its members stand in braces: `= {1, true}`
    ");
    assert_snapshot!(body("Pair l[2] = {{1, 2}, {3, {4, 5, 6}}}; x = l[0].a;"), @"
    3:26: expected 2 values, one for each element, found 3
      a single value without braces is that of all elements
    ");
    assert_snapshot!(body("int l[2][2] = x; x = l[0][0];"), @"
    3:15: expected a constant or `*` for the elements of an array
    ");
    assert_snapshot!(body("int l[2][2] = {x, 1}; x = l[0][0];"), @"
    3:16: expected a constant or `*` for the elements of an array
    ");
    let whole = |text: &str| said(&format!("{text}\nthread t {{ skip; }}"));
    assert_snapshot!(whole("struct S { int a; bool a; }"), @"
    1:24: the member `a` is declared twice
    ");
    assert_snapshot!(whole("struct S { }"), @"
    1:12: expected a member, found `}`
      a structure is declared by `struct Node { 0..3 next; bool used; }`
    ");
    assert_snapshot!(whole("struct S { int a = 1; }"), @"
    1:16: expected a member without a value, found one with a value
      the values of a structure are given where a variable is declared: `= {1, true}`
    ");
    assert_snapshot!(whole("struct S { S s; }"), @"
    1:12: `S` is used before it is declared, in line 1
      move the declaration up
    ");
    assert_snapshot!(whole("struct S { int a; } proc f(S s) { skip; } chan c[1] of S;"), @"
    1:28: expected a type of values, found the structure `S`
      structures are neither passed nor sent; a shared one can be used by everybody
    1:56: expected a type of values, found the structure `S`
      structures are neither passed nor sent; a shared one can be used by everybody
    ");
    assert_snapshot!(whole("struct A { int x[1000]; } struct B { A x[1000]; } struct C { B x[1000]; }"), @"
    1:58: expected at most 1048576 variables and elements of arrays, found more
    ");
    assert_snapshot!(whole("shared int a[1000][1000];"), @"
    1:12: expected an array of at most 65536 elements, found 1000000
    ");
    assert_snapshot!(whole("struct S { int a; } shared S s; predicate s.a == 0; never s.b == 1;"), @"
    1:61: expected a member of `s`, found `b`
    ");
}
