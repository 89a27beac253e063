// Thirty producers write lines of two halves to one log, with a spin lock that names its owner; no two lines are mixed
//! verdict: safe

const N = 30;
shared 0..N owner = N;
// Is there half a line in the log?
shared bool half;

thread producer[N] {
  bool mine;
  0..3 lines;
  loop {
    lines = *;
    while (lines > 0) {
      // Compare and swap, until it works.
      while (!mine) { mine, owner = owner == N, owner == N ? self : owner; }
      assert !half;
      half = true;
      write: assert half;
      half = false;
      mine, owner = false, N;
      lines = lines - 1;
    }
  }
}

never at(write) >= 2;
