// Any number of threads push and pop under a lock: a place is free when something is pushed, and full when it is popped
//! verdict: safe

shared 0..3 top;
shared bool full[3];
lock m;

thread user[*] {
  loop {
    acquire(m);
    choose {
      if (top < 3) {
        assert !full[top];
        full[top] = true;
        top = top + 1;
      }
    } or {
      if (top > 0) {
        top = top - 1;
        assert full[top];
        full[top] = false;
      }
    }
    release(m);
  }
}
