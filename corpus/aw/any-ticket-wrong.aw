// A ticket lock with tickets modulo 4, for any number of threads: the fifth has the same ticket as the first
//! verdict: unsafe
//! violation: never
//! switches: 4

shared 0..3 serving, ticket;

thread client[*] {
  0..3 mine;
  loop {
    mine, ticket = ticket, (ticket + 1) % 4;
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % 4;
  }
}

never at(crit) >= 2;
