// A main thread starts workers without end, and each turns two switches in a loop; under the lock they are always equal
//! verdict: safe

shared bool x, y;
lock m;

thread main_thread {
  loop {
    spawn worker;
    acquire(m);
    assert x == y;
    release(m);
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
