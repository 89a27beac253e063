// Any number of threads raise a counter to four by compare-and-swap; who looks again and again never sees it fall
//! verdict: safe

shared 0..4 count;

thread adder[*] {
  0..4 old;
  loop {
    old = count;
    if (old == 4) { break; }
    atomic {
      if (count == old) { count = old + 1; }
    }
  }
}

thread watcher {
  0..4 seen;
  loop {
    assert seen <= count;
    seen = count;
  }
}
