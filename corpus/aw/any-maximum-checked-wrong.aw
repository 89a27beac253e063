// Any number of threads look for a maximum: who is above it takes the lock and does not look again
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared 0..3 maximum;
lock m;

thread finder[*] {
  0..3 mine;
  loop {
    mine = *;
    if (maximum < mine) {
      acquire(m);
      maximum = mine;
      release(m);
    }
    assert mine <= maximum;
  }
}
