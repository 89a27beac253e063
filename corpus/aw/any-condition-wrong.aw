// A producer puts an item into a store and wakes all consumers; who was woken takes one without another look
//! verdict: unsafe
//! violation: range
//! switches: 3

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
    if (empty) {
      release(m);
      wait filled;
      acquire(m);
    }
    items = items - 1;
    release(m);
  }
}
