// The filter lock for any constant number of threads
//! verdict: safe

const N = 3;
shared 0..N - 1 level[N], last[N];

thread p[N] {
  0..N l, i;
  bool above;
  loop {
    l = 1;
    while (l < N) {
      level[self] = l;
      last[l] = self;
      atomic {
        i = 0;
        above = false;
        while (i < N) {
          above = above || i != self && level[i] >= l;
          i = i + 1;
        }
        await last[l] != self || !above;
      }
      l = l + 1;
    }
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
