// Readers and writers where a writer looks for readers first and then locks them out
//! verdict: unsafe
//! violation: never
//! switches: 2

shared bool locked;
shared 0..2 readers;

thread reader[2] {
  loop {
    atomic { await !locked; readers = readers + 1; }
    reading: skip;
    readers = readers - 1;
  }
}

thread writer {
  loop {
    await readers == 0;
    locked = true;
    writing: skip;
    locked = false;
  }
}

never at(writing) >= 1 && at(reading) >= 1;
