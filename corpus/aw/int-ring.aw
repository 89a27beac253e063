// A ring buffer with indices that only go up: one producer, one consumer, each writes its own index
//! verdict: safe
//! solver: needed

const ROOM = 4;
shared int head, tail;

thread producer {
  int h;
  loop {
    h = head;
    await h - tail < ROOM;
    head = h + 1;
    assert head - tail <= ROOM;
  }
}

thread consumer {
  int t;
  loop {
    t = tail;
    await t < head;
    tail = t + 1;
    assert tail <= head;
  }
}
