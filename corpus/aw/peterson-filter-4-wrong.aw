// Peterson's filter lock for four threads, which look at each other one by one, with one level too few
//! verdict: unsafe
//! violation: never

const N = 4;
shared 0..3 level[4], last[4];

thread p[4] {
  1..3 l;
  0..4 k;
  loop {
    l = 1;
    while (l < N - 1) {
      level[self] = l;
      last[l] = self;
      k = 0;
      while (k < N) {
        await k == self || last[l] != self || level[k] < l;
        k = k + 1;
      }
      l = l + 1;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
