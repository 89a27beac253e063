// Any number of threads walk a tree of any depth, recursively, and each holds the tree from its first node to its last
//! verdict: safe

shared bool taken;

proc walk() {
  node: skip;
  if (*) { walk(); }
  if (*) { walk(); }
}

thread walker[*] {
  loop {
    atomic { await !taken; taken = true; }
    walk();
    taken = false;
  }
}

never at(node) >= 2;
