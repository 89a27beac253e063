// Two readers that come and go may keep a writer out for ever
//! verdict: unsafe
//! violation: eventually

shared 0..2 readers;
shared bool writing;

thread reader[2] {
  loop {
    atomic { await !writing; readers = readers + 1; }
    reading: skip;
    readers = readers - 1;
  }
}

thread writer {
  loop {
    atomic { await readers == 0; writing = true; }
    wrote: writing = false;
  }
}

never at(reading) > 0 && at(wrote) > 0;
always eventually wrote;
