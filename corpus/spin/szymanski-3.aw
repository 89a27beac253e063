// Szymanski's lock for 3 threads; each flag is tested in a step of its own
//! verdict: safe

// Flags: 0 outside, 1 wants in, 2 waits in the room, 3 goes into the room, 4 has closed the door.
const N = 3;
shared 0..4 flag[N];

thread p[N] {
  0..N k;
  bool seen;
  loop {
    flag[self] = 1;
    k = 0;
    while (k < N) {
      await flag[k] < 3;
      k = k + 1;
    }
    flag[self] = 3;
    seen = false;
    k = 0;
    while (k < N) {
      if (flag[k] == 1) { seen = true; }
      k = k + 1;
    }
    if (seen) {
      flag[self] = 2;
      seen = false;
      k = 0;
      while (!seen) {
        if (flag[k] == 4) { seen = true; }
        k = (k + 1) % N;
      }
    }
    flag[self] = 4;
    k = 0;
    while (k < self) {
      await flag[k] < 2;
      k = k + 1;
    }
    crit: skip;
    k = self + 1;
    while (k < N) {
      await flag[k] < 2 || flag[k] == 4;
      k = k + 1;
    }
    flag[self] = 0;
  }
}

never at(crit) >= 2;
