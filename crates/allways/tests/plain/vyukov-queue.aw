// Vyukov's bounded queue
//! verdict: safe

const SIZE = 2, N = 2;
shared 0..SIZE + N turn[SIZE];
shared 0..N value[SIZE];
shared 0..N head, tail, taken[N + 1];
shared bool ready;

thread start {
  0..SIZE slot;
  while (slot < SIZE) {
    turn[slot] = slot;
    slot = slot + 1;
  }
  ready = true;
}

proc claim_tail() : 0..N {
  0..N place;
  bool got;
  loop {
    place = tail;
    if (turn[place % SIZE] == place) {
      atomic {
        got = tail == place;
        if (got) { tail = place + 1; }
      }
      if (got) { return place; }
    }
  }
}

proc claim_head() : 0..N {
  0..N place;
  bool got;
  loop {
    place = head;
    if (turn[place % SIZE] == place + 1) {
      atomic {
        got = head == place;
        if (got) { head = place + 1; }
      }
      if (got) { return place; }
    }
  }
}

thread producer[N] {
  0..N place;
  await ready;
  place = claim_tail();
  value[place % SIZE] = self + 1;
  turn[place % SIZE] = place + 1;
}

thread consumer[N] {
  0..N place;
  await ready;
  place = claim_head();
  taken[value[place % SIZE]] = taken[value[place % SIZE]] + 1;
  turn[place % SIZE] = place + SIZE;
}

never taken[0] > 0 || taken[1] > 1 || taken[2] > 1;
