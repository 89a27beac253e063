// Two locks taken in opposite orders
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 1

lock a;
lock b;

thread one {
  acquire(a);
  acquire(b);
  release(b);
  release(a);
}

thread two {
  acquire(b);
  acquire(a);
  release(a);
  release(b);
}
