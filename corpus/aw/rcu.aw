// Read, copy, update: the writer frees the old version after all readers that may hold it have left
//! verdict: safe

shared bool inside[2], freed[2];
shared 0..1 current;

thread reader[2] {
  0..1 mine;
  loop {
    inside[self] = true;
    mine = current;
    assert !freed[mine];
    assert !freed[mine];
    inside[self] = false;
  }
}

thread writer {
  0..1 old;
  loop {
    old = current;
    freed[1 - old] = false;
    current = 1 - old;
    await !inside[0];                   // the grace period
    await !inside[1];
    freed[old] = true;
  }
}
