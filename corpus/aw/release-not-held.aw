// A thread releases a lock on a path on which it has not taken it
//! verdict: unsafe
//! violation: release
//! switches: 1

lock m;
shared bool urgent;

thread worker {
  if (!urgent) { acquire(m); }
  skip;
  release(m);
}

thread alarm { urgent = true; }
