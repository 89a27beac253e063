// DrUBA, Figure 1, with counters modulo 4: only the first thread gets past the test, and only it counts
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe
//! run: --threads p=4 => safe

shared 0..4 m;
shared 0..3 s;

thread p[2] {
  0..3 l;
  m = m + 1;
  if (m == 1) {
    loop {
      s, l = (s + 1) % 4, (l + 1) % 4;
      assert s == l;
    }
  }
}
