// A recursive procedure takes its lock again at every level; the lock is not reentrant, and the thread waits for itself
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 0

lock m;

proc visit() {
  acquire(m);
  if (*) { visit(); }
  release(m);
}

thread p { visit(); }
