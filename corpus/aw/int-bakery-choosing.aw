// Lamport's bakery for two threads, each of which says that it is choosing; the tickets grow without bound
//! verdict: safe
//! solver: needed

shared bool choosing[2];
shared int ticket[2];

thread p[2] {
  int seen;
  loop {
    choosing[self] = true;
    seen = ticket[1 - self];
    ticket[self] = seen + 1;
    choosing[self] = false;
    await !choosing[1 - self];
    await ticket[1 - self] == 0 || ticket[self] < ticket[1 - self] || (ticket[self] == ticket[1 - self] && self == 0);
    crit: skip;
    ticket[self] = 0;
  }
}

never at(crit) >= 2;
