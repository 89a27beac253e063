// A pool starts adders without end; each reads the counter before it takes the lock: an increment is lost
//! verdict: unsafe
//! violation: assert
//! switches: 3

// `total` counts the same increments, one step each.
shared 0..3 count, total;
lock m;

thread pool {
  loop { spawn adder; }
}

thread adder[0] {
  0..3 old;
  old = count;
  acquire(m);
  count = (old + 1) % 4;
  total = (total + 1) % 4;
  assert count == total;
  release(m);
}
