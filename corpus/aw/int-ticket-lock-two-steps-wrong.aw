// A ticket lock with two steps in place of fetch-and-add: an increment is lost, and with it a ticket
//! verdict: unsafe
//! violation: never
//! switches: 2

shared int s, t;

thread client[*] {
  int l;
  loop {
    l = t;
    t = l + 1;
    await s == l;
    crit: skip;
    s = s + 1;
  }
}

never at(crit) >= 2;
