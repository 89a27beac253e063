// The ticket lock with tickets without bound, any number of threads (DrUBA, Figure 2)
//! verdict: safe
//! solver: needed

shared int s, t;

thread client[*] {
  int l;
  l, t = t, t + 1;
  loop {
    await s == l;
    crit: skip;
    s = s + 1;
    l, t = t, t + 1;
  }
}

never at(crit) >= 2;
