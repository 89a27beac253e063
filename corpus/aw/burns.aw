// Burns' lock for three threads: one bit for each, the lower number has precedence
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

const N = 3;
shared bool flag[3];

thread p[3] {
  0..3 j;
  start: flag[self] = false;
  j = 0;
  while (j < self) {
    if (flag[j]) { goto start; }
    j = j + 1;
  }
  flag[self] = true;
  j = 0;
  while (j < self) {
    if (flag[j]) { goto start; }
    j = j + 1;
  }
  j = self + 1;
  while (j < N) {
    await !flag[j];
    j = j + 1;
  }
  crit: skip;
  goto start;
}

never at(crit) >= 2;
