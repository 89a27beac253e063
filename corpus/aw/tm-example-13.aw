// TM, Example 13 with three threads: a binary counter that takes exponentially many steps; the low bit is up only at t = 1
//! verdict: safe

// Each thread is one bit, its control the value of the bit. The carry is at bit t - 1, or nowhere if t is 0.
shared 0..3 t = 1;

thread low {
  loop {
    await t == 1;
    up: t = 2;
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

never at(up) == 1 && t != 1;
