// A ticket lock that increments and then reads the ticket: two steps in place of fetch-and-add
//! verdict: unsafe
//! violation: never
//! switches: 2

shared int s, t;

thread client[*] {
  int l;
  loop {
    t = t + 1;
    l = t - 1;
    await s == l || s == l - 1;
    crit: skip;
    s = s + 1;
  }
}

never at(crit) >= 2;
