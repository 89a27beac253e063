// Peterson's filter lock with three threads: each level lets one thread less through, and holds nobody back for ever
//! verdict: safe

const N = 3;
shared 0..N - 1 level[N], last[N];

thread p[N] {
  loop {
    for l in 1..N - 1 {
      level[self] = l;
      last[l] = self;
      await last[l] != self || forall k in 0..N - 1: k == self || level[k] < l;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
always eventually crit;
