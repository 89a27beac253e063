// A big-reader lock: ten readers take the lock of their processor only, a writer takes those of both processors
//! verdict: safe

const READERS = 10, CPUS = 2, FREE = READERS + 1;
// Who has the lock of the processor: a reader, the writer (number READERS), or nobody.
shared 0..FREE owner[CPUS] = FREE;
shared bool low, high;

thread reader[READERS] {
  0..3 pause;
  bool seen;
  loop {
    pause = *;
    while (pause > 0) { pause = pause - 1; }
    atomic { await owner[self % CPUS] == FREE; owner[self % CPUS] = self; }
    seen = low;
    assert seen == high;
    seen = false;
    owner[self % CPUS] = FREE;
  }
}

thread writer {
  loop {
    atomic { await owner[0] == FREE; owner[0] = READERS; }
    atomic { await owner[1] == FREE; owner[1] = READERS; }
    low = !low;
    high = low;
    owner[1] = FREE;
    owner[0] = FREE;
  }
}
