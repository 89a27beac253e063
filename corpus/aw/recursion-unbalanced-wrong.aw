// A call that turns back early leaves the parity odd
//! verdict: unsafe
//! violation: assert
//! switches: 0

shared bool odd;

proc walk() {
  odd = !odd;
  if (*) { return; }
  if (*) { walk(); }
  odd = !odd;
}

thread p {
  walk();
  assert !odd;
}
