// A ring buffer without locks whose producer moves the tail before it writes the value
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared 0..3 slot[3];
shared 0..2 head, tail;

thread producer {
  0..3 value = 1;
  0..2 at_slot;
  loop {
    await (tail + 1) % 3 != head;
    at_slot, tail = tail, (tail + 1) % 3;
    slot[at_slot] = value;
    value = (value + 1) % 4;
  }
}

thread consumer {
  0..3 expected = 1;
  loop {
    await head != tail;
    assert slot[head] == expected;
    head = (head + 1) % 3;
    expected = (expected + 1) % 4;
  }
}
