// Michael and Scott's queue where a node is linked by a test and a write: one that was linked in between is lost
//! verdict: unsafe
//! violation: assert

const N = 2, NONE = 3;
struct Node {
  0..NONE next;
  0..N taken;
}
shared Node nodes[N + 1] = {{NONE, 1}, {NONE, 0}, {NONE, 0}};
shared 0..NONE head, tail;

proc enqueue(0..NONE node) {
  loop {
    0..NONE last = tail, next = nodes[last].next;
    if (next != NONE) {
      cas(tail, last, next);
    } else if (next == NONE) {
      nodes[last].next = node;
      cas(tail, last, node);
      return;
    }
  }
}

proc dequeue() : 0..NONE {
  loop {
    0..NONE first = head, last = tail, next = nodes[first].next;
    if (first == last) {
      if (next == NONE) { return NONE; }
      cas(tail, last, next);
    } else if (next != NONE) {
      if (cas(head, first, next)) { return next; }
    }
  }
}

thread user[N] {
  0..NONE got;
  enqueue(self + 1);
  got = dequeue();
  assert got != NONE;
  fetch_add(nodes[got].taken, 1);
}
