// A bounded buffer as two counters that only go up, any number of producers and consumers
//! verdict: safe
//! solver: needed

const ROOM = 3;
shared int produced, consumed;

thread producer[*] {
  loop {
    atomic { await produced - consumed < ROOM; produced = produced + 1; }
  }
}

thread consumer[*] {
  loop {
    atomic { await consumed < produced; consumed = consumed + 1; }
  }
}

never consumed > produced;
never produced - consumed > ROOM;
