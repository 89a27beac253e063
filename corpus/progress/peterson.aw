// Peterson's lock, two threads: whoever wants to enter does, however the other runs
//! verdict: safe

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    turn = 1 - self;
    await !want[1 - self] || turn == self;
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
always eventually crit;
