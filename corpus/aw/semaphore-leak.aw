// A thread that gives up forgets to give its unit of the semaphore back: in the end nobody gets in
//! verdict: unsafe
//! property: deadlock
//! violation: deadlock
//! switches: 0

shared 0..2 free = 2;

thread p[2] {
  loop {
    atomic { await free > 0; free = free - 1; }
    if (*) { continue; }                // gives up
    free = free + 1;
  }
}
