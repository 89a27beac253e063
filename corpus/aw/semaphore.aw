// A counting semaphore lets two of four threads in
//! verdict: safe
//! property: deadlock

shared 0..2 free = 2;

thread p[4] {
  loop {
    atomic { await free > 0; free = free - 1; }
    crit: skip;
    free = free + 1;
  }
}

never at(crit) >= 3;
