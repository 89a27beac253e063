// Any number of threads and a test-and-set lock: who finds it taken puts it back as if it had not been there
//! verdict: unsafe
//! violation: never
//! switches: 1

shared bool taken;

thread client[*] {
  bool was;
  loop {
    was, taken = taken, true;
    if (!was) {
      crit: skip;
    }
    taken = false;
  }
}

never at(crit) >= 2;
