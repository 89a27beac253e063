// DrUBA, Figure 1, with integers: only the first thread gets past the test, and only it counts; any number of threads
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
