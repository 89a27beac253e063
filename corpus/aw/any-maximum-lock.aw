// Any number of threads look for a maximum: each compares and writes under a lock, and is then not above the maximum
//! verdict: safe

shared 0..3 maximum;
lock m;

thread finder[*] {
  0..3 mine;
  loop {
    mine = *;
    acquire(m);
    if (maximum < mine) { maximum = mine; }
    release(m);
    assert mine <= maximum;
  }
}
