// Drepper's mutex on a futex where who was woken stores 1, as if nobody else could be waiting: the other one sleeps for ever
//! verdict: unsafe
//! violation: deadlock
//! property: deadlock

const N = 3;
shared 0..2 futex;
event woken;

thread p[N] {
  0..2 was;
  for _round in 1..2 {
    if (!cas(futex, 0, 1)) {
      was = exchange(futex, 2);
      while (was != 0) {
        if (futex == 2) { wait woken; }
        was = exchange(futex, 1);
      }
    }
    crit: skip;
    was = exchange(futex, 0);
    if (was == 2) { signal woken; }
  }
}

never at(crit) >= 2;
