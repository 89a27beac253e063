// Dining philosophers: all take the left fork first and starve
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 2

shared bool taken[3];

thread phil[3] {
  loop {
    atomic { await !taken[self]; taken[self] = true; }
    atomic { await !taken[(self + 1) % 3]; taken[(self + 1) % 3] = true; }
    skip;
    taken[(self + 1) % 3] = false;
    taken[self] = false;
  }
}
