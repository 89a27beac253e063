// A ticket lock whose owner counts its exit twice: a ticket is served while the one before it still is
//! verdict: unsafe
//! violation: never

shared int s, t;

thread client[*] {
  int l;
  loop {
    l, t = t, t + 1;
    await s == l;
    crit: skip;
    s = s + 1;
    s = s + 1;
  }
}

never at(crit) >= 2;
