// What one thread sees of itself is closed under its own steps; it is another thread that breaks it
//! verdict: unsafe
//! violation: assert

shared int x;

thread p[*] {
  int l;
  loop {
    x, l = x + 1, x + 1;
    assert x == l;
  }
}
