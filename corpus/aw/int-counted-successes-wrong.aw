// Increments by compare-and-swap, and the successes counted in a step of their own
//! verdict: unsafe
//! violation: never

shared int c, successes;

thread p[*] {
  int v;
  loop {
    v = c;
    atomic {
      if (c == v) {
        c = v + 1;
        goto count;
      }
    }
    goto again;
    count: successes = successes + 1;
    again: skip;
  }
}

never successes != c && at(count) == 0;
