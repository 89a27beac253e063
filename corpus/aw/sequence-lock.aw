// A sequence lock: a reader that saw the same even number before and after has read a consistent pair
//! run: --threads reader=1 => safe
//! run: --threads reader=2 => safe

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

thread reader[1] {
  0..6 before;
  0..3 x, y;
  loop {
    before = sequence;
    if (before % 2 == 0) {
      x = a;
      y = b;
      if (sequence == before) { assert x == y; }
    }
  }
}
