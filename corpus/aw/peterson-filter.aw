// Peterson's filter lock for three threads: at each level one thread is held back
//! verdict: safe

const N = 3;
shared 0..2 level[3], last[3];

thread p[3] {
  1..3 l;
  loop {
    l = 1;
    while (l < N) {
      level[self] = l;
      last[l] = self;
      await last[l] != self || level[(self + 1) % N] < l;
      await last[l] != self || level[(self + 2) % N] < l;
      l = l + 1;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
