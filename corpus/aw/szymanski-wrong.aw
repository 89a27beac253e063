// Szymanski's lock where a thread goes in without waiting for those before it
//! verdict: unsafe
//! violation: never
//! switches: 3

shared 0..4 flag[2];

thread p[2] {
  loop {
    flag[self] = 1;
    await flag[1 - self] < 3;
    flag[self] = 3;
    if (flag[1 - self] == 1) {
      flag[self] = 2;
      await flag[1 - self] == 4;
    }
    flag[self] = 4;
    crit: skip;
    flag[self] = 0;
  }
}

never at(crit) >= 2;
