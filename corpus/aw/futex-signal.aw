// Drepper's mutex on a futex for any constant number of threads: who waits has stored 2, and who finds a 2 when it leaves wakes one
//! verdict: safe
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
        was = exchange(futex, 2);
      }
    }
    crit: skip;
    was = exchange(futex, 0);
    if (was == 2) { signal woken; }
  }
}

never at(crit) >= 2;
