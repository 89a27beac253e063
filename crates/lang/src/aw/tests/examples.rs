//! The examples of the language's description.

use super::*;
use insta::assert_snapshot;

pub(super) const PETERSON: &str = "\
// Peterson's lock, two threads
shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    turn = 1 - self;
    await !want[1 - self] || turn == self;
    crit: skip;
    want[self] = false;
  }
}
never at(crit) >= 2;
";

pub(super) const TICKET: &str = "\
// The ticket lock, any number of threads, unbounded tickets
shared int s = 0, t = 0;

thread client[*] {
  int l;
  l, t = t, t + 1;                 // fetch and add: one step
  loop {
    await s == l;
    crit: skip;
    s = s + 1;
    l, t = t, t + 1;
  }
}
never at(crit) >= 2;
predicate t > l;                   // optional hints; the tool may find its own
predicate s == l;
predicate l != other.l;
";

pub(super) const RECURSIVE: &str = "\
// Recursive threads
shared bool x = *;
proc foo() { if (*) { foo(); } while (x) {} x = true; }
proc bar() { if (*) { bar(); } while (!x) {} x = false; }
thread a { foo(); }
thread b { bar(); }
";

pub(super) const TASKS: &str = "\
// An asynchronous program: tasks run one at a time, to completion or to a yield
shared int g = 0;
main { post inc(1); post inc(2); post check(); }
task inc(int by) { int old = g; yield; g = old + by; }
task check()     { assert g != 2; }
";

pub(super) const EVENTS: &str = "\
// Any number of threads, started dynamically, with wait and broadcast
shared bool ready = false;
event go;
thread boss { spawn worker; spawn worker; ready = true; broadcast go; }
thread worker[0] { wait go; assert ready; }
";

pub(super) const ALL: [&str; 5] = [PETERSON, TICKET, RECURSIVE, TASKS, EVENTS];

#[test]
fn peterson() {
    assert_snapshot!(graph(&good(PETERSON)), @"
    p:
      0 want[0]+self = 1 -> 1
      1 turn = (1 Minus self) -> 2
      2 [(Not want[0]+(1 Minus self) Or (turn Equal self))] -> 3
      3 crit: skip -> 4
      4 want[0]+self = 0 -> 0
    ");
}

#[test]
fn ticket() {
    assert_snapshot!(graph(&good(TICKET)), @"
    client:
      0 l, t = t, (t Plus 1) -> 1
      1 [(s Equal l)] -> 2
      2 crit: skip -> 3
      3 s = (s Plus 1) -> 4
      4 l, t = t, (t Plus 1) -> 1
    ");
}

#[test]
fn recursive() {
    assert_snapshot!(graph(&good(RECURSIVE)), @"
    foo:
      0 [0..1] -> 1 | [not 0..1] -> 2
      1 foo() -> 2
      2 [x] -> 2 | [not x] -> 3
      3 x = 1 -> 4
      4 return  -> 4
    bar:
      5 [0..1] -> 6 | [not 0..1] -> 7
      6 bar() -> 7
      7 [Not x] -> 7 | [not Not x] -> 8
      8 x = 0 -> 9
      9 return  -> 9
    a:
      10 foo() -> 11
      11
    b:
      12 bar() -> 13
      13
    ");
}

#[test]
fn tasks() {
    assert_snapshot!(graph(&good(TASKS)), @"
    main:
      0 spawn inc(1) -> 1
      1 spawn inc(2) -> 2
      2 spawn check() -> 3
      3 #running = 0 -> 4
      4
    inc:
      5 #running = 1 if (#running Equal 0) -> 6
      6 old = g -> 7
      7 #running = 0 -> 8
      8 #running = 1 if (#running Equal 0) -> 9
      9 g = (old Plus by) -> 10
      10 #running = 0 -> 11
      11
    check:
      12 #running = 1 if (#running Equal 0) -> 13
      13 assert (g Unequal 2) -> 14
      14 #running = 0 -> 15
      15
    ");
}

#[test]
fn events() {
    assert_snapshot!(graph(&good(EVENTS)), @"
    boss:
      0 spawn worker() -> 1
      1 spawn worker() -> 2
      2 ready = 1 -> 3
      3 broadcast go -> 4
      4
    worker:
      5 wait go -> 6
      6 assert ready -> 7
      7
    ");
}

#[test]
fn beginnings_of_texts_are_no_surprise() {
    for text in ALL {
        for end in 0..text.len() {
            said(&text[..end]);
        }
    }
}
