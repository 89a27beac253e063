// A clock that is set forward in two steps: a slow thread sets it back
//! verdict: unsafe
//! violation: assert

shared int clock;

thread ticker[*] {
  int was;
  loop {
    was = clock;
    clock = was + 1;
  }
}

thread reader[*] {
  int last, now;
  loop {
    now = clock;
    assert last <= now;
    last = now;
  }
}
