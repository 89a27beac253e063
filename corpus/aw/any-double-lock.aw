// Two locks for one pair: any number of writers take both of them, and for readers either is enough
//! verdict: safe

shared 0..1 x, y;
lock a;
lock b;

thread writer[*] {
  loop {
    acquire(a);
    acquire(b);
    x = 1 - x;
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
