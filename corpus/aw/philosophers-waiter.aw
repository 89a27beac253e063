// Dining philosophers: a waiter lets at most two of three to the table, and nobody starves
//! verdict: safe
//! property: deadlock

shared bool taken[3];
shared 0..2 seats = 2;

thread phil[3] {
  loop {
    atomic { await seats > 0; seats = seats - 1; }
    atomic { await !taken[self]; taken[self] = true; }
    atomic { await !taken[(self + 1) % 3]; taken[(self + 1) % 3] = true; }
    skip;
    taken[(self + 1) % 3] = false;
    taken[self] = false;
    seats = seats + 1;
  }
}
