// Recursion with a lock that the innermost call releases and the outer ones do not take again
//! verdict: unsafe
//! violation: never
//! switches: 1

lock m;

proc work() {
  if (*) {
    work();
  } else {
    release(m);
  }
  leaving: skip;
}

thread p[2] {
  acquire(m);
  inside: skip;
  work();
}

never at(inside) + at(leaving) >= 2;
