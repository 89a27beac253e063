// A counter that is incremented by compare-and-swap: it has gone up since it was read, whoever succeeds
//! verdict: safe
//! solver: needed

shared int c;

thread p[*] {
  int v;
  bool done;
  loop {
    v = c;
    done, c = c == v, c == v ? v + 1 : c;
    if (done) {
      assert c > v;
    }
  }
}
