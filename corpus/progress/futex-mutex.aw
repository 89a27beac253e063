// Drepper's mutex on a futex, with threads that loop for ever: nobody sleeps on
//! verdict: safe
//! property: stuck

const N = 2;
shared 0..2 futex;
shared bool asleep[N];

thread p[N] {
  0..2 was;
  loop {
    if (!cas(futex, 0, 1)) {
      was = exchange(futex, 2);
      while (was != 0) {
        // The kernel compares and puts to sleep in one step.
        atomic { if (futex == 2) { asleep[self] = true; } }
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
