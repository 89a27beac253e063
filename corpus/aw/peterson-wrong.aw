// Peterson's lock with the first two statements exchanged: the turn is given away before the flag is raised
//! verdict: unsafe
//! violation: never
//! switches: 2

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    turn = 1 - self;
    want[self] = true;
    await !want[1 - self] || turn == self;
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
