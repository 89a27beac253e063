// A pool starts adders without end; each reads the counter and writes it in two steps under a lock, and no increment is lost
//! verdict: safe

// `total` counts the same increments, one step each.
shared 0..3 count, total;
lock m;

thread pool {
  loop { spawn adder; }
}

thread adder[0] {
  0..3 old;
  acquire(m);
  old = count;
  count = (old + 1) % 4;
  total = (total + 1) % 4;
  assert count == total;
  release(m);
}
