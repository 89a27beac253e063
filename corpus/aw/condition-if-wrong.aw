// A consumer that is woken does not look again whether there is something to consume
//! verdict: unsafe
//! violation: assert
//! switches: 3

shared bool busy, full;
shared bool hungry[2];

proc enter() {
  atomic { await !busy; busy = true; }
}

thread consumer[2] {
  loop {
    enter();
    if (!full) {                        // should be a while
      busy, hungry[self] = false, true;
      await !hungry[self];
      enter();
    }
    assert full;
    full = false;
    busy = false;
  }
}

thread producer {
  loop {
    enter();
    if (!full) {
      full = true;
      choose { atomic { await hungry[0]; hungry[0] = false; } }
      or { atomic { await hungry[1]; hungry[1] = false; } }
      or { await !hungry[0] && !hungry[1]; }
    }
    busy = false;
  }
}
