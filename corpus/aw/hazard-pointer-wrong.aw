// A hazard pointer without the second look: the version may have been freed before it was announced
//! verdict: unsafe
//! violation: assert
//! switches: 2

shared 0..2 hazard;
shared 1..2 current;
shared bool freed[3];

thread reader {
  1..2 mine;
  loop {
    mine = current;
    hazard = mine;
    assert !freed[mine];
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
