// A lock-free stack: a node is taken, put back and looks unchanged (ABA); a node that is not in the stack is popped
//! verdict: unsafe
//! violation: assert
//! switches: 3

// 0 is no node.
shared 0..2 top, next[3];
shared bool stacked[3];

proc push(1..2 node) {
  0..2 old;
  bool done;
  stacked[node] = true;
  while (!done) {
    old = top;
    next[node] = old;
    done, top = top == old, top == old ? node : top;
  }
}

proc pop() : 0..2 {
  0..2 old, below;
  bool done;
  while (!done) {
    old = top;
    if (old == 0) { return 0; }
    below = next[old];
    done, top = top == old, top == old ? below : top;
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
