// The filter lock for any constant number of threads, where a thread that is not the last goes on, and one that is last looks for equals only
//! verdict: unsafe
//! violation: never

const N = 3;
shared 0..N - 1 level[N], last[N];

thread p[N] {
  loop {
    for l in 1..N - 1 {
      level[self] = l;
      last[l] = self;
      await last[l] != self || forall i in 0..N - 1: i == self || level[i] != l;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
