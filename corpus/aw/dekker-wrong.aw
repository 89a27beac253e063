// Dekker's lock where a thread that gives way forgets to raise its flag again
//! verdict: unsafe
//! violation: never
//! switches: 4

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    while (want[1 - self]) {
      if (turn != self) {
        want[self] = false;
        await turn == self;
      }
    }
    crit: skip;
    turn = 1 - self;
    want[self] = false;
  }
}

never at(crit) >= 2;
