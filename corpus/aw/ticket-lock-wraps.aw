// The ticket lock with tickets modulo 2: with three threads two of them hold the same ticket
//! run: --threads client=2 => safe
//! run: --threads client=3 => unsafe
//! violation: never

shared 0..1 serving, fresh;

thread client[*] {
  0..1 mine;
  loop {
    mine, fresh = fresh, (fresh + 1) % 2;
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % 2;
  }
}

never at(crit) >= 2;
