// A writer uses two slots in turn without waiting for readers: a slow one sees half of a newer version
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared 0..1 current;
shared 0..3 low[2], high[2];

thread writer {
  0..3 version;
  while (version < 2) {
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
