// DrUBA, Figure 1, with a test that the second thread passes, too
//! verdict: unsafe
//! violation: assert

shared int m, s;

thread p[*] {
  int l;
  m = m + 1;
  if (m <= 2) {
    loop {
      s, l = s + 1, l + 1;
      assert s == l;
    }
  }
}
