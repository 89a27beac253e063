// Every call flips x and flips it back, but two threads do so at once
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared bool x;

proc flip() {
  bool before;
  before = x;
  x = !x;
  if (*) { flip(); }
  x = !x;
  assert x == before;
}

thread p[2] { flip(); }
