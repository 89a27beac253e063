// Peterson's filter lock for three threads with one level too few
//! verdict: unsafe
//! violation: never
//! switches: 3

const N = 3;
shared 0..1 level[3];
shared 0..2 last;

thread p[3] {
  loop {
    level[self] = 1;
    last = self;
    await last != self || level[(self + 1) % N] == 0;
    await last != self || level[(self + 2) % N] == 0;
    crit: skip;
    level[self] = 0;
  }
}

never at(crit) >= 2;
