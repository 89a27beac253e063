// Increments with a lock, in two steps each; what was done is counted, and the sum is right
//! verdict: safe
//! solver: needed

shared int sum, done;
lock m;

thread adder[*] {
  int old;
  acquire(m);
  old = sum;
  sum = old + 1;
  done = done + 1;
  assert sum == done;
  release(m);
}
