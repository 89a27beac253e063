//! What is said about texts that parse and make no sense, or perhaps not the intended one.

use super::said;
use insta::assert_snapshot;

/// What is said about the body of a thread.
fn body(text: &str) -> String {
    let head = "shared int x = 0, a[3]; shared bool b; shared 0..3 r; lock m; event e; const N = 3;
proc f(int n) : int { return n + x; } proc g() { b = r == a[0] && b; acquire(m); broadcast e; }";
    said(&format!("{head}\nthread t {{\n{text}\nx = f(N); g();\n}}"))
}

#[test]
fn unknown_names() {
    assert_snapshot!(body("x = xx; turn = 1; r = rr[0];"), @"
    4:5: expected a variable or constant, found the unknown name `xx`
      did you mean `x`?
    4:9: expected a variable, found the unknown name `turn`
    4:23: expected a variable or constant, found the unknown name `rr`
      did you mean `r`?
    ");
    assert_snapshot!(body("b = True; x = tid;"), @"
    4:5: expected a variable or constant, found the unknown name `True`
      write `true`
    4:15: expected a variable or constant, found the unknown name `tid`
      the number of a thread is `self`
    ");
    assert_snapshot!(body("F(1); printf(x); unlock(m); ff();"), @"
    4:1: unknown procedure `F`
      did you mean `f`?
    4:7: unknown procedure `printf`
      there is no output: a trace shows every step
    4:18: unknown procedure `unlock`
      a lock is given back by `release(m);`
    4:29: unknown procedure `ff`
      did you mean `f`?
    ");
    assert_snapshot!(body("goto crti; crit: skip;"), @"
    4:6: unknown label `crti` in this body
      did you mean `crit`?
    ");
    assert_snapshot!(said("thread t { crit: skip; } never at(crti) > 1 || at(t.critt) > 1 || at(u.crit) > 1;"), @"
    1:35: unknown label `crti`
      did you mean `crit`?
    1:53: unknown label `critt` in `t`
      did you mean `crit`?
    1:70: expected a thread or procedure, found the unknown name `u`
    ");
    assert_snapshot!(body("wait ee; spawn tt; acquire(mm);"), @"
    4:6: expected an event, found the unknown name `ee`
      did you mean `e`?
    4:16: expected a thread, found the unknown name `tt`
      did you mean `t`?
    4:28: expected a lock, found the unknown name `mm`
      did you mean `m`?
    ");
    assert_snapshot!(said("thread t { x = N; }\nshared int x;\nconst N = 3;\nnever x > N;"), @"
    1:12: `x` is used before it is declared, in line 2
      move the declaration up
    1:16: `N` is used before it is declared, in line 3
      move the declaration up
    ");
    assert_snapshot!(said("const N = N + 1; shared 0..M x; const M = 2; thread t { x = N; }"), @"
    1:11: `N` is used before it is declared, in line 1
      move the declaration up
    1:28: `M` is used before it is declared, in line 1
      move the declaration up
    ");
}

#[test]
fn names_declared_twice() {
    assert_snapshot!(said("shared int x;\nlock x;\nproc x() {}\nthread t { x = x; }\nthread t { skip; }"), @"
    2:6: `x` is declared twice, first in line 1
    3:6: `x` is declared twice, first in line 1
    5:8: `t` is declared twice, first in line 4
    ");
    assert_snapshot!(said("proc f(int i,\n int i) { int j;\n int j; { int j; } }\nthread t { f(1, 2); }"), @"
    2:6: `i` is declared twice, first in line 1
    3:6: `j` is declared twice, first in line 2
    ");
    assert_snapshot!(body("l: skip;\nl: skip; goto l;"), @"
    5:1: the label `l` stands twice, first in line 4
      a label is unique in its body
    ");
    assert_snapshot!(said("thread t { l: skip; }\nnever bad: at(l) > 1;\nnever bad: at(l) > 2;"), @"3:7: a property `bad` is stated twice, first in line 2");
}

#[test]
fn names_of_the_wrong_kind() {
    assert_snapshot!(body("f = 1; N = 2; m = 1; x = m; x = t; e = 1;"), @"
    4:1: expected a variable, found `f`, a procedure
    4:8: expected a variable, found `N`, a constant
    4:15: expected a variable, found `m`, a lock
      a lock is taken by `acquire(m);` and given back by `release(m);`
    4:26: expected a variable or constant, found `m`, a lock
      a lock has no value; it is taken by `acquire(m);` and given back by `release(m);`
    4:33: expected a variable or constant, found `t`, a thread
    4:36: expected a variable, found `e`, an event
    ");
    assert_snapshot!(body("acquire(x); wait m; spawn f; x(); t(); broadcast t;"), @"
    4:9: expected a lock, found `x`, a variable
      a lock is declared by `lock m;`
    4:18: expected an event, found `m`, a lock
      an event is declared by `event e;`
    4:27: expected a thread, found `f`, a procedure
      a procedure is called by `f(…);`
    4:30: expected a procedure, found `x`, a variable
    4:35: expected a procedure, found `t`, a thread
      a thread is started by `spawn name;`
    4:50: expected an event, found `t`, a thread
      an event is declared by `event e;`
    ");
    assert_snapshot!(body("int m; acquire(m); x = m;"), @"
    4:16: expected a lock, found `m`, a variable
      a lock is declared by `lock m;`
    ");
    assert_snapshot!(body("x = a; x = x[1]; a = 1; x[1] = 2; acquire(m[1]); x = N[1];"), @"
    4:5: expected a number or a Boolean, found the array `a`
      an element is written `a[i]`
    4:12: expected an array, found `x`, which is none
    4:18: expected a variable, found the array `a`
      an element is written `a[i]`
    4:25: expected an array, found `x`, which is none
    4:43: expected an array, found `m`, which is none
    4:54: expected an array, found `N`, which is none
    ");
}

#[test]
fn types() {
    assert_snapshot!(body("x = true; b = 1; b = x; x = b;"), @"
    4:5: expected a number, since the type is `int`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:15: expected a Boolean, since the type is `bool`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:22: expected a Boolean, since the type is `bool`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:29: expected a number, since the type is `int`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    ");
    assert_snapshot!(body("if (x) { skip; } while (1) { skip; } assert x + 1; await 0; assume x;"), @"
    4:5: expected a Boolean as the condition of `if`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:25: expected a Boolean as the condition of `while`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:45: expected a Boolean after `assert`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:58: expected a Boolean after `await`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:68: expected a Boolean after `assume`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(body("x = x + b; b = !x; b = b && x; b = b < b; x = -b; b = x == b; b = b != 0;"), @"
    4:9: expected a number on the right of `+`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:17: expected a Boolean after `!`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:29: expected a Boolean on the right of `&&`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:36: expected a number on the left of `<`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:40: expected a number on the right of `<`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:48: expected a number after `-`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:60: expected a number on the right of `==`, since there is one on its left, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:72: expected a Boolean on the right of `!=`, since there is one on its left, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(body("b = 0 <= x <= 3;"), @"
    4:5: expected a number on the left of `<=`, found a Boolean
      comparisons are not chained: write `a < b && b < c`
    ");
    assert_snapshot!(body("x = b ? 1 : true; x = x ? 1 : 2;"), @"
    4:13: expected a number after `:`, like before it, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:23: expected a Boolean before `?`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(body("x = a[b]; x = * + 1;"), @"
    4:7: expected a number as an index, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:15: expected a number on the left of `+`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    ");
    assert_snapshot!(body("x = *;"), @"
    4:5: expected a value of type `int`, found `*`
      any value can be chosen of a finite type only: use a range such as `0..3`
    ");
    assert_snapshot!(body("int i = *; bool c = 0; 0..1 d = false; x = i + d; b = c;"), @"
    4:9: expected a value of type `int`, found `*`
      any value can be chosen of a finite type only: use a range such as `0..3`
    4:21: expected a Boolean, since the type is `bool`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:33: expected a number, since the type is `0..1`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    ");
    assert_snapshot!(body("f(true); f(); f(1, 2); b = f(1); x = g();"), @"
    4:3: expected a number, since the type is `int`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    4:10: expected 1 argument for `f`, found 0
    4:15: expected 1 argument for `f`, found 2
    4:28: expected a Boolean, found a number, the result of `f`
    4:38: expected a procedure with a result, found `g`, which has none
      a procedure with a result is declared by `proc f() : int { … }`
    ");
    assert_snapshot!(body("x = f(1) + 1; if (f(1) == 1) { skip; } x, r = f(1), 2;"), @"
    4:5: expected an expression without calls, found a call
      call it in a statement of its own: `t = f(…);`
    4:19: expected an expression without calls, found a call
      call it in a statement of its own: `t = f(…);`
    4:47: expected an expression without calls, found a call
      call it in a statement of its own: `t = f(…);`
    ");
    assert_snapshot!(body("x, r = 1; x = 1, 2; x, x = 1, 2; a[1], a[2], a[1] = 1, 2, 3; a[x], a[x] = 1, 2;"), @"
    4:1: expected 2 values, found 1 value
      each variable on the left gets one of the values on the right
    4:11: expected 1 value, found 2 values
      each variable on the left gets one of the values on the right
    4:24: expected different variables, found `x` twice
    4:46: expected different variables, found `a` twice
    ");
    assert_snapshot!(said("proc f() { return 1; }\nproc g() : int { return; }\nproc h() : bool { return 1; }\nthread t { f(); g(); h(); return 1; }"), @"
    1:19: expected `return;`, found a value, though the procedure has no result
      a procedure with a result is declared by `proc f() : int { … }`
    2:18: expected a value after `return`, found none
    3:26: expected a Boolean, since the type is `bool`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    4:34: expected `return;`, found a value
      only procedures return values
    ");
}

#[test]
fn values_out_of_range() {
    assert_snapshot!(said("shared 0..3 x = 4; shared 5..2 y; shared int z = *; thread t { x = x + y + z; }"), @"
    1:17: expected an initial value of type `0..3`, found 4
    1:27: expected a range with a value in it, found 5..2
      a range goes from its least value to its greatest
    1:50: expected a value of type `int`, found `*`
      any value can be chosen of a finite type only: use a range such as `0..3`
    ");
    assert_snapshot!(said("const A = 1 / 0; const B = 9223372036854775807 + 1; const C = -(-9223372036854775807 - 1); const D = true + 1; thread t { skip; }"), @"
    1:11: expected a constant, found a division by zero
    1:28: expected a constant, found a number that is too large
    1:63: expected a constant, found a number that is too large
    1:102: expected a number on the left of `+`, found a Boolean
      a Boolean becomes a number by `b ? 1 : 0`
    ");
    assert_snapshot!(said("shared int x; shared int y = x; shared bool b[x]; shared 0..* z; thread t { x = y; }"), @"
    1:30: expected a constant, found `x`, a variable
    1:47: expected a constant, found `x`, a variable
    1:61: expected a constant, found `*`
    ");
    assert_snapshot!(said("shared int a[0], b[-1], c[65537], d[true]; thread t[70000] { skip; } thread u[-1] { skip; }"), @"
    1:14: expected a length from 1 to 65536, found 0
    1:20: expected a length from 1 to 65536, found -1
    1:27: expected a length from 1 to 65536, found 65537
    1:37: expected a number for the length of an array, found a Boolean
    1:53: expected a number of threads from 0 to 65536, found 70000
      for any number of threads, write `[*]`
    1:79: expected a number of threads from 0 to 65536, found -1
      for any number of threads, write `[*]`
    ");
    assert_snapshot!(said("shared int a[65536], b[65536], c[65536], d[65536], e[65536], f[65536], g[65536], h[65536]; thread t { int a[65536], b[65536], c[65536], d[65536], e[65536], f[65536], g[65536], h[65536], i; }"), @"1:187: expected at most 1048576 variables and elements of arrays, found more");
    assert_snapshot!(body("0..1 i = 2; r = 9; a[3] = 1; x = a[-1] + i;"), @"
    4:10: expected an initial value of type `0..1`, found 2
    4:17: warning: expected a value of type `0..3`, found 9
      a violation, if this is ever executed
    4:22: warning: expected an index from 0 to 2, found 3
      a violation, if this is ever executed
    4:36: warning: expected an index from 0 to 2, found -1
      a violation, if this is ever executed
    ");
    assert_snapshot!(body("skip; 0..1 i = 2; x = i; int c[2] = x; x = c[0];"), @"
    4:16: expected an initial value of type `0..1`, found 2
    4:37: expected a constant or `*` for the elements of an array
    ");
}

#[test]
fn jumps() {
    assert_snapshot!(body("break; continue; loop { break; }"), @"
    4:1: expected a loop around `break`, found none
    4:8: expected a loop around `continue`, found none
    ");
    assert_snapshot!(body("goto l; atomic { l: skip; } m: atomic { goto l, m; }"), @"
    4:6: `goto` cannot enter `atomic`
      an `atomic` block is entered at its start
    4:46: `goto` cannot enter `atomic`
      an `atomic` block is entered at its start
    ");
}

#[test]
fn what_has_no_place_in_atomic() {
    let text = "event e; shared int x;
proc waits() { wait e; }
proc calls() { waits(); }
proc recursive(int n) { if (n > 0) { recursive(n - 1); } }
proc loops() { atomic { x = x + 1; } }
proc fine() { x = x + 1; return; }
thread t { atomic { wait e; broadcast e; spawn u; waits(); calls(); recursive(1); loops(); fine(); } calls(); }
thread u { skip; }";
    assert_snapshot!(said(text), @"
    7:21: expected no `wait` inside `atomic`, found one
      an `atomic` block is one step of one thread
    7:29: expected no `broadcast` inside `atomic`, found one
      an `atomic` block is one step of one thread
    7:42: expected no `spawn` inside `atomic`, found one
      an `atomic` block is one step of one thread
    7:51: `waits` cannot be called inside `atomic`: it contains `wait`
      an `atomic` block is one step of one thread
    7:60: `calls` cannot be called inside `atomic`: it calls `waits`, which contains `wait`
      an `atomic` block is one step of one thread
    7:69: `recursive` cannot be called inside `atomic`: it is recursive
      an `atomic` block is one step of one thread
    7:83: `loops` cannot be called inside `atomic`: it contains `atomic`
      an `atomic` block is one step of one thread
    ");
    assert_snapshot!(said("main { atomic { yield; post t(); await true; } } task t() { skip; }"), @"
    1:17: expected no `yield` inside `atomic`, found one
      an `atomic` block is one step of one thread
    1:24: expected no `post` inside `atomic`, found one
      an `atomic` block is one step of one thread
    1:34: expected no `await` inside `atomic`, found one
      an `atomic` block is one step of one thread
    ");
    assert_snapshot!(said("thread t { atomic { l: skip; } } never at(l) > 1;"), @"1:43: warning: no thread is ever seen at `l`, which is inside `atomic`");
}

#[test]
fn threads_and_tasks() {
    assert_snapshot!(said("thread t { skip; }\nmain { skip; }"), @"
    1:8: expected no thread in an asynchronous program (see line 2), found `t`
      an asynchronous program consists of `main` and tasks; other programs of threads
    ");
    assert_snapshot!(said("task t() { skip; }"), @"
    1:6: expected `main` beside the tasks, found none
      write `main { post …; }`
    ");
    assert_snapshot!(said("shared int x;"), @"
    1:14: expected a thread, found the end of the file
      a program runs what stands in `thread name { … }`
    ");
    assert_snapshot!(said("main { post t(1, 2); post main(); post f(); f(); t(); } task t(int x) { yield; } proc f() {}"), @"
    1:27: expected the name of a task, found `main`
      `main` is a word of the language and cannot be a name
    ");
    assert_snapshot!(said("thread t { yield; post t(); } event e;"), @"
    1:12: expected no `yield` in a program of threads, found one
      tasks, `post` and `yield` belong to programs with a `main`
    1:19: expected no `post` in a program of threads, found one
      tasks, `post` and `yield` belong to programs with a `main`
    1:24: expected a task, found `t`, a thread
      a thread is started by `spawn name;`
    ");
    assert_snapshot!(said("event e; main { wait e; broadcast e; spawn main; }"), @"
    1:44: expected the name of a thread, found `main`
      `main` is a word of the language and cannot be a name
    ");
    assert_snapshot!(said("main { skip; }\nmain { skip; }"), @"2:1: `main` is declared twice, first in line 1");
    assert_snapshot!(said("shared int x; thread t[*] { x = self; } proc f() { x = self; } thread u[2] { x = self; f(); } thread v { spawn u; } never x == self;"), @"
    1:33: expected an expression, found `self`, which has no value here
      there is no number of a thread among any number of them; `shared t x;` holds a thread, `x = self;` and `x == self`
    1:112: expected a thread without `self`, found `u`, which uses it
      threads that are spawned have no numbers
    1:128: expected an expression, found `self`, which has no value here
      `self` is for the bodies of threads
    ");
}

#[test]
fn properties_and_predicates() {
    let text = "shared int x; thread t { int l; l = x; x = l; k: skip; } thread u { int l; int q; l = q; } proc f() { int p; p = p; }";
    assert_snapshot!(said(&format!("{text} never l == 1; never x; never *; never other.l == 1; never x == f();")), @"
    1:125: expected a shared variable, found `l`, local to `t`
      `never` speaks of local variables by `exists p in worker: p.x`; inside a body, use `assert`
    1:139: expected a Boolean after `never`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    1:148: expected an expression without choices, found `*`
    1:157: expected an expression, found `other`
      local variables of other threads can be mentioned in `predicate` only
    1:182: expected an expression without calls, found a call
      call it in a statement of its own: `t = f(…);`
    ");
    assert_snapshot!(said(&format!("{text} predicate at(k) == 1; predicate l == 1; predicate q == other.l; predicate p == 1; predicate other.z == 1; predicate x;")), @"
    1:129: expected an expression, found `at`
      how many threads are at a label can be said in `never` only
    1:151: expected the name of one local variable, found `l`, which is several: in line 1 and in line 1
      give one of them another name
    1:193: expected a local variable of a thread, found `p`, local to a procedure
    1:217: expected a local variable of a thread, found `z`
    1:235: expected a Boolean after `predicate`, found a number
      a number becomes a Boolean by a comparison such as `x != 0`
    ");
    assert_snapshot!(said("shared int x; thread t { assert at(l) == 1; l: x = other.x; }"), @"
    1:33: expected an expression, found `at`
      how many threads are at a label can be said in `never` only
    1:52: expected an expression, found `other`
      local variables of other threads can be mentioned in `predicate` only
    ");
}

#[test]
fn warnings() {
    let text =
        "shared int unread, _unread; lock unused_lock; event unused_event; const UNUSED = 1; proc unused() {}
thread t {
  int local = 1;
  unread = 2;
  label: return;
  skip;
  skip;
}
thread none[0] { loop { skip; } skip; }
proc recursive(int parameter) { recursive(1); }
proc early() : int { return 1; if (*) { skip; } loop { goto l; skip; l: break; } }";
    assert_snapshot!(said(text), @"
    1:12: warning: `unread` is never read
      a name that starts with `_` is not warned about
    1:34: warning: `unused_lock` is never used
    1:53: warning: `unused_event` is never used
    1:73: warning: `UNUSED` is never used
    1:90: warning: `unused` is never called
    3:7: warning: `local` is never read
      a name that starts with `_` is not warned about
    5:3: warning: the label `label` is never used
    6:3: warning: this statement is never reached
    9:8: warning: there are no threads `none`, and none is spawned
    9:33: warning: this statement is never reached
    10:20: warning: `parameter` is never read
      a name that starts with `_` is not warned about
    11:6: warning: `early` is never called
    11:32: warning: this statement is never reached
    ");
}
