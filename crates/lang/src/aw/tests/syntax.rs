//! What is said about texts that do not parse: what was expected, what was found, and what the writer may have meant.

use super::said;
use insta::assert_snapshot;

/// What is said about the body of a thread.
fn body(text: &str) -> String {
    said(&format!(
        "shared int x, y; shared bool b; lock m; event e; proc f(int n) : int {{ return n; }}\nthread t {{\n{text}\n}}"
    ))
}

#[test]
fn several_mistakes_are_reported() {
    let text = "shared int x
shared bool 3;
proc f( { }
thread t {
  x = ;
  y = x +;
  if (x == 1 { skip; }
  x = 1
  x = 2;
  foo bar baz;
  while (true { }
}
}
never at() > 1;
thread u { x = (1; }
";
    assert_snapshot!(said(text), @"
    1:13: expected `;` after the declaration, found `shared`
    2:13: expected the name of a variable, found `3`
    3:9: expected a type: `bool`, `int`, or a range such as `0..3`, found `{`
    5:7: expected an expression, found `;`
    6:10: expected an expression, found `;`
    7:14: expected `)`, found `{`
    8:8: expected `;` after the assignment, found `x`
    10:3: expected a statement, found `foo`
      a local variable is declared by its type: `int x = 0;`
    11:15: expected `)`, found `{`
    13:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `}`
      there is no `{` to which this `}` belongs
    14:10: expected a label, found `)`
    15:18: expected `)`, found `;`
    ");
}

#[test]
fn operators_of_other_languages() {
    assert_snapshot!(body("if (x = 1) { skip; }"), @"
    3:7: expected the end of the condition, found `=`
      to compare two values, write `==`
    ");
    assert_snapshot!(body("assert x = 1;"), @"
    3:10: expected the end of the condition, found `=`
      to compare two values, write `==`
    ");
    assert_snapshot!(body("while ((x = 1)) { skip; }"), @"
    3:11: expected `)`, found `=`
      to compare two values, write `==`
    ");
    assert_snapshot!(body("x = y = 1;"), @"
    3:7: expected `;` after the assignment, found `=`
      one assignment is one statement; to compare two values, write `==`
    ");
    assert_snapshot!(body("x++;"), @"
    3:2: expected `=`, found `++`
      write `x = x + 1;`
    ");
    assert_snapshot!(body("x -= 2;"), @"
    3:3: expected `=`, found `-=`
      write `x = x - …;`
    ");
    assert_snapshot!(body("x := 2;"), @"
    3:3: expected `=`, found `:=`
      an assignment is written `x = …;`
    ");
    assert_snapshot!(body("x == 2;"), @"
    3:3: expected `=`, found `==`
      an assignment is written `x = …;`
    ");
    assert_snapshot!(body("await x == 1 and b;"), @"
    3:14: expected the end of the condition, found `and`
      write `&&`
    ");
    assert_snapshot!(body("if (x == 1 or b) { skip; }"), @"
    3:12: expected the end of the condition, found `or`
      write `||`
    ");
    assert_snapshot!(body("b = not b;"), @"
    3:5: expected an expression, found `not`
      write `!`
    ");
    assert_snapshot!(body("b = b & b | b;"), @"
    3:7: expected `;` after the assignment, found `&`
      write `&&`
    ");
    assert_snapshot!(body("b = x => 1;"), @"
    3:7: expected `;` after the assignment, found `=`
      write `>=`
    ");
}

#[test]
fn statements_of_other_languages() {
    assert_snapshot!(body("for (int i = 0; i < 3; i++) { x = i; }\nx = ;"), @"
    3:1: expected a statement, found `for`
      a loop over a range, both ends included, is written `for i in 0..3 { … }`; others are `while` or `loop`
    4:5: expected an expression, found `;`
    ");
    assert_snapshot!(body("let x = 1;\nx = ;"), @"
    3:1: expected a statement, found `let`
      a local variable is declared by its type: `int x = 0;`
    4:5: expected an expression, found `;`
    ");
    assert_snapshot!(body("do { x = 1; } while (b);"), @"
    3:1: expected a statement, found `do`
      there is no `do`; use `loop` with `if (…) { break; }`
    3:24: expected `{`, found `;`
      the body of `while` stands in braces
    ");
    assert_snapshot!(body("switch (x) { case 1: y = 1; }"), @"
    3:1: expected a statement, found `switch`
      there is no `switch`; use `if`, `else if` and `else`
    ");
    assert_snapshot!(body("lock(m); x = 1; unlock(m);"), @"
    3:1: expected a statement, found `lock`
      a lock is taken by `acquire(m);` and given back by `release(m);`
    ");
    assert_snapshot!(body("acquire m;"), @"
    3:9: expected `(`, found `m`
      write `acquire(m);`
    ");
    assert_snapshot!(body("wait(e);"), @"
    3:5: expected the name of an event, found `(`
      write `wait e;`
    ");
    assert_snapshot!(body("spawn t();"), @"
    3:8: expected `;`, found `(`
      a thread has no parameters: write `spawn t;`
    ");
    assert_snapshot!(body("unsigned i = 1;"), @"
    3:1: expected a statement, found `unsigned`
      numbers are of type `int`, or of a range such as `0..255`
    ");
    assert_snapshot!(body("printf(\"hello; {\\n\"); x = 1;"), @r#"
    3:8: expected an expression, found `"hello; {\\n"`
      there are no strings and no characters
    "#);
    assert_snapshot!(body("if x == 1 { skip; }"), @"
    3:4: expected `(` after `if`, found `x`
      a condition stands in parentheses: `if (…) { … }`
    ");
    assert_snapshot!(body("if (b) x = 1; else x = 2;"), @"
    3:8: expected `{`, found `x`
      the body of `if` stands in braces
    3:20: expected `{`, found `x`
      the body of `else` stands in braces
    ");
    assert_snapshot!(body("while b { x = 1; }"), @"
    3:7: expected `(` after `while`, found `b`
      a condition stands in parentheses: `while (…) { … }`
    ");
    assert_snapshot!(body("if (b) { x = 1; } elif (b) { x = 2; }"), @"
    3:19: expected a statement, found `elif`
      write `else if`
    ");
    assert_snapshot!(body("x = a[1, 2];"), @"
    3:8: expected `]`, found `,`
      an element of an array of two dimensions is written `a[i][j]`
    ");
    assert_snapshot!(body("skip;;"), @"
    3:6: expected a statement, found `;`
      delete this `;`; a step that does nothing is written `skip;`
    ");
    assert_snapshot!(body("l: }"), @"
    3:4: expected a statement after the label, found `}`
      write `l: skip;`
    4:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `}`
      there is no `{` to which this `}` belongs
    ");
    assert_snapshot!(body("l:"), @"
    4:1: expected a statement after the label, found `}`
      write `l: skip;`
    ");
    assert_snapshot!(body("else { skip; }"), @"
    3:1: expected a statement, found `else`
      an `else` follows the `}` of its `if`
    ");
    assert_snapshot!(body("x = 12ab; #define y\ny = é;"), @"
    3:5: expected an expression, found `12ab`
      numbers are written in decimal digits, and names do not start with a digit
    3:11: expected a statement, found `#define y`
      comments start with `//`, and constants are declared by `const N = 3;`
    4:5: expected an expression, found `é`
      names consist of the letters a to z and A to Z, digits and `_`
    ");
    assert_snapshot!(body("x = 99999999999999999999;"), @"3:5: expected a number up to 9223372036854775807, found `99999999999999999999`");
    assert_snapshot!(body("int loop = 1;"), @"
    3:5: expected the name of a variable, found `loop`
      `loop` is a word of the language and cannot be a name
    ");
}

#[test]
fn misspelt_words() {
    assert_snapshot!(body("whlie (b) { x = 1; }\nskpi;\nasert b;\nif (b) { skip; } els { skip; }\nretrun 1;"), @"
    3:11: expected `;` after the call, found `{`
      did you mean `while`?
    4:5: expected `=`, found `;`
      did you mean `skip`?
    5:1: expected a statement, found `asert`
      did you mean `assert`?
    6:22: expected `=`, found `{`
      did you mean `else`?
    7:8: expected `=`, found `1`
      did you mean `return`?
    ");
    assert_snapshot!(said("thred t { skip; }\nshard int x;\nnevr x == 1;\nshared boool b;"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `thred`
      did you mean `thread`?
    2:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `shard`
      did you mean `shared`?
    3:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `nevr`
      did you mean `never`?
    4:8: expected a type: `bool`, `int`, or a range such as `0..3`, found `boool`
      did you mean `bool`?
    ");
}

#[test]
fn declarations_of_other_languages() {
    assert_snapshot!(said("int x;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `int`
      a variable that all threads share is declared by `shared int x;`
    ");
    assert_snapshot!(said("0..3 x;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `0`
      a variable that all threads share is declared by `shared 0..3 x;`
    ");
    assert_snapshot!(said("mutex m;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `mutex`
      a mutex is declared by `lock m;`
    ");
    assert_snapshot!(said("let x = 1;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `let`
      a variable that all threads share is declared by `shared int x;`
    ");
    assert_snapshot!(said("void f() { skip; }\nthread t { f(); }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `void`
      a procedure is declared by `proc f(int x) : int { … }`
    ");
    assert_snapshot!(said("proc f() -> int { return 1; }\nthread t { f(); }"), @"
    1:10: expected `:` or `{`, found `-`
      the type of the result comes after a colon: `proc f() : int { … }`
    ");
    assert_snapshot!(said("proc f(x, y) { skip; }\nthread t { skip; }"), @"
    1:8: expected the type of a parameter, found `x`
      a parameter is declared by its type and its name: `int x`
    ");
    assert_snapshot!(said("proc f { skip; }\nthread t { skip; }"), @"
    1:8: expected `(`, found `{`
      the parameters stand in parentheses, `()` if there are none
    ");
    assert_snapshot!(said("thread t() { skip; }"), @"
    1:9: expected `{` or `[`, found `(`
      a thread has no parameters: write `thread name { … }`
    ");
    assert_snapshot!(said("thread t[] { skip; }"), @"
    1:10: expected the number of threads, found `]`
      write `[3]` for three threads, `[*]` for any number
    ");
    assert_snapshot!(said("main() { skip; }"), @"
    1:5: expected `{` after `main`, found `(`
      write `main { … }`
    ");
    assert_snapshot!(said("shared x;\nthread t { skip; }"), @"
    1:8: expected a type: `bool`, `int`, or a range such as `0..3`, found `x`
      a variable is declared by its type and its name: `int x`
    ");
    assert_snapshot!(said("shared int a[2] = [1, 2];\nthread t { skip; }"), @"
    1:19: expected an expression, found `[`
      the elements of an array stand in braces: write `= {1, 2, 3}`
    ");
    assert_snapshot!(said("const int N = 3;\nthread t { skip; }"), @"
    1:7: expected the name of a constant, found `int`
      a constant is declared by `const N = 3;`, without a type
    ");
    assert_snapshot!(said("# include\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `# include`
      comments start with `//`, and constants are declared by `const N = 3;`
    ");
    assert_snapshot!(said("invariant x == 1;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `invariant`
      what must not become true is stated by `never …;`
    ");
    assert_snapshot!(said("x = 1;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `x`
      statements stand in the body of a `thread` or `proc`
    ");
    assert_snapshot!(said("assert true;\nthread t { skip; }"), @"
    1:1: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `assert`
      statements stand in the body of a `thread` or `proc`
    ");
    assert_snapshot!(said("lock m = 0;\nthread t { acquire(m); }"), @"
    1:6: a lock has no initial value: it is free
      write `lock m;`
    ");
}

#[test]
fn what_is_not_closed() {
    assert_snapshot!(said("shared int x;\nthread t {\n  if (x == 1) {\n    x = 2;\n\nthread u { x = 1; }"), @"
    6:1: expected `}` or a statement, found `thread`
      the `{` in line 3 is not closed
    ");
    assert_snapshot!(said("thread t {"), @"
    1:11: expected `}` or a statement, found the end of the file
      the `{` in line 1 is not closed
    ");
    assert_snapshot!(said("thread t { skip; } /* oh"), @"1:20: expected `*/` after `/*`, found the end of the file");
    assert_snapshot!(said("thread t { x = (1 + 2; }"), @"1:22: expected `)`, found `;`");
    assert_snapshot!(said("thread t { skip; } }\nthread u { skip }"), @"
    1:20: expected a declaration such as `shared`, `proc`, `thread` or `never`, found `}`
      there is no `{` to which this `}` belongs
    2:16: expected `;` after `skip`, found `}`
    ");
}

#[test]
fn nesting_is_limited() {
    let deep = 100_000;
    let texts = [
        format!("x = {}1{};", "(".repeat(deep), ")".repeat(deep)),
        format!("x = {}1;", "- ".repeat(deep)),
        format!("x = {}1{};", "y[".repeat(deep), "]".repeat(deep)),
        format!("x = {}1;", "b ? 1 : ".repeat(deep)),
        format!("{}{}", "if (b) {".repeat(deep), "}".repeat(deep)),
        format!("{}{}", "{".repeat(deep), "}".repeat(deep)),
        format!("{}{}", "choose {} or {".repeat(deep), "}".repeat(deep)),
    ];
    for text in texts {
        let said = body(&text);
        assert!(said.contains("expected at most 200 levels of nesting, found more"), "{said}");
    }
    // Each of these is a mistake in itself, and only the first are kept.
    body(&"if (b) ".repeat(deep));
    body(&"while b ".repeat(deep));
    let said = body(&format!("x = 1{};", " + 1".repeat(deep)));
    assert_snapshot!(said, @"
    3:5: expected at most 500 operators in a row, found more
      use a variable for a part of the expression
    ");
}
