// Read, copy, update with the grace period before the new version is published: a reader still gets the old one
//! verdict: unsafe
//! violation: assert
//! switches: 3

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
    await !inside[0];
    await !inside[1];
    current = 1 - old;
    freed[old] = true;
  }
}
