// Producer and consumers of a one-place buffer share one condition: a signal may wake the wrong kind, and all sleep
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 4

// A monitor by hand: to wait is to fall asleep and give up the monitor in one step; a signal wakes any one sleeper.
shared bool busy, full;
shared bool asleep[3];

proc enter() {
  atomic { await !busy; busy = true; }
}

proc signal() {
  choose { atomic { await asleep[0]; asleep[0] = false; } }
  or { atomic { await asleep[1]; asleep[1] = false; } }
  or { atomic { await asleep[2]; asleep[2] = false; } }
  or { await !asleep[0] && !asleep[1] && !asleep[2]; }
}

thread consumer[2] {
  loop {
    enter();
    while (!full) {
      busy, asleep[self] = false, true;
      await !asleep[self];
      enter();
    }
    full = false;
    signal();
    busy = false;
  }
}

thread producer {
  loop {
    enter();
    while (full) {
      busy, asleep[2] = false, true;
      await !asleep[2];
      enter();
    }
    full = true;
    signal();
    busy = false;
  }
}
