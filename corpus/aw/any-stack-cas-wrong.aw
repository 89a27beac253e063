// Any number of threads pop nodes and push them again: a node is back on top and looks unchanged (ABA), what was below is gone
//! verdict: unsafe
//! violation: assert
//! switches: 6

// The nodes are 1 and 2, and 0 is none; at first 1 lies on 2.
shared 0..2 top = 1, next[3];
shared bool popped[3];

thread maker {
  next[1] = 2;
}

thread user[*] {
  0..2 node, old;
  await next[1] == 2;
  loop {
    old = top;
    if (old != 0) {
      node = next[old];
      atomic {
        if (top == old) { top = node; } else { old = 0; }
      }
      if (old != 0) {
        assert !popped[old];
        popped[old] = true;
        popped[old] = false;
        node = old;
        while (node != 0) {
          old = top;
          next[node] = old;
          atomic {
            if (top == old) { top = node; node = 0; }
          }
        }
      }
    }
  }
}
