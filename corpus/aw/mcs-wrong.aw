// The queue lock of Mellor-Crummey and Scott where a thread links its node before it marks it: the wake-up is lost
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 3

shared 0..2 tail, next[3];
shared bool locked[3];

thread p[2] {
  0..2 pred;
  bool alone;
  loop {
    next[self + 1] = 0;
    pred, tail = tail, self + 1;
    if (pred != 0) {
      next[pred] = self + 1;
      locked[self + 1] = true;
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
