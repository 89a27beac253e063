// A ticket lock with tickets modulo 4, for any number of threads: who comes when three tickets are out waits for one
//! verdict: safe

shared 0..3 serving, ticket;

thread client[*] {
  0..3 mine;
  loop {
    atomic {
      await (ticket + 1) % 4 != serving;
      mine = ticket;
      ticket = (ticket + 1) % 4;
    }
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % 4;
  }
}

never at(crit) >= 2;
