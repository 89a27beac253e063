// Lamport's fast lock: seven steps when nobody competes
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

// x is who came last, y is who is in; 0 is nobody, thread i is i + 1.
const N = 3;
shared bool b[3];
shared 0..3 x, y;

thread p[3] {
  0..3 j;
  start: b[self] = true;
  x = self + 1;
  if (y != 0) {
    b[self] = false;
    await y == 0;
    goto start;
  }
  y = self + 1;
  if (x != self + 1) {
    b[self] = false;
    j = 0;
    while (j < N) {
      await !b[j];
      j = j + 1;
    }
    if (y != self + 1) {
      await y == 0;
      goto start;
    }
  }
  crit: skip;
  y = 0;
  b[self] = false;
  goto start;
}

never at(crit) >= 2;
