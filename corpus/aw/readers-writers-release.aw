// Readers and writers with a lock for the room: the last reader releases a lock that the first one took
//! verdict: unsafe
//! violation: release
//! switches: 3

lock m;
lock room;
shared 0..2 readers;

thread reader[2] {
  acquire(m);
  readers = readers + 1;
  if (readers == 1) { acquire(room); }
  release(m);
  acquire(m);
  readers = readers - 1;
  if (readers == 0) { release(room); }
  release(m);
}

thread writer {
  acquire(room);
  release(room);
}
