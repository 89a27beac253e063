// A single collect: the two reads belong to different moments
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared 0..3 left, right;

thread writer {
  while (right < 3) {
    left = left + 1;
    right = right + 1;
  }
}

thread scanner {
  0..3 l, r;
  loop {
    l = left;
    r = right;
    assert l == r || l == r + 1;
  }
}
