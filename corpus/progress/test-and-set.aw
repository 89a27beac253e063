// The test-and-set lock: one thread may take it again and again while the other waits
//! verdict: unsafe
//! violation: eventually

shared bool taken;

thread p[2] {
  loop {
    await cas(taken, false, true);
    crit: skip;
    taken = false;
  }
}

never at(crit) >= 2;
always eventually crit;
