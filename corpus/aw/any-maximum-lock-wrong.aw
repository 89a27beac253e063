// Any number of threads look for a maximum: each reads it under the lock, and takes the lock again to write
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared 0..3 maximum;
lock m;

thread finder[*] {
  0..3 mine, seen;
  loop {
    mine = *;
    acquire(m);
    seen = maximum;
    release(m);
    if (seen < mine) {
      acquire(m);
      maximum = mine;
      release(m);
    }
    assert mine <= maximum;
  }
}
