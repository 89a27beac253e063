// Two procedures call each other; the depth is even where one of them ends and odd where the other does
//! verdict: safe

lock m;
shared bool odd;

proc at_even() {
  if (*) {
    odd = true;
    at_odd();
    odd = false;
  }
  assert !odd;
}

proc at_odd() {
  if (*) {
    odd = false;
    at_even();
    odd = true;
  }
  assert odd;
}

thread p[2] {
  acquire(m);
  at_even();
  release(m);
}
