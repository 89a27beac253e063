// Dekker's lock without turns: both give way to each other, again and again
//! verdict: unsafe
//! violation: eventually

shared bool want[2];

thread p[2] {
  loop {
    want[self] = true;
    while (want[1 - self]) {
      want[self] = false;
      skip;
      want[self] = true;
    }
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
always eventually crit;
