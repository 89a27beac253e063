// The ticket lock with three threads: who has drawn a ticket is served
//! verdict: safe

const N = 3;
shared 0..N serving, ticket;

thread p[N] {
  0..N mine;
  loop {
    mine, ticket = ticket, (ticket + 1) % (N + 1);
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % (N + 1);
  }
}

never at(crit) >= 2;
always eventually crit;
