// Drepper's mutex on a futex for any constant number of threads
//! verdict: safe
//! property: deadlock

const N = 3;
shared 0..2 futex;
shared bool asleep[N];
shared 0..N sleepers;

thread p[N] {
  0..2 was, round;
  0..N - 1 chosen;
  bool fits;
  while (round < 2) {
    atomic {
      fits = futex == 0;
      if (fits) { futex = 1; }
    }
    if (!fits) {
      was, futex = futex, 2;
      while (was != 0) {
        atomic {
          fits = futex == 2;
          if (fits) { asleep[self], sleepers = true, sleepers + 1; }
        }
        await !asleep[self];
        was, futex = futex, 2;
      }
    }
    crit: skip;
    was, futex = futex, 0;
    if (was == 2) {
      atomic {
        if (sleepers > 0) {
          chosen = *;
          await asleep[chosen];
          asleep[chosen], sleepers = false, sleepers - 1;
        }
      }
    }
    round = round + 1;
  }
}

never at(crit) >= 2;
