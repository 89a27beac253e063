// The bakery for two threads, without the announcement that one is choosing: both may have the same ticket
//! verdict: unsafe
//! violation: never

shared int ticket[2];

thread p[2] {
  int seen;
  loop {
    seen = ticket[1 - self];
    ticket[self] = seen + 1;
    await ticket[1 - self] == 0 || ticket[self] < ticket[1 - self] || (ticket[self] == ticket[1 - self] && self == 0);
    crit: skip;
    ticket[self] = 0;
  }
}

never at(crit) >= 2;
