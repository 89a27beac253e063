// Readers are counted after they have looked for a writer, in a step of its own
//! verdict: unsafe
//! violation: never

shared int readers;
shared bool writing;

thread reader[*] {
  loop {
    await !writing;
    readers = readers + 1;
    reading: skip;
    readers = readers - 1;
  }
}

thread writer[*] {
  loop {
    atomic { await !writing && readers == 0; writing = true; }
    written: skip;
    writing = false;
  }
}

never at(reading) >= 1 && at(written) >= 1;
