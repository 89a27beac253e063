// A lock for readers and a writer in one number: a reader that lost the race adds itself all the same, to what is by now the writer
//! verdict: unsafe
//! violation: range

const READERS = 2, WRITER = READERS + 1;
shared 0..WRITER state;
shared bool data[2];

thread writer {
  loop {
    await cas(state, 0, WRITER);
    data[0] = !data[0];
    writing: data[1] = data[0];
    state = 0;
  }
}

thread reader[READERS] {
  0..WRITER seen;
  loop {
    seen = state;
    if (seen != WRITER) {
      fetch_add(state, 1);
      if (state != WRITER) {
        reading: assert data[0] == data[1];
        fetch_add(state, -1);
      }
    }
  }
}

never at(writing) > 0 && at(reading) > 0;
