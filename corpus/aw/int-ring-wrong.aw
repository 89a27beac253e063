// A ring buffer with two producers that share an index
//! verdict: unsafe
//! violation: never

const ROOM = 4;
shared int head, tail, stored;

thread producer[2] {
  int h;
  loop {
    h = head;
    await h - tail < ROOM;
    atomic { head = h + 1; stored = stored + 1; }
  }
}

thread consumer {
  int t;
  loop {
    t = tail;
    await t < head;
    tail = t + 1;
  }
}

never stored > head;
