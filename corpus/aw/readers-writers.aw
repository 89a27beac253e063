// Readers and writers: the first reader takes the room, the last one gives it back
//! run: --threads reader=2,writer=1 --deadlock => safe
//! run: --threads reader=2,writer=2 --deadlock => safe
//! run: --threads reader=3,writer=2 --deadlock => safe

// The room is no lock of the language, because another thread may give it back than took it.
lock m;
shared bool room_taken;
shared 0..3 readers;

thread reader[2] {
  loop {
    acquire(m);
    readers = readers + 1;
    if (readers == 1) {
      atomic { await !room_taken; room_taken = true; }
    }
    release(m);
    reading: skip;
    acquire(m);
    readers = readers - 1;
    if (readers == 0) { room_taken = false; }
    release(m);
  }
}

thread writer[1] {
  loop {
    atomic { await !room_taken; room_taken = true; }
    writing: skip;
    room_taken = false;
  }
}

never at(writing) >= 2;
never at(writing) >= 1 && at(reading) >= 1;
