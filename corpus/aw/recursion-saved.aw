// Every call flips x and flips it back; each level remembers what it found, and finds it again
//! verdict: safe

// The lock keeps the other thread out of the whole recursion. What a level remembers lies on its stack.
lock m;
shared bool x;

proc flip() {
  bool before;
  before = x;
  x = !x;
  if (*) { flip(); }
  x = !x;
  assert x == before;
}

thread p[2] {
  acquire(m);
  flip();
  release(m);
}
