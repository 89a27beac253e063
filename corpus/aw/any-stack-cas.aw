// Any number of threads push and pop by compare-and-swap; each node is pushed once, so that no node is popped twice
//! verdict: safe

// The nodes are 1 and 2, and 0 is none; those up to `made` are or were in use.
shared 0..2 top, made, next[3];
shared bool popped[3];

thread user[*] {
  0..2 node, old;
  loop {
    choose {
      atomic { await made < 2; made = made + 1; node = made; }
      while (node != 0) {
        old = top;
        next[node] = old;
        atomic {
          if (top == old) { top = node; node = 0; }
        }
      }
    } or {
      old = top;
      if (old != 0) {
        node = next[old];
        atomic {
          if (top == old) { top = node; } else { old = 0; }
        }
        if (old != 0) {
          assert !popped[old];
          popped[old] = true;
        }
        node = 0;
      }
    }
    old = 0;
  }
}
