// Producers and consumers of a one-place buffer, one condition for each kind: a signal wakes whom it is for
//! run: --threads consumer=2,producer=1 --deadlock => safe
//! run: --threads consumer=2,producer=2 --deadlock => safe

shared bool busy, full;
shared bool hungry[2], stuck[2];

proc enter() {
  atomic { await !busy; busy = true; }
}

thread consumer[2] {
  loop {
    enter();
    while (!full) {
      busy, hungry[self] = false, true;
      await !hungry[self];
      enter();
    }
    assert full;
    full = false;
    choose { atomic { await stuck[0]; stuck[0] = false; } }
    or { atomic { await stuck[1]; stuck[1] = false; } }
    or { await !stuck[0] && !stuck[1]; }
    busy = false;
  }
}

thread producer[2] {
  loop {
    enter();
    while (full) {
      busy, stuck[self] = false, true;
      await !stuck[self];
      enter();
    }
    assert !full;
    full = true;
    choose { atomic { await hungry[0]; hungry[0] = false; } }
    or { atomic { await hungry[1]; hungry[1] = false; } }
    or { await !hungry[0] && !hungry[1]; }
    busy = false;
  }
}
