// Readers and writers with a count of readers under a lock, 4 readers and 2 writers
//! verdict: safe

const READERS = 4;
shared bool mutex, room;
shared 0..READERS reading;

thread reader[READERS] {
  loop {
    atomic { await !mutex; mutex = true; }
    reading = reading + 1;
    if (reading == 1) {
      atomic { await !room; room = true; }
    }
    mutex = false;
    read: skip;
    atomic { await !mutex; mutex = true; }
    reading = reading - 1;
    if (reading == 0) { room = false; }
    mutex = false;
  }
}

thread writer[2] {
  loop {
    atomic { await !room; room = true; }
    write: skip;
    room = false;
  }
}

never at(write) >= 2 || at(write) >= 1 && at(read) >= 1;
