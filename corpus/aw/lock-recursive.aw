// Threads recurse to any depth inside the critical section: infinitely many states, and at most one thread inside
//! run: --threads p=2 => safe
//! run: --threads p=3 => safe

lock m;

proc work() {
  inside: skip;
  if (*) { work(); }
  leaving: skip;
}

thread p[2] {
  loop {
    acquire(m);
    work();
    release(m);
  }
}

never at(inside) + at(leaving) >= 2;
