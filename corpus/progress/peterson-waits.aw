// Peterson's lock where a thread lets the other go first for ever: both wait
//! verdict: unsafe
//! violation: eventually

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    turn = 1 - self;
    await !want[1 - self];
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
always eventually crit;
