// Increments in two steps each without a lock: one of them is lost
//! verdict: unsafe
//! violation: assert

shared int sum, done;

thread adder[*] {
  int old;
  old = sum;
  sum = old + 1;
  done = done + 1;
  assert done <= sum;
}
