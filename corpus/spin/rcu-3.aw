// Read, copy, update with two epochs: 3 readers, and a writer that frees a version once all readers of its epoch have left
//! verdict: safe

const N = 3;
shared 0..1 epoch;
shared 0..N inside[2];
shared 0..2 current;
shared bool freed[3];

thread reader[N] {
  0..1 e;
  0..2 mine;
  loop {
    e = epoch;
    inside[e] = inside[e] + 1;
    mine = current;
    assert !freed[mine];
    assert !freed[mine];
    inside[e] = inside[e] - 1;
  }
}

thread writer {
  0..2 old, fresh;
  0..1 e;
  loop {
    old = current;
    fresh = (old + 1) % 3;
    freed[fresh] = false;
    current = fresh;
    // Twice, since a reader may have read the epoch long before it is counted.
    e = epoch;
    epoch = 1 - e;
    await inside[e] == 0;
    e = epoch;
    epoch = 1 - e;
    await inside[e] == 0;
    freed[old] = true;
  }
}
