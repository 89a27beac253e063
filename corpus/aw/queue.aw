// The lock-free queue of Michael and Scott on fixed nodes: nothing is lost, nothing comes out twice
//! verdict: safe

// Node 0 is the first dummy, enqueuer i brings node i + 1. A next of 0 means none. `?:` in a parallel assignment is a
// compare-and-swap.
shared 0..2 head, tail, next[3];
shared bool out[3];
shared 0..4 finished;

thread enqueuer[2] {
  0..2 last, after;
  bool linked;
  while (!linked) {
    last = tail;
    after = next[last];
    if (after == 0) {
      linked, next[last] = next[last] == 0, next[last] == 0 ? self + 1 : next[last];
    } else {
      tail = tail == last ? after : tail;
    }
  }
  tail = tail == last ? self + 1 : tail;
  finished = finished + 1;
}

thread dequeuer[2] {
  0..2 first, last, after;
  bool over, got;
  while (!over) {
    first = head;
    last = tail;
    after = next[first];
    if (first == head) {
      if (first == last) {
        if (after == 0) {
          over = true;                  // empty
        } else {
          tail = tail == last ? after : tail;
        }
      } else {
        over, got, head = head == first, head == first, head == first ? after : head;
      }
    }
  }
  if (got) {
    assert !out[after];
    out[after] = true;
  }
  finished = finished + 1;
}

thread checker {
  0..2 n;
  await finished == 4;
  n = head;
  while (next[n] != 0) {
    n = next[n];
    assert !out[n];
    out[n] = true;
  }
  assert out[1] && out[2];
}
