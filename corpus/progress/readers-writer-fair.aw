// A writer that announces itself is let in: readers that come later wait
//! verdict: safe

shared 0..2 readers;
shared bool writing, waiting;

thread reader[2] {
  loop {
    atomic { await !writing && !waiting; readers = readers + 1; }
    reading: skip;
    readers = readers - 1;
  }
}

thread writer {
  loop {
    waiting = true;
    atomic { await readers == 0; writing, waiting = true, false; }
    wrote: writing = false;
  }
}

never at(reading) > 0 && at(wrote) > 0;
always eventually wrote;
