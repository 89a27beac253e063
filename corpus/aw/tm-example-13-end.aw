// TM, Example 13 with three threads: after eight increments the carry falls off the end
//! verdict: unsafe
//! violation: never
//! switches: 9

shared 0..3 t = 1;

thread low {
  loop {
    await t == 1;
    t = 2;
  }
}

thread mid {
  loop {
    atomic { await t == 2; t = 1; }
    atomic { await t == 2; t = 3; }
  }
}

thread high {
  loop {
    atomic { await t == 3; t = 1; }
    atomic { await t == 3; t = 0; }
  }
}

never t == 0;
