// A ring buffer without locks: one producer moves the tail, one consumer moves the head
//! verdict: safe

// One place of three stays empty, so that full and empty differ.
shared 0..3 slot[3];
shared 0..2 head, tail;

thread producer {
  0..3 value;
  loop {
    await (tail + 1) % 3 != head;
    slot[tail] = value;
    tail = (tail + 1) % 3;
    value = (value + 1) % 4;
  }
}

thread consumer {
  0..3 expected;
  loop {
    await head != tail;
    assert slot[head] == expected;
    head = (head + 1) % 3;
    expected = (expected + 1) % 4;
  }
}
