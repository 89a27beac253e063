// A ticket lock that reads the ticket and then increments: two threads get the same one
//! verdict: unsafe
//! violation: never
//! switches: 2

shared int s, t;

thread client[*] {
  int l;
  loop {
    l = t;
    t = t + 1;
    await s == l;
    crit: skip;
    s = s + 1;
  }
}

never at(crit) >= 2;
