// Peterson's filter lock for 3 threads, each comparison a step
//! verdict: safe

const N = 3;
shared 0..N - 1 level[N], last[N];

thread p[N] {
  1..N l;
  0..N k;
  loop {
    l = 1;
    while (l < N) {
      level[self] = l;
      last[l] = self;
      k = 0;
      while (k < N) {
        await k == self || level[k] < l || last[l] != self;
        k = k + 1;
      }
      l = l + 1;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
