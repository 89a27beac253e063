// A mutex on a futex that goes to sleep without a look: the wake-up may have come before; the other thread runs on for ever
//! verdict: unsafe
//! property: stuck
//! violation: stuck

const N = 2;
shared 0..2 futex;
shared bool asleep[N];

thread p[N] {
  0..2 was;
  loop {
    if (!cas(futex, 0, 1)) {
      was = exchange(futex, 2);
      while (was != 0) {
        asleep[self] = true;
        await !asleep[self];
        was = exchange(futex, 2);
      }
    }
    crit: skip;
    was = exchange(futex, 0);
    if (was == 2) { asleep[1 - self] = false; }
  }
}

never at(crit) >= 2;
