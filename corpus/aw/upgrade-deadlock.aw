// Two readers of a shared lock both want to become its writer: each waits for the other to stop reading
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 1

shared 0..2 readers;
shared bool writing;

thread p[2] {
  atomic { await !writing; readers = readers + 1; }
  atomic { await readers == 1 && !writing; writing = true; }
  update: skip;
  atomic { writing = false; readers = readers - 1; }
}

never at(update) >= 2;
