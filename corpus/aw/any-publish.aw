// A writer prepares a version in the slot that is not in use and then publishes it; any number of readers see whole versions
//! verdict: safe

shared 0..1 current;
shared 0..3 low[2], high[2];

thread writer {
  0..3 version;
  while (version < 1) {
    version = version + 1;
    low[1 - current] = version;
    high[1 - current] = version;
    current = 1 - current;
  }
}

thread reader[*] {
  0..1 slot;
  0..3 seen;
  loop {
    slot = current;
    seen = low[slot];
    assert seen == high[slot];
  }
}
