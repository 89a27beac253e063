// The queue lock of Mellor-Crummey and Scott with two threads: first come, first served
//! verdict: safe

// Thread i has node i + 1; 0 is no node.
const N = 2;
shared 0..N tail, next[N + 1];
shared bool locked[N + 1];

thread p[N] {
  0..N pred;
  bool alone;
  loop {
    next[self + 1] = 0;
    pred = exchange(tail, self + 1);
    if (pred != 0) {
      locked[self + 1] = true;
      next[pred] = self + 1;
      await !locked[self + 1];
    }
    crit: skip;
    alone = cas(tail, self + 1, 0);
    if (!alone) {
      await next[self + 1] != 0;
      locked[next[self + 1]] = false;
    }
  }
}

never at(crit) >= 2;
always eventually crit;
