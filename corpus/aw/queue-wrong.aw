// A lock-free queue that links a node without compare-and-swap: two enqueuers meet and one node is lost
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared 0..2 head, tail, next[3];
shared bool out[3];
shared 0..2 finished;

thread enqueuer[2] {
  0..2 last, after;
  bool linked;
  while (!linked) {
    last = tail;
    after = next[last];
    if (after == 0) {
      next[last] = self + 1;            // somebody else may have linked here by now
      linked = true;
    } else {
      tail = tail == last ? after : tail;
    }
  }
  tail = tail == last ? self + 1 : tail;
  finished = finished + 1;
}

thread checker {
  0..2 n;
  await finished == 2;
  n = head;
  while (next[n] != 0) {
    n = next[n];
    out[n] = true;
  }
  assert out[1] && out[2];
}
