// Dining philosophers: the last one takes the right fork first, and nobody starves
//! verdict: safe
//! property: deadlock

shared bool taken[4];

thread phil[4] {
  0..3 one, two;
  one, two = self, (self + 1) % 4;
  if (two < one) { one, two = two, one; }
  loop {
    atomic { await !taken[one]; taken[one] = true; }
    atomic { await !taken[two]; taken[two] = true; }
    skip;
    taken[two] = false;
    taken[one] = false;
  }
}
