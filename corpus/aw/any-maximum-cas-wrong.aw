// Any number of threads look for a maximum by compare-and-swap: who loses the race believes that a greater one has won
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared 0..3 maximum;

thread finder[*] {
  0..3 mine, seen;
  loop {
    mine = *;
    seen = maximum;
    if (seen < mine) {
      atomic {
        if (maximum == seen) { maximum = mine; }
      }
    }
    assert mine <= maximum;
  }
}
