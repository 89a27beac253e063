// A semaphore that tests and counts in two steps: it falls below zero
//! verdict: unsafe
//! violation: range
//! switches: 2

shared 0..1 free = 1;

thread p[2] {
  loop {
    await free > 0;
    free = free - 1;
    skip;
    free = free + 1;
  }
}
