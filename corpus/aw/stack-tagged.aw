// A lock-free stack whose top carries a tag that every change moves on: no ABA
//! verdict: safe

shared 0..2 top, next[3];
shared 0..15 tag;
shared bool stacked[3];

proc push(1..2 node) {
  0..2 old;
  0..15 seen;
  bool done;
  stacked[node] = true;
  while (!done) {
    old, seen = top, tag;
    next[node] = old;
    atomic {
      if (top == old && tag == seen) {
        top, tag, done = node, tag + 1, true;
      }
    }
  }
}

proc pop() : 0..2 {
  0..2 old, below;
  0..15 seen;
  bool done;
  while (!done) {
    old, seen = top, tag;
    if (old == 0) { return 0; }
    below = next[old];
    atomic {
      if (top == old && tag == seen) {
        top, tag, done = below, tag + 1, true;
      }
    }
  }
  assert stacked[old];
  stacked[old] = false;
  return old;
}

thread owner {
  0..2 a, b;
  push(2);
  push(1);
  a = pop();
  b = pop();
  if (a != 0) { push(a); }
  if (b != 0) { push(b); }
}

thread popper {
  0..2 a, b;
  a = pop();
  b = pop();
  if (a != 0 && b != 0) { assert a != b; }
}
