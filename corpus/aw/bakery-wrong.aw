// Lamport's bakery without the doorway flags: a thread enters while another is still drawing an equal ticket
//! verdict: unsafe
//! violation: never
//! switches: 2

shared 0..2 ticket[2];

thread p[2] {
  0..1 seen;
  seen = ticket[1 - self];
  ticket[self] = seen + 1;
  await ticket[1 - self] == 0 || ticket[1 - self] > ticket[self] || (ticket[1 - self] == ticket[self] && self == 0);
  crit: skip;
  ticket[self] = 0;
}

never at(crit) >= 2;
