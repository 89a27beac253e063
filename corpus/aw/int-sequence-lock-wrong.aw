// A sequence lock whose reader does not look at the number again
//! verdict: unsafe
//! violation: assert

shared int sequence, a, b;

thread writer {
  loop {
    sequence = sequence + 1;
    a = a + 1;
    b = b + 1;
    sequence = sequence + 1;
  }
}

thread reader[*] {
  int before, x, y;
  loop {
    before = sequence;
    if (before % 2 == 0) {
      x = a;
      y = b;
      assert x == y;
    }
  }
}
