// Compare-and-swap, and the successes counted in the same step: no increment is lost
//! verdict: safe
//! solver: needed

shared int c, successes;

thread p[*] {
  int v;
  loop {
    v = c;
    atomic {
      if (c == v) {
        c = v + 1;
        successes = successes + 1;
      }
    }
  }
}

never c != successes;
