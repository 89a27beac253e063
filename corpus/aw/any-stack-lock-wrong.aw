// Any number of threads push and pop: who pops gives the lock back before the place is cleared
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared 0..3 top;
shared bool full[3];
lock m;

thread user[*] {
  0..3 mine;
  loop {
    acquire(m);
    choose {
      if (top < 3) {
        assert !full[top];
        full[top] = true;
        top = top + 1;
      }
      release(m);
    } or {
      if (top > 0) {
        top = top - 1;
        mine = top;
        release(m);
        full[mine] = false;
      } else {
        release(m);
      }
    }
  }
}
