// Readers are counted, any number of them; a writer waits until there are none, and is alone
//! verdict: safe
//! solver: needed

shared int readers;
shared bool writing;

thread reader[*] {
  loop {
    atomic { await !writing; readers = readers + 1; }
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
never at(written) >= 2;
