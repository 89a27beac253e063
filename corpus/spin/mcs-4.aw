// The queue lock of Mellor-Crummey and Scott for 4 threads
//! verdict: safe

// Thread i has node i + 1; 0 is no node.
const N = 4;
shared 0..N tail, next[N + 1];
shared bool held[N + 1];

thread p[N] {
  0..N before, after;
  bool alone;
  loop {
    next[self + 1] = 0;
    held[self + 1] = true;
    before, tail = tail, self + 1;
    if (before != 0) {
      next[before] = self + 1;
      await !held[self + 1];
    }
    crit: skip;
    if (next[self + 1] == 0) {
      alone, tail = tail == self + 1, tail == self + 1 ? 0 : tail;
      if (alone) { continue; }
      await next[self + 1] != 0;
    }
    after = next[self + 1];
    held[after] = false;
  }
}

never at(crit) >= 2;
