// Ten recursive threads walk trees of any depth; each node is marked and unmarked by the one visitor that has the tree
//! verdict: safe

const N = 10;
shared 0..N visitor = N;
shared bool marked;

proc visit(0..N - 1 who) {
  atomic { await visitor == N; visitor = who; }
  assert !marked;
  marked = true;
  node: marked = false;
  visitor = N;
  if (*) { visit(who); }
  if (*) { visit(who); }
}

thread walker[N] {
  loop { visit(self); }
}

never at(node) >= 2;
