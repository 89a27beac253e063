// Lamport's fast lock without the wait for the flags of the others
//! verdict: unsafe
//! violation: never
//! switches: 2

shared 0..2 x, y;

thread p[2] {
  start: x = self + 1;
  if (y != 0) {
    await y == 0;
    goto start;
  }
  y = self + 1;
  if (x != self + 1) {
    if (y != self + 1) {
      await y == 0;
      goto start;
    }
  }
  crit: skip;
  y = 0;
  goto start;
}

never at(crit) >= 2;
