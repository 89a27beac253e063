// Three procedures call each other and hand a shared phase on; at most one thread is in the last phase
//! run: --threads t=2 => safe
//! run: --threads t=4 => safe
//! run: --threads t=8 => safe

// Each thread's stack grows without bound. Who sets the phase to 2 is alone until it sets it back to 0.
shared 0..2 phase;

proc ground() {
  loop {
    choose {
      atomic { await phase == 0; phase = 1; }
      middle();
    } or {
      await phase == 0;
      return;
    }
  }
}

proc middle() {
  choose {
    atomic { await phase == 1; phase = 2; }
    top();
    ground();
  } or {
    await phase == 0;
  }
}

proc top() {
  last: atomic { await phase == 2; phase = 0; }
  middle();
}

thread t[2] { ground(); }

never at(last) >= 2;
