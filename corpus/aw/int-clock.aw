// A clock that any number of threads set forward, and any number read: nobody sees it go back
//! verdict: safe
//! solver: needed

shared int clock;

thread ticker[*] {
  loop {
    clock = clock + 1;
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
