// Burns' lock without the second look at the lower numbers
//! verdict: unsafe
//! violation: never
//! switches: 2

const N = 2;
shared bool flag[2];

thread p[2] {
  0..2 j;
  start: flag[self] = false;
  j = 0;
  while (j < self) {
    if (flag[j]) { goto start; }
    j = j + 1;
  }
  flag[self] = true;
  j = self + 1;
  while (j < N) {
    await !flag[j];
    j = j + 1;
  }
  crit: skip;
  goto start;
}

never at(crit) >= 2;
