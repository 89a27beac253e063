// Any number of threads raise a counter to four without comparing: a slow one sets it back
//! verdict: unsafe
//! violation: assert
//! switches: 4

shared 0..4 count;

thread adder[*] {
  0..4 old;
  loop {
    old = count;
    if (old == 4) { break; }
    count = old + 1;
  }
}

thread watcher {
  0..4 seen;
  loop {
    assert seen <= count;
    seen = count;
  }
}
