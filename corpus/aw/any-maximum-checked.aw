// Any number of threads look for a maximum: who is not above it needs no lock, who is looks again under the lock
//! verdict: safe

shared 0..3 maximum;
lock m;

thread finder[*] {
  0..3 mine;
  loop {
    mine = *;
    if (maximum < mine) {
      acquire(m);
      if (maximum < mine) { maximum = mine; }
      release(m);
    }
    assert mine <= maximum;
  }
}
