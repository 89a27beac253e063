// Lamport's bakery for three threads, each of which enters once, so that the tickets stay small
//! verdict: safe

const N = 3;
shared bool choosing[3];
shared 0..3 ticket[3];

thread p[3] {
  0..3 j, highest;
  choosing[self] = true;
  while (j < N) {
    highest = ticket[j] > highest ? ticket[j] : highest;
    j = j + 1;
  }
  ticket[self] = highest + 1;
  choosing[self] = false;
  j = 0;
  while (j < N) {
    await !choosing[j];
    await ticket[j] == 0 || ticket[j] > ticket[self] || (ticket[j] == ticket[self] && j >= self);
    j = j + 1;
  }
  crit: skip;
  ticket[self] = 0;
}

never at(crit) >= 2;
