// Peterson's lock without turns: both raise their flags, and wait for the other
//! verdict: unsafe
//! violation: eventually

shared bool want[2];

thread p[2] {
  loop {
    want[self] = true;
    await !want[1 - self];
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
always eventually crit;
