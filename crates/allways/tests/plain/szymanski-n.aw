// Szymanski's lock for any constant number of threads
//! verdict: safe

const N = 3;
const OUTSIDE = 0, WANTS = 1, WAITS = 2, ENTERS = 3, CLOSED = 4;
shared OUTSIDE..CLOSED flag[N];

thread p[N] {
  0..N i;
  bool found;
  loop {
    flag[self] = WANTS;
    atomic {
      i = 0;
      while (i < N) {
        await flag[i] < ENTERS;
        i = i + 1;
      }
    }
    flag[self] = ENTERS;
    atomic {
      i = 0;
      found = false;
      while (i < N) {
        found = found || flag[i] == WANTS;
        i = i + 1;
      }
    }
    if (found) {
      flag[self] = WAITS;
      atomic {
        i = 0;
        found = false;
        while (i < N) {
          found = found || flag[i] == CLOSED;
          i = i + 1;
        }
        await found;
      }
    }
    flag[self] = CLOSED;
    atomic {
      i = 0;
      while (i < self) {
        await flag[i] < WAITS;
        i = i + 1;
      }
    }
    crit: skip;
    atomic {
      i = self + 1;
      while (i < N) {
        await flag[i] < WAITS || flag[i] == CLOSED;
        i = i + 1;
      }
    }
    flag[self] = OUTSIDE;
  }
}

never at(crit) >= 2;
