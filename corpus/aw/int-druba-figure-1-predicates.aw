// DrUBA, Figure 1, with the predicates of its section 5.2; with the first two of them and two threads, those of Equation 4
//! verdict: safe
//! solver: needed

shared int m, s;

thread p[*] {
  int l;
  m = m + 1;
  if (m == 1) {
    loop {
      s, l = s + 1, l + 1;
      assert s == l;
    }
  }
}

predicate s == l;
predicate m == 1;
predicate m == 0;
