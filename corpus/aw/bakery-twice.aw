// Lamport's bakery for two threads, each of which enters twice
//! verdict: safe

shared bool choosing[2];
shared 0..4 ticket[2];

thread p[2] {
  0..2 rounds;
  while (rounds < 2) {
    choosing[self] = true;
    ticket[self] = ticket[1 - self] + 1;
    choosing[self] = false;
    await !choosing[1 - self];
    await ticket[1 - self] == 0 || ticket[1 - self] > ticket[self] || (ticket[1 - self] == ticket[self] && self == 0);
    crit: skip;
    ticket[self] = 0;
    rounds = rounds + 1;
  }
}

never at(crit) >= 2;
