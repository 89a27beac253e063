// Any number of clients stop calling before a service is shut down: the gate closes first, one call at a time is let in
//! verdict: safe

// 0: open, 1: somebody is inside, 2: closed.
shared 0..2 gate;
shared bool down;

thread client[*] {
  loop {
    atomic { await gate == 0; gate = 1; }
    assert !down;
    gate = 0;
  }
}

thread admin {
  atomic { await gate == 0; gate = 2; }
  down = true;
}
