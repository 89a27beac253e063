// A buffer for one item with a condition variable for each side: one signal wakes one thread, and that is enough
//! verdict: safe
//! property: deadlock

const N = 2;
lock m;
event filled, emptied;
shared 0..1 items;

thread producer[N] {
  for _item in 1..2 {
    acquire(m);
    while (items == 1) {
      release(m);
      wait emptied;
      acquire(m);
    }
    items = 1;
    signal filled;
    release(m);
  }
}

thread consumer[N] {
  for _item in 1..2 {
    acquire(m);
    while (items == 0) {
      release(m);
      wait filled;
      acquire(m);
    }
    items = 0;
    signal emptied;
    release(m);
  }
}
