// Hyman's lock of 1966, published as a simpler one than Dijkstra's; it does not work
//! verdict: unsafe
//! violation: never
//! switches: 2

shared bool want[2];
shared 0..1 turn;

thread p[2] {
  loop {
    want[self] = true;
    while (turn != self) {
      await !want[1 - self];
      turn = self;
    }
    crit: skip;
    want[self] = false;
  }
}

never at(crit) >= 2;
