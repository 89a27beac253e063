// A lock for readers and a writer in one number, by compare-and-swap: 0 is free, n is n readers, WRITER is the writer
//! verdict: safe

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
      if (cas(state, seen, seen + 1)) {
        reading: assert data[0] == data[1];
        fetch_add(state, -1);
      }
    }
  }
}

never at(writing) > 0 && at(reading) > 0;
