// A hazard pointer: a reader announces what it reads and looks again before it uses it; the writer frees only unannounced
//! verdict: safe

// 0 is nothing; the versions are 1 and 2.
shared 0..2 hazard;
shared 1..2 current;
shared bool freed[3];

thread reader {
  1..2 mine;
  loop {
    mine = current;
    hazard = mine;
    if (current == mine) { assert !freed[mine]; }
    hazard = 0;
  }
}

thread writer {
  1..2 old;
  loop {
    old = current;
    freed[3 - old] = false;
    current = 3 - old;
    await hazard != old;
    freed[old] = true;
  }
}
