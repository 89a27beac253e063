// A mutex on a futex whose waiters, once awake, take it as if nobody else slept: when they release it, they wake nobody up
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock

const N = 3;
shared 0..2 futex;
shared bool asleep[N];

thread p[N] {
  0..2 was;
  for _round in 1..2 {
    while (!cas(futex, 0, 1)) {
      was = exchange(futex, 2);
      if (was == 0) { break; }
      // The kernel compares and puts to sleep in one step.
      atomic { if (futex == 2) { asleep[self] = true; } }
      await !asleep[self];
    }
    crit: skip;
    was = exchange(futex, 0);
    if (was == 2) {
      // One sleeper is woken up, if there is one.
      choose { await forall i in 0..N - 1: !asleep[i]; }
      or { await cas(asleep[0], true, false); }
      or { await cas(asleep[1], true, false); }
      or { await cas(asleep[2], true, false); }
    }
  }
}

never at(crit) >= 2;
