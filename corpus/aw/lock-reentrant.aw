// A reentrant lock by hand, with an owner and a depth: a thread may take it again, another may not
//! verdict: safe
//! property: deadlock

// The owner is the number of the thread, 2 if there is none.
shared 0..2 owner = 2;
shared 0..3 depth;

proc enter(0..1 me) {
  atomic {
    await owner == 2 || owner == me;
    owner = me;
    depth = depth + 1;
  }
}

proc leave() {
  atomic {
    depth = depth - 1;
    if (depth == 0) { owner = 2; }
  }
}

proc visit(0..1 me, 0..3 left) {
  if (left > 0) {
    enter(me);
    inside: skip;
    visit(me, left - 1);
    assert owner == me;
    leave();
  }
}

thread p[2] {
  loop { visit(self, 3); }
}

never at(inside) >= 2;
