// The ticket lock where drawing a ticket takes two steps
//! verdict: unsafe
//! threads: client=2
//! violation: never
//! switches: 2

shared 0..3 serving, fresh;

thread client[*] {
  0..3 mine;
  loop {
    mine = fresh;
    fresh = (fresh + 1) % 4;
    await serving == mine;
    crit: skip;
    serving = (serving + 1) % 4;
  }
}

never at(crit) >= 2;
