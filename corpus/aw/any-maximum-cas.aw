// Any number of threads look for a maximum by compare-and-swap: who loses the race tries again, while it is above
//! verdict: safe

shared 0..3 maximum;

thread finder[*] {
  0..3 mine, seen;
  loop {
    mine = *;
    seen = maximum;
    while (seen < mine) {
      atomic {
        if (maximum == seen) { maximum = mine; }
      }
      seen = maximum;
    }
    assert mine <= maximum;
  }
}
