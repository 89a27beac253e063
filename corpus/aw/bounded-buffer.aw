// A ring buffer of two places under a lock: what is put in comes out, in order, and nothing overflows
//! verdict: safe

const SIZE = 2;
lock m;
shared 0..2 buffer[2], count;
shared 0..1 head, tail;

thread producer {
  0..2 value;
  bool sent;
  loop {
    sent = false;
    while (!sent) {
      acquire(m);
      if (count < SIZE) {
        buffer[tail] = value;
        tail = (tail + 1) % SIZE;
        count = count + 1;
        sent = true;
      }
      release(m);
    }
    value = (value + 1) % 3;
  }
}

thread consumer {
  0..2 expected;
  loop {
    acquire(m);
    if (count > 0) {
      assert buffer[head] == expected;
      head = (head + 1) % SIZE;
      count = count - 1;
      expected = (expected + 1) % 3;
    }
    release(m);
  }
}
