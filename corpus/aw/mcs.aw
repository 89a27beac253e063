// The queue lock of Mellor-Crummey and Scott: each thread waits at a node of its own
//! run: --threads p=2 --deadlock => safe
//! run: --threads p=3 --deadlock => safe

// Thread i has node i + 1; 0 is no node.
shared 0..3 tail, next[4];
shared bool locked[4];

thread p[3] {
  0..3 pred;
  bool alone;
  loop {
    next[self + 1] = 0;
    pred, tail = tail, self + 1;
    if (pred != 0) {
      locked[self + 1] = true;
      next[pred] = self + 1;
      await !locked[self + 1];
    }
    crit: skip;
    alone, tail = tail == self + 1, tail == self + 1 ? 0 : tail;
    if (!alone) {
      await next[self + 1] != 0;
      locked[next[self + 1]] = false;
    }
  }
}

never at(crit) >= 2;
