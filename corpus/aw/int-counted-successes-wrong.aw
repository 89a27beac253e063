// Increments by compare-and-swap, and the successes counted in a step of their own
//! verdict: unsafe
//! violation: never
//! switches: 0

shared int c, successes;

thread p[*] {
  int v;
  bool won;
  loop {
    v = c;
    won, c = c == v, c == v ? v + 1 : c;
    if (won) {
      successes = successes + 1;
    }
  }
}

never c != successes;
