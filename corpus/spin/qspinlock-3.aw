// The queued spin lock of Linux for 3 threads: a locked bit, a pending bit, and a queue of nodes
//! verdict: safe

// Thread i has node i + 1; 0 is no node. The lock word is (locked, pending, tail), and its atomic operations are one step.
const N = 3;
shared bool locked, pending;
shared 0..N tail;
shared bool granted[N + 1];
shared 0..N next[N + 1];

thread p[N] {
  bool free, mine;
  0..N before, after;
  loop {
    // The fast path: nobody holds the lock or waits for it.
    free, locked = !locked && !pending && tail == 0, locked || !pending && tail == 0;
    if (!free) {
      // The first to wait sets the pending bit.
      mine, pending = !pending && tail == 0, pending || tail == 0;
      if (mine) {
        await !locked;
        locked, pending = true, false;
      } else {
        granted[self + 1] = false;
        next[self + 1] = 0;
        before, tail = tail, self + 1;
        if (before != 0) {
          next[before] = self + 1;
          await granted[self + 1];
        }
        // At the head of the queue.
        await !locked && !pending;
        mine, locked, tail = tail == self + 1, true, tail == self + 1 ? 0 : tail;
        if (!mine) {
          await next[self + 1] != 0;
          after = next[self + 1];
          granted[after] = true;
        }
      }
    }
    crit: skip;
    locked = false;
  }
}

never at(crit) >= 2;
