// A producer puts items into a store and wakes all consumers; who was woken looks again, and nobody takes what is not there
//! verdict: safe

shared 0..3 items;
event filled;
lock m;

thread producer {
  loop {
    acquire(m);
    if (items < 3) { items = items + 1; }
    release(m);
    broadcast filled;
  }
}

thread consumer[*] {
  bool empty;
  loop {
    acquire(m);
    empty = items == 0;
    while (empty) {
      release(m);
      wait filled;
      acquire(m);
      empty = items == 0;
    }
    items = items - 1;
    release(m);
  }
}
