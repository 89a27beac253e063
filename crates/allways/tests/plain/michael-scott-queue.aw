// Michael and Scott's queue
//! verdict: safe

const N = 2, NONE = 3;
shared 0..NONE next_of[N + 1] = NONE;
shared 0..N taken[N + 1];
shared 0..NONE head, tail;
shared bool ready;

thread start {
  taken[0] = 1;
  ready = true;
}

proc enqueue(0..NONE node) {
  0..NONE last, next;
  bool linked;
  while (!linked) {
    last = tail;
    next = next_of[last];
    if (next != NONE) {
      atomic {
        if (tail == last) { tail = next; }
      }
    } else {
      atomic {
        linked = next_of[last] == NONE;
        if (linked) { next_of[last] = node; }
      }
      if (linked) {
        atomic {
          if (tail == last) { tail = node; }
        }
      }
    }
  }
}

proc dequeue() : 0..NONE {
  0..NONE first, last, next;
  bool got;
  loop {
    first = head;
    last = tail;
    next = next_of[first];
    if (first == last) {
      if (next == NONE) { return NONE; }
      atomic {
        if (tail == last) { tail = next; }
      }
    } else if (next != NONE) {
      atomic {
        got = head == first;
        if (got) { head = next; }
      }
      if (got) { return next; }
    }
  }
}

thread user[N] {
  0..NONE got;
  await ready;
  enqueue(self + 1);
  got = dequeue();
  assert got != NONE;
  taken[got] = taken[got] + 1;
}

never behind: head != tail && next_of[head] == NONE;
