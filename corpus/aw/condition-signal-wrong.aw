// A buffer for one item with one condition variable for both sides: a signal may wake a thread of the wrong one
//! verdict: unsafe
//! violation: deadlock
//! property: deadlock

const N = 2;
lock m;
event changed;
shared 0..1 items;

thread producer[N] {
  for _item in 1..2 {
    acquire(m);
    while (items == 1) {
      release(m);
      wait changed;
      acquire(m);
    }
    items = 1;
    signal changed;
    release(m);
  }
}

thread consumer[N] {
  for _item in 1..2 {
    acquire(m);
    while (items == 0) {
      release(m);
      wait changed;
      acquire(m);
    }
    items = 0;
    signal changed;
    release(m);
  }
}
