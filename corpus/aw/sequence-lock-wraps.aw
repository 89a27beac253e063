// A sequence lock whose number wraps round after four: a slow reader takes a later write for the one it saw
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared 0..3 sequence, a, b;

thread writer {
  loop {
    sequence = (sequence + 1) % 4;
    a = (a + 1) % 4;
    b = (b + 1) % 4;
    sequence = (sequence + 1) % 4;
  }
}

thread reader {
  0..3 before, x, y;
  loop {
    before = sequence;
    if (before % 2 == 0) {
      x = a;
      y = b;
      if (sequence == before) { assert x == y; }
    }
  }
}
