// The ticket lock with tickets modulo 4: right as long as there are at most four threads
//! run: --threads client=2 => safe
//! run: --threads client=3 => safe
//! run: --threads client=4 => safe

shared 0..3 serving, fresh;

thread client[*] {
  0..3 mine;
  loop {
    mine, fresh = fresh, (fresh + 1) % 4;
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % 4;
  }
}

never at(crit) >= 2;
