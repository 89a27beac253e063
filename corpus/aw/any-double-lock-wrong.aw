// Two locks for one pair, of which readers take either: a writer begins to write before it has the second one
//! verdict: unsafe
//! violation: assert
//! switches: 1

shared 0..1 x, y;
lock a;
lock b;

thread writer[*] {
  loop {
    acquire(a);
    x = 1 - x;
    acquire(b);
    y = x;
    release(b);
    release(a);
  }
}

thread reader[*] {
  loop {
    choose {
      acquire(a);
      assert x == y;
      release(a);
    } or {
      acquire(b);
      assert x == y;
      release(b);
    }
  }
}
