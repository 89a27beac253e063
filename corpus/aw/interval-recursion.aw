// Two threads visit the two halves of an interval recursively and mark every place once
//! verdict: safe

const N = 4;
shared bool marked[4];
shared 0..2 finished;

proc visit(0..4 low, 0..4 high) {
  if (high - low == 1) {
    assert !marked[low];
    marked[low] = true;
  } else {
    visit(low, (low + high) / 2);
    visit((low + high) / 2, high);
  }
}

thread p[2] {
  visit(self * N / 2, (self + 1) * N / 2);
  finished = finished + 1;
}

thread checker {
  await finished == 2;
  assert marked[0] && marked[1] && marked[2] && marked[3];
}
