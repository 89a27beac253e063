// CUBA, Figure 1: the second thread's stack grows by one with every round trip; the bad state takes four contexts
//! verdict: unsafe
//! violation: never
//! switches: 3

shared 0..3 x;

proc dig() {
  choose {
    await x == 0;
  } or {
    atomic { await x == 1; x = 2; }
    atomic { await x == 2; x = 3; }
    dig();
    below: await x == 0;
  }
}

thread a {
  loop {
    home: atomic { await x == 0; x = 1; }
    atomic { await x == 3; x = 0; }
  }
}

thread b { dig(); }

never x == 0 && at(home) == 1 && at(below) == 1;
