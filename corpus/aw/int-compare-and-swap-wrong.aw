// A counter that is compared in one step and swapped in the next: it can go back
//! verdict: unsafe
//! violation: assert

shared int c;

thread p[*] {
  int v;
  loop {
    v = c;
    await c == v;
    c = v + 1;
    assert c > v;
    v = c;
    assert c >= v;
  }
}
