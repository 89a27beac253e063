// Michael and Scott's queue: a node is linked by one compare-and-swap, and the tail follows by another, which anybody may do
//! verdict: safe

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
    } else if (cas(nodes[last].next, NONE, node)) {
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

never behind: head != tail && nodes[head].next == NONE;
