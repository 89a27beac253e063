// Any number of clients call a service that is shut down while the gate is open
//! verdict: unsafe
//! violation: assert
//! switches: 1

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
  down = true;
  atomic { await gate == 0; gate = 2; }
}
