// The bakery for two threads that come back again and again: the tickets grow without bound
//! verdict: safe
//! solver: needed

shared int ticket[2];

thread p[2] {
  loop {
    atomic { ticket[self] = ticket[1 - self] + 1; }
    await ticket[1 - self] == 0 || ticket[self] < ticket[1 - self];
    crit: skip;
    ticket[self] = 0;
  }
}

never at(crit) >= 2;
