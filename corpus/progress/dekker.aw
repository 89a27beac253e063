// Dekker's lock: who gives way is let in next
//! verdict: safe

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    while (want[1 - self]) {
      if (turn != self) {
        want[self] = false;
        await turn == self;
        want[self] = true;
      }
    }
    crit: skip;
    turn = 1 - self;
    want[self] = false;
  }
}

never at(crit) >= 2;
always eventually crit;
