// The ticket lock with the predicates of DrUBA, Figure 2; the property itself is the fourth
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
predicate t > l;
predicate s == l;
predicate l != other.l;
