// Any number of threads and a spin lock that is looked at in one step and taken in another
//! verdict: unsafe
//! violation: never
//! switches: 2

shared bool taken;

thread client[*] {
  loop {
    await !taken;
    taken = true;
    crit: skip;
    taken = false;
  }
}

never at(crit) >= 2;
