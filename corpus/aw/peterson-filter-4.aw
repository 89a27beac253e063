// Peterson's filter lock for four threads: at each level one thread is held back
//! verdict: safe

const N = 4;
shared 0..3 level[4], last[4];

thread p[4] {
  1..4 l;
  loop {
    l = 1;
    while (l < N) {
      level[self] = l;
      last[l] = self;
      await last[l] != self || level[(self + 1) % N] < l;
      await last[l] != self || level[(self + 2) % N] < l;
      await last[l] != self || level[(self + 3) % N] < l;
      l = l + 1;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
