// A sequence lock with a number without bound: who saw the same even number before and after has read a consistent pair
//! verdict: safe
//! solver: needed

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
      if (sequence == before) {
        assert x == y;
      }
    }
  }
}
