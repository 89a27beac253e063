// Any number of threads walk a tree recursively; a leaf gives the tree free, and its parents go on
//! verdict: unsafe
//! violation: never
//! switches: 1

shared bool taken;

proc walk() {
  node: skip;
  if (*) { walk(); walk(); } else { taken = false; }
}

thread walker[*] {
  loop {
    atomic { await !taken; taken = true; }
    walk();
  }
}

never at(node) >= 2;
