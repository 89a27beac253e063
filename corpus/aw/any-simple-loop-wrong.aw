// A main thread starts workers without end, and each turns two switches in a loop; the main thread looks without the lock
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared bool x, y;
lock m;

thread main_thread {
  loop {
    spawn worker;
    assert x == y;
  }
}

thread worker[0] {
  while (*) {
    acquire(m);
    x = !x;
    y = !y;
    release(m);
  }
}
