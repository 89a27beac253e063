// A sequence lock whose reader does not look whether the number is even, that is, whether a writer is at work
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared 0..6 sequence;
shared 0..3 a, b;

thread writer {
  while (a < 3) {
    sequence = sequence + 1;
    a = a + 1;
    b = b + 1;
    sequence = sequence + 1;
  }
}

thread reader {
  0..6 before;
  0..3 x, y;
  loop {
    before = sequence;
    x = a;
    y = b;
    if (sequence == before) { assert x == y; }
  }
}
